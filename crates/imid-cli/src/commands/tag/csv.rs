//! Lines of CSV or TSV with a header. Each record gets the ID as its last fields, and its other bytes do not change.

use std::sync::Arc;

use bstr::ByteSlice;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::batch::{Batch, Entry, Ready};
use super::columns::{Addition, Column};
use super::pipeline::{Block, Source};
use super::plan::{Message, Plan, Value};
use crate::input::{self, Input, MAX_LINE, too_long, utf8};
use crate::report::{Stop, quote};

/// The records of an input.
pub(super) struct Records {
    input: Input,
    has_ended: bool,
    reader: Reader,
    delimiter: u8,
    columns: Vec<Column>,
    addition: Addition,
    plan: Arc<Plan>,
    header: Option<Vec<String>>,
    /// The bytes of the present record, as they are in the input.
    raw: Vec<u8>,
    fields: Fields,
    /// Number of lines before the present block.
    lines: u64,
}

/// The fields of a record, without their quotes.
struct Fields {
    bytes: Vec<u8>,
    len: usize,
    ends: Vec<usize>,
    count: usize,
}

/// A record with the names of its fields.
struct Record<'a> {
    header: &'a [String],
    fields: &'a Fields,
}

impl Records {
    pub(super) fn new(input: Input, delimiter: u8, columns: Vec<Column>, plan: Arc<Plan>) -> Self {
        Self {
            input,
            has_ended: false,
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            delimiter,
            addition: Addition::csv(&columns, delimiter),
            columns,
            plan,
            header: None,
            raw: Vec::new(),
            fields: Fields { bytes: vec![0; 1 << 10], len: 0, ends: vec![0; 1 << 6], count: 0 },
            lines: 0,
        }
    }

    pub(super) fn addition(&self) -> &Addition {
        &self.addition
    }

    /// Reads records from a piece of the input. An empty piece is the end of the input.
    fn feed(&mut self, piece: &[u8], batch: &mut Batch) -> Result<(), Stop> {
        let mut rest = piece;
        loop {
            let fields = &mut self.fields;
            let (result, read, len, count) =
                self.reader.read_record(rest, &mut fields.bytes[fields.len..], &mut fields.ends[fields.count..]);
            self.raw.extend_from_slice(&rest[..read]);
            rest = &rest[read..];
            fields.len += len;
            fields.count += count;
            match result {
                ReadRecordResult::InputEmpty if self.raw.len() > MAX_LINE => {
                    let line = self.lines + batch.lines + 1;
                    return Err(Stop::Error(format!("line {line}: {}; is a quote missing?", too_long())));
                }
                ReadRecordResult::InputEmpty if piece.is_empty() => {}
                ReadRecordResult::InputEmpty => return Ok(()),
                ReadRecordResult::OutputFull => fields.bytes.resize(fields.bytes.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => fields.ends.resize(fields.ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    // The parser ends a record at `\r`, and would skip `\n` in front of the next one.
                    if self.raw.ends_with(b"\r") && rest.starts_with(b"\n") {
                        self.reader.read_record(&rest[..1], &mut [0], &mut [0]);
                        self.raw.push(b'\n');
                        rest = &rest[1..];
                    }
                    self.add(batch)?;
                }
                ReadRecordResult::End => {
                    // Blank lines after the last record.
                    batch.text.append(&mut self.raw);
                    return Ok(());
                }
            }
        }
    }

    /// Adds the present record to a batch.
    fn add(&mut self, batch: &mut Batch) -> Result<(), Stop> {
        // The parser skips blank lines before a record.
        let blank = self.raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).filter(|byte| **byte == b'\n');
        let line = batch.lines + blank.count() as u64;
        let line_end = match &*self.raw {
            [.., b'\r', b'\n'] => 2,
            [.., b'\r' | b'\n'] => 1,
            _ => 0,
        };
        let (record, line_end) = self.raw.split_at(self.raw.len() - line_end);
        let start = batch.text.len();
        if let Some(header) = &self.header {
            let record_fields = Record { header, fields: &self.fields };
            let result = record_fields.check().and_then(|()| self.plan.read(&record_fields)).map(|facts| {
                batch.text.extend_from_slice(record);
                let addition = batch.text.len();
                batch.text.extend_from_slice(&self.addition.text);
                batch.text.extend_from_slice(line_end);
                Ready { facts, addition, end: batch.text.len() }
            });
            batch.entries.push(Entry { line, start, result: result.map_err(Into::into) });
        } else {
            let header = self.header(self.lines + line + 1)?;
            batch.text.extend_from_slice(record);
            for column in &self.columns {
                batch.text.push(self.delimiter);
                batch.text.extend_from_slice(quoted(&column.name, self.delimiter).as_bytes());
            }
            batch.text.extend_from_slice(line_end);
            self.header = Some(header);
        }
        batch.lines += self.raw.find_iter(b"\n").count() as u64;
        self.raw.clear();
        (self.fields.len, self.fields.count) = (0, 0);
        Ok(())
    }

    /// Returns the names of the fields, and checks that those that are read are there.
    fn header(&self, line: u64) -> Result<Vec<String>, Stop> {
        let error = |problem: String| Stop::Error(format!("line {line}: {problem}"));
        let names = (0..self.fields.count).map(|index| Ok(utf8(self.fields.at(index))?.to_owned()));
        let names = names.collect::<Result<Vec<_>, String>>().map_err(error)?;
        for field in self.plan.fields() {
            match names.iter().filter(|name| *name == field).count() {
                0 => return Err(error(format!("field {} is missing in the header", quote(field)))),
                1 => {}
                _ => return Err(error(format!("field {} occurs more than once in the header", quote(field)))),
            }
        }
        match self.columns.iter().find(|column| names.contains(&column.name)) {
            Some(column) => Err(error(format!("field {} already exists", quote(&column.name)))),
            None => Ok(names),
        }
    }
}

impl Source for Records {
    fn read(&mut self, block: &mut Block) -> Result<bool, Stop> {
        if self.has_ended {
            return Ok(false);
        }
        // The input cannot be borrowed while it is parsed.
        let mut buffer = std::mem::take(&mut block.buffer);
        let piece = match self.input.next_in(&mut buffer)? {
            None => 0..0,
            Some(input::InBuffer::Lines(lines)) => lines,
            Some(input::InBuffer::TooLong) => {
                return Err(Stop::Error(format!("line {}: {}", self.lines + 1, too_long())));
            }
        };
        self.has_ended = piece.is_empty();
        self.feed(&buffer[piece], &mut block.batch)?;
        block.buffer = buffer;
        self.lines += block.batch.lines;
        Ok(true)
    }
}

impl Fields {
    fn at(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }
}

impl Record<'_> {
    fn check(&self) -> Result<(), String> {
        if self.fields.count == self.header.len() {
            return Ok(());
        }
        Err(format!("expected {} fields as in the header, found {}", self.header.len(), self.fields.count))
    }
}

impl Message for Record<'_> {
    fn value(&self, field: &str) -> Result<Value<'_>, String> {
        let index = self.header.iter().position(|name| name == field);
        let index = index.ok_or_else(|| format!("field {} is missing", quote(field)))?;
        utf8(self.fields.at(index)).map(Value::Text).map_err(|problem| format!("field {}: {problem}", quote(field)))
    }

    /// The header was checked.
    fn has(&self, _field: &str) -> bool {
        false
    }
}

/// Returns a field as it is written in CSV.
fn quoted(field: &str, delimiter: u8) -> String {
    if field.as_bytes().find_byteset([delimiter, b'"', b'\r', b'\n']).is_some() {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}
