//! The 32 digits of a text form and their values.

use crate::error::Expected;
use crate::layout::DIGIT_BITS;

/// Number of digits.
pub(crate) const RADIX: usize = 1 << DIGIT_BITS;

/// The entry of a table of values for a byte that is not a digit. It is greater than every value.
pub(super) const NO_DIGIT: u8 = u8::MAX;

/// 32 digits. They are different printable ASCII characters other than the dash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alphabet {
    digits: [u8; RADIX],
    values: [u8; 256],
    expected: Expected,
}

/// The digits of the standard form.
pub(crate) static STANDARD: Alphabet = match Alphabet::new(*b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ", Expected::Digit) {
    Ok(alphabet) => alphabet,
    Err(_) => panic!("the digits are different printable ASCII characters"),
};

const _: () = assert!(STANDARD.ascends(), "text order is value order");

impl Alphabet {
    /// Returns the alphabet with these digits by value. Errors call one of its digits `expected`.
    ///
    /// # Errors
    /// Returns the index of the first digit that is not printable ASCII, is the dash, or is the same as one before it.
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

    /// Returns the digits by value.
    pub(super) const fn digits(&self) -> &[u8; RADIX] {
        &self.digits
    }

    /// Returns the words for a digit in an error.
    pub(super) const fn expected(&self) -> Expected {
        self.expected
    }

    /// Returns the digit of the low 5 bits of a value.
    pub(super) const fn digit(&self, value: u128) -> u8 {
        self.digits[value as usize % RADIX]
    }

    /// Returns the value of a digit, or [`NO_DIGIT`] for any other byte.
    pub(super) const fn value(&self, byte: u8) -> u8 {
        self.values[byte as usize]
    }

    /// Returns the value of a digit in either case. If both cases of a letter are digits, each has its own value.
    pub(super) const fn value_in_either_case(&self, byte: u8) -> u8 {
        let other = if byte.is_ascii_lowercase() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
        match self.value(byte) {
            NO_DIGIT => self.value(other),
            value => value,
        }
    }

    /// Returns whether the digits ascend in ASCII. Then texts and values have the same order.
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
    fn a_character_that_cannot_be_a_digit_is_refused_at_its_index() {
        for wrong in [b'-', b' ', b'a', 0, 0x7F, 0x80, 0xFF] {
            let mut digits = JUGGLEIM;
            digits[20] = wrong;
            assert_eq!(Alphabet::new(digits, Expected::Digit).err(), Some(20), "{wrong}");
        }
    }

    #[test]
    fn the_digits_decide_on_order_and_case() {
        let juggleim = Alphabet::new(JUGGLEIM, Expected::Digit).unwrap();
        assert!(!juggleim.ascends());
        assert_eq!((juggleim.value(b'c'), juggleim.value(b'C')), (2, NO_DIGIT));
        assert_eq!(juggleim.value_in_either_case(b'C'), 2);
        assert_eq!(juggleim.value_in_either_case(b'i'), NO_DIGIT);

        // Both cases of A are digits here, so each has its own value.
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
