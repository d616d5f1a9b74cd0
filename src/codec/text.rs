//! The text form on the stack.

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

crate::codec::str_like!(IdText);
