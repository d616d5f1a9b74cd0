//! Leaf's table in MySQL and MariaDB, over the application's `mysql_async::Conn`.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, TxOpts};

use super::{MYSQL_SELECT, MYSQL_UPDATE, no_tag};
use crate::{Block, BlockError, Refused};

/// What a crash can make of the table.
const DURABLE: &str = "SELECT @@innodb_flush_log_at_trx_commit, (SELECT engine FROM information_schema.tables \
     WHERE table_schema = DATABASE() AND table_name = 'leaf_alloc')";

/// Takes a block of a tag, whose row must exist. Of the step, see [`Blocks::take`](crate::Blocks::take).
///
/// A block is one transaction: without its commit nothing is taken. Close the connection after an error. A call has no time limit of
/// its own.
///
/// ```no_run
/// use std::time::Duration;
///
/// use leaf_segment::{Segment, leaf};
/// use tokio::runtime::Handle;
///
/// # fn open(pool: mysql_async::Pool) -> Result<Segment, leaf_segment::SegmentError> {
/// // In an application of tokio. `pool` is its `mysql_async::Pool`.
/// let runtime = Handle::current();
/// Segment::open(move |step| {
///     let take = async { leaf::mysql::take(&mut pool.get_conn().await?, "order", step).await };
///     runtime.block_on(async { tokio::time::timeout(Duration::from_secs(2), take).await })?
/// })
/// # }
/// ```
///
/// # Errors
/// - [`Refused`]: the table or the row of the tag does not exist; a crash can lose a block, because the engine of the table is not
///   `InnoDB` or `innodb_flush_log_at_trx_commit` is not 1.
/// - An error of the client.
pub async fn take(conn: &mut Conn, tag: &str, step: Option<i64>) -> Result<Block, BlockError> {
    let found: Option<(u64, Option<String>)> = conn.query_first(DURABLE).await?;
    match found {
        None | Some((_, None)) => return Err(Refused::new("expected the table leaf_alloc, found none").into()),
        Some((_, Some(engine))) if !engine.eq_ignore_ascii_case("InnoDB") => {
            return Err(Refused::new(format!("expected the engine InnoDB of leaf_alloc, found {engine}")).into());
        }
        Some((1, _)) => {}
        Some((flush, _)) => {
            let lost = "the database can lose acknowledged writes: expected innodb_flush_log_at_trx_commit 1, found";
            return Err(Refused::new(format!("{lost} {flush}")).into());
        }
    }
    let mut transaction = conn.start_transaction(TxOpts::default()).await?;
    transaction.exec_drop(MYSQL_UPDATE, (step, tag)).await?;
    let row: Option<(i64, i64)> = transaction.exec_first(MYSQL_SELECT, (tag,)).await?;
    let Some((end, step)) = row else {
        // The update has locked the place of the row.
        transaction.rollback().await?;
        return Err(no_tag(tag));
    };
    transaction.commit().await?;
    Ok(Block { end, step })
}
