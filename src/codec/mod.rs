//! The text forms of an ID: 19 characters in four groups with dashes between them, or 20 hex digits.
//!
//! | form | example | written by | read by |
//! | --- | --- | --- | --- |
//! | text | `F3Z9-MB7Y-WCQH-T3DD` | [`to_text`](MessageId::to_text), `{}` | [`parse`](MessageId::parse), `FromStr` |
//! | typed or pasted text | `f3z9mb7ywcqht3dd` | | [`parse_lenient`](MessageId::parse_lenient) |
//! | hex | `687e79a4bee2acfc856b` | [`to_hex`](MessageId::to_hex), `{:x}`, `{:X}` | [`from_hex`](MessageId::from_hex) |
//!
//! For many IDs in one call there are lines of text: [`encode_lines`], [`decode_lines`].

/// `avx2_or!(|avx2| fast, safe)` is `fast` if the processor has AVX2, and `safe` otherwise.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
macro_rules! avx2_or {
    (|$avx2:ident| $fast:expr, $safe:expr) => {
        match $crate::codec::avx2::Avx2::detect() {
            Some($avx2) => $fast,
            None => $safe,
        }
    };
}

/// On other targets `avx2_or!(|avx2| fast, safe)` is always `safe`.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
macro_rules! avx2_or {
    (|$avx2:ident| $fast:expr, $safe:expr) => {
        $safe
    };
}

pub(crate) mod alphabet;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
mod bytes;
mod decode;
mod diagnose;
mod encode;
pub(crate) mod form;
pub(crate) mod hex;
#[cfg(any(test, imid_levels))]
mod levels;
mod lines;
#[cfg(test)]
mod samples;
mod str_like;
mod text;

use core::fmt;
use core::str::FromStr;

pub use hex::HexText;
#[cfg(imid_levels)]
#[doc(hidden)]
pub use levels::allow_avx2;
pub use lines::{LINE_LEN, decode_lines, encode_lines};
pub use text::IdText;

pub(crate) use str_like::str_like;
pub(crate) use text::pad;

use alphabet::STANDARD;

use crate::error::ParseError;
use crate::id::MessageId;
use crate::layout::TEXT_LEN;

impl MessageId {
    /// Reads the text form: 19 characters, upper case, three dashes.
    ///
    /// In a constant, use [`message_id!`](crate::message_id).
    ///
    /// # Errors
    /// Any other text. Examples are lower case, a missing dash, the letters I and O, the digits 0 and 1, white space.
    #[inline]
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Self::parse_bytes(text.as_bytes())
    }

    /// Reads the text form, as [`parse`](Self::parse) does, from bytes that need not be UTF-8.
    ///
    /// # Errors
    /// Any other bytes, as for [`parse`](Self::parse).
    #[inline]
    pub fn parse_bytes(text: &[u8]) -> Result<Self, ParseError> {
        if let Ok(text) = text.try_into()
            && let Ok(id) = Self::from_u128(avx2_or!(|avx2| avx2.decode(text), decode::standard(text)))
        {
            return Ok(id);
        }
        Err(diagnose::strict(&STANDARD, true, text))
    }

    /// Reads the text form for [`message_id!`](crate::message_id): `parse` cannot be `const`, because it asks the processor for AVX2.
    ///
    /// # Errors
    /// Any other text, as for [`parse`](Self::parse).
    #[doc(hidden)]
    #[inline]
    pub const fn parse_const(text: &str) -> Result<Self, ParseError> {
        let text = text.as_bytes();
        if text.len() == TEXT_LEN
            && let Some(text) = text.first_chunk()
            && let Ok(id) = Self::from_u128(decode::standard(text))
        {
            return Ok(id);
        }
        Err(diagnose::strict(&STANDARD, true, text))
    }

    /// Reads a text that a person types or pastes: in either case, with or without each of the three dashes, with white
    /// space around it.
    ///
    /// White space is the space, `\t`, `\n`, `\v` (0x0B), `\f` (0x0C) and `\r`. Characters outside ASCII are neither white space
    /// nor another case of a letter.
    ///
    /// ```
    /// use imid::MessageId;
    ///
    /// let id = MessageId::parse_lenient(" f3z9mb7y-wcqht3dd\n")?;
    /// assert_eq!(id.to_text(), "F3Z9-MB7Y-WCQH-T3DD");
    /// # Ok::<(), imid::error::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Any other text. Examples are a dash or a space inside a group, the letters I and O, the digits 0 and 1, a
    /// no-break space before the ID.
    pub fn parse_lenient(text: &str) -> Result<Self, ParseError> {
        form::parse_lenient(&STANDARD, text)
    }

    /// Returns the text form. It is on the stack and can be used as a `&str`.
    ///
    /// ```
    /// use imid::MessageId;
    ///
    /// assert_eq!(MessageId::MIN.to_text(), "2222-2222-2222-2222");
    /// ```
    #[inline]
    pub fn to_text(self) -> IdText {
        IdText::new(self)
    }

    /// Writes the text form into a buffer. Returns the buffer as a `str`.
    ///
    /// ```
    /// use imid::MessageId;
    ///
    /// let mut buffer = [0; MessageId::TEXT_LEN];
    /// assert_eq!(MessageId::MAX.encode(&mut buffer), "ZZZZ-ZZZZ-ZZZZ-ZZZZ");
    /// assert_eq!(&buffer, b"ZZZZ-ZZZZ-ZZZZ-ZZZZ");
    /// ```
    #[inline]
    pub fn encode(self, buffer: &mut [u8; TEXT_LEN]) -> &mut str {
        text::write(self, buffer)
    }

    /// Returns the ID with a value that a reader computed from the digits of 80 bits.
    #[inline]
    pub(crate) const fn from_value(value: u128) -> Self {
        match Self::from_u128(value) {
            Ok(id) => id,
            // PANIC: 16 digits of 5 bits and 20 of 4 are 80 bits each.
            Err(_) => panic!("the digits are 80 bits"),
        }
    }
}

