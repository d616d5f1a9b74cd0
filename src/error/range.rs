//! Numbers, and ranges of times, that are out of range.

use thiserror::Error;

use crate::layout::{HASH_MAX, ID_MAX, SESSION_MAX, SPIN_MAX, TIMESTAMP_MAX, TYPE_MAX};

/// A number is too large for its field.
///
/// ```
/// use imid::MessageId;
///
/// let error = MessageId::first_at(1 << 42).unwrap_err();
/// assert_eq!(error.to_string(), "expected a timestamp of at most 4398046511103 ms, found 4398046511104");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected {} of at most {}{}, found {found}", .field.name(), .field.max(), .field.unit())]
pub struct RangeError {
    field: Field,
    found: u128,
}

/// The field that a number is too large for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    Timestamp,
    Spin,
    SessionType,
    SessionHash,
    SessionTag,
    Id,
}

impl RangeError {
    pub(crate) const fn new(field: Field, found: u128) -> Self {
        Self { field, found }
    }

    /// Returns the greatest value of the field. The least is always 0.
    pub const fn max(self) -> u128 {
        self.field.max()
    }

    /// Returns the value that was given.
    pub const fn found(self) -> u128 {
        self.found
    }
}

impl Field {
    const fn name(self) -> &'static str {
        match self {
            Self::Timestamp => "a timestamp",
            Self::Spin => "a spin",
            Self::SessionType => "a session type",
            Self::SessionHash => "a session hash",
            Self::SessionTag => "a session",
            Self::Id => "an ID",
        }
    }

    const fn max(self) -> u128 {
        match self {
            Self::Timestamp => TIMESTAMP_MAX as u128,
            Self::Spin => SPIN_MAX as u128,
            Self::SessionType => TYPE_MAX as u128,
            Self::SessionHash => HASH_MAX as u128,
            Self::SessionTag => SESSION_MAX as u128,
            Self::Id => ID_MAX,
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Self::Timestamp => " ms",
            _ => "",
        }
    }
}

/// A range of times has no IDs: it contains no millisecond, or it is not in the time of IDs.
///
/// ```
/// use imid::MessageId;
///
/// let error = MessageId::range(5..5).unwrap_err();
/// assert_eq!(error.to_string(), "expected a range of at least 1 ms, found 5..5 ms");
/// assert!(error.is_empty());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct TimeRangeError(TimeRangeKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
enum TimeRangeKind {
    #[error(transparent)]
    Timestamp(#[from] RangeError),
    #[error("expected a range of at least 1 ms, found {from}..{to} ms")]
    Empty { from: u64, to: u64 },
}

impl TimeRangeError {
    /// `from` and `to` are the bounds of the half-open range, in unix milliseconds.
    pub(crate) const fn empty(from: u64, to: u64) -> Self {
        Self(TimeRangeKind::Empty { from, to })
    }

    /// Returns whether the range contains no millisecond: it ends where it starts, or before.
    pub const fn is_empty(self) -> bool {
        matches!(self.0, TimeRangeKind::Empty { .. })
    }
}

impl From<RangeError> for TimeRangeError {
    fn from(error: RangeError) -> Self {
        Self(error.into())
    }
}
