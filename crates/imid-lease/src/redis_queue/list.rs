//! The list in Redis.

use redis::cmd;

use crate::register::remote::Remote;
use crate::register::{RedisServer, RegisterError};

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

    /// Returns the store's time in Unix milliseconds.
    fn now_ms(&mut self) -> Result<u64, Failure>;
}

/// A list of a Redis server.
pub(super) struct RedisList {
    server: Remote<RedisServer>,
    key: String,
}

impl RedisList {
    pub(super) fn new(url: &str, key: &str) -> Result<Self, RegisterError> {
        Ok(Self { server: RedisServer::parse(url)?, key: key.to_owned() })
    }

    fn call<T: redis::FromRedisValue + Send + Sync>(&mut self, command: &redis::Cmd) -> Result<T, Failure> {
        let Self { server, key } = self;
        let what = format_args!("use list {key}");
        // A connection without a command.
        server.call(what, async |_| Ok(())).map_err(Failure::NotDone)?;
        let answer = server.call(what, async |connection| match command.query_async(connection).await {
            // An error that the server has answered comes in place of the work.
            Err(error) if matches!(error.kind(), redis::ErrorKind::Server(_)) => Ok(Err(error)),
            answer => Ok(Ok(answer?)),
        });
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(Failure::NotDone(
                RegisterError::new(format!("cannot {what} in {}", server.place())).caused_by(error),
            )),
            Err(error) => Err(Failure::Unknown(error)),
        }
    }
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
