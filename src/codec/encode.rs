//! Writes a value as digits.

use super::alphabet::{Alphabet, RADIX, STANDARD};
use crate::layout::{DIGIT_BITS, DIGITS, GROUP_DIGITS, TEXT_LEN};

/// Length of a text and a byte after it.
///
/// 20 bytes are copied as 16 and 4. 19 bytes are copied by two loads that overlap, and the second one waits for the two
/// stores that it reads from.
pub(super) const PADDED_LEN: usize = TEXT_LEN + 1;

/// Returns the 16 digits of a value.
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

/// Returns the digits in four groups with dashes between them.
pub(super) const fn dashed(digits: &[u8; DIGITS]) -> [u8; TEXT_LEN] {
    let mut text = [b'-'; TEXT_LEN];
    let mut at = 0;
    while at < DIGITS {
        text[at + at / GROUP_DIGITS] = digits[at];
        at += 1;
    }
    text
}

/// Writes the standard text.
pub(super) fn standard(value: u128, text: &mut [u8; TEXT_LEN]) {
    let [padded @ .., _] = padded(value);
    *text = padded;
}

/// Returns the standard text and a 0 after it. Looks up two digits at a time.
///
/// The text is stored in words. If it were stored in smaller parts, a later load of a word would wait for them.
pub(super) fn padded(value: u128) -> [u8; PADDED_LEN] {
    let (high, low) = ((value >> HALF_BITS) as u64, value as u64);
    let (second, fourth) = (pair_and_dash(high, 0), pair(low, 1));
    let start = pair(high, 3) | pair_and_dash(high, 2) << bits(2) | pair(high, 1) << bits(5) | second << bits(7);
    let middle = second >> bits(1) | pair(low, 3) << bits(2) | pair_and_dash(low, 2) << bits(4) | fourth << bits(7);
    let end = fourth >> bits(1) | pair(low, 0) << bits(1);

    let mut text = [0; PADDED_LEN];
    let (words, rest) = text.as_chunks_mut();
    (words[0], words[1]) = (start.to_le_bytes(), middle.to_le_bytes());
    rest.copy_from_slice(&(end as u32).to_le_bytes());
    text
}

/// Width of half of the digits. A half fits a machine word.
pub(super) const HALF_BITS: u32 = DIGIT_BITS * DIGITS as u32 / 2;

/// All pairs of digits, each with a dash after it. The first digit is in the low byte. 4 KiB.
///
/// A table of the 32 single digits needs fewer cache lines and takes twice as long.
static PAIRS: [u32; RADIX * RADIX] = {
    let mut pairs = [0; RADIX * RADIX];
    let mut value = 0;
    while value < pairs.len() {
        let (first, second) = (STANDARD.digit((value / RADIX) as u128), STANDARD.digit(value as u128));
        pairs[value] = u32::from_le_bytes([first, second, b'-', 0]);
        value += 1;
    }
    pairs
};

/// Returns a pair of digits and a dash. Pairs are counted from the low end of the half.
fn pair_and_dash(half: u64, index: u32) -> u64 {
    u64::from(PAIRS[(half >> (2 * DIGIT_BITS * index)) as usize % PAIRS.len()])
}

/// Returns a pair of digits. Pairs are counted from the low end of the half.
fn pair(half: u64, index: u32) -> u64 {
    u64::from(pair_and_dash(half, index) as u16)
}

/// Returns the width of this number of bytes.
const fn bits(bytes: u32) -> u32 {
    bytes * u8::BITS
}

/// Returns whether there is a dash at this index of the form with dashes.
pub(super) const fn is_dash(at: usize) -> bool {
    at % (GROUP_DIGITS + 1) == GROUP_DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::samples;

    #[test]
    fn two_digits_at_a_time_give_the_same_text_as_one() {
        for id in samples::ids() {
            let (want, mut text) = (dashed(&digits(&STANDARD, id.to_u128())), [0; TEXT_LEN]);
            standard(id.to_u128(), &mut text);
            assert_eq!(text, want, "{id:x}");
            assert_eq!(padded(id.to_u128()), *[&want[..], b"\0"].concat(), "{id:x}");
        }
    }
}
