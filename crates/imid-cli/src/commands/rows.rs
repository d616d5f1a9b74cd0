//! Rows of tables, for the commands that read an ID from each.

use std::fmt;

use crate::input::{Input, Opened};
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
    #[cfg(feature = "parquet")]
    Bytes(&'a [u8]),
}

impl IdCell<'_> {
    pub(super) fn read(&self, scheme: Scheme) -> Result<Id, String> {
        match self {
            Self::Text(text) => scheme.parse(text.as_bytes()),
            #[cfg(feature = "parquet")]
            Self::Bytes(bytes) => scheme.read_bytes(bytes),
        }
    }
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
    /// "line", "row" or "argument".
    pub(super) noun: &'static str,
    /// Counts from 1.
    pub(super) number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.noun, self.number)
    }
}

/// Passes each row of a table to `each`. Returns input that is not a table.
pub(super) fn each_row(
    opened: Opened,
    fields: &Fields<'_>,
    each: impl FnMut(Place, Result<Row<'_>, String>) -> Result<(), Stop>,
) -> Result<Option<Input>, Stop> {
    match opened {
        Opened::Lines(input) => return Ok(Some(input)),
        Opened::Records(input, delimiter) => each_record(input, delimiter, fields, each)?,
        #[cfg(feature = "parquet")]
        Opened::Table(table) => columns::each_row(table, fields, each)?,
    }
    Ok(None)
}

/// Passes each record after the header.
fn each_record(
    input: Input,
    delimiter: u8,
    fields: &Fields<'_>,
    mut each: impl FnMut(Place, Result<Row<'_>, String>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    input.each_record(delimiter, |record| {
        if let Some(header) = record.as_header() {
            return header.require(fields.names());
        }
        let row = record.check().and_then(|()| {
            let id = IdCell::Text(record.field(fields.id)?);
            let time = fields.time.map(|name| record.field(name)).transpose()?;
            Ok(Row { id, time })
        });
        each(Place { noun: "line", number: record.line }, row)
    })
}

#[cfg(feature = "parquet")]
mod columns {
    use super::{Fields, IdCell, Place, Row};
    use crate::columnar::{Batch, Bytes, Cells, Reader, Texts, find};
    use crate::report::{Stop, quote};

    /// A column of IDs.
    enum Ids {
        Texts(Texts),
        Bytes(Bytes),
    }

    /// Passes each row of a Parquet or Arrow table.
    pub(super) fn each_row(
        mut table: Reader,
        fields: &Fields<'_>,
        mut each: impl FnMut(Place, Result<Row<'_>, String>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        table.project(fields.names())?;
        let path = |name: &String| find(table.schema(), name).map_err(|problem| table.error(&problem));
        let (id_path, time_path) = (path(fields.id)?, fields.time.map(path).transpose()?);
        let mut number = 0;
        while let Some(batch) = table.next()? {
            let Batch::Rows(batch) = batch else { continue };
            let column_error = |name: &str, problem: &str| table.error(&format!("field {}: {problem}", quote(name)));
            let ids = Cells::new(&batch, &id_path, |array| match Bytes::new(array) {
                Some(bytes) => Ok(Ids::Bytes(bytes)),
                None => Texts::new(array, false).map(Ids::Texts),
            });
            let ids = ids.map_err(|problem| column_error(fields.id, &problem))?;
            let times = match (fields.time, &time_path) {
                (Some(name), Some(path)) => {
                    let times = Cells::new(&batch, path, |array| Texts::new(array, true));
                    Some((name, times.map_err(|problem| column_error(name, &problem))?))
                }
                _ => None,
            };
            for row in 0..batch.num_rows() {
                number += 1;
                let null =
                    |name: &str, expected: &str| format!("field {}: expected {expected}, found null", quote(name));
                let id = match ids.at(row) {
                    Some(Ids::Texts(texts)) => Ok(IdCell::Text(texts.value(row))),
                    Some(Ids::Bytes(bytes)) => Ok(IdCell::Bytes(bytes.value(row))),
                    None => Err(null(fields.id, "an ID")),
                };
                let time = match &times {
                    Some((name, times)) => match times.at(row) {
                        Some(texts) => Ok(Some(texts.value(row))),
                        None => Err(null(name, "a time")),
                    },
                    None => Ok(None),
                };
                let read = id.and_then(|id| Ok(Row { id, time: time? }));
                each(Place { noun: "row", number }, read)?;
            }
        }
        Ok(())
    }
}
