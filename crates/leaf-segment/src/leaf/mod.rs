//! Blocks from Leaf's own table, so that a user of Leaf can switch without moving numbers.
//!
//! The table is Leaf's `leaf_alloc`: `biz_tag`, `max_id`, `step`, `description`, `update_time`. A block is the numbers
//! `max_id - step` to `max_id - 1` after the update, as in Leaf, so both can use one table at the same time.
//!
//! The application's own client takes them, with its URLs, TLS, passwords and pool: `postgres` has the calls for `tokio-postgres`
//! (feature `tokio-postgres-0_7`), `mysql` for `mysql_async` (feature `mysql_async-0_37`). The constants are the statements, for any
//! other client.
//!
//! # After a restore
//! While no process and no Leaf server uses the tag, run this statement in PostgreSQL, MySQL or MariaDB. Replace 120000 by a
//! number above all that were handed out: those in the application's tables, and those that only other systems have, such as
//! numbers in emails.
//!
//! ```sql
//! UPDATE leaf_alloc SET max_id = GREATEST(max_id, 120000) WHERE biz_tag = 'order'
//! ```

#[cfg(feature = "mysql_async-0_37")]
pub mod mysql;
#[cfg(feature = "tokio-postgres-0_7")]
pub mod postgres;

#[cfg(any(feature = "mysql_async-0_37", feature = "tokio-postgres-0_7"))]
use crate::{BlockError, Refused};

/// Takes a block in PostgreSQL. The parameters are the step (null for the table's own) and the tag. One row with
/// `max_id` and `step` comes back, or none if the tag does not exist: the [end and the step](crate::Block) of the block. The commit
/// waits for the disk, regardless of the default of `synchronous_commit`.
pub const POSTGRES: &str = "UPDATE leaf_alloc SET max_id = max_id + COALESCE($1::bigint, step), update_time = CURRENT_TIMESTAMP \
     WHERE biz_tag = $2 AND set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' \
     THEN 'remote_apply' ELSE 'on' END, true) IS NOT NULL RETURNING max_id, step::bigint";

/// Takes a block in MySQL and MariaDB. The parameters are the step (null for the table's own) and the tag. Run
/// [`MYSQL_SELECT`] after it in the same transaction.
pub const MYSQL_UPDATE: &str =
    "UPDATE leaf_alloc SET max_id = max_id + COALESCE(?, step), update_time = CURRENT_TIMESTAMP WHERE biz_tag = ?";

/// Returns the block that [`MYSQL_UPDATE`] has taken in the same transaction. The parameter is the tag. One row with
/// `max_id` and `step` comes back, or none if the tag does not exist.
pub const MYSQL_SELECT: &str = "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = ?";

/// The tag does not exist.
#[cfg(any(feature = "mysql_async-0_37", feature = "tokio-postgres-0_7"))]
fn no_tag(tag: &str) -> BlockError {
    Refused::new(format!("expected a row of the tag {tag:?} in leaf_alloc, found none")).into()
}
