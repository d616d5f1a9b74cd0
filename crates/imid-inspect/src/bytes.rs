//! The bytes of an ID as clients print them: hex dumps, lists of numbers, literals of languages, base64.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use imid::MessageId;
use uuid::Uuid;

use crate::form::Form;
use crate::scheme::{Id, Scheme};

/// The bytes that a text shows, and its form.
pub(crate) struct Shown {
    pub(crate) bytes: Vec<u8>,
    pub(crate) form: Form,
}

/// The bytes of an ID, and those of its UUID view.
const LENGTHS: [usize; 2] = [MessageId::BYTE_LEN, 16];

impl Shown {
    /// Reads one literal, with what is around it in code: `<Buffer 66 a8 ..>`, `BinData(0,"ZqirGtAAHPyFaw==")`, `b'f\xa8..'`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(bytes) = dumped(text) {
            return Some(Self { bytes, form: Form::Bytes });
        }
        // A literal that is cut off begins or ends with a quotation mark. As a byte at the end, the mark is escaped. PostgreSQL does not
        // escape it, so bytes that it shows without quotation marks are not read for one room of 128.
        let end = text.trim_end_matches("\\'").trim_end_matches("\\\"");
        let is_bare = !text.get(..2).is_some_and(|start| start.contains(['"', '\''])) && !end.ends_with(['"', '\'']);
        let bare = || if is_bare && text.contains('\\') { Self::of_string(text) } else { None };
        Self::of_literal(text).or_else(bare)
    }

    /// Reads a literal. What is before a quotation mark or a bracket says the type, and what is after it closes the call.
    fn of_literal(text: &str) -> Option<Self> {
        let is_call = |part: &str, signs: &str| {
            part.bytes().all(|byte| byte.is_ascii_alphanumeric() || signs.contains(char::from(byte)))
        };
        // As in `1) `, `id: ` and `new byte[] `.
        let is_type = |before: &str| before.trim_end().split(' ').count() < 3 && is_call(before, "$.,:=([{)]} ");
        if let Some(at) = text.find(['"', '\'', '`']) {
            let (inner, after) = text[at + 1..].rsplit_once(&text[at..=at])?;
            // An odd backslash at the end would escape the quotation mark: the literal is cut off.
            let backslashes = inner.len() - inner.trim_end_matches('\\').len();
            let is_literal = is_type(&text[..at]) && is_call(after, ",;:)]}. ") && backslashes.is_multiple_of(2);
            return Some(inner).filter(|_| is_literal).and_then(Self::of_string);
        }
        let Some(at) = text.rfind(['[', '{', '(', '<']) else {
            let list = text.split_once(": ").map_or(text, |(_, list)| list);
            return Self::of_list(list).or_else(|| Self::of_string(text));
        };
        let list = text[at + 1..].trim_end_matches([']', '}', ')', '>', ',', ';', '.', ' ', '\n']);
        Some(list).filter(|_| is_type(&text[..at])).and_then(Self::of_list)
    }

    /// Reads what is between quotation marks: hex digits, base64, or characters and escapes.
    fn of_string(text: &str) -> Option<Self> {
        let hex = text.trim_start_matches('\\');
        let hex = hex.strip_prefix("0x").or_else(|| hex.strip_prefix(['x', 'X'])).unwrap_or(hex);
        if LENGTHS.iter().any(|len| hex.len() == 2 * len)
            && let Some(bytes) = hex_bytes([hex])
        {
            return Some(Self { bytes, form: Form::Hex });
        }
        // No encoder writes both alphabets.
        let has_both = text.contains(['+', '/']) && text.contains(['-', '_']);
        match BASE64_STANDARD
            .decode(text.replace('-', "+").replace('_', "/"))
            .ok()
            .filter(|bytes| LENGTHS.contains(&bytes.len()) && !has_both)
        {
            // Less than one ID in 10^6 has the bytes of words.
            Some(bytes) if bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b' ') => None,
            Some(bytes) => Some(Self { bytes, form: Form::Base64 }),
            None => Some(Self { bytes: unescaped(text)?, form: Form::Bytes }),
        }
    }

    /// Reads numbers: hex digits in pairs or after `0x`, or decimal numbers, signed as in Java or not.
    pub(crate) fn of_list(text: &str) -> Option<Self> {
        let text = text.trim().strip_prefix("Buffer ").unwrap_or(text).trim();
        let numbers = || text.split([',', ';', ' ', ':', '\n']).filter(|part| !part.is_empty());
        let hex = |part: &str| {
            let digits = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"))?;
            u8::from_str_radix(digits, 16).ok()
        };
        // Nobody writes a zero or a plus before a number: a digit is lost there.
        let is_written = |part: &str| part == "0" || !part.trim_start_matches('-').starts_with(['0', '+']);
        let number = |part: &str| part.parse::<u8>().or_else(|_| part.parse::<i8>().map(i8::cast_unsigned)).ok();
        let decimal = |part: &str| number(part).filter(|_| is_written(part));
        let is_decimal = text.contains([',', ';']) || numbers().any(|part| part.len() == 3 || part.starts_with('-'));
        // `66 a8`, `66:a8`, `66-A8`, and in groups as xxd writes them.
        let groups = || text.split([' ', ':', '-', '\n']).filter(|part| !part.is_empty());
        let bytes = match numbers().map(hex).collect::<Option<Vec<_>>>() {
            Some(bytes) => Some(bytes),
            None if is_decimal => numbers().map(decimal).collect(),
            None if groups().count() > 1 && groups().all(|group| matches!(group.len(), 2 | 4)) => hex_bytes(groups()),
            None => None,
        };
        bytes.filter(|bytes| !bytes.is_empty()).map(|bytes| Self { bytes, form: Form::Bytes })
    }

    /// Returns the ID of these bytes, or of the UUID view that they are.
    pub(crate) fn id(&self, scheme: Scheme) -> Option<Id> {
        if let Ok(view) = self.bytes.as_slice().try_into() {
            return scheme.view(Uuid::from_bytes(view)).ok();
        }
        let key = self.bytes.as_slice().try_into().ok().filter(|_| scheme.is_text())?;
        Some(scheme.with_sort_key(MessageId::from_bytes(key)))
    }
}

