//! What is read from each message: its session and its time.

use std::borrow::Cow;

use imid::{SessionTag, SessionType};

use super::template::{Part, Template};
use crate::json::{self, not_unicode};
use crate::report::{quote, quote_json};
use crate::session::session_type;
use crate::time::TimeField;

/// The fields that are read from each message.
pub(super) struct Plan {
    pub(super) session: Template,
    pub(super) peer_field: Option<String>,
    pub(super) default_type: SessionType,
    pub(super) type_field: Option<String>,
    pub(super) time: TimeField,
    /// The fields that get the ID.
    pub(super) id_fields: Vec<String>,
    pub(super) overwrite: bool,
}

/// A message whose fields are found by name.
pub(in crate::commands) trait Message {
    fn value(&self, field: &str) -> Result<Value<'_>, String>;
    fn has(&self, field: &str) -> bool;
}

/// The value of a field.
#[derive(Clone, Copy)]
pub(in crate::commands) enum Value<'a> {
    /// A JSON value, as it is in the line.
    Json(&'a str),
    /// The text of a CSV field.
    Text(&'a str),
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
        if !self.overwrite
            && let Some(field) = self.id_fields.iter().find(|field| message.has(field))
        {
            return Err(format!("field {} already exists (--overwrite replaces it)", quote(field)));
        }
        let session = self.session(message)?;
        let unix_ms = match &self.time.name {
            Some(name) => field(message, name, |value| value.parse(|text| self.time.parse(text)))?,
            None => 0,
        };
        Ok(Facts { session, unix_ms })
    }

    /// Returns the fields that are read.
    pub(super) fn fields(&self) -> impl Iterator<Item = &String> {
        self.session.fields().chain(&self.peer_field).chain(&self.type_field).chain(&self.time.name)
    }

    fn session(&self, message: &impl Message) -> Result<SessionTag, String> {
        let session_type = match &self.type_field {
            Some(name) => field(message, name, |value| value.parse(session_type))?,
            None => self.default_type,
        };
        let name = match &self.session.0[..] {
            // The name need not be copied.
            [Part::Field(name)] => field(message, name, Value::session_name)?,
            parts => Cow::Owned(composite(parts, message)?),
        };
        Ok(match &self.peer_field {
            Some(peer) if session_type == SessionType::PRIVATE => {
                SessionTag::pair(&name, &field(message, peer, Value::session_name)?)
            }
            _ => SessionTag::new(session_type, &name),
        })
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

/// Reads the value of a field. The error names the field.
pub(in crate::commands) fn field<'a, T>(
    message: &'a impl Message,
    name: &str,
    read: impl FnOnce(Value<'a>) -> Result<T, String>,
) -> Result<T, String> {
    read(message.value(name)?).map_err(|problem| format!("field {}: {problem}", quote(name)))
}

impl<'a> Value<'a> {
    /// Returns the text of a string, or another value as it is in the line.
    fn text(self) -> Result<Cow<'a, str>, String> {
        match self {
            Self::Text(text) => Ok(text.into()),
            Self::Json(value) => json::text(value).ok_or_else(|| not_unicode(value)),
        }
    }

    pub(in crate::commands) fn parse<T>(self, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<T, String> {
        match self {
            Self::Text(text) => parse(text),
            Self::Json(value) => json::parse(value, parse),
        }
    }

    /// Returns the name of a session: a string, or the decimal text of an integer of any size.
    pub(in crate::commands) fn session_name(self) -> Result<Cow<'a, str>, String> {
        if let Self::Json(value) = self
            && !value.starts_with('"')
        {
            let digits = value.strip_prefix('-').unwrap_or(value);
            // -0 would be a second text of the integer 0, and so a second session.
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) || value == "-0" {
                return Err(format!("expected a string or an integer, found {}", quote_json(value)));
            }
        }
        self.text()
    }
}
