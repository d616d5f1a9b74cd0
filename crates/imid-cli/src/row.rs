//! An ID and its fields, as a JSON object.

use uuid::Uuid;

use crate::form::ReadForm;
use crate::scheme::Id;
use crate::time::TimeText;

/// A member of the JSON object of an ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Column {
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

impl Column {
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

/// A value of a column.
#[derive(Clone, Copy)]
pub(crate) enum Cell<'a> {
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

impl Cell<'_> {
    fn maybe_bool(value: Option<bool>) -> Self {
        value.map_or(Self::Absent, Self::Bool)
    }
}

/// An ID, and what a command found out about it.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) id: Id,
    pub(crate) form: Option<ReadForm>,
    pub(crate) session_match: Option<bool>,
    pub(crate) plausible: Option<bool>,
    pub(crate) input: Option<&'a str>,
}

impl Row<'_> {
    pub(crate) const fn new(id: Id) -> Self {
        Self { id, form: None, session_match: None, plausible: None, input: None }
    }

    /// Passes the value of a column to a function. Most values are texts on the stack.
    pub(crate) fn cell(&self, column: Column, times: &mut TimeText, write: impl FnOnce(Cell<'_>)) {
        let id = &self.id;
        match column {
            Column::Id => match id {
                Id::Message { dialect, id } => match dialect.to_text(*id) {
                    Ok(text) => write(Cell::Word(&text)),
                    Err(_) => write(Cell::Word(&id.to_hex())),
                },
                Id::Snowflake(id) => write(Cell::Word(&id.to_string())),
            },
            Column::Dialect => write(Cell::Word(id.scheme_name())),
            Column::TimestampMs => write(Cell::Number(id.timestamp_ms())),
            Column::Time => write(Cell::Word(times.rfc3339(id.timestamp_ms()))),
            Column::Hex => match id {
                Id::Message { id, .. } => write(Cell::Word(&id.to_hex())),
                Id::Snowflake(id) => write(Cell::Word(&id.to_hex())),
            },
            // A string: many JSON readers lose bits of numbers above 2^53.
            Column::Int => match id {
                Id::Message { id, .. } => write(Cell::Word(itoa::Buffer::new().format(id.to_u128()))),
                Id::Snowflake(id) => write(Cell::Word(itoa::Buffer::new().format(id.to_i64()))),
            },
            Column::Uuid => match id.uuid() {
                Some(uuid) => write(Cell::Word(uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()))),
                None => write(Cell::Absent),
            },
            Column::Form => write(self.form.map_or(Cell::Absent, |form| Cell::Word(form.name()))),
            Column::SessionMatch => write(Cell::maybe_bool(self.session_match)),
            Column::Plausible => write(Cell::maybe_bool(self.plausible)),
            Column::Input => write(self.input.map_or(Cell::Absent, Cell::Text)),
            column => match id {
                Id::Message { dialect, id } => write(match column {
                    Column::Spin => id.spin().map_or(Cell::Null, |spin| Cell::Number(spin.into())),
                    Column::Type => Cell::Number(id.type_code().into()),
                    Column::TypeName => dialect.type_name(id.type_code()).map_or(Cell::Null, Cell::Word),
                    Column::Hash => Cell::Number(id.session_hash().into()),
                    _ => Cell::Absent,
                }),
                Id::Snowflake(id) => write(match column {
                    Column::Node => Cell::Number(id.node().into()),
                    Column::Sequence => Cell::Number(id.sequence().into()),
                    Column::Overflowed if id.is_overflowed() => Cell::Bool(true),
                    _ => Cell::Absent,
                }),
            },
        }
    }
}
