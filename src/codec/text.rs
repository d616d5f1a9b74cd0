//! The text form on the stack.
#![allow(unsafe_code, reason = "a test for UTF-8 takes longer than the text's making")]

use super::encode;
use crate::id::MessageId;
use crate::layout::TEXT_LEN;

/// Length of the text with a byte after it, which makes it 16 and 4: a copy of 19 bytes is two loads that overlap, and
/// the second of them waits for the stores that it straddles.
pub(super) const PADDED_LEN: usize = TEXT_LEN + 1;

/// The 19-character text of an ID, on the stack: what [`MessageId::to_text`] returns. A `str` in all but type.
// Digits and dashes, which `as_str` relies on: the field is private, and only `new` fills it. The last byte is the same in
// each, so that comparisons are those of the texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdText([u8; PADDED_LEN]);

impl IdText {
    // Each branch makes the type itself: what is wrapped after they meet is copied.
    #[inline]
    pub(super) fn new(id: MessageId) -> Self {
        avx2_or!(|avx2| Self(avx2.padded(id.to_u128())), Self(encode::padded(id.to_u128())))
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        let [text @ .., _] = &self.0;
        // SAFETY: the bytes are digits and dashes, which are ASCII.
        unsafe { str::from_utf8_unchecked(text) }
    }
}

/// Writes the text and shows it.
#[inline]
pub(super) fn write(id: MessageId, buffer: &mut [u8; TEXT_LEN]) -> &mut str {
    avx2_or!(|avx2| avx2.encode(id.to_u128(), buffer), encode::standard(id.to_u128(), buffer));
    // SAFETY: the bytes are digits and dashes, which are ASCII.
    unsafe { str::from_utf8_unchecked_mut(buffer) }
}

crate::codec::str_like!(IdText);
