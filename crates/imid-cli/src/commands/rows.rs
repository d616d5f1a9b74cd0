//! Rows of tables, for the commands that read an ID from each.

use std::fmt;

use crate::input::{Input, Opened};
use crate::report::Stop;

/// What is read from a row.
pub(super) struct Row<'a> {
    pub(super) id: &'a str,
    /// The time, if a field with times was named.
    pub(super) time: Option<&'a str>,
}

/// The fields that are read from each row.
pub(super) struct Fields<'a> {
    pub(super) id: &'a String,
    pub(super) time: Option<&'a String>,
}

impl Fields<'_> {
    fn names(&self) -> impl Iterator<Item = &String> {
        [self.id].into_iter().chain(self.time)
    }
}

/// The place of an ID, for messages.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// "line" or "argument".
    pub(super) noun: &'static str,
    /// Counts from 1.
    pub(super) number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.noun, self.number)
    }
}

/// Passes each row of a table, with its line, to `each`. Returns input that is not a table.
pub(super) fn each_row(
    opened: Opened,
    fields: &Fields<'_>,
    each: impl FnMut(u64, Result<Row<'_>, String>) -> Result<(), Stop>,
) -> Result<Option<Input>, Stop> {
    match opened {
        Opened::Lines(input) => return Ok(Some(input)),
        Opened::Records(input, delimiter) => each_record(input, delimiter, fields, each)?,
    }
    Ok(None)
}

/// Passes each record after the header.
fn each_record(
    input: Input,
    delimiter: u8,
    fields: &Fields<'_>,
    mut each: impl FnMut(u64, Result<Row<'_>, String>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    input.each_record(delimiter, |record| {
        if let Some(header) = record.as_header() {
            return header.require(fields.names());
        }
        let row = record.check().and_then(|()| {
            let id = record.field(fields.id)?;
            let time = fields.time.map(|name| record.field(name)).transpose()?;
            Ok(Row { id, time })
        });
        each(record.line, row)
    })
}
