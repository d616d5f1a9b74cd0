//! Records of CSV or TSV. The ID is added as the last fields of each record. The other bytes do not change.

use std::sync::Arc;

use bstr::ByteSlice;

use super::batch::{Entry, Ready};
use super::columns::{Addition, Column};
use super::pipeline::{Block, Source};
use super::plan::Plan;
use super::resume::PreviousOutput;
use crate::input::{Header, Input, Records};
use crate::report::{Stop, quote};

/// The records of an input.
pub(super) struct Table {
    input: Input,
    has_ended: bool,
    /// The error after the records that were read.
    problem: Option<Stop>,
    records: Records,
    delimiter: u8,
    columns: Vec<Column>,
    addition: Addition,
    plan: Arc<Plan>,
    /// What the run that this one continues wrote.
    written: PreviousOutput,
    /// Number of records so far, with the header.
    count: u64,
}

impl Table {
    pub(super) fn new(
        input: Input,
        delimiter: u8,
        columns: Vec<Column>,
        plan: Arc<Plan>,
        written: PreviousOutput,
    ) -> Self {
        Self {
            input,
            has_ended: false,
            problem: None,
            records: Records::new(delimiter),
            written,
            count: 0,
            delimiter,
            addition: Addition::csv(&columns, delimiter),
            columns,
            plan,
        }
    }

    pub(super) fn addition(&self) -> &Addition {
        &self.addition
    }
}

impl Source for Table {
    fn read(&mut self, block: &mut Block) -> Result<bool, Stop> {
        if let Some(problem) = self.problem.take() {
            return Err(problem);
        }
        if self.has_ended {
            return Ok(false);
        }
        let Self { input, records, columns, addition, plan, written, count, .. } = self;
        let piece = input.next_piece(&mut block.buffer, records)?;
        self.has_ended = piece.is_empty();
        let lines_before = records.lines();
        let batch = &mut block.batch;
        let fed = records.feed(&block.buffer[piece], |record| {
            // Blank lines are copied, also those before a bad record.
            let (blank, text) = record.text.split_at(record.text.find_not_byteset(b"\r\n").unwrap_or(0));
            *count += 1;
            let is_written = *count <= written.items;
            if *count == written.items {
                // The output can end between `\r` and `\n`.
                batch.text.extend_from_slice(&record.line_end[written.line_end.min(record.line_end.len())..]);
            } else if !is_written {
                batch.text.extend_from_slice(after_written(blank, written));
            }
            let start = batch.text.len();
            if let Some(header) = record.as_header() {
                if let Err(problem) = check_header(header, plan, columns) {
                    // Blank lines alone are no output.
                    batch.text.clear();
                    return Err(problem);
                }
                batch.text.extend_from_slice(text);
                for column in &*columns {
                    batch.text.push(self.delimiter);
                    batch.text.extend_from_slice(quoted(&column.name, self.delimiter).as_bytes());
                }
                if is_written {
                    let checked = written.check_header(&batch.text[start..]);
                    batch.text.truncate(start);
                    return checked;
                }
                batch.text.extend_from_slice(record.line_end);
                return Ok(());
            }
            if is_written {
                return written.check(*count, record.line, |id| {
                    record.check()?;
                    Ok((plan.read(&record)?, [text, &addition.with(id)].concat()))
                });
            }
            let result = record.check().and_then(|()| plan.read(&record)).map(|facts| {
                batch.text.extend_from_slice(text);
                let start = batch.text.len();
                batch.text.extend_from_slice(&addition.text);
                batch.text.extend_from_slice(record.line_end);
                Ready { facts, addition: start, end: batch.text.len() }
            });
            let line = record.line - lines_before - 1;
            batch.entries.push(Entry { line, start, result: result.map_err(Into::into) });
            Ok(())
        });
        let rest = fed.unwrap_or_else(|problem| {
            self.problem = Some(problem);
            Vec::new()
        });
        if self.problem.is_none() && self.has_ended && *count < written.items {
            return Err(written.too_few(*count, "records"));
        }
        batch.text.extend_from_slice(after_written(&rest, written));
        batch.lines = records.lines() - lines_before;
        Ok(true)
    }
}

/// Checks that the header has the fields that are read, and not those that are added.
fn check_header(header: &Header, plan: &Plan, columns: &[Column]) -> Result<(), Stop> {
    header.require(plan.fields())?;
    match columns.iter().find(|column| header.has(&column.name)) {
        Some(column) => Err(header.error(&format!("field {} already exists", quote(&column.name)))),
        None => Ok(()),
    }
}

/// Returns the blank lines that were not written yet.
fn after_written<'a>(blank: &'a [u8], written: &mut PreviousOutput) -> &'a [u8] {
    let (_, rest) = blank.split_at(blank.len().min(written.blank));
    written.blank -= blank.len() - rest.len();
    rest
}

/// Returns a field as it is written in CSV.
fn quoted(field: &str, delimiter: u8) -> String {
    if field.as_bytes().find_byteset([delimiter, b'"', b'\r', b'\n']).is_some() {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}