/// Reads groups of hex digits. In a group of an odd number, a digit is lost, and the bytes after it would be others.
fn hex_bytes<'a>(groups: impl IntoIterator<Item = &'a str>) -> Option<Vec<u8>> {
    let pairs = groups.into_iter().flat_map(|group| group.as_bytes().chunks(2));
    let byte = |pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(|pair: &[u8]| byte(pair).filter(|_| pair.len() == 2 && is_hex(pair))).collect()
}

/// Reads the one line of a dump by `xxd` or `hexdump -C`, with or without the line of its end. The groups of `hexdump` alone have
/// their bytes swapped, so a line without a colon or the characters at its end is not read.
fn dumped(text: &str) -> Option<Vec<u8>> {
    let offset = |line: &str| line.bytes().take_while(u8::is_ascii_hexdigit).count();
    let mut lines = text.lines().filter(|line| offset(line) < line.trim_end().len());
    let line = lines.next().filter(|line| lines.next().is_none() && matches!(offset(line), 7..=8))?;
    let rest = &line[offset(line)..];
    let groups = match (rest.strip_prefix(": "), rest.split_once('|')) {
        (Some(rest), _) => rest.split_once("  ").map_or(rest, |(groups, _)| groups),
        (None, Some((groups, _))) => groups,
        _ => return None,
    };
    hex_bytes(groups.split(' '))
}

/// Reads characters and escapes, as languages, redis-cli and PostgreSQL (octal) write bytes. In JSON and in an export, each
/// backslash is written twice.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    // Words, and patterns in a program, have only characters that can be seen, and line ends.
    let is_seen = |byte: &u8| byte.is_ascii_graphic() || b" \t\r\n".contains(byte);
    let once = unescape(text)?;
    let bytes = if LENGTHS.contains(&once.len()) { once } else { unescape(str::from_utf8(&once).ok()?)? };
    (!bytes.iter().all(is_seen)).then_some(bytes)
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let number = |text: &str, radix| u8::from_str_radix(text, radix).ok();
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.bytes().next().filter(u8::is_ascii) {
        let after = &rest[1..];
        let code = after.bytes().next().unwrap_or_default();
        let (byte, len) = match (first, code) {
            (b'\\', b'x') => (number(after.get(1..3)?, 16)?, 4),
            (b'\\', b'u') if after.get(1..3) == Some("00") => (number(after.get(3..5)?, 16)?, 6),
            (b'\\', b'0'..=b'3') if after.get(..3).is_some_and(|octal| number(octal, 8).is_some()) => {
                (number(after.get(..3)?, 8)?, 4)
            }
            (b'\\', _) => {
                let mut named = b"n\nr\rt\ta\x07b\x08v\x0bf\x0ce\x1b0\0\\\\''\"\"``//".chunks(2);
                (named.find(|named| named[0] == code)?[1], 2)
            }
            _ => (first, 1),
        };
        bytes.push(byte);
        rest = rest.get(len..)?;
    }
    (rest.is_empty() && text.contains('\\')).then_some(bytes)
}

/// Returns the length of `0x` (as in C and SQL) or `\x` (as PostgreSQL prints bytes), or 0.
pub(crate) fn hex_prefix_len(text: &str) -> usize {
    if ["0x", "0X", "\\x", "\\X"].iter().any(|prefix| text.starts_with(prefix)) { 2 } else { 0 }
}

pub(crate) fn is_hex(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_hexdigit)
}
