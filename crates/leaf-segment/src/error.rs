//! Why a line of numbers could not be opened, and why there is no number.

use std::time::Duration;

use thiserror::Error;

#[cfg(feature = "imid-lease")]
use imid_lease::{RegisterError, record::RecordError};

/// No number was handed out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct NumberError(#[from] NumberKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum NumberKind {
    #[error("no number is left, and the store has not answered: retry in {} ms", .retry_after.as_millis())]
    None { retry_after: Duration },
    #[error("store granted a block below the last one: recover the line while no process uses it, then restart")]
    Reverted,
    #[error("ended by a panic of the call that fetches a block: open another segment")]
    Closed,
    #[error("segment belongs to the parent process: open another one after the fork")]
    Forked,
}

impl NumberError {
    /// Returns how long to wait until the same call can succeed; `None` if waiting does not help.
    pub const fn retry_after(self) -> Option<Duration> {
        match self.0 {
            NumberKind::None { retry_after } => Some(retry_after),
            _ => None,
        }
    }

    /// Returns whether both blocks are used and the store has not answered.
    pub const fn is_register(self) -> bool {
        matches!(self.0, NumberKind::None { .. })
    }

    /// Returns whether the store went back to an earlier state, as after a restored backup.
    pub const fn is_reverted(self) -> bool {
        matches!(self.0, NumberKind::Reverted)
    }

    /// Returns whether the segment has ended because the call that fetches a block has panicked.
    pub const fn is_closed(self) -> bool {
        matches!(self.0, NumberKind::Closed)
    }

    /// Returns whether the process is a forked child, and the segment belongs to the parent.
    pub const fn is_forked(self) -> bool {
        matches!(self.0, NumberKind::Forked)
    }
}

/// The store refuses to grant blocks until somebody changes it: a [`BlockError`](crate::BlockError) that a retry does not mend.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct Refused(String);

impl Refused {
    /// Returns an error that says what was expected, and what was found, such as `expected the table leaf_alloc, found none`.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// A line of numbers could not be opened or recovered.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct SegmentError(#[from] SegmentKind);

#[derive(Debug, Error)]
pub(crate) enum SegmentKind {
    #[cfg(feature = "imid-lease")]
    #[error(transparent)]
    Name(RecordError),
    #[cfg(feature = "imid-lease")]
    #[error("expected a step of 1 to 1000000000, found {found}")]
    Step { found: u32 },
    #[cfg(feature = "imid-lease")]
    #[error("expected a number below 2^63, found {found}")]
    Next { found: u64 },
    #[error("the store has no block: {cause}")]
    NoBlock { cause: String, is_permanent: bool },
    #[cfg(feature = "imid-lease")]
    #[error("the register failed")]
    Register(#[source] RegisterError),
    #[cfg(feature = "imid-lease")]
    #[error("expected a record of a line of numbers of the format `imid-lease/1`, found {found:?}")]
    Record { found: String },
    #[cfg(feature = "imid-lease")]
    #[error("the record {key} is being written by another process")]
    Busy { key: String },
    #[cfg(feature = "imid-lease")]
    #[error("the system has no random numbers")]
    Random,
    #[error("cannot start the thread that fetches blocks")]
    Thread(#[source] std::io::Error),
    #[error("segment belongs to the parent process: open another one after the fork")]
    Forked,
}

impl SegmentError {
    /// Returns whether the name, the step or the next number is outside its range.
    #[cfg(feature = "imid-lease")]
    pub const fn is_options(&self) -> bool {
        matches!(self.0, SegmentKind::Name(_) | SegmentKind::Step { .. } | SegmentKind::Next { .. })
    }

    /// Returns whether the store did not answer, or has no block.
    pub const fn is_register(&self) -> bool {
        match self.0 {
            SegmentKind::NoBlock { .. } => true,
            #[cfg(feature = "imid-lease")]
            SegmentKind::Register(_) => true,
            _ => false,
        }
    }

    /// Returns whether the process is a forked child, and the segment belongs to the parent.
    pub const fn is_forked(&self) -> bool {
        matches!(self.0, SegmentKind::Forked)
    }

    /// Returns whether waiting does not help. Only an unresponsive store and a contended record can recover on their own.
    pub const fn is_permanent(&self) -> bool {
        match &self.0 {
            SegmentKind::NoBlock { is_permanent, .. } => *is_permanent,
            #[cfg(feature = "imid-lease")]
            SegmentKind::Register(error) => error.is_permanent(),
            #[cfg(feature = "imid-lease")]
            SegmentKind::Busy { .. } => false,
            _ => true,
        }
    }
}

#[cfg(feature = "imid-lease")]
impl From<RegisterError> for SegmentError {
    fn from(error: RegisterError) -> Self {
        Self(SegmentKind::Register(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_error_says_when_to_come_back_or_what_to_do() {
        let retry_after = Duration::from_millis(100);
        for (kind, words, after) in [
            (
                NumberKind::None { retry_after },
                "no number is left, and the store has not answered: retry in 100 ms",
                Some(retry_after),
            ),
            (
                NumberKind::Reverted,
                "store granted a block below the last one: recover the line while no process uses it, then restart",
                None,
            ),
            (NumberKind::Closed, "ended by a panic of the call that fetches a block: open another segment", None),
            (NumberKind::Forked, "segment belongs to the parent process: open another one after the fork", None),
        ] {
            let error = NumberError::from(kind);
            assert_eq!((error.to_string().as_str(), error.retry_after()), (words, after));
            let kinds = [error.is_register(), error.is_reverted(), error.is_closed(), error.is_forked()];
            assert_eq!(kinds.into_iter().filter(|is| *is).count(), 1, "{words}");
        }
        assert!(size_of::<NumberError>() <= 16);
    }

    #[test]
    fn a_segment_error_says_what_was_expected() {
        let text = |kind: SegmentKind| SegmentError::from(kind).to_string();
        let none = SegmentKind::NoBlock { cause: "refused".into(), is_permanent: true };
        assert_eq!(text(none), "the store has no block: refused");
        let thread = SegmentKind::Thread(std::io::Error::other("no"));
        assert_eq!(text(thread), "cannot start the thread that fetches blocks");
        assert!(SegmentError::from(SegmentKind::Forked).is_forked());
    }

    #[cfg(feature = "imid-lease")]
    #[test]
    fn an_error_of_a_line_says_what_was_expected() {
        let text = |kind: SegmentKind| SegmentError::from(kind).to_string();
        assert_eq!(text(SegmentKind::Step { found: 0 }), "expected a step of 1 to 1000000000, found 0");
        let next = SegmentKind::Next { found: 1 << 63 };
        assert_eq!(text(next), "expected a number below 2^63, found 9223372036854775808");
        assert_eq!(text(SegmentKind::Register(RegisterError::new("no"))), "the register failed");
        let busy = SegmentError::from(SegmentKind::Busy { key: "seg/orders".into() });
        assert_eq!(busy.to_string(), "the record seg/orders is being written by another process");
        assert!(!busy.is_permanent());
        assert_eq!(text(SegmentKind::Random), "the system has no random numbers");
        let record = SegmentKind::Record { found: "imid-lease/1 lane".into() };
        let expected =
            "expected a record of a line of numbers of the format `imid-lease/1`, found \"imid-lease/1 lane\"";
        assert_eq!(text(record), expected);
    }
}
