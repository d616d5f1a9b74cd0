//! An ID and its fields, as a JSON object.

use imid_inspect::{Form, Id, ReadForm};

use crate::json::Members;
use crate::time::rfc3339;

/// An ID, and what a command found out about it. An object has only the members that its ID has.
#[derive(Clone, Copy)]
pub(crate) struct IdObject<'a> {
    pub(crate) id: Id,
    pub(crate) form: Option<ReadForm>,
    pub(crate) session_match: Option<bool>,
    pub(crate) plausible: Option<bool>,
    pub(crate) input: Option<&'a str>,
}

impl IdObject<'_> {
    pub(crate) const fn new(id: Id) -> Self {
        Self { id, form: None, session_match: None, plausible: None, input: None }
    }

    /// Adds the members to an object.
    pub(crate) fn write(&self, object: &mut Members<'_>) {
        object.plain("id", &self.id.in_form(Form::Text).unwrap_or_default());
        object.plain("dialect", self.id.scheme_name());
        object.number("timestamp_ms", self.id.timestamp_ms());
        object.plain("time", &rfc3339(self.id.timestamp_ms()));
        match self.id {
            Id::Message { dialect, id } => {
                match id.spin() {
                    Some(spin) => object.number("spin", spin),
                    None => object.null("spin"),
                }
                object.number("type", id.type_code());
                match dialect.type_name(id.type_code()) {
                    Some(name) => object.plain("type_name", name),
                    None => object.null("type_name"),
                }
                object.number("hash", id.session_hash());
            }
            Id::Snowflake(id) => {
                object.number("node", id.node());
                object.number("sequence", id.sequence());
                if id.is_overflowed() {
                    object.flag("overflowed", true);
                }
            }
        }
        // The integer is a string: many JSON readers lose bits of numbers above 2^53.
        for (name, form) in [("hex", Form::Hex), ("int", Form::Int), ("uuid", Form::Uuid)] {
            if let Some(text) = self.id.in_form(form) {
                object.plain(name, &text);
            }
        }
        if let Some(form) = self.form {
            object.plain("form", form.name());
        }
        for (name, value) in [("session_match", self.session_match), ("plausible", self.plausible)] {
            if let Some(value) = value {
                object.flag(name, value);
            }
        }
        if let Some(input) = self.input {
            object.text("input", input);
        }
    }
}
