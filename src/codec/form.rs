//! A text form of 80 bits: an alphabet, with or without dashes between the groups.

use core::str;

use super::alphabet::Alphabet;
use super::{decode, diagnose, encode};
use crate::error::ParseError;
use crate::id::MessageId;
use crate::layout::TEXT_LEN;

/// How 80 bits are written and read: 16 digits of an alphabet, in four groups with dashes between them or in one word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) alphabet: Alphabet,
    pub(crate) dashed: bool,
}

impl Form {
    /// Writes the text into a buffer: 19 characters with dashes, 16 without.
    pub(crate) fn encode<'a>(&self, id: MessageId, buffer: &'a mut [u8; TEXT_LEN]) -> &'a str {
        let digits = encode::digits(&self.alphabet, id.to_u128());
        *buffer = encode::dashed(&digits);
        let text = if self.dashed {
            &buffer[..]
        } else {
            buffer[..digits.len()].copy_from_slice(&digits);
            &buffer[..digits.len()]
        };
        // PANIC: every byte is a digit or a dash, which are ASCII.
        str::from_utf8(text).expect("digits and dashes are ASCII")
    }

    /// Reads a text that [`encode`](Self::encode) writes. Other texts are errors.
    pub(crate) fn parse(&self, text: &[u8]) -> Result<MessageId, ParseError> {
        let value =
            if self.dashed { decode::dashed(&self.alphabet, text) } else { decode::plain(&self.alphabet, text) };
        value.map(MessageId::from_value).ok_or_else(|| diagnose::strict(&self.alphabet, self.dashed, text))
    }
}

/// Reads a text that a person types or pastes: with or without dashes, in either case, with white space around it.
pub(crate) fn parse_lenient(alphabet: &Alphabet, text: &str) -> Result<MessageId, ParseError> {
    decode::lenient(alphabet, text.as_bytes()).map(MessageId::from_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Expected;
    use crate::message_id;

    #[test]
    fn a_form_reads_the_texts_that_it_writes_and_refuses_others() {
        let alphabet = Alphabet::new(*b"abcdefghjklmnpqrstuvwxyz23456789", Expected::Digit).unwrap();
        let id = message_id!("F3Z9-MB7Y-WCQH-T3DD");
        let (mut plain, mut dashed) = ([0; TEXT_LEN], [0; TEXT_LEN]);
        let plain = (Form { alphabet, dashed: false }, Form { alphabet, dashed: false }.encode(id, &mut plain));
        let dashed = (Form { alphabet, dashed: true }, Form { alphabet, dashed: true }.encode(id, &mut dashed));
        assert_eq!((plain.1, dashed.1), ("pb9hvkf86lyr3bmm", "pb9h-vkf8-6lyr-3bmm"));

        for (form, text, other) in [(plain.0, plain.1, dashed.1), (dashed.0, dashed.1, plain.1)] {
            assert_eq!(form.parse(text.as_bytes()), Ok(id));
            assert_eq!(form.parse(other.as_bytes()).unwrap_err().position(), 4);
            assert_eq!(parse_lenient(&alphabet, text), Ok(id));
            for at in 0..text.len() {
                let mut wrong = text.as_bytes().to_vec();
                wrong[at] = b'i';
                assert_eq!(form.parse(&wrong).unwrap_err().position(), at);
                assert_eq!(form.parse(&text.as_bytes()[..at]).unwrap_err().position(), at);
            }
            assert_eq!(form.parse(format!("{text}a").as_bytes()).unwrap_err().position(), text.len());
        }
    }
}
