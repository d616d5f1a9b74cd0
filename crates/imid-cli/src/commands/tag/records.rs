//! Records of CSV or TSV. The ID is added as the last fields of each record. The other bytes do not change.

use bstr::ByteSlice;

use super::columns::Column;
use super::plan::Plan;
use super::resume::PreviousOutput;
use super::tagger::Tagger;
use crate::input::{Header, Input, Record, Records, TAB, escape};
use crate::report::{Stop, quote};

/// Where a run is in a table.
pub(super) struct Table<'a> {
    pub(super) delimiter: u8,
    pub(super) columns: &'a [Column<'a>],
    /// What the run that this one continues wrote.
    pub(super) written: PreviousOutput,
    /// Number of records so far, with the header.
    pub(super) count: u64,
}

impl Tagger<'_> {
    /// Tags the records of an input, from the first one on that was not written before.
    pub(super) fn tag_records(&mut self, mut input: Input, mut table: Table<'_>) -> Result<(), Stop> {
        let mut records = Records::new(table.delimiter);
        loop {
            let piece = input.next_piece(&records).map_err(|stop| self.with_last(stop))?;
            let (has_ended, before, mut is_bad_record) = (piece.is_empty(), self.last, false);
            let fed = records.feed(piece, |record| {
                let tagged = self.tag_record(record, &mut table);
                is_bad_record = tagged.is_err();
                tagged
            });
            let fed = match fed {
                Ok(_) if has_ended && table.count < table.written.items => {
                    Err(table.written.too_few(table.count, "records"))
                }
                fed => fed,
            };
            if let Ok(rest) = &fed {
                self.output.extend_from_slice(after_written(rest, &mut table.written));
            }
            // Also after an error: these are the records before a bad one.
            self.write(before)?;
            fed.map_err(|stop| if is_bad_record { stop } else { self.with_last(stop) })?;
            if has_ended {
                return Ok(());
            }
        }
    }

    fn tag_record(&mut self, record: Record<'_>, table: &mut Table<'_>) -> Result<(), Stop> {
        let Table { delimiter, columns, written, count } = table;
        // Blank lines are copied, also those before a bad record.
        let (blank, text) = record.text.split_at(record.text.find_not_byteset(b"\r\n").unwrap_or(0));
        *count += 1;
        let is_written = *count <= written.items;
        if *count == written.items {
            // The output can end between `\r` and `\n`.
            self.output.extend_from_slice(&record.line_end[written.line_end.min(record.line_end.len())..]);
        } else if !is_written {
            self.output.extend_from_slice(after_written(blank, written));
        }
        if let Some(header) = record.as_header() {
            if let Err(problem) = check_header(header, &self.plan, columns) {
                // Blank lines alone are no output.
                self.output.clear();
                return Err(problem);
            }
            let mut tagged = text.to_vec();
            for column in *columns {
                tagged.push(*delimiter);
                tagged.extend_from_slice(quoted(column.name, *delimiter).as_bytes());
            }
            if is_written {
                return written.check_header(&tagged);
            }
            self.output.extend([&tagged, record.line_end].concat());
            return Ok(());
        }
        if is_written {
            return written.check(*count, record.line, |id| {
                record.check()?;
                let mut made = text.to_vec();
                self.addition.write(&mut made, id);
                Ok((self.plan.read(&record)?, made))
            });
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

/// Returns the blank lines that were not written yet.
fn after_written<'a>(blank: &'a [u8], written: &mut PreviousOutput) -> &'a [u8] {
    let (_, rest) = blank.split_at(blank.len().min(written.blank));
    written.blank -= blank.len() - rest.len();
    rest
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
