//! What a text without an ID looks like.

use core::fmt;

use crate::bytes::Shown;
use crate::find::is_hex;

/// The kind of a text that has no ID, and what would help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Looks {
    /// A JSON object or list.
    Json,
    /// A URL.
    Link,
    /// A number of bytes that is not that of an ID.
    Bytes(usize),
    /// A number of hex digits.
    Hex(usize),
    /// Words.
    Words(usize),
}

impl Looks {
    /// Returns the kind of a text, or `None` for a word that can be a mistyped ID.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let is_in = |open: char, close: char| text.starts_with(open) && text.ends_with(close);
        let words = || text.split_ascii_whitespace().count();
        let digits = text.strip_prefix("\\x").or_else(|| text.strip_prefix("0x")).unwrap_or(text);
        let is_hex = digits.len() > 16 && digits.len() != 32 && is_hex(digits.as_bytes());
        if is_in('{', '}') && text.contains(':') || is_in('[', ']') && text.contains('"') {
            Some(Self::Json)
        } else if text.starts_with("http://") || text.starts_with("https://") {
            Some(Self::Link)
        } else if is_hex && digits.len() != 20 && digits.contains(|c: char| c.is_ascii_alphabetic()) {
            Some(Self::Hex(digits.len()))
        } else if text.contains(['[', '{', '<', ' ', '\\'])
            && let Some(shown) = Shown::read(text).filter(|shown| shown.bytes.len() > 1)
        {
            Some(Self::Bytes(shown.bytes.len()))
        } else {
            Some(words()).filter(|words| *words > 4).map(Self::Words)
        }
    }
}

impl fmt::Display for Looks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json => f.write_str(
                "JSON with no ID: expected an ID, or a member such as \"id\" that has one (jq -r .id prints it)",
            ),
            Self::Link => f.write_str("a link with no ID: expected an ID in its path or after id="),
            Self::Bytes(10 | 16) => {
                f.write_str("bytes that are not an ID: their time is not from 2005 to two years from now")
            }
            Self::Bytes(count) => write!(f, "{count} bytes, not an ID: expected 10, or the 16 of a UUID view"),
            Self::Hex(count) => write!(f, "{count} hex digits, not an ID: expected 20, or the 32 of a UUID view"),
            Self::Words(count) => write!(f, "a text of {count} words with no ID"),
        }
    }
}
