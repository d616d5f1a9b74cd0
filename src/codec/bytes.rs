//! The 10 bytes of an ID in slices, and columns of them for indexes and columnar files.

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

/// Writes the [bytes](MessageId::to_bytes) of each ID. Returns how many: the length of the shorter slice.
///
/// ```
/// use imid::{MessageId, codec};
///
/// let mut column = [[0; MessageId::BYTES]; 2];
/// assert_eq!(codec::encode_column(&[MessageId::MIN, MessageId::MAX], &mut column), 2);
/// assert_eq!(column, [[0; 10], [0xFF; 10]]);
/// ```
#[must_use = "if one slice is shorter, the end of the other is not used"]
pub fn encode_column(ids: &[MessageId], column: &mut [[u8; BYTES]]) -> usize {
    for (id, bytes) in ids.iter().zip(&mut *column) {
        *bytes = id.to_bytes();
    }
    ids.len().min(column.len())
}

/// Reads IDs from their [bytes](MessageId::to_bytes). Returns how many: the length of the shorter slice. Any 10 bytes
/// are an ID.
///
/// ```
/// use imid::{MessageId, codec};
///
/// let file = [0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
/// let mut ids = [MessageId::MIN; 2];
/// assert_eq!(codec::decode_column(file.as_chunks().0, &mut ids), 2);
/// assert_eq!(ids.map(MessageId::to_u128), [7, 9]);
/// ```
#[must_use = "if one slice is shorter, the end of the other is not used"]
pub fn decode_column(column: &[[u8; BYTES]], ids: &mut [MessageId]) -> usize {
    for (bytes, id) in column.iter().zip(&mut *ids) {
        *id = MessageId::from_bytes(*bytes);
    }
    ids.len().min(column.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::samples;

    #[test]
    fn a_column_has_the_bytes_of_one_id_after_another() {
        let ids = samples::ids();
        let bytes: Vec<_> = ids.iter().map(|id| id.to_bytes()).collect();
        for len in (0..20).chain([ids.len()]) {
            let mut column = vec![[b'?'; MessageId::BYTES]; len + 1];
            assert_eq!(encode_column(&ids[..len], &mut column), len);
            assert_eq!(column.pop(), Some([b'?'; MessageId::BYTES]), "past the end");
            assert_eq!(column, bytes[..len]);
            assert_eq!(encode_column(&ids, &mut column), len, "less room than IDs");
            assert_eq!(column, bytes[..len]);

            let mut read = vec![MessageId::MAX; len + 1];
            assert_eq!(decode_column(&column, &mut read), len);
            assert_eq!(read.pop(), Some(MessageId::MAX), "past the end");
            assert_eq!(decode_column(&bytes, &mut read), len, "less room than IDs");
            assert_eq!(read, ids[..len]);
        }
    }
}
