//! Why no ID follows a room's last one.

use core::time::Duration;

use thiserror::Error;

use crate::layout::TIMESTAMP_MAX;

/// [`MessageId::after`](crate::MessageId::after) made no ID.
///
/// ```
/// use core::time::Duration;
/// use imid::{MessageId, SessionTag, SessionType};
///
/// let room = SessionTag::new(SessionType::GROUP, "room-42");
/// let now_ms = 1_795_204_812_345;
/// let last = MessageId::first_at(now_ms + 86_400_001)?;
/// let error = MessageId::after(Some(last), room, now_ms).unwrap_err();
/// assert!(error.is_skew());
/// assert_eq!(error.ahead(), Some(Duration::from_millis(86_400_001)));
/// # Ok::<(), imid::error::RangeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct AfterError(AfterKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum AfterKind {
    #[error("expected a last ID at most {max} ms ahead of the time, found {found} ms")]
    Skew { max: u64, found: u64 },
    #[error("expected a time of 0 to {TIMESTAMP_MAX} ms, found {found}")]
    Time { found: u64 },
    #[error("no ID is left after the last one until the end of time (2109-05-15)")]
    Exhausted,
}

impl AfterError {
    pub(crate) const fn new(kind: AfterKind) -> Self {
        Self(kind)
    }

    /// Returns whether the last ID is further ahead of the time than the limit: the clock of a database is or was wrong, or no host
    /// minted that ID.
    pub const fn is_skew(self) -> bool {
        matches!(self.0, AfterKind::Skew { .. })
    }

    /// Returns how far ahead of the time the last ID is, or `None` if that is not the error.
    pub const fn ahead(self) -> Option<Duration> {
        match self.0 {
            AfterKind::Skew { found, .. } => Some(Duration::from_millis(found)),
            _ => None,
        }
    }

    /// Returns whether the ID would be past the end of time, in May 2109. A time in microseconds is such an error.
    pub const fn is_exhausted(self) -> bool {
        matches!(self.0, AfterKind::Time { .. } | AfterKind::Exhausted)
    }
}
