//! Many IDs as lines of text, for exports and imports.

use super::{decode, encode};
use crate::error::{Expected, LineError, ParseError};
use crate::id::MessageId;
use crate::layout::TEXT_LEN;

/// Length of a line: the 19 characters of a text and a separator.
pub const LINE_LEN: usize = TEXT_LEN + 1;

/// Writes the text of each ID and a separator after it. Returns how many: the length of the shorter slice.
///
/// With AVX2 this is faster than writing one ID after another.
///
/// ```
/// use imid::{MessageId, codec, message_id};
///
/// let ids = [MessageId::MIN, message_id!("F3Z9-MB7Y-WCQH-T3DD")];
/// let mut lines = [[0; codec::LINE_LEN]; 2];
/// assert_eq!(codec::encode_lines(&ids, b'\n', &mut lines), 2);
/// assert_eq!(lines.as_flattened(), b"2222-2222-2222-2222\nF3Z9-MB7Y-WCQH-T3DD\n");
/// ```
#[must_use = "if one slice is shorter, the end of the other is not used"]
pub fn encode_lines(ids: &[MessageId], separator: u8, lines: &mut [[u8; LINE_LEN]]) -> usize {
    let done = avx2_or!(|avx2| avx2.encode_lines(ids, separator, lines), 0);
    for (id, line) in ids[done..].iter().zip(&mut lines[done..]) {
        *line = encode::padded(id.to_u128());
        line[TEXT_LEN] = separator;
    }
    ids.len().min(lines.len())
}

/// Reads lines of 19 characters and a separator. The last line need not have the separator. Returns how many it read:
/// all lines, or as many as `ids` has room for.
///
/// Each line must have exactly this form. A blank line or `\r\n` is an error. To skip a line of another form, call
/// again with the bytes after it:
///
/// ```
/// use imid::{MessageId, codec};
///
/// let block = b"2222-2222-2222-2222\nF3Z9-MB7Y-WCQH-T3DD\noops\nZZZZ-ZZZZ-ZZZZ-ZZZZ";
/// let mut ids = [MessageId::MIN; 64];
/// let error = codec::decode_lines(block, b'\n', &mut ids).unwrap_err();
/// assert_eq!(error.index(), 2);
/// assert_eq!(ids[1].to_string(), "F3Z9-MB7Y-WCQH-T3DD");
/// assert_eq!(error.to_string(), "text 2: expected a digit 2-9 or A-Z without I and O, found 'o' at 0");
///
/// let rest = &block[error.index() * codec::LINE_LEN + b"oops\n".len()..];
/// assert_eq!(codec::decode_lines(rest, b'\n', &mut ids), Ok(1));
/// # assert_eq!(ids[0], MessageId::MAX);
/// ```
///
/// # Errors
/// A line has any other form. The error has the index of the line, and the position and the byte in the line. IDs
/// before this index have been read. The others are unchanged.
pub fn decode_lines(lines: &[u8], separator: u8, ids: &mut [MessageId]) -> Result<usize, LineError> {
    let (lines, end) = lines.as_chunks::<LINE_LEN>();
    let mut done = avx2_or!(|avx2| avx2.decode_lines(lines, separator, ids), 0);
    for (line, id) in lines[done..].iter().zip(&mut ids[done..]) {
        let [text @ .., end] = line;
        match MessageId::from_u128(decode::standard(text)) {
            Ok(read) if *end == separator => *id = read,
            _ => return Err(LineError::new(done, line_error(line))),
        }
        done += 1;
    }
    if !end.is_empty()
        && let Some(id) = ids.get_mut(done)
    {
        *id = MessageId::parse_bytes(end).map_err(|error| LineError::new(done, error))?;
        done += 1;
    }
    Ok(done)
}

