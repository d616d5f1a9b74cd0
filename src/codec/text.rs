//! The text form on the stack. Only this file can make an [`IdText`].
#![allow(unsafe_code, reason = "checking for UTF-8 takes longer than writing the text")]

use core::fmt::{self, Alignment};
use core::hash::{Hash, Hasher};
use core::str;

use super::encode::{self, PADDED_LEN};
use super::str_like;
use crate::id::MessageId;
use crate::layout::TEXT_LEN;

/// The 19-character text of an ID, on the stack: the result of [`MessageId::to_text`]. Use it as a `&str`.
// INVARIANT: the bytes are digits and dashes, so they are ASCII. The last byte is always 0, so the order of the bytes is
// the order of the texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct IdText([u8; PADDED_LEN]);

impl IdText {
    /// Writes the text of an ID.
    // Each branch makes the whole value. If the value were made after the branches, it would be copied.
    #[inline]
    pub(super) fn new(id: MessageId) -> Self {
        avx2_or!(|avx2| Self(avx2.padded(id.to_u128())), Self(encode::padded(id.to_u128())))
    }

    /// Returns the text.
    #[inline]
    pub fn as_str(&self) -> &str {
        let [text @ .., _] = &self.0;
        // SAFETY: the bytes are those of `avx2.padded` or `encode::padded`, which write digits and dashes: ASCII.
        unsafe { str::from_utf8_unchecked(text) }
    }
}

// `Borrow<str>` requires the hash of `str`.
impl Hash for IdText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

str_like!(IdText);

/// Writes the text of an ID into a buffer. Returns the buffer as a `str`.
#[inline]
pub(super) fn write(id: MessageId, buffer: &mut [u8; TEXT_LEN]) -> &mut str {
    avx2_or!(|avx2| avx2.encode(id.to_u128(), buffer), encode::standard(id.to_u128(), buffer));
    // SAFETY: either branch has filled the buffer with digits and dashes, which are ASCII.
    unsafe { str::from_utf8_unchecked_mut(buffer) }
}

/// The widest text that `pad` pads by itself.
const WIDEST: usize = 64;

/// Formats an ASCII text as [`Formatter::pad`](fmt::Formatter::pad) does.
///
/// The formatter writes each padding character separately. This function writes ASCII padding and text as one piece, so
/// that a `String` grows once. Out of line: each type of text would have a copy of it.
#[inline(never)]
pub(crate) fn pad(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let width = f.width().unwrap_or(0);
    let fill = f.fill();
    if f.precision().is_some() || width > WIDEST || !fill.is_ascii() {
        return f.pad(text);
    }
    let Some(spaces @ 1..) = width.checked_sub(text.len()) else { return f.write_str(text) };
    let before = match f.align() {
        None | Some(Alignment::Left) => 0,
        Some(Alignment::Center) => spaces / 2,
        Some(Alignment::Right) => spaces,
    };
    let mut padded = [fill as u8; WIDEST];
    padded[before..][..text.len()].copy_from_slice(text.as_bytes());
    // SAFETY: the bytes are ASCII, the whole of a `str`, and ASCII. `width` includes the `str`: it is `spaces` longer.
    f.write_str(unsafe { str::from_utf8_unchecked(&padded[..width]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Padded<'a>(&'a str);

    impl fmt::Display for Padded<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            pad(self.0, f)
        }
    }

    #[test]
    fn a_text_is_padded_as_str_is() {
        let text = MessageId::MIN.to_text();
        for text in [text.as_str(), ""] {
            let padded = Padded(text);
            for width in (0..=WIDEST + 2).chain([200]) {
                assert_eq!(format!("{padded:width$}"), format!("{text:width$}"));
                assert_eq!(format!("{padded:<width$}"), format!("{text:<width$}"));
                assert_eq!(format!("{padded:^width$}"), format!("{text:^width$}"));
                assert_eq!(format!("{padded:>width$}"), format!("{text:>width$}"));
                assert_eq!(format!("{padded:*>width$}"), format!("{text:*>width$}"));
                assert_eq!(format!("{padded:é^width$}"), format!("{text:é^width$}"));
                assert_eq!(format!("{padded:>width$.4}"), format!("{text:>width$.4}"));
            }
            assert_eq!(format!("{padded}"), text);
            assert_eq!(format!("{padded:.7}"), format!("{text:.7}"));
        }
    }
}
