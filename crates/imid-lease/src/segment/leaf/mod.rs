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
//! let orders = Segment::open(table.blocks("order"))?;
//! orders.wait_until_open(Duration::from_secs(15))?;
//! let order = orders.next()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Alternatively, the application runs the statements with its own client, pool and TLS settings:
//!
//! ```no_run
//! use imid_lease::segment::{Block, Segment, leaf};
//! # struct Client;
//! # struct Row;
//! # impl Row { fn get(&self, _column: usize) -> i64 { 0 } }
//! # impl Client { fn query_one(&mut self, _: &str, _: &[&dyn std::any::Any]) -> std::io::Result<Row> { Ok(Row) } }
//! # let mut client = Client;
//!
//! // `client` is a blocking client of PostgreSQL.
//! let orders = Segment::open(move |step| {
//!     let row = client.query_one(leaf::POSTGRES, &[&step, &"order"])?;
//!     Ok(Block { end: row.get(0), step: row.get(1) })
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # After a restore
//! While no process and no Leaf server uses the tag, run this statement in PostgreSQL, MySQL or MariaDB. Replace 120000 by a
//! number above all that were handed out: those in the application's tables, and those that only other systems have, such as
//! numbers in emails.
//!
//! ```sql
//! UPDATE leaf_alloc SET max_id = GREATEST(max_id, 120000) WHERE biz_tag = 'order'
//! ```

#[cfg(any(feature = "mysql", feature = "postgres"))]
mod checks;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;

#[cfg(feature = "mysql")]
pub use self::mysql::MysqlTable;
#[cfg(feature = "postgres")]
pub use self::postgres::PostgresTable;

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
/// `max_id` and `step` comes back, or none if the tag does not exist: the [end and the step](super::Block) of the block.
pub const POSTGRES: &str = postgres_update!("");

/// Takes a block in MySQL and MariaDB. The parameters are the step (null for the table's own) and the tag. Run
/// [`MYSQL_SELECT`] after it in the same transaction.
pub const MYSQL_UPDATE: &str =
    "UPDATE leaf_alloc SET max_id = max_id + COALESCE(?, step), update_time = CURRENT_TIMESTAMP WHERE biz_tag = ?";

/// Returns the block that [`MYSQL_UPDATE`] has taken in the same transaction. The parameter is the tag. One row with
/// `max_id` and `step` comes back, or none if the tag does not exist.
pub const MYSQL_SELECT: &str = "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = ?";
