//! Rows of tables, for the commands that read an ID from each.

use crate::input::Input;
use crate::report::Stop;
use crate::scheme::{Id, Scheme};

/// What is read from a row.
pub(super) struct Row<'a> {
    pub(super) id: IdCell<'a>,
    /// The time, if a field with times was named.
    pub(super) time: Option<&'a str>,
}

/// An ID in a table.
pub(super) enum IdCell<'a> {
    Text(&'a str),
}

impl IdCell<'_> {
    pub(super) fn read(&self, scheme: Scheme) -> Result<Id, String> {
        match self {
            Self::Text(text) => scheme.parse(text.as_bytes()),
        }
    }
}

/// Passes each record after the header to `each`, with the number of its line.
pub(super) fn each_record(
    input: Input,
    delimiter: u8,
    id_field: &String,
    time_field: Option<&String>,
    mut each: impl FnMut(u64, Result<Row<'_>, String>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    input.each_record(delimiter, |record| {
        if let Some(header) = record.as_header() {
            return header.require([id_field].into_iter().chain(time_field));
        }
        let row = record.check().and_then(|()| {
            let id = IdCell::Text(record.field(id_field)?);
            let time = time_field.map(|name| record.field(name)).transpose()?;
            Ok(Row { id, time })
        });
        each(record.line, row)
    })
}
