//! Records of CSV or TSV. The ID is added as the last fields of each record. The other bytes do not change.

use bstr::ByteSlice;

use super::columns::Column;
use super::plan::Plan;
use super::tagger::Tagger;
use crate::input::{Header, Input, Record, Records, TAB, escape};
use crate::report::{Stop, quote};

/// How a table is written.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) delimiter: u8,
    pub(super) columns: &'a [Column<'a>],
}

impl Tagger<'_> {
    /// Tags the records of an input.
    pub(super) fn tag_records(&mut self, mut input: Input, table: Table<'_>) -> Result<(), Stop> {
        let mut records = Records::new(table.delimiter);
        loop {
            let piece = input.next_piece(&records).map_err(|stop| self.with_last(stop))?;
            let (has_ended, before, mut is_bad_record) = (piece.is_empty(), self.last, false);
            let fed = records.feed(piece, |record| {
                let tagged = self.tag_record(record, table);
                is_bad_record = tagged.is_err();
                tagged
            });
            self.output.extend_from_slice(fed.as_deref().unwrap_or_default());
            // Also after an error: these are the records before a bad one.
            self.write(before)?;
            fed.map_err(|stop| if is_bad_record { stop } else { self.with_last(stop) })?;
            if has_ended {
                return Ok(());
            }
        }
    }

    fn tag_record(&mut self, record: Record<'_>, Table { delimiter, columns }: Table<'_>) -> Result<(), Stop> {
        // Blank lines are copied, also those before a bad record.
        let (blank, text) = record.text.split_at(record.text.find_not_byteset(b"\r\n").unwrap_or(0));
        self.output.extend_from_slice(blank);
        if let Some(header) = record.as_header() {
            if let Err(problem) = check_header(header, &self.plan, columns) {
                // Blank lines alone are no output.
                self.output.clear();
                return Err(problem);
            }
            self.output.extend_from_slice(text);
            for column in columns {
                self.output.push(delimiter);
                self.output.extend_from_slice(quoted(column.name, delimiter).as_bytes());
            }
            self.output.extend_from_slice(record.line_end);
            return Ok(());
        }
        let read = record.check().and_then(|()| Ok((self.plan.read(&record)?, ())));
        if let Some((id, ())) = self.mint(record.line, read)? {
            self.reserve(text.len() + self.addition.max_len() + record.line_end.len())?;
            self.output.extend_from_slice(text);
            self.addition.write(&mut self.output, id);
            self.output.extend_from_slice(record.line_end);
        }
        Ok(())
    }
}

/// Checks that the header has the fields that are read, and not those that are added.
fn check_header(header: &Header, plan: &Plan<'_>, columns: &[Column<'_>]) -> Result<(), Stop> {
    header.require(plan.fields())?;
    match columns.iter().find(|column| header.has(column.name)) {
        Some(column) => Err(header.error(&format!("field {} already exists", quote(column.name)))),
        None => Ok(()),
    }
}

/// Returns a field as it is written in CSV or TSV.
fn quoted(field: &str, delimiter: u8) -> String {
    if delimiter == TAB {
        return escape(field);
    }
    if field.as_bytes().find_byteset([delimiter, b'"', b'\r', b'\n']).is_some() {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}
