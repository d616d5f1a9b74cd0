//! What a text is that is not an ID.

use uuid::{Uuid, Variant};

use crate::bytes::{Shown, hex_prefix_len, is_hex};
use crate::time::{LAST_MS, PLAUSIBLE_FROM_MS, rfc3339};

/// Crockford's base32, which ULIDs use.
const ULID_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Describes what people mistake for a message ID: a UUID, a ULID, or a time from 2005 on in 10 or 13 digits.
pub(crate) fn foreign(text: &str) -> Option<String> {
    let of_time = |name: &str, ms: u64| {
        let time = (ms <= LAST_MS).then(|| format!(" of {}", rfc3339(ms)));
        name.to_owned() + &time.unwrap_or_default()
    };
    if let Ok(uuid) = Uuid::try_parse(text) {
        return Some(match (uuid.get_variant(), uuid.get_version_num()) {
            _ if uuid.is_nil() => "the nil UUID".to_owned(),
            (Variant::RFC4122, 4) => "a UUID of version 4 (random)".to_owned(),
            // The first 48 bits are Unix milliseconds.
            (Variant::RFC4122, 7) => of_time("a UUID of version 7", (uuid.as_u128() >> 80) as u64),
            (Variant::RFC4122, version) => format!("a UUID of version {version}"),
            _ => "a UUID of an unknown variant".to_owned(),
        });
    }
    let digit = |byte: u8| ULID_DIGITS.iter().position(|digit| *digit == byte.to_ascii_uppercase());
    let number = text.parse::<u64>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    match (text.len(), number) {
        (10, Some(s)) if s * 1_000 >= PLAUSIBLE_FROM_MS => {
            Some(format!("a time in Unix seconds, {}", rfc3339(s * 1_000)))
        }
        (13, Some(ms)) if ms >= PLAUSIBLE_FROM_MS => Some(format!("a time in Unix milliseconds, {}", rfc3339(ms))),
        // The first ten digits are 48 bits of time, with two bits that are zero.
        (26, _) if text.as_bytes()[0] <= b'7' => {
            let digits = text.bytes().map(digit).collect::<Option<Vec<_>>>()?;
            Some(of_time("a ULID", digits[..10].iter().fold(0, |ms, digit| ms << 5 | *digit as u64)))
        }
        _ => None,
    }
}

/// Returns what a text without an ID looks like and what would help, or `None` for a word that can be a mistyped ID.
pub(crate) fn looks(text: &str) -> Option<String> {
    let is_in = |open: char, close: char| text.starts_with(open) && text.ends_with(close);
    let words = || text.split_ascii_whitespace().count();
    let digits = &text[hex_prefix_len(text)..];
    let is_hex = digits.len() > 16 && digits.len() != 32 && is_hex(digits.as_bytes());
    if is_in('{', '}') && text.contains(':') || is_in('[', ']') && text.contains('"') {
        Some(
            "JSON with no ID: expected an ID, or a member such as \"id\" that has one (jq -r .id prints it)".to_owned(),
        )
    } else if text.starts_with("http://") || text.starts_with("https://") {
        Some("a link with no ID: expected an ID in its path or after id=".to_owned())
    } else if is_hex && digits.len() != 20 && digits.contains(|c: char| c.is_ascii_alphabetic()) {
        Some(format!("{} hex digits, not an ID: expected 20, or the 32 of a UUID view", digits.len()))
    } else if text.contains(['[', '{', '<', ' ', '\\'])
        && let Some(count) = Shown::read(text).map(|shown| shown.bytes.len()).filter(|count| *count > 1)
    {
        Some(match count {
            10 | 16 => "bytes that are not an ID: their time is not from 2005 to two years from now".to_owned(),
            _ => format!("{count} bytes, not an ID: expected 10, or the 16 of a UUID view"),
        })
    } else {
        Some(words()).filter(|words| *words > 4).map(|words| format!("a text of {words} words with no ID"))
    }
}
