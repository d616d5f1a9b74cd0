//! Errors of IDs, their texts and their layouts. Each is a small opaque `Copy` type that answers one question of a caller.

use core::ascii;
use core::fmt;
use core::ops::RangeInclusive;

use thiserror::Error;

/// A slice does not have the 8 bytes of an ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected 8 bytes, found {found}")]
pub struct LengthError {
    found: usize,
}

impl LengthError {
    pub(crate) const fn new(found: usize) -> Self {
        Self { found }
    }

    /// Returns the length of the slice.
    pub const fn found(self) -> usize {
        self.found
    }
}

/// A text is not an ID.
///
/// ```
/// use imid_snowflake::Layout;
///
/// let error = Layout::TWITTER.parse("2046972218479861x7").unwrap_err();
/// assert_eq!(error.to_string(), "expected a decimal digit, found 'x' at 16");
/// assert_eq!((error.position(), error.found()), (16, Some(b'x')));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected {expected}, found {} at {position}", Found(*.found))]
pub struct ParseError {
    position: usize,
    found: Option<u8>,
    expected: Expected,
}

/// What the reader expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum Expected {
    #[error("a hex digit in lower case")]
    LowerHexDigit,
    #[error("a hex digit")]
    HexDigit,
    #[error("a decimal digit")]
    DecimalDigit,
    #[error("a digit 1-9")]
    NonZeroDigit,
    #[error("a number of at most 64 bits")]
    Word,
    #[error("the end")]
    End,
}

impl ParseError {
    pub(crate) const fn new(expected: Expected, found: Option<u8>, position: usize) -> Self {
        Self { position, found, expected }
    }

    /// Returns the index of the first wrong byte, from 0. If the text ends too early, it is the length of the text.
    pub const fn position(self) -> usize {
        self.position
    }

    /// Returns the byte at [`position`](Self::position), or `None` if the text is too short.
    pub const fn found(self) -> Option<u8> {
        self.found
    }
}

/// Formats a byte for an error: in quotation marks, and escaped if it is not printable ASCII.
struct Found(Option<u8>);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(byte) => write!(f, "'{}'", ascii::escape_default(byte)),
            None => f.write_str("the end"),
        }
    }
}

/// The name of a number with its article, and its unit, which begins with a space or is empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Quantity(pub(crate) &'static str, pub(crate) &'static str);

/// A number is outside of the range that it must be in.
///
/// ```
/// use imid_snowflake::Layout;
///
/// let error = Layout::builder().tick_bits(49).build().unwrap_err();
/// assert_eq!(error.to_string(), "expected a tick of 1 to 48 bits, found 49");
/// assert_eq!((error.min(), error.max(), error.found()), (1, 48, 49));
/// ```
// The words are behind a reference, so that the errors that contain this one are small.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected {} of {min} to {max}{}, found {found}", .of.0, .of.1)]
pub struct RangeError {
    of: &'static Quantity,
    min: u64,
    max: u64,
    found: u64,
}

impl RangeError {
    /// Returns the least number that would be right.
    pub const fn min(self) -> u64 {
        self.min
    }

    /// Returns the greatest number that would be right.
    pub const fn max(self) -> u64 {
        self.max
    }

    /// Returns the number that was given.
    pub const fn found(self) -> u64 {
        self.found
    }
}

impl Quantity {
    /// Returns an error if a number is outside of a range.
    pub(crate) const fn check(&'static self, found: u64, range: RangeInclusive<u64>) -> Result<(), RangeError> {
        let (min, max) = (*range.start(), *range.end());
        if min <= found && found <= max { Ok(()) } else { Err(RangeError { of: self, min, max, found }) }
    }
}

/// A range of times has no IDs: it is empty, or it is not in the time of the layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct TimeRangeError(TimeRangeKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
enum TimeRangeKind {
    #[error(transparent)]
    Time(#[from] RangeError),
    #[error("expected a range in which a tick begins, found {from}..{to} ms")]
    Empty { from: u64, to: u64 },
}

impl TimeRangeError {
    /// `from` and `to` are the bounds of the half-open range, in Unix milliseconds.
    pub(crate) const fn empty(from: u64, to: u64) -> Self {
        Self(TimeRangeKind::Empty { from, to })
    }

    /// Returns whether no tick begins in the range.
    pub const fn is_empty(self) -> bool {
        matches!(self.0, TimeRangeKind::Empty { .. })
    }
}

impl From<RangeError> for TimeRangeError {
    fn from(error: RangeError) -> Self {
        Self(error.into())
    }
}
