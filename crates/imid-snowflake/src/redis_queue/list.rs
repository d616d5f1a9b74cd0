//! The list, over the application's client.

use core::error::Error;

/// A call of a list has failed.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The list is as it was: the server refused the call, or was not reached.
    #[error(transparent)]
    NotDone(Box<dyn Error + Send + Sync>),
    /// Nobody knows whether the list has changed: the answer is missing. The worker ID of the call is counted as lost.
    #[error(transparent)]
    Unknown(Box<dyn Error + Send + Sync>),
}

/// A list of texts at a store that has a clock: a list in Redis, over the application's own client. [`RedisList`](super::RedisList) is
/// one for the crate redis (feature `redis-1`).
///
/// Each call needs a time limit: a call that does not return keeps the queue's thread.
pub trait List: Send {
    /// Removes the first text and returns it (`LPOP`); `None` if the list is empty.
    ///
    /// # Errors
    /// The server does not answer, or refuses.
    fn pop(&mut self) -> Result<Option<String>, ListError>;

    /// Adds a text at the end (`RPUSH`).
    ///
    /// # Errors
    /// As for [`pop`](Self::pop).
    fn push(&mut self, text: &str) -> Result<(), ListError>;

    /// Returns the store's time in Unix milliseconds (`TIME`).
    ///
    /// # Errors
    /// As for [`pop`](Self::pop).
    fn now_ms(&mut self) -> Result<u64, ListError>;
}
