//! Reads digits into a value. The strict readers only find that a text is wrong. [`diagnose`](super::diagnose) finds
//! the position.

use super::alphabet::{Alphabet, NO_DIGIT, RADIX, STANDARD};
use super::encode::{HALF_BITS, is_dash};
use crate::error::{Expected, ParseError};
use crate::layout::{DIGIT_BITS, DIGITS, GROUP_DIGITS, TEXT_LEN};

/// Returns the value of 16 digits in four groups with dashes between them.
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

/// Returns the value of 16 digits without dashes.
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

/// The result of a reader for bytes that are not a text. It is greater than every ID.
///
/// An `Option<u128>` would be returned through memory. Its two halves would be stored separately, and a load of the
/// whole value would wait for both stores.
pub(super) const NO_TEXT: u128 = u128::MAX;

/// Returns the value of a standard text, or [`NO_TEXT`]. Reads one group after another, with a table for each place.
///
/// One test for all groups takes longer. If the target has AVX2, the compiler would also use gather instructions for
/// the lookups, which take four times as long.
pub(super) const fn standard(text: &[u8; TEXT_LEN]) -> u128 {
    let first = group(text, 0);
    if first >= NO_GROUP || text[4] != b'-' {
        return NO_TEXT;
    }
    let second = group(text, 5);
    if second >= NO_GROUP || text[9] != b'-' {
        return NO_TEXT;
    }
    let third = group(text, 10);
    if third >= NO_GROUP || text[14] != b'-' {
        return NO_TEXT;
    }
    let fourth = group(text, 15);
    if fourth >= NO_GROUP {
        return NO_TEXT;
    }
    let (high, low) = (first << GROUP_BITS | second, third << GROUP_BITS | fourth);
    (high as u128) << HALF_BITS | low as u128
}

/// Width of a group.
const GROUP_BITS: u32 = DIGIT_BITS * GROUP_DIGITS as u32;

/// Returns the value of the group that begins at an index, or [`NO_GROUP`] or more if one of its bytes is not a digit.
const fn group(text: &[u8; TEXT_LEN], at: usize) -> u64 {
    let [first, second, third, fourth] = &IN_GROUP;
    let (high, low) = (
        first[text[at] as usize] | second[text[at + 1] as usize],
        third[text[at + 2] as usize] | fourth[text[at + 3] as usize],
    );
    (high | low) as u64
}

/// The entry of the tables for a byte that is not a digit. It is greater than the value of every group.
const NO_GROUP: u64 = 1 << GROUP_BITS;

/// The value of each byte at each place in a group. 4 KiB.
static IN_GROUP: [[u32; 256]; GROUP_DIGITS] = {
    let mut values = [[NO_GROUP as u32; 256]; GROUP_DIGITS];
    let mut at = 0;
    while at < GROUP_DIGITS {
        let mut value = 0;
        while value < RADIX {
            let shift = DIGIT_BITS * (GROUP_DIGITS - 1 - at) as u32;
            values[at][STANDARD.digits()[value] as usize] = (value as u32) << shift;
            value += 1;
        }
        at += 1;
    }
    values
};

/// Reads 16 digits in either case, with or without dashes between the groups, and with white space around them.
pub(super) fn lenient(alphabet: &Alphabet, text: &[u8]) -> Result<u128, ParseError> {
    let mut at = after_white_space(text, 0);
    let (mut value, mut digits, mut dashed) = (0, 0, false);
    while digits < DIGITS {
        let found = text.get(at).copied();
        if found == Some(b'-') && may_dash(digits) && !dashed {
            dashed = true;
        } else {
            let digit = found.map_or(NO_DIGIT, |byte| alphabet.value_in_either_case(byte));
            if digit == NO_DIGIT {
                // If only white space follows, the text is too short, and its end is before the white space.
                let found = found.filter(|_| after_white_space(text, at) < text.len());
                return Err(ParseError::new(alphabet.expected(), found, at));
            }
            value = value << DIGIT_BITS | u128::from(digit);
            (digits, dashed) = (digits + 1, false);
        }
        at += 1;
    }
    at = after_white_space(text, at);
    match text.get(at) {
        None => Ok(value),
        found => Err(ParseError::new(Expected::End, found.copied(), at)),
    }
}

/// Returns whether a dash may follow this number of digits: between two groups.
pub(super) const fn may_dash(digits: usize) -> bool {
    digits > 0 && digits < DIGITS && digits.is_multiple_of(GROUP_DIGITS)
}

/// Returns the index of the first byte from `at` on that is not white space.
fn after_white_space(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|byte| is_white_space(**byte)).count()
}

/// Returns whether a byte is one of the six characters that FORMAT.md calls white space.
///
/// C has the same white space. `str::trim` also removes characters outside ASCII, and `u8::is_ascii_whitespace` does
/// not include the vertical tab.
const fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0B' | b'\x0C' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::samples;

    #[test]
    fn a_table_for_each_place_reads_the_same_as_one_table() {
        for text in samples::texts() {
            assert_eq!(standard(&text), dashed(&STANDARD, &text).unwrap_or(NO_TEXT), "{}", text.escape_ascii());
        }
    }
}
