//! The 32 digits of a text form, and which byte stands for which value.

use crate::error::Expected;
use crate::layout::DIGIT_BITS;

/// How many digits there are.
pub(crate) const RADIX: usize = 1 << DIGIT_BITS;

/// What a table of values holds for a byte that is no digit: above every value.
pub(super) const NO_DIGIT: u8 = u8::MAX;

/// 32 digits: different, printable, ASCII, and none of them the dash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alphabet {
    digits: [u8; RADIX],
    values: [u8; 256],
    expected: Expected,
}

/// The standard form's digits.
pub(crate) static STANDARD: Alphabet = match Alphabet::new(*b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ", Expected::Digit) {
    Ok(alphabet) => alphabet,
    Err(_) => panic!("the digits are different printable ASCII characters"),
};

const _: () = assert!(STANDARD.ascends(), "text order is value order");

impl Alphabet {
    /// The alphabet with these digits by value; `expected` is what an error calls one of them.
    ///
    /// Otherwise the index of the first digit that is not printable ASCII, is the dash, or stands before already.
    pub(crate) const fn new(digits: [u8; RADIX], expected: Expected) -> Result<Self, usize> {
        let mut values = [NO_DIGIT; 256];
        let mut value = 0;
        while value < RADIX {
            let digit = digits[value];
            if !digit.is_ascii_graphic() || digit == b'-' || values[digit as usize] != NO_DIGIT {
                return Err(value);
            }
            values[digit as usize] = value as u8;
            value += 1;
        }
        Ok(Self { digits, values, expected })
    }

    /// The digits by value.
    pub(super) const fn digits(&self) -> &[u8; RADIX] {
        &self.digits
    }

    /// What an error calls one of the digits.
    pub(super) const fn expected(&self) -> Expected {
        self.expected
    }

    /// The digit that stands for the low bits of a value.
    pub(super) const fn digit(&self, value: u128) -> u8 {
        self.digits[value as usize % RADIX]
    }

    /// The value of a digit, [`NO_DIGIT`] for any other byte.
    pub(super) const fn value(&self, byte: u8) -> u8 {
        self.values[byte as usize]
    }

    /// The value of a digit in either case, unless the other case is a digit of its own.
    pub(super) const fn value_in_either_case(&self, byte: u8) -> u8 {
        let other = if byte.is_ascii_lowercase() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
        match self.value(byte) {
            NO_DIGIT => self.value(other),
            value => value,
        }
    }

    /// Whether the digits ascend in ASCII, so that the order of texts is the order of values.
    pub(crate) const fn ascends(&self) -> bool {
        let mut value = 1;
        while value < RADIX {
            if self.digits[value - 1] >= self.digits[value] {
                return false;
            }
            value += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUGGLEIM: [u8; RADIX] = *b"abcdefghjklmnpqrstuvwxyz23456789";

    #[test]
    fn a_digit_that_is_no_digit_is_refused_at_its_index() {
        for wrong in [b'-', b' ', b'a', 0, 0x7F, 0x80, 0xFF] {
            let mut digits = JUGGLEIM;
            digits[20] = wrong;
            assert_eq!(Alphabet::new(digits, Expected::Digit).err(), Some(20), "{wrong}");
        }
    }

    #[test]
    fn order_and_case_follow_the_digits() {
        let juggleim = Alphabet::new(JUGGLEIM, Expected::Digit).unwrap();
        assert!(!juggleim.ascends());
        assert_eq!((juggleim.value(b'c'), juggleim.value(b'C')), (2, NO_DIGIT));
        assert_eq!(juggleim.value_in_either_case(b'C'), 2);
        assert_eq!(juggleim.value_in_either_case(b'i'), NO_DIGIT);

        // Both cases of A are digits here, so neither stands for the other.
        let both = Alphabet::new(*b"AabcdefghjklmnpqrstuvwxyzB234567", Expected::Digit).unwrap();
        assert_eq!((both.value_in_either_case(b'A'), both.value_in_either_case(b'a')), (0, 1));
    }

    #[test]
    fn every_byte_has_the_value_of_its_digit_or_none() {
        for byte in 0..=u8::MAX {
            let value = STANDARD.digits().iter().position(|digit| *digit == byte);
            assert_eq!(STANDARD.value(byte), value.map_or(NO_DIGIT, |value| value as u8));
        }
    }
}
