//! The text form on the stack. Only this file can make an [`IdText`].
#![allow(unsafe_code, reason = "checking for UTF-8 takes longer than writing the text")]

use core::hash::{Hash, Hasher};
use core::str;

use super::encode::{self, PADDED_LEN};
use super::str_like;
use crate::id::MessageId;
use crate::layout::TEXT_LEN;

/// The 19-character text of an ID, on the stack: the result of [`MessageId::to_text`]. Use it as a `&str`.
// INVARIANT: the bytes are digits and dashes, so they are ASCII. The last byte is always a dash, so the order of the
// bytes is the order of the texts.
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
