//! A dialect's text on the stack.

use arrayvec::ArrayString;

use crate::codec::form::Form;
use crate::codec::str_like;
use crate::id::MessageId;
use crate::layout::TEXT_LEN;

/// The text of an ID in a dialect, 16 or 19 characters on the stack: what [`Dialect::to_text`](super::Dialect::to_text)
/// returns. It can be used as a `str`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DialectText(ArrayString<TEXT_LEN>);

impl DialectText {
    pub(super) fn new(form: &Form, id: MessageId) -> Self {
        let mut text = [0; TEXT_LEN];
        // PANIC: a form writes into a buffer of this length.
        Self(ArrayString::from(form.encode(id, &mut text)).expect("a text is at most 19 characters"))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

str_like!(DialectText);
