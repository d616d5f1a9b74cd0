//! Why a segment has no number, or cannot be opened.

use core::time::Duration;

use super::PAUSE;
use crate::record::RecordError;

/// A segment has no number now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SegmentError(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Kind {
    #[error("no number is left, and the store has not answered; retry in {} ms", PAUSE.as_millis())]
    Used,
    #[error("the store lost a block that it granted; recover the store, then open the segment again")]
    Reverted,
    #[error("the segment was opened by the process that this one was forked from; open it again in this process")]
    Forked,
}

impl SegmentError {
    /// Returns how long to wait until the same call can succeed. `None` if waiting does not help.
    pub const fn retry_after(self) -> Option<Duration> {
        if matches!(self.0, Kind::Used) { Some(PAUSE) } else { None }
    }

    /// Returns whether the store lost a block that it granted. An operator must recover it.
    pub const fn is_reverted(self) -> bool {
        matches!(self.0, Kind::Reverted)
    }

    /// Returns whether this process is a forked child of the one that opened the segment.
    pub const fn is_forked(self) -> bool {
        matches!(self.0, Kind::Forked)
    }
}

impl From<Kind> for SegmentError {
    fn from(kind: Kind) -> Self {
        Self(kind)
    }
}

/// A segment cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct OpenError(#[from] OpenKind);

#[derive(Debug, thiserror::Error)]
pub(super) enum OpenKind {
    #[error(transparent)]
    Name(RecordError),
    #[error("expected a step of 1 to 1000000000, found {found}")]
    Step { found: u64 },
    #[error("the store has no block: {0}")]
    Store(String),
    #[error("the keeper's thread cannot be started: {0}")]
    Thread(std::io::Error),
}

impl OpenError {
    /// Returns whether the name or the step is outside its range.
    pub const fn is_options(&self) -> bool {
        matches!(self.0, OpenKind::Name(_) | OpenKind::Step { .. })
    }

    /// Returns whether the store has not granted the first block: it did not answer, it can lose acknowledged writes, or
    /// it does not have the line of numbers.
    pub const fn is_store(&self) -> bool {
        matches!(self.0, OpenKind::Store(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Name;

    #[test]
    fn an_error_says_whether_a_retry_helps() {
        for (kind, words, retry_after) in [
            (Kind::Used, "no number is left, and the store has not answered; retry in 100 ms", Some(PAUSE)),
            (
                Kind::Reverted,
                "the store lost a block that it granted; recover the store, then open the segment again",
                None,
            ),
            (
                Kind::Forked,
                "the segment was opened by the process that this one was forked from; open it again in this process",
                None,
            ),
        ] {
            let error = SegmentError::from(kind);
            assert_eq!((error.to_string().as_str(), error.retry_after()), (words, retry_after));
        }
    }

    #[test]
    fn an_error_of_open_says_what_was_expected() {
        let io = || std::io::Error::other("no room");
        let name = "expected a name of 1 to 64 of the characters A-Z, a-z, 0-9, '-', '_', '.' and ':', found \"a b\"";
        for (kind, words, is) in [
            (OpenKind::Name(Name::parse("a b").unwrap_err()), name, [true, false]),
            (OpenKind::Step { found: 0 }, "expected a step of 1 to 1000000000, found 0", [true, false]),
            (OpenKind::Store("refused".into()), "the store has no block: refused", [false, true]),
            (OpenKind::Thread(io()), "the keeper's thread cannot be started: no room", [false, false]),
        ] {
            let error = OpenError::from(kind);
            assert_eq!((error.to_string().as_str(), [error.is_options(), error.is_store()]), (words, is));
        }
    }
}
