//! A list in Redis, over the application's client of the crate redis.

use redis::{Cmd, ConnectionLike, ErrorKind, FromRedisValue, RedisError, cmd};

use super::{List, ListError};

/// A list in Redis or Valkey, over a connection of the crate redis.
///
/// `connect` opens a connection, with the application's URL, TLS, password and time limits, or takes one from its pool. It is called
/// again after each call without an answer.
///
/// ```no_run
/// use std::time::Duration;
///
/// use imid_snowflake::redis_queue::RedisList;
///
/// let client = redis::Client::open("redis://127.0.0.1:6379")?;
/// let limit = Duration::from_secs(2);
/// let list = RedisList::new("worker-ids", move || {
///     let connection = client.get_connection_with_timeout(limit)?;
///     connection.set_read_timeout(Some(limit))?;
///     connection.set_write_timeout(Some(limit))?;
///     Ok(connection)
/// });
/// # Ok::<(), redis::RedisError>(())
/// ```
#[derive(Debug)]
pub struct RedisList<F, C> {
    key: String,
    connect: F,
    connection: Option<C>,
}

impl<C: ConnectionLike + Send, F: FnMut() -> Result<C, RedisError> + Send> RedisList<F, C> {
    /// Returns the list with this key. Does not connect yet.
    pub fn new(key: impl Into<String>, connect: F) -> Self {
        Self { key: key.into(), connect, connection: None }
    }

    fn call<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, ListError> {
        let open = match self.connection.take() {
            Some(open) => Ok(open),
            None => (self.connect)(),
        };
        let mut connection = open.map_err(|error| ListError::NotDone(error.into()))?;
        match command.query(&mut connection) {
            // An error that the server has answered comes in place of the work.
            Err(error) if matches!(error.kind(), ErrorKind::Server(_)) => {
                self.connection = Some(connection);
                Err(ListError::NotDone(error.into()))
            }
            // An answer that is still under way would be taken for that of the next call.
            Err(error) => Err(ListError::Unknown(error.into())),
            Ok(answer) => {
                self.connection = Some(connection);
                Ok(answer)
            }
        }
    }
}

impl<C: ConnectionLike + Send, F: FnMut() -> Result<C, RedisError> + Send> List for RedisList<F, C> {
    fn pop(&mut self) -> Result<Option<String>, ListError> {
        let command = cmd("LPOP").arg(&self.key).to_owned();
        self.call(&command)
    }

    fn push(&mut self, text: &str) -> Result<(), ListError> {
        let command = cmd("RPUSH").arg(&self.key).arg(text).to_owned();
        self.call::<u64>(&command).map(|_| ())
    }

    fn now_ms(&mut self) -> Result<u64, ListError> {
        let (seconds, micros): (u64, u64) = self.call(&cmd("TIME"))?;
        Ok(seconds * 1_000 + micros / 1_000)
    }
}
