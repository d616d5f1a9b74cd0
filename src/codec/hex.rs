//! The hex form: 20 digits.

use core::fmt;

use arrayvec::ArrayString;

use super::str_like;
use crate::error::{Expected, ParseError};
use crate::id::MessageId;
use crate::layout::{HEX_DIGIT_BITS, HEX_LEN};

/// The 20 hex digits of an ID in lower case, on the stack. Use it as a `&str`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexText(ArrayString<HEX_LEN>);

impl HexText {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn new(id: MessageId) -> Self {
        let (digits, mut text) = (b"0123456789abcdef", [0; HEX_LEN]);
        for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(id.to_bytes()) {
            *pair = [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]];
        }
        // PANIC: digits are ASCII.
        Self(ArrayString::from_byte_string(&text).expect("digits are ASCII"))
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

impl MessageId {
    /// Reads the hex form: 20 hex digits in either case.
    ///
    /// # Errors
    /// The text is not 20 hex digits: for example it has 19, or it begins with `0x`.
    pub fn from_hex(text: &str) -> Result<Self, ParseError> {
        let text = text.as_bytes();
        let mut value = 0;
        for at in 0..HEX_LEN {
            let found = text.get(at).copied();
            let digit = found.and_then(|byte| char::from(byte).to_digit(1 << HEX_DIGIT_BITS));
            let Some(digit) = digit else { return Err(ParseError::new(Expected::HexDigit, found, at)) };
            value = value << HEX_DIGIT_BITS | u128::from(digit);
        }
        match text.get(HEX_LEN) {
            None => Ok(Self::from_value(value)),
            found => Err(ParseError::new(Expected::End, found.copied(), HEX_LEN)),
        }
    }

    /// Returns the hex form, 20 digits in lower case.
    ///
    /// ```
    /// use imid::message_id;
    ///
    /// assert_eq!(message_id!("F3Z9-MB7Y-WCQH-T3DD").to_hex(), "687e79a4bee2acfc856b");
    /// ```
    pub fn to_hex(self) -> HexText {
        HexText::new(self)
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
