//! The list in Redis.

use std::time::Duration;

use redis::{Client, Connection, RedisError, cmd};

use crate::register::{RegisterError, parse_redis_url as parse};

/// A call that has failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The list is as it was.
    NotDone(RegisterError),
    /// Nobody knows: the answer is missing.
    Unknown(RegisterError),
}

/// A list of texts at a store that has a clock. A trait, so that tests can lose answers.
pub(super) trait List: Send {
    /// Removes the first text and returns it; `None` if the list is empty.
    fn pop(&mut self) -> Result<Option<String>, Failure>;

    /// Adds a text at the end.
    fn push(&mut self, text: &str) -> Result<(), Failure>;

    /// Returns the store's time in unix milliseconds.
    fn now_ms(&mut self) -> Result<u64, Failure>;
}

/// A list of a Redis server.
pub(super) struct RedisList {
    client: Client,
    key: String,
    time_limit: Duration,
    /// `None` after a failure, until the next call.
    connection: Option<Connection>,
}

impl RedisList {
    pub(super) fn new(url: &str, key: &str, time_limit: Duration) -> Result<Self, RegisterError> {
        Ok(Self { client: parse(url)?, key: key.to_owned(), time_limit, connection: None })
    }

    fn call<T: redis::FromRedisValue>(&mut self, command: &redis::Cmd) -> Result<T, Failure> {
        let place = self.client.get_connection_info().addr().to_string();
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => {
                let connected = connect(&self.client, self.time_limit);
                let refused =
                    |error| RegisterError::new(format!("cannot connect to Redis at {place}")).caused_by(error);
                none.insert(connected.map_err(|error: RedisError| Failure::NotDone(refused(error)))?)
            }
        };
        command.query(connection).map_err(|error: RedisError| {
            let key = &self.key;
            let context = RegisterError::new(format!("call to Redis at {place} failed, for list {key}"));
            // An error that the server has answered comes in place of the work.
            if matches!(error.kind(), redis::ErrorKind::Server(_)) {
                Failure::NotDone(context.caused_by(error))
            } else {
                self.connection = None;
                Failure::Unknown(context.caused_by(error))
            }
        })
    }
}

fn connect(client: &Client, time_limit: Duration) -> Result<Connection, RedisError> {
    let connection = client.get_connection_with_timeout(time_limit)?;
    connection.set_read_timeout(Some(time_limit))?;
    connection.set_write_timeout(Some(time_limit))?;
    Ok(connection)
}

impl List for RedisList {
    fn pop(&mut self) -> Result<Option<String>, Failure> {
        let command = cmd("LPOP").arg(&self.key).to_owned();
        self.call(&command)
    }

    fn push(&mut self, text: &str) -> Result<(), Failure> {
        let command = cmd("RPUSH").arg(&self.key).arg(text).to_owned();
        self.call::<u64>(&command).map(|_| ())
    }

    fn now_ms(&mut self) -> Result<u64, Failure> {
        let (seconds, micros): (u64, u64) = self.call(&cmd("TIME"))?;
        Ok(seconds * 1_000 + micros / 1_000)
    }
}
