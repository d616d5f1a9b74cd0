//! The text form on the stack.

use core::fmt;
use core::ops::Deref;

use arrayvec::ArrayString;

use super::alphabet::STANDARD;
use super::encode::{dashed, digits};
use crate::id::MessageId;
use crate::layout::TEXT_LEN;

/// The 19-character text of an ID, on the stack: what [`MessageId::to_text`] returns. A `str` in all but type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdText(ArrayString<TEXT_LEN>);

impl IdText {
    pub(super) fn new(id: MessageId) -> Self {
        // PANIC: every byte is a digit or a dash, so ASCII.
        Self(
            ArrayString::from_byte_string(&dashed(&digits(&STANDARD, id.to_u128())))
                .expect("digits and dashes are ASCII"),
        )
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for IdText {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for IdText {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for IdText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for IdText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