/// Returns what is wrong with a line: its text, or else its separator.
#[cold]
fn line_error(line: &[u8; LINE_LEN]) -> ParseError {
    let [text @ .., end] = line;
    let no_separator = || ParseError::new(Expected::Separator, Some(*end), TEXT_LEN);
    MessageId::parse_bytes(text).err().unwrap_or_else(no_separator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::levels::on_each_level;
    use crate::codec::samples;

    /// Returns the lines that each level must write.
    fn lines_of(ids: &[MessageId], separator: u8) -> Vec<[u8; LINE_LEN]> {
        let line = |id: &MessageId| {
            let mut line = encode::padded(id.to_u128());
            line[TEXT_LEN] = separator;
            line
        };
        ids.iter().map(line).collect()
    }

    #[test]
    fn lines_are_written_alike_at_each_level() {
        let ids = samples::ids();
        on_each_level(|level| {
            for len in (0..20).chain([ids.len()]) {
                for separator in [b'\n', b',', b'-', b'A', 0, 0xFF] {
                    let mut lines = vec![[b'?'; LINE_LEN]; len + 1];
                    assert_eq!(encode_lines(&ids[..len], separator, &mut lines), len);
                    assert_eq!(lines.pop(), Some([b'?'; LINE_LEN]), "{level}: past the end");
                    assert_eq!(lines, lines_of(&ids[..len], separator), "{level}");
                    assert_eq!(encode_lines(&ids, separator, &mut lines), len, "{level}: less room than IDs");
                    assert_eq!(lines, lines_of(&ids[..len], separator), "{level}");
                }
            }
        });
    }

    #[test]
    fn lines_are_read_alike_at_each_level() {
        let ids = samples::ids();
        on_each_level(|level| {
            for len in (0..20).chain([ids.len()]) {
                for separator in [b'\n', b',', b'-', b'A', 0, 0xFF] {
                    let lines = lines_of(&ids[..len], separator);
                    let mut read = vec![MessageId::MAX; len];
                    assert_eq!(decode_lines(lines.as_flattened(), separator, &mut read), Ok(len), "{level}");
                    assert_eq!(read, ids[..len], "{level}");
                }
            }
        });
    }

    /// Reads one line after another. Returns the result that each level must have.
    fn read_lines(lines: &[[u8; LINE_LEN]], separator: u8) -> (Vec<MessageId>, Result<usize, LineError>) {
        let mut ids = Vec::new();
        for (index, [text @ .., end]) in lines.iter().enumerate() {
            let no_separator = ParseError::new(Expected::Separator, Some(*end), TEXT_LEN);
            match MessageId::parse_bytes(text).and_then(|id| (*end == separator).then_some(id).ok_or(no_separator)) {
                Ok(id) => ids.push(id),
                Err(error) => return (ids, Err(LineError::new(index, error))),
            }
        }
        let len = ids.len();
        (ids, Ok(len))
    }

    #[test]
    fn every_wrong_byte_is_found_and_later_ids_are_unchanged() {
        let ids = &samples::ids()[200..205];
        on_each_level(|level| {
            for (at, byte) in (0..ids.len() * LINE_LEN).flat_map(|at| (0..=u8::MAX).map(move |byte| (at, byte))) {
                let mut lines = lines_of(ids, b'\n');
                lines.as_flattened_mut()[at] = byte;
                let (mut want, result) = read_lines(&lines, b'\n');
                want.resize(ids.len(), MessageId::MAX);
                let mut read = vec![MessageId::MAX; ids.len()];
                assert_eq!(decode_lines(lines.as_flattened(), b'\n', &mut read), result, "{level} {byte} at {at}");
                assert_eq!(read, want, "{level} {byte} at {at}");
            }
        });
    }

    #[test]
    fn the_last_line_needs_no_separator_and_lines_without_room_are_not_read() {
        let ids = &samples::ids()[200..205];
        let mut lines = [[0; LINE_LEN]; 5];
        assert_eq!(encode_lines(ids, b'\n', &mut lines), ids.len());
        for (end, room) in (0..=lines.as_flattened().len()).flat_map(|end| (0..=6).map(move |room| (end, room))) {
            let (whole, rest) = (end / LINE_LEN, end % LINE_LEN);
            let want = match rest {
                _ if room <= whole => Ok(room),
                0 => Ok(whole),
                TEXT_LEN => Ok(whole + 1),
                _ => Err((whole, rest)),
            };
            let mut read = vec![MessageId::MAX; room];
            let result = decode_lines(&lines.as_flattened()[..end], b'\n', &mut read);
            let count = result.unwrap_or_else(LineError::index);
            assert_eq!(result.map_err(|error| (error.index(), error.error().position())), want, "{end} bytes");
            assert_eq!(read[..count], ids[..count], "{end} bytes");
            assert!(read[count..].iter().all(|id| *id == MessageId::MAX), "{end} bytes, room for {room}");
        }
    }
}
