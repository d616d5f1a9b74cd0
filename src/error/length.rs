//! Bytes that are too few or too many.

use thiserror::Error;

use crate::layout::BYTES;

/// A slice does not have the length of an ID, 10 bytes.
///
/// ```
/// use imid::MessageId;
///
/// let error = MessageId::try_from(&[0; 9][..]).unwrap_err();
/// assert_eq!(error.to_string(), "expected 10 bytes, found 9");
/// assert_eq!(error.found(), 9);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected {BYTES} bytes, found {found}")]
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
