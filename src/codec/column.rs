//! Many IDs as a column of 10 bytes each, for indexes and columnar files.

use super::target;
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
    let len = ids.len().min(column.len());
    let (ids, column) = (&ids[..len], &mut column[..len]);
    let done = target::encode_column(ids, column);
    for (id, bytes) in ids[done..].iter().zip(&mut column[done..]) {
        *bytes = id.to_bytes();
    }
    len
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
    let len = ids.len().min(column.len());
    let (column, ids) = (&column[..len], &mut ids[..len]);
    let done = target::decode_column(column, ids);
    for (bytes, id) in column[done..].iter().zip(&mut ids[done..]) {
        *id = MessageId::from_bytes(*bytes);
    }
    len
}
