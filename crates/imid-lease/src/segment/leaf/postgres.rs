//! Leaf's table in PostgreSQL.

use tokio_postgres::types::Type;

use super::checks::{check, is_refusal, no_tag};
use super::postgres_update;
use crate::register::postgres::{Connection, Postgres, durable, has_table, is_permanent, promise_by};
use crate::register::remote::{Failure, Remote, Server, Settings, connection_settings};
use crate::register::worker::Deadline;
use crate::segment::{Block, BlockError, refused};
use crate::{Promise, RegisterError};

/// A client of `leaf_alloc` in PostgreSQL 11 or later, with one connection.
///
/// A server is refused if its settings make a [`PostgresRegister`](crate::register::PostgresRegister) weak. Each block
/// is one statement, whose commit waits for the disk regardless of the default of `synchronous_commit`. In a forked child,
/// every call is an error.
#[derive(Debug)]
pub struct PostgresTable(Remote<Leaf>);

connection_settings!(PostgresTable);

struct Leaf(Postgres);

const UPDATE: &str = postgres_update!(concat!(" AND ", durable!()));

impl PostgresTable {
    /// Reads a URL, as [`PostgresRegister::from_url`](crate::register::PostgresRegister::from_url) does. Does not
    /// connect yet.
    ///
    /// # Errors
    /// The URL is invalid, or it needs the feature `tls`.
    pub fn from_url(url: &str) -> Result<Self, RegisterError> {
        Ok(Self(Postgres::parse(url, Leaf)?))
    }

    /// Returns a function that fetches a tag's blocks for [`Segment::open`](crate::segment::Segment::open). The row of the tag must exist.
    pub fn blocks(mut self, tag: &str) -> impl FnMut(Option<i64>) -> Result<Block, BlockError> + Send + use<> {
        let tag = tag.to_owned();
        move |step| {
            let block = self.0.call(format_args!("take a block of {tag:?}"), async |client| {
                client.begin();
                let row = client.query_typed_opt(UPDATE, &[(&step, Type::INT8), (&tag, Type::TEXT)]).await?;
                client.end()?;
                let row = row.ok_or_else(|| no_tag(&tag))?;
                Ok(Block { end: row.try_get(0)?, step: row.try_get(1)? })
            });
            Ok(block?)
        }
    }
}

impl Server for Leaf {
    type Connection = Connection;

    async fn connect(&self, settings: &Settings, deadline: Deadline) -> Result<(Connection, Promise), Failure> {
        let (client, found) = self.0.connect(settings, deadline, "leaf_alloc").await?;
        if !has_table(&found)? {
            return Err(refused("expected the table leaf_alloc, found none"));
        }
        let promise = promise_by(&found, "leaf_alloc", None)?;
        check(promise.clone())?;
        Ok((client, promise))
    }

    fn is_permanent(failure: &Failure) -> bool {
        is_refusal(failure) || is_permanent(failure)
    }
}
