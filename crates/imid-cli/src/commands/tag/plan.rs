//! What is read from each message: its session and its time.

use std::borrow::Cow;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use imid::dialect::Dialect;
use imid::{SessionTag, SessionType};

use super::template::{Part, Template};
use crate::message::{Message, Value, field};
use crate::session::session_type_in;
use crate::time::TimeField;

/// Reads the name of a dialect that can mint IDs.
pub(super) fn dialects() -> impl TypedValueParser<Value = &'static Dialect<'static>> {
    let mints = |dialect: &&Dialect<'_>| dialect.session_tag(SessionType::default(), "").is_ok();
    PossibleValuesParser::new(Dialect::ALL.iter().filter(mints).map(Dialect::name)).map(|name| {
        // PANIC: clap accepts only these names, in any case.
        Dialect::named(&name.to_ascii_lowercase()).expect("a possible value is a dialect")
    })
}

/// The fields that are read from each message.
pub(super) struct Plan {
    pub(super) dialect: &'static Dialect<'static>,
    pub(super) session: Template,
    pub(super) peer_field: Option<String>,
    pub(super) default_type: SessionType,
    pub(super) type_field: Option<String>,
    pub(super) time: TimeField,
    /// The fields that get the ID.
    pub(super) id_fields: Vec<String>,
    /// Whether the fields of the ID are replaced.
    pub(super) overwrite: bool,
}

/// What an ID is made from.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) session: SessionTag,
    /// 0 if there is no time field.
    pub(super) unix_ms: u64,
}

impl Plan {
    /// Reads what the ID of a message is made from.
    pub(super) fn read(&self, message: &impl Message) -> Result<Facts, String> {
        let session = self.session(message)?;
        Ok(Facts { session, unix_ms: self.time.read(message)?.unwrap_or(0) })
    }

    /// Returns the fields that are removed from a line.
    pub(super) fn removed(&self) -> &[String] {
        if self.overwrite { &self.id_fields } else { &[] }
    }

    /// Returns the fields that are read.
    pub(super) fn fields(&self) -> impl Iterator<Item = &String> {
        self.session.fields().chain(&self.peer_field).chain(&self.type_field).chain(&self.time.name)
    }

    fn session(&self, message: &impl Message) -> Result<SessionTag, String> {
        let session_type = match &self.type_field {
            Some(name) => field(message, name, |value| value.parse(|text| session_type_in(self.dialect, text)))?,
            None => self.default_type,
        };
        let name = match &self.session.0[..] {
            // The name need not be copied.
            [Part::Field(name)] => field(message, name, Value::session_name)?,
            parts => Cow::Owned(composite(parts, message)?),
        };
        match &self.peer_field {
            Some(peer) if session_type == SessionType::PRIVATE => {
                Ok(SessionTag::pair(&name, &field(message, peer, Value::session_name)?))
            }
            _ => self.dialect.session_tag(session_type, &name).map_err(|error| error.to_string()),
        }
    }
}

/// Returns a session name with the values of its fields.
fn composite(parts: &[Part], message: &impl Message) -> Result<String, String> {
    let mut name = String::new();
    for part in parts {
        match part {
            Part::Text(text) => name += text,
            Part::Field(field) => name += &self::field(message, field, Value::session_name)?,
        }
    }
    Ok(name)
}
