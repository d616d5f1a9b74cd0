//! The text forms of an ID: 19 characters in four dashed groups, and 20 hex digits.
//!
//! | form | example | written by | read by |
//! | --- | --- | --- | --- |
//! | text | `F3Z9-MB7Y-WCQH-T3DD` | `Display`, [`to_text`](MessageId::to_text) | [`parse`](MessageId::parse), `FromStr` |
//! | typed or pasted | `f3z9mb7ywcqht3dd` | | [`parse_lenient`](MessageId::parse_lenient) |
//! | hex | `687e79a4bee2acfc856b` | `{:x}`, `{:X}` | [`from_hex`](MessageId::from_hex) |
//!
//! Many IDs at once are lines of text ([`encode_lines`], [`decode_lines`]) or a column of bytes ([`encode_column`],
//! [`decode_column`]).

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

/// On a target without SSE2 there are no vector registers, so there is nothing to detect.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
macro_rules! avx2_or {
    (|$avx2:ident| $fast:expr, $safe:expr) => {
        $safe
    };
}

pub(crate) mod alphabet;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
mod column;
mod decode;
mod diagnose;
mod encode;
pub(crate) mod form;
#[cfg(any(test, imid_levels))]
mod levels;
mod lines;
#[cfg(test)]
mod samples;
mod str_like;
mod text;

use core::fmt;
use core::str::FromStr;

pub use column::{decode_column, encode_column};
#[cfg(imid_levels)]
#[doc(hidden)]
pub use levels::allow_avx2;
pub use lines::{LINE_LEN, decode_lines, encode_lines};
pub use text::IdText;

pub(crate) use str_like::str_like;

use alphabet::STANDARD;

use crate::error::ParseError;
use crate::id::MessageId;
use crate::layout::{HEX_LEN, TEXT_LEN};

impl MessageId {
    /// Reads the text form: 19 characters, upper case, dashes in place.
    ///
    /// A `const fn`, so that a literal can be checked when it is compiled: [`message_id!`](crate::message_id).
    ///
    /// # Errors
    /// Anything else, such as lower case, a missing dash, the letters I and O, the digits 0 and 1, or white space.
    #[inline]
    pub const fn parse(text: &str) -> Result<Self, ParseError> {
        Self::parse_bytes(text.as_bytes())
    }

    /// [`parse`](Self::parse) for text that has not been checked to be UTF-8.
    ///
    /// # Errors
    /// Anything but the text form, as for [`parse`](Self::parse).
    #[inline]
    pub const fn parse_bytes(text: &[u8]) -> Result<Self, ParseError> {
        if text.len() == TEXT_LEN
            && let Some(text) = text.first_chunk()
            && let Ok(id) = Self::from_u128(decode::standard(text))
        {
            return Ok(id);
        }
        Err(diagnose::strict(&STANDARD, true, text))
    }

    /// [`parse_bytes`](Self::parse_bytes) with the instructions of the target, which a `const fn` cannot use.
    #[inline]
    fn read(text: &[u8]) -> Result<Self, ParseError> {
        if let Ok(text) = text.try_into()
            && let Ok(id) = Self::from_u128(avx2_or!(|avx2| avx2.decode(text), decode::standard(text)))
        {
            return Ok(id);
        }
        Err(diagnose::strict(&STANDARD, true, text))
    }

    /// Reads what a person types or pastes: either case, any of the three dashes left out, white space around it.
    ///
    /// ```
    /// use imid::MessageId;
    ///
    /// let id = MessageId::parse_lenient(" f3z9mb7y-wcqht3dd\n")?;
    /// assert_eq!(id.to_string(), "F3Z9-MB7Y-WCQH-T3DD");
    /// # Ok::<(), imid::error::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Any other text, such as one with a dash or a space inside a group, or with 0, 1, I or O.
    pub fn parse_lenient(text: &str) -> Result<Self, ParseError> {
        form::parse_lenient(&STANDARD, text)
    }

    /// Reads the hex form: 20 hex digits in either case.
    ///
    /// # Errors
    /// Any other text, such as one of 19 digits or with a leading `0x`.
    pub fn from_hex(text: &str) -> Result<Self, ParseError> {
        decode::hex(text.as_bytes()).map(Self::from_value).ok_or_else(|| diagnose::hex(text.as_bytes()))
    }

    /// The text form, on the stack.
    ///
    /// ```
    /// use imid::MessageId;
    ///
    /// assert_eq!(MessageId::MIN.to_text().as_str(), "2222-2222-2222-2222");
    /// ```
    #[inline]
    pub fn to_text(self) -> IdText {
        IdText::new(self)
    }

    /// Writes the text form into a buffer, and shows it.
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

    /// The ID with a value that a reader put together from digits that fill 80 bits.
    #[inline]
    pub(crate) const fn from_value(value: u128) -> Self {
        match Self::from_u128(value) {
            Ok(id) => id,
            // PANIC: 16 digits of 5 bits and 20 of 4 are 80 bits each.
            Err(_) => panic!("the digits fill 80 bits"),
        }
    }
}

/// The ID of a literal text, read when the program is compiled.
///
/// ```
/// use imid::{MessageId, message_id};
///
/// const WELCOME: MessageId = message_id!("F3Z9-MB7Y-WCQH-T3DD");
/// assert_eq!(WELCOME.spin(), 2219);
/// ```
///
/// Anything but the text form does not compile:
///
/// ```compile_fail
/// let id = imid::message_id!("F3Z9-MB7Y-WCQH-T3D0");
/// ```
#[macro_export]
macro_rules! message_id {
    ($text:expr) => {
        const {
            match $crate::MessageId::parse($text) {
                Ok(id) => id,
                Err(_) => panic!(concat!("not a message ID: ", $text)),
            }
        }
    };
}

/// The text form; width and alignment are honoured.
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

/// The text form, as [`MessageId::parse`] reads it, and on x86-64 sooner.
impl FromStr for MessageId {
    type Err = ParseError;

    #[inline]
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::read(text.as_bytes())
    }
}

/// The text form, as [`FromStr`] reads it.
impl TryFrom<&str> for MessageId {
    type Error = ParseError;

    #[inline]
    fn try_from(text: &str) -> Result<Self, ParseError> {
        Self::read(text.as_bytes())
    }
}

/// The text form, as [`FromStr`] reads it.
impl TryFrom<&[u8]> for MessageId {
    type Error = ParseError;

    #[inline]
    fn try_from(text: &[u8]) -> Result<Self, ParseError> {
        Self::read(text)
    }
}

/// The text form.
#[cfg(feature = "std")]
impl From<MessageId> for String {
    #[inline]
    fn from(id: MessageId) -> Self {
        id.to_text().as_str().to_owned()
    }
}

/// All 20 hex digits in lower case, leading zeros included; `{:#x}` puts `0x` before them.
impl fmt::LowerHex for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if f.alternate() { "0x" } else { "" };
        write!(f, "{prefix}{:0HEX_LEN$x}", self.to_u128())
    }
}

/// All 20 hex digits in upper case, leading zeros included; `{:#X}` puts `0x` before them.
impl fmt::UpperHex for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if f.alternate() { "0x" } else { "" };
        write!(f, "{prefix}{:0HEX_LEN$X}", self.to_u128())
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
                assert_eq!(MessageId::read(&text), MessageId::parse_bytes(&text), "{level} {}", text.escape_ascii());
            }
        });
    }
}
