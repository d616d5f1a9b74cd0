//! The 32 digits, and which byte stands for which value.

use crate::layout::DIGIT_BITS;

/// The digits by value. They ascend in ASCII, so that text order is value order.
pub(super) const DIGITS: [u8; 1 << DIGIT_BITS] = *b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// What [`VALUES`] holds for a byte that is no digit: above every value.
pub(super) const NO_DIGIT: u8 = u8::MAX;

/// The value of each byte.
pub(super) const VALUES: [u8; 256] = values();

const fn values() -> [u8; 256] {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < DIGITS.len() {
        values[DIGITS[value] as usize] = value as u8;
        value += 1;
    }
    values
}

const _: () = {
    let mut value = 1;
    while value < DIGITS.len() {
        assert!(DIGITS[value - 1] < DIGITS[value], "digits ascend");
        value += 1;
    }
};
