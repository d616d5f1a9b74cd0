//! The two forms of a text: a decimal number, and 16 hex digits.

use core::borrow::Borrow;
use core::fmt::{self, Write};
use core::ops::Deref;

use arrayvec::ArrayString;

use crate::error::{Expected, ParseError};

const DECIMAL: u32 = 10;

/// Reads a decimal number of at most 64 bits without leading zeros. With `signed` it may be negative, and the bits are
/// its two's complement.
pub(crate) fn parse_decimal(text: &[u8], signed: bool) -> Result<u64, ParseError> {
    let negative = signed && text.first() == Some(&b'-');
    let start = usize::from(negative);
    let max = if negative { i64::MIN.unsigned_abs() } else { u64::MAX };

    let mut magnitude = 0_u64;
    let mut at = start;
    while let Some(&byte) = text.get(at) {
        let digit = char::from(byte).to_digit(DECIMAL);
        let digit = digit.ok_or(ParseError::new(Expected::DecimalDigit, Some(byte), at))?;
        if negative && magnitude == 0 && digit == 0 {
            return Err(ParseError::new(Expected::NonZeroDigit, Some(byte), at));
        }
        if at > start && magnitude == 0 {
            break;
        }
        let next = magnitude.checked_mul(DECIMAL.into()).and_then(|tens| tens.checked_add(digit.into()));
        let next = next.filter(|next| *next <= max);
        magnitude = next.ok_or(ParseError::new(Expected::Word, Some(byte), at))?;
        at += 1;
    }
    if at == start {
        return Err(ParseError::new(Expected::DecimalDigit, None, at));
    }
    if let Some(&byte) = text.get(at) {
        return Err(ParseError::new(Expected::End, Some(byte), at));
    }
    Ok(if negative { magnitude.wrapping_neg() } else { magnitude })
}

const HEX_DIGITS: usize = 16;

/// Reads exactly 16 hex digits. Upper case is an error if `expected` is [`LowerHexDigit`](Expected::LowerHexDigit).
pub(crate) fn parse_hex(text: &[u8], expected: Expected) -> Result<u64, ParseError> {
    let lower_only = expected == Expected::LowerHexDigit;
    let mut value = 0;
    for at in 0..HEX_DIGITS {
        let found = text.get(at).copied();
        let digit = found.filter(|byte| !(lower_only && byte.is_ascii_uppercase()));
        let digit = digit.and_then(|byte| char::from(byte).to_digit(16));
        let Some(digit) = digit else { return Err(ParseError::new(expected, found, at)) };
        value = value << 4 | u64::from(digit);
    }
    match text.get(HEX_DIGITS) {
        None => Ok(value),
        found => Err(ParseError::new(Expected::End, found.copied(), HEX_DIGITS)),
    }
}

/// The 16 hex digits of an ID in lower case, on the stack. Use it as a `&str`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexText(ArrayString<HEX_DIGITS>);

impl HexText {
    pub(crate) fn new(bits: u64) -> Self {
        let mut text = ArrayString::new();
        // PANIC: 64 bits are at most 16 digits, and the text has room for them.
        write!(text, "{bits:0HEX_DIGITS$x}").expect("16 digits");
        Self(text)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Formats the digits as `{:x}` formats an integer: `#` puts `0x` before them.
    pub(crate) fn fmt_lower(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(true, "0x", self)
    }

    /// Formats the digits as `{:X}` formats an integer.
    pub(crate) fn fmt_upper(mut self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.make_ascii_uppercase();
        self.fmt_lower(f)
    }
}

impl Deref for HexText {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for HexText {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for HexText {
    fn borrow(&self) -> &str {
        self
    }
}

impl fmt::Display for HexText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for HexText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialEq<str> for HexText {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for HexText {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

#[cfg(feature = "std")]
impl From<HexText> for String {
    fn from(text: HexText) -> Self {
        text.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upper_case_digit_is_an_error_if_only_lower_case_is_allowed() {
        assert_eq!(parse_hex(b"00000000000a0aF9", Expected::HexDigit), Ok(0x000A_0AF9));
        assert_eq!(parse_hex(b"00000000000a0af9", Expected::LowerHexDigit), Ok(0x000A_0AF9));
        let error = parse_hex(b"00000000000a0aF9", Expected::LowerHexDigit).unwrap_err();
        assert_eq!((error.position(), error.found()), (14, Some(b'F')));
        assert_eq!(error.to_string(), "expected a hex digit in lower case, found 'F' at 14");
    }

    #[test]
    fn a_text_is_used_as_a_str() {
        let (text, digits, others) = (HexText::new(0xAF), "00000000000000af", "00000000000000b0");
        let forms: [&str; 2] = [text.as_ref(), text.borrow()];
        assert_eq!(forms, [digits; 2]);
        assert!(text == digits && text != others && text == *digits && text != *others);
        assert_eq!(std::format!("{text:?}"), "\"00000000000000af\"");
    }

    #[test]
    fn sixteen_digits_are_read_and_written() {
        assert_eq!(HexText::new(0xAF), "00000000000000af");
        for (text, position) in [("0aF", 3), ("00000000000000af9", 16), ("", 0), ("0a 9", 2), ("0aé", 2)] {
            assert_eq!(parse_hex(text.as_bytes(), Expected::HexDigit).unwrap_err().position(), position, "{text}");
        }
    }
}
