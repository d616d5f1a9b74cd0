//! What a text without an ID looks like.

use crate::bytes::Shown;
use crate::error::Kind;
use crate::find::is_hex;

/// Returns what a text is and what would help, or `None` for a word that can be a mistyped ID.
pub(crate) fn looks(text: &str) -> Option<Kind> {
    let is_in = |open: char, close: char| text.starts_with(open) && text.ends_with(close);
    let words = || text.split_ascii_whitespace().count();
    let digits = text.strip_prefix("\\x").or_else(|| text.strip_prefix("0x")).unwrap_or(text);
    let is_hex = digits.len() > 16 && digits.len() != 32 && is_hex(digits.as_bytes());
    if is_in('{', '}') && text.contains(':') || is_in('[', ']') && text.contains('"') {
        Some(Kind::Json)
    } else if text.starts_with("http://") || text.starts_with("https://") {
        Some(Kind::Link)
    } else if is_hex && digits.len() != 20 && digits.contains(|c: char| c.is_ascii_alphabetic()) {
        Some(Kind::Hex(digits.len()))
    } else if text.contains(['[', '{', '<', ' ', '\\'])
        && let Some(shown) = Shown::read(text).filter(|shown| shown.bytes.len() > 1)
    {
        Some(if matches!(shown.bytes.len(), 10 | 16) { Kind::BytesOfNoTime } else { Kind::Bytes(shown.bytes.len()) })
    } else {
        Some(words()).filter(|words| *words > 4).map(Kind::Words)
    }
}
