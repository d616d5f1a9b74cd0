//! Numbers, and ranges of times, that are out of range.

use thiserror::Error;

/// The name and the unit of a number, for a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Quantity {
    name: &'static str,
    unit: &'static str,
}

/// A number is greater than its field can hold.
///
/// ```
/// use imid::MessageId;
///
/// let error = MessageId::first_at(1 << 42).unwrap_err();
/// assert_eq!(error.to_string(), "expected a timestamp of 0 to 4398046511103 ms, found 4398046511104");
/// assert_eq!((error.max(), error.found()), ((1 << 42) - 1, 1 << 42));
/// ```
// The words are behind a reference, so that the errors that contain this one are small.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected {} of 0 to {max}{}, found {found}", .of.name, .of.unit)]
pub struct RangeError {
    of: &'static Quantity,
    max: u128,
    found: u128,
}

impl RangeError {
    /// Returns the greatest valid number.
    pub const fn max(self) -> u128 {
        self.max
    }

    /// Returns the number that was given.
    pub const fn found(self) -> u128 {
        self.found
    }
}

impl Quantity {
    /// Returns a quantity. `name` includes the article. `unit` begins with a space or is empty.
    pub(crate) const fn new(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit }
    }

    /// Returns the error of a number that is greater than `max`.
    pub(crate) const fn too_large(&'static self, max: u128, found: u128) -> RangeError {
        RangeError { of: self, max, found }
    }
}

/// A time range contains no IDs: it is empty, or outside the time that IDs can express.
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
    Time(#[from] RangeError),
    #[error("expected a range of at least 1 ms, found {from}..{to} ms")]
    Empty { from: u64, to: u64 },
}

impl TimeRangeError {
    /// `from` and `to` are the bounds of the half-open range, in Unix milliseconds.
    pub(crate) const fn empty(from: u64, to: u64) -> Self {
        Self(TimeRangeKind::Empty { from, to })
    }

    /// Returns whether the range is empty: it ends where it starts or before.
    pub const fn is_empty(self) -> bool {
        matches!(self.0, TimeRangeKind::Empty { .. })
    }
}

impl From<RangeError> for TimeRangeError {
    fn from(error: RangeError) -> Self {
        Self(error.into())
    }
}
