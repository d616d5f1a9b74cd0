//! From digits to the value, or to nothing: what is wrong is the [diagnosis](super::diagnose)'s to say.

use super::alphabet::{Alphabet, NO_DIGIT, STANDARD};
use super::encode::{HALF_BITS, is_dash};
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

/// What stands for «no text» where a reader returns a bare value: more than any ID.
///
/// An `Option<u128>` comes back through memory, written in two halves; who then loads the whole waits for both.
pub(super) const NO_TEXT: u128 = u128::MAX;

/// The value of a standard text, or [`NO_TEXT`]: two digits at a time, and one test for all of them.
pub(super) const fn standard(text: &[u8; TEXT_LEN]) -> u128 {
    let (high, high_bits) = half(text, 0);
    let (low, low_bits) = half(text, 2 * (GROUP_DIGITS + 1));
    let dashes = (text[4] ^ b'-') | (text[9] ^ b'-') | (text[14] ^ b'-');
    if (high_bits | low_bits) & NO_PAIR != 0 || dashes != 0 {
        return NO_TEXT;
    }
    (high as u128) << HALF_BITS | low as u128
}

/// What a table of pairs holds for a byte that is no digit: a bit above every pair.
const NO_PAIR: u16 = 1 << (2 * DIGIT_BITS);

/// The value of each byte as the first and as the second digit of a pair: 1 KiB.
///
/// Of 16 bits each, since compilers turn lookups of 32 bits into gathers where the target has them, which take three
/// times as long.
static FIRST: [u16; 256] = in_pair(DIGIT_BITS);
static SECOND: [u16; 256] = in_pair(0);

const fn in_pair(shift: u32) -> [u16; 256] {
    let mut values = [NO_PAIR; 256];
    let mut byte = 0;
    while byte < values.len() {
        let value = STANDARD.value(byte as u8);
        if value != NO_DIGIT {
            values[byte] = (value as u16) << shift;
        }
        byte += 1;
    }
    values
}

/// The value of two groups, and all bits of their pairs.
const fn half(text: &[u8; TEXT_LEN], at: usize) -> (u64, u16) {
    const BITS: u32 = 2 * DIGIT_BITS;
    let pairs = [pair(text, at), pair(text, at + 2), pair(text, at + 5), pair(text, at + 7)];
    let [first, second, third, fourth] = pairs;
    let value = (first as u64) << (3 * BITS) | (second as u64) << (2 * BITS) | (third as u64) << BITS | fourth as u64;
    (value, first | second | third | fourth)
}

const fn pair(text: &[u8; TEXT_LEN], at: usize) -> u16 {
    FIRST[text[at] as usize] | SECOND[text[at + 1] as usize]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::samples;

    #[test]
    fn two_digits_at_a_time_are_the_digits_one_at_a_time() {
        for text in samples::texts() {
            assert_eq!(standard(&text), dashed(&STANDARD, &text).unwrap_or(NO_TEXT), "{}", text.escape_ascii());
        }
    }
}
