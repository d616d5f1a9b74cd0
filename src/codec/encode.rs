//! From the value to its digits.

use super::alphabet::Alphabet;
use crate::layout::{DIGIT_BITS, DIGITS, GROUP_DIGITS, TEXT_LEN};

/// The 16 digits of a value.
pub(super) const fn digits(alphabet: &Alphabet, value: u128) -> [u8; DIGITS] {
    let mut digits = [0; DIGITS];
    let (mut rest, mut at) = (value, DIGITS);
    while at > 0 {
        at -= 1;
        digits[at] = alphabet.digit(rest);
        rest >>= DIGIT_BITS;
    }
    digits
}

/// The digits in four groups with a dash between each two.
pub(super) const fn dashed(digits: &[u8; DIGITS]) -> [u8; TEXT_LEN] {
    let mut text = [b'-'; TEXT_LEN];
    let mut at = 0;
    while at < DIGITS {
        text[at + at / GROUP_DIGITS] = digits[at];
        at += 1;
    }
    text
}

/// Whether a dash stands at this index of the dashed form.
pub(super) const fn is_dash(at: usize) -> bool {
    at % (GROUP_DIGITS + 1) == GROUP_DIGITS
}
