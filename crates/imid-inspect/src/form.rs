//! The forms of an ID.

use crate::scheme::Id;

/// A form of an ID. Each form holds all of its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Form {
    /// The text of the dialect or layout.
    Text,
    /// That text in the other case, or without its dashes, or with some of them.
    LenientText,
    /// 20 hex digits, or 16 for a Snowflake.
    Hex,
    /// A decimal number.
    Int,
    /// The UUID view.
    Uuid,
    /// The bytes, or those of the view, in base64, as JSON encoders write them.
    Base64,
    /// The bytes as a client prints them: a list of numbers, a dump, or a literal with escapes.
    Bytes,
}

/// An ID, and the form that it was read from.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// The ID.
    pub id: Id,
    /// The form.
    pub form: Form,
}

impl Read {
    /// Returns what is read from a text that had something around it.
    pub(crate) fn lenient(self) -> Self {
        if self.form == Form::Text { Self { form: Form::LenientText, ..self } } else { self }
    }
}

impl Form {
    /// Returns the name, such as `text`, `lenient text` or `uuid`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::LenientText => "lenient text",
            Self::Hex => "hex",
            Self::Int => "int",
            Self::Uuid => "uuid",
            Self::Base64 => "base64",
            Self::Bytes => "bytes",
        }
    }
}
