//! Finds the error in a text that a strict reader refused.
//!
//! It reads the text again from the start, because the fast readers find only that the text is wrong. It is not
//! inlined, so that the readers do not need registers for it.

use super::alphabet::{Alphabet, NO_DIGIT};
use super::decode::may_dash;
use crate::error::{Expected, ParseError};
use crate::layout::DIGITS;

/// Returns the error at the first byte that does not fit the strict form: 16 digits, with dashes or without.
#[cold]
#[inline(never)]
pub(super) const fn strict(alphabet: &Alphabet, dashed: bool, text: &[u8]) -> ParseError {
    let (mut at, mut digits) = (0, 0);
    while digits < DIGITS {
        if dashed && may_dash(digits) {
            if at == text.len() || text[at] != b'-' {
                return error(Expected::Dash, text, at);
            }
            at += 1;
        }
        if at == text.len() || alphabet.value(text[at]) == NO_DIGIT {
            return error(alphabet.expected(), text, at);
        }
        (at, digits) = (at + 1, digits + 1);
    }
    error(Expected::End, text, at)
}

const fn error(expected: Expected, text: &[u8], at: usize) -> ParseError {
    let found = if at < text.len() { Some(text[at]) } else { None };
    ParseError::new(expected, found, at)
}
