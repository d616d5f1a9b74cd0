//! An ID and its fields, as a JSON object.

use imid_inspect::{Form, Id};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::time::rfc3339;

/// An ID, and what a command found out about it. An object has only the members that its ID has.
#[derive(Clone, Copy)]
pub(crate) struct IdObject<'a> {
    pub(crate) id: Id,
    pub(crate) form: Option<Form>,
    pub(crate) session_match: Option<bool>,
    pub(crate) plausible: Option<bool>,
    pub(crate) input: Option<&'a str>,
}

impl IdObject<'_> {
    pub(crate) const fn new(id: Id) -> Self {
        Self { id, form: None, session_match: None, plausible: None, input: None }
    }
}

impl Serialize for IdObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (id, mut object) = (self.id, serializer.serialize_map(None)?);
        object.serialize_entry("id", &id.in_form(Form::Text))?;
        object.serialize_entry("dialect", id.scheme_name())?;
        object.serialize_entry("timestamp_ms", &id.timestamp_ms())?;
        object.serialize_entry("time", &rfc3339(id.timestamp_ms()))?;
        match id {
            Id::Message { dialect, id } => {
                object.serialize_entry("spin", &id.spin())?;
                object.serialize_entry("type", &id.type_code())?;
                object.serialize_entry("type_name", &dialect.type_name(id.type_code()))?;
                object.serialize_entry("hash", &id.session_hash())?;
            }
            Id::Snowflake(id) => {
                object.serialize_entry("node", &id.node())?;
                object.serialize_entry("sequence", &id.sequence())?;
                if id.is_overflowed() {
                    object.serialize_entry("overflowed", &true)?;
                }
            }
        }
        // The integer is a string: many JSON readers lose bits of numbers above 2^53.
        for (name, form) in [("hex", Form::Hex), ("int", Form::Int), ("uuid", Form::Uuid)] {
            if let Some(text) = id.in_form(form) {
                object.serialize_entry(name, &text)?;
            }
        }
        if let Some(form) = self.form {
            object.serialize_entry("form", form.name())?;
        }
        for (name, value) in [("session_match", self.session_match), ("plausible", self.plausible)] {
            if let Some(value) = value {
                object.serialize_entry(name, &value)?;
            }
        }
        if let Some(input) = self.input {
            object.serialize_entry("input", input)?;
        }
        object.end()
    }
}
