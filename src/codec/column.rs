//! Many IDs as a column of 10 bytes each, for indexes and columnar files.

use crate::id::MessageId;

/// Writes each ID's [bytes](MessageId::to_bytes), and tells how many: as many as both slices hold.
///
/// ```
/// use imid::{MessageId, codec};
///
/// let mut column = [[0; MessageId::BYTES]; 2];
/// assert_eq!(codec::encode_column(&[MessageId::MIN, MessageId::MAX], &mut column), 2);
/// assert_eq!(column, [[0; 10], [0xFF; 10]]);
/// ```
#[must_use = "where one slice is shorter, not all of the other is used"]
pub fn encode_column(ids: &[MessageId], column: &mut [[u8; MessageId::BYTES]]) -> usize {
    for (id, bytes) in ids.iter().zip(&mut *column) {
        *bytes = id.to_bytes();
    }
    ids.len().min(column.len())
}

/// Reads IDs from their [bytes](MessageId::to_bytes), and tells how many: as many as both slices hold. Any bytes are
/// an ID's.
///
/// ```
/// use imid::{MessageId, codec};
///
/// let file = [0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
/// let mut ids = [MessageId::MIN; 2];
/// assert_eq!(codec::decode_column(file.as_chunks().0, &mut ids), 2);
/// assert_eq!(ids.map(MessageId::to_u128), [7, 9]);
/// ```
#[must_use = "where one slice is shorter, not all of the other is used"]
pub fn decode_column(column: &[[u8; MessageId::BYTES]], ids: &mut [MessageId]) -> usize {
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
    fn columns_are_the_bytes_of_one_id_after_another() {
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
