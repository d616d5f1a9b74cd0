//! From digits to the value, or to nothing: what is wrong is the [diagnosis](super::diagnose)'s to say.

use super::alphabet::{Alphabet, NO_DIGIT};
use super::encode::is_dash;
use crate::layout::{DIGIT_BITS, DIGITS, GROUP_DIGITS, HEX_DIGIT_BITS, HEX_LEN, TEXT_LEN};

/// The value of 16 digits in four dashed groups.
pub(super) const fn dashed(alphabet: &Alphabet, text: &[u8]) -> Option<u128> {
    if text.len() != TEXT_LEN {
        return None;
    }
    let (mut digits, mut at) = ([0; DIGITS], 0);
    while at < TEXT_LEN {
        if !is_dash(at) {
            digits[at - at / (GROUP_DIGITS + 1)] = text[at];
        } else if text[at] != b'-' {
            return None;
        }
        at += 1;
    }
    plain(alphabet, &digits)
}

/// The value of 16 digits without dashes.
pub(super) const fn plain(alphabet: &Alphabet, text: &[u8]) -> Option<u128> {
    if text.len() != DIGITS {
        return None;
    }
    let (mut value, mut at) = (0, 0);
    while at < DIGITS {
        let digit = alphabet.value(text[at]);
        if digit == NO_DIGIT {
            return None;
        }
        value = value << DIGIT_BITS | digit as u128;
        at += 1;
    }
    Some(value)
}

/// The value of 16 digits in either case, each group but the first with or without a dash before it.
pub(super) fn lenient(alphabet: &Alphabet, text: &[u8]) -> Option<u128> {
    let (mut value, mut digits, mut dashed) = (0, 0, false);
    for byte in text {
        if *byte == b'-' && may_dash(digits) && !dashed {
            dashed = true;
            continue;
        }
        let digit = alphabet.value_in_either_case(*byte);
        if digit == NO_DIGIT || digits == DIGITS {
            return None;
        }
        value = value << DIGIT_BITS | u128::from(digit);
        (digits, dashed) = (digits + 1, false);
    }
    (digits == DIGITS).then_some(value)
}

/// Whether a dash may stand after so many digits: between two groups.
pub(super) const fn may_dash(digits: usize) -> bool {
    digits > 0 && digits < DIGITS && digits.is_multiple_of(GROUP_DIGITS)
}

/// The value of 20 hex digits in either case.
pub(super) fn hex(text: &[u8]) -> Option<u128> {
    if text.len() != HEX_LEN {
        return None;
    }
    text.iter().try_fold(0, |value, byte| Some(value << HEX_DIGIT_BITS | u128::from(hex_digit(*byte)?)))
}

/// The value of a hex digit in either case.
pub(super) fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(1 << HEX_DIGIT_BITS).map(|digit| digit as u8)
}
