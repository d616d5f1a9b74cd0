//! Records of CSV or TSV with a header. The bytes of each record are kept, so that they can be copied.

use std::mem;
use std::ops::Range;

use bstr::ByteSlice;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::{InBuffer, Input, MAX_LINE, too_long, utf8};
use crate::report::{Stop, quote};

/// Finds the records in pieces of the input.
pub(crate) struct Records {
    reader: Reader,
    header: Option<Header>,
    /// The bytes of the present record, as they are in the input.
    raw: Vec<u8>,
    fields: Fields,
    /// Number of lines before the present record.
    lines: u64,
}

/// The names of the fields.
pub(crate) struct Header {
    names: Vec<String>,
    line: u64,
}

/// The fields of a record, without their quotes.
struct Fields {
    bytes: Vec<u8>,
    len: usize,
    ends: Vec<usize>,
    count: usize,
}

/// A record with the names of its fields. The header is a record too.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    /// Its line, from 1.
    pub(crate) line: u64,
    /// The bytes of the record, with the blank lines before it and without its line end.
    pub(crate) text: &'a [u8],
    pub(crate) line_end: &'a [u8],
    is_header: bool,
    header: &'a Header,
    fields: &'a Fields,
}

impl Records {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self {
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            header: None,
            raw: Vec::new(),
            fields: Fields { bytes: vec![0; 1 << 10], len: 0, ends: vec![0; 1 << 6], count: 0 },
            lines: 0,
        }
    }

    /// Number of lines in the records so far.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Passes the records of a piece of the input to `each`, the header first. An empty piece is the end of the input.
    ///
    /// Returns the bytes after the last record. They are blank lines.
    pub(crate) fn feed(
        &mut self,
        piece: &[u8],
        mut each: impl FnMut(Record<'_>) -> Result<(), Stop>,
    ) -> Result<Vec<u8>, Stop> {
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
                    let line = self.lines + 1;
                    return Err(Stop::Error(format!("line {line}: {}; is a quote missing?", too_long())));
                }
                ReadRecordResult::InputEmpty if piece.is_empty() => {}
                ReadRecordResult::InputEmpty => return Ok(Vec::new()),
                ReadRecordResult::OutputFull => fields.bytes.resize(fields.bytes.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => fields.ends.resize(fields.ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    // The parser ends a record at `\r`, and would skip `\n` in front of the next one.
                    if self.raw.ends_with(b"\r") && rest.starts_with(b"\n") {
                        self.reader.read_record(&rest[..1], &mut [0], &mut [0]);
                        self.raw.push(b'\n');
                        rest = &rest[1..];
                    }
                    self.end_record(&mut each)?;
                }
                ReadRecordResult::End => return Ok(mem::take(&mut self.raw)),
            }
        }
    }

    fn end_record(&mut self, each: &mut impl FnMut(Record<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        // The parser skips blank lines before a record.
        let blank = self.raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).filter(|byte| **byte == b'\n');
        let line = self.lines + blank.count() as u64 + 1;
        let line_end = match &*self.raw {
            [.., b'\r', b'\n'] => 2,
            [.., b'\r' | b'\n'] => 1,
            _ => 0,
        };
        let (text, line_end) = self.raw.split_at(self.raw.len() - line_end);
        let is_header = self.header.is_none();
        let header = match self.header.take() {
            Some(header) => header,
            None => Header::new(&self.fields, line)?,
        };
        let header = self.header.insert(header);
        each(Record { line, text, line_end, is_header, header, fields: &self.fields })?;
        self.lines += self.raw.find_iter(b"\n").count() as u64;
        self.raw.clear();
        (self.fields.len, self.fields.count) = (0, 0);
        Ok(())
    }
}

