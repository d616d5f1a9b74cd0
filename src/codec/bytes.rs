//! The 10 bytes of an ID in slices.

use crate::error::LengthError;
use crate::id::MessageId;
use crate::layout::BYTES;

impl MessageId {
    /// Returns the ID with these bytes: 10 of them, most significant first.
    ///
    /// ```
    /// use imid::MessageId;
    ///
    /// let row: Vec<u8> = vec![0x68, 0x7e, 0x79, 0xa4, 0xbe, 0xe2, 0xac, 0xfc, 0x85, 0x6b];
    /// assert_eq!(MessageId::from_slice(&row)?.to_text(), "F3Z9-MB7Y-WCQH-T3DD");
    /// assert_eq!(MessageId::from_slice(&row[1..]).unwrap_err().to_string(), "expected 10 bytes, found 9");
    /// # Ok::<(), imid::error::LengthError>(())
    /// ```
    ///
    /// # Errors
    /// The slice is not 10 bytes long.
    #[inline]
    pub const fn from_slice(bytes: &[u8]) -> Result<Self, LengthError> {
        match bytes.first_chunk() {
            Some(all) if bytes.len() == BYTES => Ok(Self::from_bytes(*all)),
            _ => Err(LengthError::new(BYTES, bytes.len())),
        }
    }
}

/// Reads 10 raw bytes, as [`MessageId::from_slice`] does. [`MessageId::parse_bytes`] reads text.
impl TryFrom<&[u8]> for MessageId {
    type Error = LengthError;

    #[inline]
    fn try_from(bytes: &[u8]) -> Result<Self, LengthError> {
        Self::from_slice(bytes)
    }
}

/// Reads 10 raw bytes, as [`MessageId::from_slice`] does.
#[cfg(feature = "std")]
impl TryFrom<Vec<u8>> for MessageId {
    type Error = LengthError;

    #[inline]
    fn try_from(bytes: Vec<u8>) -> Result<Self, LengthError> {
        Self::from_slice(&bytes)
    }
}

/// Returns the 10 [bytes](MessageId::to_bytes).
#[cfg(feature = "std")]
impl From<MessageId> for Vec<u8> {
    #[inline]
    fn from(id: MessageId) -> Self {
        id.to_bytes().into()
    }
}
