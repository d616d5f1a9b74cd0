//! Blocks from Leaf's own table, so that a user of Leaf can switch without moving numbers.
//!
//! The table is Leaf's `leaf_alloc`: `biz_tag`, `max_id`, `step`, `description`, `update_time`. A block is the numbers
//! `max_id - step` to `max_id - 1` after the update, as in Leaf, so both can use one table at the same time.
//!
//! `PostgresTable` (feature `postgres`) and `MysqlTable` (`mysql`) are clients of the table:
//!
#![cfg_attr(feature = "postgres", doc = "```no_run")]
#![cfg_attr(not(feature = "postgres"), doc = "```ignore")]
//! use std::time::Duration;
//!
//! use imid_lease::segment::{Segment, leaf};
//!
//! let table = leaf::PostgresTable::from_url("postgres://shop:secret@db/shop")?;
//! let orders = Segment::open(leaf::Allocation::new("order", table))?;
//! orders.wait_until_open(Duration::from_secs(15))?;
//! let order = orders.next()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Or the application runs the statements with its own client, in its own pool and with its own TLS. It implements
//! [`Table`], or passes a closure:
//!
//! ```no_run
//! use imid_lease::segment::{Segment, leaf};
//! # struct Client;
//! # struct Row;
//! # impl Row { fn get(&self, _column: usize) -> i64 { 0 } }
//! # impl Client { fn query_one(&mut self, _: &str, _: &[&dyn std::any::Any]) -> std::io::Result<Row> { Ok(Row) } }
//! # let mut client = Client;
//!
//! // `client` is a blocking client of PostgreSQL.
//! let orders = Segment::open(leaf::Allocation::new("order", move |tag: &str, step: Option<i64>| {
//!     let row = client.query_one(leaf::POSTGRES, &[&step, &tag.to_owned()])?;
//!     Ok(leaf::Row { max_id: row.get(0), step: row.get(1) })
//! }))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;

#[cfg(feature = "mysql")]
pub use self::mysql::MysqlTable;
#[cfg(feature = "postgres")]
pub use self::postgres::PostgresTable;
use super::blocks::{Block, BlockError, Blocks, refused};
#[cfg(any(feature = "mysql", feature = "postgres"))]
use crate::Promise;

/// The statement for PostgreSQL, with a further condition.
macro_rules! postgres_update {
    ($condition:expr) => {
        concat!(
            "UPDATE leaf_alloc SET max_id = max_id + COALESCE($1::bigint, step), update_time = CURRENT_TIMESTAMP ",
            "WHERE biz_tag = $2",
            $condition,
            " RETURNING max_id, step::bigint"
        )
    };
}

#[cfg(feature = "postgres")]
use postgres_update;

/// Takes a block in PostgreSQL. The parameters are the step (null for the table's own) and the tag. One row with
/// `max_id` and `step` comes back, or none if the tag does not exist.
pub const POSTGRES: &str = postgres_update!("");

/// Takes a block in MySQL and MariaDB. The parameters are the step (null for the table's own) and the tag. Run
/// [`MYSQL_SELECT`] after it in the same transaction.
pub const MYSQL_UPDATE: &str =
    "UPDATE leaf_alloc SET max_id = max_id + COALESCE(?, step), update_time = CURRENT_TIMESTAMP WHERE biz_tag = ?";

/// Returns the block that [`MYSQL_UPDATE`] has taken in the same transaction. The parameter is the tag. One row with
/// `max_id` and `step` comes back, or none if the tag does not exist.
pub const MYSQL_SELECT: &str = "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = ?";

/// A row of `leaf_alloc` after the update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The first number after the block.
    pub max_id: i64,
    /// The step of the table.
    pub step: i64,
}

/// Runs the statements of this module.
pub trait Table: Send {
    /// Adds the step, or the table's own step, to the `max_id` of a tag, and returns the row as it then is.
    ///
    /// # Errors
    /// The database does not answer, or the tag does not exist.
    fn allocate(&mut self, tag: &str, step: Option<i64>) -> Result<Row, BlockError>;
}

impl<F: FnMut(&str, Option<i64>) -> Result<Row, BlockError> + Send> Table for F {
    fn allocate(&mut self, tag: &str, step: Option<i64>) -> Result<Row, BlockError> {
        self(tag, step)
    }
}

/// Says that a tag does not exist.
#[cfg(any(feature = "mysql", feature = "postgres"))]
fn no_tag(tag: &str) -> BlockError {
    refused(format!("expected a row of the tag {tag:?} in leaf_alloc, found none"))
}

/// Returns whether a failure is one of these, and not one of the client.
#[cfg(any(feature = "mysql", feature = "postgres"))]
fn is_refusal(failure: &BlockError) -> bool {
    failure.downcast_ref().is_some_and(crate::RegisterError::is_final)
}

/// Refuses a table whose acknowledged updates can be lost.
#[cfg(any(feature = "mysql", feature = "postgres"))]
fn check(promise: Promise) -> Result<(), BlockError> {
    match promise {
        Promise::Strong => Ok(()),
        Promise::Weak(reason) => Err(refused(format!("the database can lose acknowledged writes: {reason}"))),
    }
}

/// The numbers of one tag.
#[derive(Debug)]
pub struct Allocation<T> {
    tag: String,
    table: T,
}

impl<T: Table> Allocation<T> {
    /// Uses the row of this tag, which must exist.
    pub fn new(tag: impl Into<String>, table: T) -> Self {
        Self { tag: tag.into(), table }
    }
}

impl<T: Table> Blocks for Allocation<T> {
    fn fetch(&mut self, step: Option<u64>) -> Result<Block, BlockError> {
        let step = step.map(i64::try_from).transpose()?;
        let row = self.table.allocate(&self.tag, step)?;
        let error = || refused(format!("expected a positive step and max_id in leaf_alloc, found {row:?}"));
        let unsigned = |value: i64| u64::try_from(value).ok().filter(|value| *value > 0).ok_or_else(error);
        let (end, min_step) = (unsigned(row.max_id)?, unsigned(row.step)?);
        // Leaf's tables begin at 1, and the first block then ends at 1 + step.
        Ok(Block { end, length: step.map_or(min_step, i64::unsigned_abs), min_step })
    }
}
