//! Bytes that are too few or too many.

use thiserror::Error;

/// A slice does not have the length of an ID: 10 bytes, or 8 for a [`Snowflake`](crate::snowflake::Snowflake).
///
/// ```
/// use imid::MessageId;
///
/// let error = MessageId::try_from(&[0; 9][..]).unwrap_err();
/// assert_eq!(error.to_string(), "expected 10 bytes, found 9");
/// assert_eq!((error.expected(), error.found()), (10, 9));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected {expected} bytes, found {found}")]
pub struct LengthError {
    expected: usize,
    found: usize,
}

impl LengthError {
    pub(crate) const fn new(expected: usize, found: usize) -> Self {
        Self { expected, found }
    }

    /// Returns the length of an ID of this kind.
    pub const fn expected(self) -> usize {
        self.expected
    }

    /// Returns the length of the slice.
    pub const fn found(self) -> usize {
        self.found
    }
}