impl Input {
    /// Passes the records of the whole input to `each`, the header first.
    pub(crate) fn each_record(
        mut self,
        delimiter: u8,
        mut each: impl FnMut(Record<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut records = Records::new(delimiter);
        let mut buffer = Vec::new();
        loop {
            let piece = self.next_piece(&mut buffer, &records)?;
            let has_ended = piece.is_empty();
            records.feed(&buffer[piece], &mut each)?;
            if has_ended {
                return Ok(());
            }
        }
    }

    /// Returns the next piece of the input of `records`, in `buffer`. It is empty at the end of the input.
    pub(crate) fn next_piece(&mut self, buffer: &mut Vec<u8>, records: &Records) -> Result<Range<usize>, Stop> {
        match self.next_in(buffer)? {
            None => Ok(0..0),
            Some(InBuffer::Lines(lines)) => Ok(lines),
            Some(InBuffer::TooLong) => Err(Stop::Error(format!("line {}: {}", records.lines() + 1, too_long()))),
        }
    }
}

impl Header {
    fn new(fields: &Fields, line: u64) -> Result<Self, Stop> {
        let name = |index| match utf8(fields.at(index)) {
            Ok(name) => Ok(name.to_owned()),
            Err(problem) => Err(Stop::Error(format!("line {line}: field {} of the header: {problem}", index + 1))),
        };
        let names = (0..fields.count).map(name).collect::<Result<_, Stop>>()?;
        Ok(Self { names, line })
    }

    /// Checks that the header has each of these fields once.
    pub(crate) fn require<'a>(&self, fields: impl IntoIterator<Item = &'a String>) -> Result<(), Stop> {
        for field in fields {
            let problem = match self.names.iter().filter(|name| *name == field).count() {
                0 => {
                    let names: Vec<_> = self.names.iter().map(|name| quote(name)).collect();
                    format!("is missing in the header, which has {}", names.join(", "))
                }
                1 => continue,
                _ => "occurs more than once in the header".to_owned(),
            };
            return Err(self.error(&format!("field {} {problem}", quote(field))));
        }
        Ok(())
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.names.iter().any(|name| name == field)
    }

    /// Returns an error about the header.
    pub(crate) fn error(&self, problem: &str) -> Stop {
        Stop::Error(format!("line {}: {problem}", self.line))
    }
}

impl Fields {
    fn at(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }
}

impl<'a> Record<'a> {
    /// Returns the header, if this record is the header.
    pub(crate) fn as_header(&self) -> Option<&'a Header> {
        self.is_header.then_some(self.header)
    }

    /// Checks that the record has as many fields as the header.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (expected, found) = (self.header.names.len(), self.fields.count);
        if expected == found {
            return Ok(());
        }
        Err(format!("expected {expected} fields as in the header, found {found}"))
    }

    /// Returns a field as text. The record must have been checked.
    pub(crate) fn field(&self, name: &str) -> Result<&'a str, String> {
        let index = self.header.names.iter().position(|other| other == name);
        let index = index.ok_or_else(|| format!("field {} is missing", quote(name)))?;
        utf8(self.fields.at(index)).map_err(|problem| format!("field {}: {problem}", quote(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line, the text and the line end of each record.
    fn records(pieces: &[&[u8]]) -> (Vec<(u64, String, String)>, Vec<u8>) {
        let (mut records, mut found) = (Records::new(b','), Vec::new());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let mut rest = Vec::new();
        for piece in pieces.iter().copied().chain([&[][..]]) {
            let fed = records.feed(piece, |record| {
                found.push((record.line, text(record.text), text(record.line_end)));
                Ok(())
            });
            rest.extend(fed.ok().unwrap());
        }
        (found, rest)
    }

    #[test]
    fn a_record_keeps_its_line_end_and_the_blank_lines_before_it() {
        let (found, rest) = records(&[b"a,b\r\n1,2\r\n\r\n\n\"x\ny\",4\n5,6\n\n"]);
        let expected = [(1, "a,b", "\r\n"), (2, "1,2", "\r\n"), (5, "\r\n\n\"x\ny\",4", "\n"), (7, "5,6", "\n")];
        assert_eq!(found, expected.map(|(line, text, end)| (line, text.into(), end.into())));
        assert_eq!(rest, b"\n");
    }

    #[test]
    fn a_record_gets_its_line_feed_at_once() {
        // A slow writer must not wait for the next record.
        let (mut records, mut ends) = (Records::new(b','), Vec::new());
        for piece in [&b"a\r\n"[..], b"1\r\n", b"2\n"] {
            let fed = records.feed(piece, |record| {
                ends.push((record.line, record.line_end.to_vec()));
                Ok(())
            });
            assert!(fed.is_ok());
        }
        assert_eq!(ends, [(1, b"\r\n".to_vec()), (2, b"\r\n".to_vec()), (3, b"\n".to_vec())]);
    }
}