/// Returns the ID of a text that is a constant, such as a literal. It is read at compile time.
///
/// ```
/// use imid::{MessageId, message_id};
///
/// const WELCOME: MessageId = message_id!("F3Z9-MB7Y-WCQH-T3DD");
/// assert_eq!(WELCOME.spin(), 2219);
///
/// const TEXT: &str = "2222-2222-2222-2222";
/// assert_eq!(message_id!(TEXT), MessageId::MIN);
/// ```
///
/// A constant that is not the text form does not compile:
///
/// ```compile_fail
/// let id = imid::message_id!("F3Z9-MB7Y-WCQH-T3D0");
/// ```
#[macro_export]
macro_rules! message_id {
    ($text:expr) => {
        const {
            match $crate::MessageId::parse_const($text) {
                Ok(id) => id,
                Err(_) => panic!("expected the text form of an ID, such as F3Z9-MB7Y-WCQH-T3DD"),
            }
        }
    };
}

/// Formats the text form. Width and alignment are as for a `str`.
impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_text(), f)
    }
}

impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageId({self})")
    }
}

/// Reads the text form, as [`MessageId::parse`] does.
impl FromStr for MessageId {
    type Err = ParseError;

    #[inline]
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

/// Reads the text form, as [`MessageId::parse`] does.
impl TryFrom<&str> for MessageId {
    type Error = ParseError;

    #[inline]
    fn try_from(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

/// Reads the text form, as [`MessageId::parse`] does.
#[cfg(feature = "std")]
impl TryFrom<String> for MessageId {
    type Error = ParseError;

    #[inline]
    fn try_from(text: String) -> Result<Self, ParseError> {
        Self::parse(&text)
    }
}

/// Returns the text form.
#[cfg(feature = "std")]
impl From<MessageId> for String {
    #[inline]
    fn from(id: MessageId) -> Self {
        id.to_text().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use levels::on_each_level;

    #[test]
    fn one_id_is_written_and_read_alike_at_each_level() {
        on_each_level(|level| {
            for id in samples::ids() {
                let want = encode::dashed(&encode::digits(&STANDARD, id.to_u128()));
                let mut buffer = [0; TEXT_LEN];
                assert_eq!(id.to_text().as_bytes(), want, "{level}");
                assert_eq!(id.encode(&mut buffer).as_bytes(), want, "{level}");
            }
            for text in samples::texts() {
                assert_eq!(
                    MessageId::parse_bytes(&text).ok(),
                    MessageId::from_u128(decode::standard(&text)).ok(),
                    "{level} {}",
                    text.escape_ascii()
                );
            }
        });
    }
}
