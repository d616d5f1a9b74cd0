//! What is wrong with a text that a reader refused. Called on the cold path only, so it looks again from the start.

use super::decode::{hex_digit, may_dash};
use super::digits::{NO_DIGIT, VALUES};
use super::encode::is_dash;
use crate::error::{Expected, ParseError};
use crate::layout::{DIGITS, HEX_LEN, TEXT_LEN};

/// The first byte at which a text stops being strict.
#[cold]
pub(super) const fn strict(text: &[u8]) -> ParseError {
    let mut at = 0;
    while at < TEXT_LEN && at < text.len() {
        if is_dash(at) && text[at] != b'-' || !is_dash(at) && VALUES[text[at] as usize] == NO_DIGIT {
            break;
        }
        at += 1;
    }
    let expected = if at == TEXT_LEN {
        Expected::End
    } else if is_dash(at) {
        Expected::Dash
    } else {
        Expected::Digit
    };
    error(expected, text, at)
}

/// The first byte at which a trimmed text stops being lenient; `offset` bytes were trimmed before it.
#[cold]
pub(super) fn lenient(text: &[u8], offset: usize) -> ParseError {
    let (mut digits, mut dashed, mut at) = (0, false, 0);
    while let Some(byte) = text.get(at) {
        if *byte == b'-' && may_dash(digits) && !dashed {
            dashed = true;
        } else if digits < DIGITS && VALUES[byte.to_ascii_uppercase() as usize] != NO_DIGIT {
            (digits, dashed) = (digits + 1, false);
        } else {
            break;
        }
        at += 1;
    }
    let expected = if digits == DIGITS { Expected::End } else { Expected::Digit };
    ParseError::new(expected, text.get(at).copied(), offset + at)
}

/// The first byte at which a text stops being 20 hex digits.
#[cold]
pub(super) fn hex(text: &[u8]) -> ParseError {
    let digits = text.iter().take(HEX_LEN).take_while(|byte| hex_digit(**byte).is_some()).count();
    error(if digits == HEX_LEN { Expected::End } else { Expected::HexDigit }, text, digits)
}

const fn error(expected: Expected, text: &[u8], at: usize) -> ParseError {
    let found = if at < text.len() { Some(text[at]) } else { None };
    ParseError::new(expected, found, at)
}
