//! The rules of FORMAT.md for texts, bytes and lines, in simple code.

use imid::MessageId;
use imid::error::ParseError;

/// The characters that may be around a text that a person typed.
pub const WHITE_SPACE: [char; 6] = [' ', '\t', '\n', '\x0B', '\x0C', '\r'];

const DIGITS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// The error of a text.
#[derive(PartialEq, Debug)]
pub struct Fault {
    position: usize,
    found: Option<u8>,
    message: String,
}

impl Fault {
    fn new(expected: &str, found: Option<u8>, position: usize) -> Self {
        let shown = found.map_or("the end".to_owned(), |found| format!("'{}'", found.escape_ascii()));
        Self { position, found, message: format!("expected {expected}, found {shown} at {position}") }
    }
}

impl From<ParseError> for Fault {
    fn from(error: ParseError) -> Self {
        Self { position: error.position(), found: error.found(), message: error.to_string() }
    }
}

/// Returns the 10 bytes.
pub fn bytes(id: MessageId) -> [u8; 10] {
    std::array::from_fn(|at| (id.to_u128() >> (72 - 8 * at)) as u8)
}

/// Returns the text.
pub fn text(id: MessageId) -> [u8; 19] {
    let mut text = [b'-'; 19];
    for i in 0..16 {
        text[i + i / 4] = DIGITS[(id.to_u128() >> (75 - 5 * i)) as usize % 32];
    }
    text
}

/// Returns the text and a separator.
pub fn line(id: MessageId, separator: u8) -> [u8; 20] {
    let mut line = [separator; 20];
    line[..19].copy_from_slice(&text(id));
    line
}

/// Returns the ID of a text, or the error at its first byte that does not fit.
pub fn parse(text: &[u8]) -> Result<MessageId, Fault> {
    let mut value = 0;
    for at in 0..19 {
        let found = text.get(at).copied();
        if [4, 9, 14].contains(&at) {
            if found != Some(b'-') {
                return Err(Fault::new("'-'", found, at));
            }
        } else {
            let digit = found.and_then(|byte| DIGITS.binary_search(&byte).ok());
            let digit = digit.ok_or_else(|| Fault::new("a digit 2-9 or A-Z without I and O", found, at))?;
            value = 32 * value + digit as u128;
        }
    }
    match text.get(19) {
        None => Ok(MessageId::from_u128(value).expect("16 digits of 5 bits")),
        found => Err(Fault::new("the end", found.copied(), 19)),
    }
}

/// Returns the IDs of lines up to a wrong line, and the error of this line. The last line may be without its separator.
pub fn parse_lines(lines: &[u8], separator: u8, room: usize) -> (Vec<MessageId>, Option<Fault>) {
    let mut ids = Vec::new();
    for line in lines.chunks(20).take(room) {
        let (text, end) = line.split_at(line.len().min(19));
        match parse(text) {
            Ok(id) if end.is_empty() || end == [separator] => ids.push(id),
            Ok(_) => return (ids, Some(Fault::new("the separator", Some(end[0]), 19))),
            Err(fault) => return (ids, Some(fault)),
        }
    }
    (ids, None)
}
