//! Bytes that are too few or too many.

use thiserror::Error;

use crate::layout::{BYTES, TEXT_LEN};

/// A slice does not have the 10 bytes of an ID.
///
/// ```
/// use imid::MessageId;
///
/// let error = MessageId::try_from(&[0; 9][..]).unwrap_err();
/// assert_eq!(error.to_string(), "expected 10 bytes, found 9");
/// assert_eq!((error.expected(), error.found()), (10, 9));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected {expected} bytes, found {found}{}", self.hint())]
pub struct LengthError {
    expected: usize,
    found: usize,
}

impl LengthError {
    pub(crate) const fn new(expected: usize, found: usize) -> Self {
        Self { expected, found }
    }

    /// A slice of 19 bytes is most often a text that was passed to the reader of bytes.
    const fn hint(self) -> &'static str {
        if self.expected == BYTES && self.found == TEXT_LEN {
            ", the length of a text (read it with parse_bytes, or store::AsText)"
        } else {
            ""
        }
    }

    /// Returns the length that was expected: 10, or the 16 bytes of a UUID.
    pub const fn expected(self) -> usize {
        self.expected
    }

    /// Returns the length of the slice.
    pub const fn found(self) -> usize {
        self.found
    }
}
