//! The decimal form.

use crate::error::{Expected, ParseError};

const DECIMAL: u32 = 10;

/// Reads a decimal number of at most 64 bits without leading zeros. With `signed` it may be negative, and the bits are
/// its two's complement.
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
    if let Some(&byte) = text.get(at) {
        return Err(ParseError::new(Expected::End, Some(byte), at));
    }
    Ok(if negative { magnitude.wrapping_neg() } else { magnitude })
}
