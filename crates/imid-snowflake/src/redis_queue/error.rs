//! Why there is no worker ID from the list.

use core::time::Duration;
use std::string::String;

use thiserror::Error;

/// The list could not be opened, or has no worker ID for a generator.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct QueueError(#[from] QueueKind);

#[derive(Debug, Error)]
pub(super) enum QueueKind {
    #[error("cannot use the list of worker IDs: {cause}")]
    List { cause: String },
    #[error("no worker ID is in the list")]
    Empty,
    #[error("no worker ID can be used now: retry in {} ms", .retry_after.as_millis())]
    None { retry_after: Duration },
    #[error("no worker ID is left, and Redis does not answer: retry in {} ms", .retry_after.as_millis())]
    Silent { retry_after: Duration },
    #[error("cannot start the thread that talks to Redis")]
    Thread(#[source] std::io::Error),
    #[error("queue is closed")]
    Closed,
    #[error("queue belongs to the parent process: open another one after the fork")]
    Forked,
}

impl QueueError {
    /// Returns how long to wait until [`generator`](super::RedisQueue::generator) can succeed; `None` if waiting does not help, or
    /// the queue was not opened.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self.0 {
            QueueKind::None { retry_after } | QueueKind::Silent { retry_after } => Some(retry_after),
            _ => None,
        }
    }

    /// Returns whether the list cannot be used, or Redis does not answer.
    pub const fn is_list(&self) -> bool {
        matches!(self.0, QueueKind::List { .. } | QueueKind::Silent { .. })
    }

    /// Returns whether no worker ID can be used now: the list is empty, or generators have all of them.
    pub const fn is_no_worker_id(&self) -> bool {
        matches!(self.0, QueueKind::Empty | QueueKind::None { .. })
    }

    /// Returns whether the queue was closed.
    pub const fn is_closed(&self) -> bool {
        matches!(self.0, QueueKind::Closed)
    }

    /// Returns whether the process is a forked child, and the queue belongs to the parent.
    pub const fn is_forked(&self) -> bool {
        matches!(self.0, QueueKind::Forked)
    }

    /// Returns whether waiting does not help.
    pub const fn is_permanent(&self) -> bool {
        matches!(self.0, QueueKind::Thread(_) | QueueKind::Closed | QueueKind::Forked)
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_queue_error_says_what_is_missing_and_when_to_come_back() {
        let retry_after = Duration::from_millis(100);
        for (kind, words, is_permanent) in [
            (QueueKind::List { cause: "no".into() }, "cannot use the list of worker IDs: no", false),
            (QueueKind::Empty, "no worker ID is in the list", false),
            (QueueKind::None { retry_after }, "no worker ID can be used now: retry in 100 ms", false),
            (
                QueueKind::Silent { retry_after },
                "no worker ID is left, and Redis does not answer: retry in 100 ms",
                false,
            ),
            (QueueKind::Thread(std::io::Error::other("no")), "cannot start the thread that talks to Redis", true),
            (QueueKind::Closed, "queue is closed", true),
            (QueueKind::Forked, "queue belongs to the parent process: open another one after the fork", true),
        ] {
            let error = QueueError::from(kind);
            assert_eq!((error.to_string().as_str(), error.is_permanent()), (words, is_permanent));
            assert_eq!(error.retry_after().is_some(), words.contains("retry in"));
            let kinds = [error.is_list(), error.is_no_worker_id(), error.is_closed(), error.is_forked()];
            assert_eq!(kinds.into_iter().filter(|is| *is).count(), usize::from(!words.contains("thread")), "{words}");
        }
    }
}
