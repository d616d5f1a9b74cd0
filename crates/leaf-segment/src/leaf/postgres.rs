//! Leaf's table in PostgreSQL 11 or later, over the application's `tokio_postgres::Client`.

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::{POSTGRES, no_tag};
use crate::{Block, BlockError, Refused};

/// What a crash can make of the table.
const DURABLE: &str = "SELECT current_setting('fsync') = 'on', (SELECT relpersistence = 'p' FROM pg_class \
     WHERE oid = to_regclass('leaf_alloc'))";

/// Takes a block of a tag, whose row must exist. Of the step, see [`Blocks::take`](crate::Blocks::take).
///
/// Not in a transaction: the statement commits, and waits for the disk. A call has no time limit of its own.
///
/// ```no_run
/// use std::time::Duration;
///
/// use leaf_segment::{BlockError, Segment, leaf};
/// use tokio::runtime::Handle;
/// # async fn connect() -> Result<tokio_postgres::Client, BlockError> { unimplemented!() }
///
/// # fn open() -> Result<Segment, leaf_segment::SegmentError> {
/// // In an application of tokio. `connect` connects with its own settings, or takes a client from its pool.
/// let runtime = Handle::current();
/// Segment::open(move |step| {
///     let take = async { leaf::postgres::take(&connect().await?, "order", step).await };
///     runtime.block_on(async { tokio::time::timeout(Duration::from_secs(2), take).await })?
/// })
/// # }
/// ```
///
/// # Errors
/// - [`Refused`]: the table or the row of the tag does not exist; a crash can lose a block, because the table is unlogged or `fsync`
///   is off.
/// - An error of the client.
pub async fn take(client: &Client, tag: &str, step: Option<i64>) -> Result<Block, BlockError> {
    let found = client.query_typed(DURABLE, &[]).await?;
    let found = found.first().ok_or_else(|| Refused::new("expected a row of the settings, found none"))?;
    let lost = match (found.try_get(0)?, found.try_get::<_, Option<bool>>(1)?) {
        (_, None) => return Err(Refused::new("expected the table leaf_alloc, found none").into()),
        (_, Some(false)) => "the table leaf_alloc is unlogged, so a crash empties it",
        (false, _) => "fsync is off",
        (true, Some(true)) => {
            let row = client.query_typed(POSTGRES, &[(&step, Type::INT8), (&tag, Type::TEXT)]).await?;
            let row = row.first().ok_or_else(|| no_tag(tag))?;
            return Ok(Block { end: row.try_get(0)?, step: row.try_get(1)? });
        }
    };
    Err(Refused::new(format!("the database can lose acknowledged writes: {lost}")).into())
}
