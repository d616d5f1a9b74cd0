//! From the value to its digits.

use super::digits::DIGITS;
use crate::layout::{DIGIT_BITS, GROUP_DIGITS, TEXT_LEN};

/// The 19 bytes of the text form.
pub(super) const fn encode(value: u128) -> [u8; TEXT_LEN] {
    let mut text = [b'-'; TEXT_LEN];
    let (mut rest, mut at) = (value, TEXT_LEN);
    while at > 0 {
        at -= 1;
        if !is_dash(at) {
            text[at] = DIGITS[rest as usize % DIGITS.len()];
            rest >>= DIGIT_BITS;
        }
    }
    text
}

/// Whether a dash stands at this index of the text form.
pub(super) const fn is_dash(at: usize) -> bool {
    at % (GROUP_DIGITS + 1) == GROUP_DIGITS
}
