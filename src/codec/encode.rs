//! From the value to its digits.

use super::alphabet::{Alphabet, RADIX, STANDARD};
use super::text::PADDED_LEN;
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

/// The standard text.
#[inline]
pub(super) fn standard(value: u128) -> [u8; TEXT_LEN] {
    let [text @ .., _] = padded(value);
    text
}

/// The standard text and a dash after it, two digits at a time.
#[inline]
pub(super) fn padded(value: u128) -> [u8; PADDED_LEN] {
    let (high, low) = ((value >> HALF_BITS) as u64, value as u64);
    let ([a0, a1], [a2, a3], [b0, b1], [b2, b3]) = (pair(high, 3), pair(high, 2), pair(high, 1), pair(high, 0));
    let ([c0, c1], [c2, c3], [d0, d1], [d2, d3]) = (pair(low, 3), pair(low, 2), pair(low, 1), pair(low, 0));
    [a0, a1, a2, a3, b'-', b0, b1, b2, b3, b'-', c0, c1, c2, c3, b'-', d0, d1, d2, d3, b'-']
}

/// Half of the digits, which a machine word holds.
pub(super) const HALF_BITS: u32 = DIGIT_BITS * DIGITS as u32 / 2;

/// Every two digits, by their value: 2 KiB. 32 single digits stay in fewer cache lines and take twice as long.
static PAIRS: [[u8; 2]; RADIX * RADIX] = {
    let mut pairs = [[0; 2]; RADIX * RADIX];
    let mut value = 0;
    while value < pairs.len() {
        pairs[value] = [STANDARD.digit((value / RADIX) as u128), STANDARD.digit(value as u128)];
        value += 1;
    }
    pairs
};

/// Two digits of a half, counted in pairs from its low end.
fn pair(half: u64, index: u32) -> [u8; 2] {
    PAIRS[(half >> (2 * DIGIT_BITS * index)) as usize % PAIRS.len()]
}

/// Whether a dash stands at this index of the dashed form.
pub(super) const fn is_dash(at: usize) -> bool {
    at % (GROUP_DIGITS + 1) == GROUP_DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::samples;

    #[test]
    fn two_digits_at_a_time_are_the_digits_one_at_a_time() {
        for id in samples::ids() {
            assert_eq!(standard(id.to_u128()), dashed(&digits(&STANDARD, id.to_u128())), "{id:x}");
        }
    }
}
