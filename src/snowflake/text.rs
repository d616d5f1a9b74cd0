//! The two text forms: decimal, and the 16 hex digits of NSQ.

use core::fmt::Write;

use arrayvec::ArrayString;

use crate::codec::str_like;
use crate::error::{Expected, ParseError};

const DECIMAL: u32 = 10;
const HEX: u32 = 16;
pub(super) const HEX_LEN: usize = (u64::BITS / HEX.ilog2()) as usize;

/// The 16 hex digits of a Snowflake in lower case, on the stack: NSQ's text form. A `str` in all but type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexText(ArrayString<HEX_LEN>);

impl HexText {
    pub(super) fn new(bits: u64) -> Self {
        let mut text = ArrayString::new();
        // PANIC: 16 digits of 4 bits are 64 bits.
        write!(text, "{bits:0HEX_LEN$x}").expect("64 bits are 16 hex digits");
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

str_like!(HexText);

/// Which hex digits are read.
#[derive(Clone, Copy)]
pub(super) enum Case {
    Lower,
    Either,
}

/// The bits of 16 hex digits.
pub(super) fn parse_hex(text: &[u8], case: Case) -> Result<u64, ParseError> {
    let (expected, upper_is_digit) = match case {
        Case::Lower => (Expected::LowerHexDigit, false),
        Case::Either => (Expected::HexDigit, true),
    };
    let mut bits = 0;
    for at in 0..HEX_LEN {
        let found = text.get(at).copied();
        let digit = found
            .filter(|byte| upper_is_digit || !byte.is_ascii_uppercase())
            .and_then(|byte| char::from(byte).to_digit(HEX))
            .ok_or(ParseError::new(expected, found, at))?;
        bits = bits * u64::from(HEX) + u64::from(digit);
    }
    end(text, HEX_LEN)?;
    Ok(bits)
}

/// The bits of a decimal number without leading zeros, of at most 64 bits. With `signed` it may be negative, which is
/// read as two's complement.
pub(super) fn parse_decimal(text: &[u8], signed: bool) -> Result<u64, ParseError> {
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
    end(text, at)?;
    Ok(if negative { magnitude.wrapping_neg() } else { magnitude })
}

/// Refuses what comes after an ID.
fn end(text: &[u8], at: usize) -> Result<(), ParseError> {
    match text.get(at) {
        None => Ok(()),
        found => Err(ParseError::new(Expected::End, found.copied(), at)),
    }
}
