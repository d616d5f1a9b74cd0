//! An ID and its fields, as a JSON object.

use uuid::Uuid;

use crate::form::ReadForm;
use crate::scheme::Id;
use crate::time::TimeText;

/// A member of the JSON object of an ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Member {
    Id,
    Dialect,
    TimestampMs,
    Time,
    Spin,
    Type,
    TypeName,
    Hash,
    Node,
    Sequence,
    Overflowed,
    Hex,
    Int,
    Uuid,
    Form,
    SessionMatch,
    Plausible,
    Input,
}

impl Member {
    /// All members, in their order.
    pub(crate) const ALL: &'static [Self] = &[
        Self::Id,
        Self::Dialect,
        Self::TimestampMs,
        Self::Time,
        Self::Spin,
        Self::Type,
        Self::TypeName,
        Self::Hash,
        Self::Node,
        Self::Sequence,
        Self::Overflowed,
        Self::Hex,
        Self::Int,
        Self::Uuid,
        Self::Form,
        Self::SessionMatch,
        Self::Plausible,
        Self::Input,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Dialect => "dialect",
            Self::TimestampMs => "timestamp_ms",
            Self::Time => "time",
            Self::Spin => "spin",
            Self::Type => "type",
            Self::TypeName => "type_name",
            Self::Hash => "hash",
            Self::Node => "node",
            Self::Sequence => "sequence",
            Self::Overflowed => "overflowed",
            Self::Hex => "hex",
            Self::Int => "int",
            Self::Uuid => "uuid",
            Self::Form => "form",
            Self::SessionMatch => "session_match",
            Self::Plausible => "plausible",
            Self::Input => "input",
        }
    }
}

/// A value of a member.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    /// A text that needs no escape.
    Word(&'a str),
    Text(&'a str),
    Number(u64),
    Bool(bool),
    /// The ID has such a field in general, but this one has no value.
    Null,
    /// The ID or the command has no such field.
    Absent,
}

impl Value<'_> {
    fn maybe_bool(value: Option<bool>) -> Self {
        value.map_or(Self::Absent, Self::Bool)
    }
}

/// An ID, and what a command found out about it.
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

    /// Passes the value of a member to a function. Most values are texts on the stack.
    pub(crate) fn value(&self, member: Member, times: &mut TimeText, write: impl FnOnce(Value<'_>)) {
        let id = &self.id;
        match member {
            Member::Id => match id {
                Id::Message { dialect, id } => match dialect.to_text(*id) {
                    Ok(text) => write(Value::Word(&text)),
                    Err(_) => write(Value::Word(&id.to_hex())),
                },
                Id::Snowflake(id) => write(Value::Word(&id.to_string())),
            },
            Member::Dialect => write(Value::Word(id.scheme_name())),
            Member::TimestampMs => write(Value::Number(id.timestamp_ms())),
            Member::Time => write(Value::Word(times.rfc3339(id.timestamp_ms()))),
            Member::Hex => match id {
                Id::Message { id, .. } => write(Value::Word(&id.to_hex())),
                Id::Snowflake(id) => write(Value::Word(&id.to_hex())),
            },
            // A string: many JSON readers lose bits of numbers above 2^53.
            Member::Int => match id {
                Id::Message { id, .. } => write(Value::Word(itoa::Buffer::new().format(id.to_u128()))),
                Id::Snowflake(id) => write(Value::Word(itoa::Buffer::new().format(id.to_i64()))),
            },
            Member::Uuid => match id.uuid() {
                Some(uuid) => write(Value::Word(uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()))),
                None => write(Value::Absent),
            },
            Member::Form => write(self.form.map_or(Value::Absent, |form| Value::Word(form.name()))),
            Member::SessionMatch => write(Value::maybe_bool(self.session_match)),
            Member::Plausible => write(Value::maybe_bool(self.plausible)),
            Member::Input => write(self.input.map_or(Value::Absent, Value::Text)),
            member => match id {
                Id::Message { dialect, id } => write(match member {
                    Member::Spin => id.spin().map_or(Value::Null, |spin| Value::Number(spin.into())),
                    Member::Type => Value::Number(id.type_code().into()),
                    Member::TypeName => dialect.type_name(id.type_code()).map_or(Value::Null, Value::Word),
                    Member::Hash => Value::Number(id.session_hash().into()),
                    _ => Value::Absent,
                }),
                Id::Snowflake(id) => write(match member {
                    Member::Node => Value::Number(id.node().into()),
                    Member::Sequence => Value::Number(id.sequence().into()),
                    Member::Overflowed if id.is_overflowed() => Value::Bool(true),
                    _ => Value::Absent,
                }),
            },
        }
    }
}
