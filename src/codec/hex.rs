//! The hex form: 20 digits of a [`MessageId`], 16 of a [`Snowflake`](crate::snowflake::Snowflake).

use core::fmt::{self, Write};

use arrayvec::ArrayString;

use super::str_like;
use crate::error::{Expected, ParseError};
use crate::id::MessageId;
use crate::layout::{HEX_DIGIT_BITS, HEX_LEN};

/// The hex digits of an ID in lower case, on the stack: 20 of a [`MessageId`], 16 of a
/// [`Snowflake`](crate::snowflake::Snowflake). Use it as a `&str`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexText(ArrayString<HEX_LEN>);

impl HexText {
    /// Returns `DIGITS` hex digits of a value, leading zeros included. A greater value panics.
    pub(crate) fn new<const DIGITS: usize>(value: u128) -> Self {
        const { assert!(DIGITS <= HEX_LEN, "an ID has at most 20 hex digits") };
        let mut text = ArrayString::new();
        // PANIC: the values of the callers have at most this many digits, and the text has room for them.
        write!(text, "{value:0DIGITS$x}").expect("a value of at most this many digits");
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

str_like!(HexText);

/// Reads exactly `DIGITS` hex digits. Upper case is an error if `expected` is
/// [`LowerHexDigit`](Expected::LowerHexDigit).
pub(crate) fn parse<const DIGITS: usize>(text: &[u8], expected: Expected) -> Result<u128, ParseError> {
    let lower_only = expected == Expected::LowerHexDigit;
    let mut value = 0;
    for at in 0..DIGITS {
        let found = text.get(at).copied();
        let digit = found.filter(|byte| !(lower_only && byte.is_ascii_uppercase()));
        let digit = digit.and_then(|byte| char::from(byte).to_digit(1 << HEX_DIGIT_BITS));
        let Some(digit) = digit else { return Err(ParseError::new(expected, found, at)) };
        value = value << HEX_DIGIT_BITS | u128::from(digit);
    }
    match text.get(DIGITS) {
        None => Ok(value),
        found => Err(ParseError::new(Expected::End, found.copied(), DIGITS)),
    }
}

impl MessageId {
    /// Reads the hex form: 20 hex digits in either case.
    ///
    /// # Errors
    /// The text is not 20 hex digits: for example it has 19, or it begins with `0x`.
    pub fn from_hex(text: &str) -> Result<Self, ParseError> {
        parse::<HEX_LEN>(text.as_bytes(), Expected::HexDigit).map(Self::from_value)
    }

    /// Returns the hex form, 20 digits in lower case.
    ///
    /// ```
    /// use imid::message_id;
    ///
    /// assert_eq!(message_id!("F3Z9-MB7Y-WCQH-T3DD").to_hex(), "687e79a4bee2acfc856b");
    /// ```
    pub fn to_hex(self) -> HexText {
        HexText::new::<HEX_LEN>(self.to_u128())
    }
}

/// Formats the 20 hex digits in lower case, leading zeros included. `{:#x}` puts `0x` before them.
impl fmt::LowerHex for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_hex().fmt_lower(f)
    }
}

/// Formats the 20 hex digits in upper case, leading zeros included. `{:#X}` puts `0x` before them.
impl fmt::UpperHex for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_hex().fmt_upper(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_case_only_refuses_the_first_upper_case_digit() {
        assert_eq!(parse::<4>(b"0aF9", Expected::HexDigit), Ok(0x0AF9));
        assert_eq!(parse::<4>(b"0af9", Expected::LowerHexDigit), Ok(0x0AF9));
        let error = parse::<4>(b"0aFG", Expected::LowerHexDigit).unwrap_err();
        assert_eq!((error.position(), error.found()), (2, Some(b'F')));
        assert_eq!(error.to_string(), "expected a hex digit in lower case, found 'F' at 2");
    }

    #[test]
    fn as_many_digits_are_read_and_written_as_are_asked_for() {
        assert_eq!(HexText::new::<16>(0xAF), "00000000000000af");
        assert_eq!(HexText::new::<20>(0xAF), "000000000000000000af");
        for (text, position) in [("0aF", 3), ("0aF99", 4), ("", 0), ("0a 9", 2), ("0aé", 2)] {
            assert_eq!(parse::<4>(text.as_bytes(), Expected::HexDigit).unwrap_err().position(), position, "{text}");
        }
    }
}
