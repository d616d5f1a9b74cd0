//! What is read from each message: its session and its time.

use std::borrow::Cow;

use imid::dialect::Dialect;
use imid::{SessionTag, SessionType};

use super::Args;
use super::template::Part;
use crate::message::{Message, Value, field};
use crate::report::Stop;
use crate::session::{ONLY_STANDARD_PAIRS, pair_type, session_type_in};

/// The fields that are read from each message, and those that get the ID.
pub(super) struct Plan<'a> {
    args: &'a Args,
    default_type: SessionType,
}

/// What an ID is made from.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) session: SessionTag,
    /// 0 if there is no time field.
    pub(super) unix_ms: u64,
}

impl<'a> Plan<'a> {
    pub(super) fn new(args: &'a Args) -> Result<Self, Stop> {
        let session_type = args.session_type.as_deref().map(|text| session_type_in(args.dialect, text)).transpose();
        let session_type = session_type.map_err(|problem| Stop::Usage(format!("--type: {problem}")))?;
        if args.peer_field.is_some() && args.dialect.name() != Dialect::STANDARD.name() {
            return Err(Stop::Usage(format!("--peer-field {ONLY_STANDARD_PAIRS}")));
        }
        Ok(Self { args, default_type: pair_type(session_type, args.peer_field.is_some())? })
    }

    /// Reads what the ID of a message is made from.
    pub(super) fn read(&self, message: &impl Message) -> Result<Facts, String> {
        let session = self.session(message)?;
        Ok(Facts { session, unix_ms: self.args.time.read(message)?.unwrap_or(0) })
    }

    /// Returns the fields that get the ID.
    pub(super) fn id_fields(&self) -> &'a [String] {
        &self.args.id_field
    }

    /// Returns the fields that are read.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'a String> {
        let Args { session_field, peer_field, type_field, time, .. } = self.args;
        session_field.fields().chain(peer_field).chain(type_field).chain(&time.name)
    }

    fn session(&self, message: &impl Message) -> Result<SessionTag, String> {
        let dialect = self.args.dialect;
        let session_type = match &self.args.type_field {
            Some(name) => field(message, name, |value| value.parse(|text| session_type_in(dialect, text)))?,
            None => self.default_type,
        };
        let name = match &self.args.session_field.0[..] {
            // The name need not be copied.
            [Part::Field(name)] => field(message, name, Value::session_name)?,
            parts => Cow::Owned(composite(parts, message)?),
        };
        match &self.args.peer_field {
            Some(peer) if session_type == SessionType::PRIVATE => {
                Ok(SessionTag::pair(&name, &field(message, peer, Value::session_name)?))
            }
            _ => dialect.session_tag(session_type, &name).map_err(|error| error.to_string()),
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
