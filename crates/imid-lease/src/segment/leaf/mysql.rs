//! Leaf's table in MySQL and MariaDB.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row, TxOpts};

use super::checks::{check, is_refusal, no_tag};
use super::{MYSQL_SELECT, MYSQL_UPDATE};
use crate::register::mysql::{Mysql, column, engine, is_permanent, promise_of};
use crate::register::remote::{Failure, Remote, Server, Settings, connection_settings};
use crate::register::worker::Deadline;
use crate::segment::{Block, BlockError, refused};
use crate::{Promise, RegisterError};

/// A client of `leaf_alloc` in MySQL or MariaDB, with one connection.
///
/// A server is refused if its settings make a [`MysqlRegister`](crate::register::MysqlRegister) weak, and if the engine
/// of the table is not `InnoDB`. Each block is one transaction. In a forked child each call is an error.
#[derive(Debug)]
pub struct MysqlTable(Remote<Leaf>);

connection_settings!(MysqlTable);

struct Leaf(Mysql);

impl MysqlTable {
    /// Reads a URL, as [`MysqlRegister::from_url`](crate::register::MysqlRegister::from_url) does. Does not connect
    /// yet.
    ///
    /// # Errors
    /// The URL is invalid or names no database, or it needs the feature `tls`.
    pub fn from_url(url: &str) -> Result<Self, RegisterError> {
        Ok(Self(Mysql::parse(url, Leaf)?))
    }

    /// Returns a function that fetches a tag's blocks for [`Segment::open`](crate::segment::Segment::open). The row of the tag must exist.
    pub fn blocks(mut self, tag: &str) -> impl FnMut(Option<i64>) -> Result<Block, BlockError> + Send + use<> {
        let tag = tag.to_owned();
        move |step| {
            let block = self.0.call(format_args!("take a block of {tag:?}"), async |conn| {
                // Without a commit nothing is taken: after an error the connection is closed.
                let mut transaction = conn.start_transaction(TxOpts::default()).await?;
                transaction.exec_drop(MYSQL_UPDATE, (step, &tag)).await?;
                let row: Option<Row> = transaction.exec_first(MYSQL_SELECT, (&tag,)).await?;
                let Some(row) = row else {
                    // The update has locked the place of the row, and the connection is not closed before the next call.
                    transaction.rollback().await?;
                    return Err(no_tag(&tag));
                };
                let block = Block { end: column(&row, 0)?, step: column(&row, 1)? };
                transaction.commit().await?;
                Ok(block)
            });
            Ok(block?)
        }
    }
}

impl Server for Leaf {
    type Connection = Conn;

    async fn connect(&self, settings: &Settings, deadline: Deadline) -> Result<(Conn, Promise), Failure> {
        let mut conn = self.0.connect(settings, deadline).await?;
        match engine(&mut conn, r"leaf\_alloc").await? {
            Some(engine) if engine.eq_ignore_ascii_case("InnoDB") => {}
            Some(engine) => {
                return Err(refused(format!("expected the engine InnoDB of leaf_alloc, found {engine}")));
            }
            None => return Err(refused("expected the table leaf_alloc, found none")),
        }
        let promise = promise_of(&mut conn).await?;
        check(promise.clone())?;
        Ok((conn, promise))
    }

    fn is_permanent(failure: &Failure) -> bool {
        is_refusal(failure) || is_permanent(failure)
    }
}
