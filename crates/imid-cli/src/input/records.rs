//! Records of CSV or TSV with a header. The bytes of each record are kept, so that they can be copied.
//!
//! The reader of CSV is strict about quotes, because a quote that is missing or left over moves the ends of all later records: a
//! quoted field must be closed, and after its closing quote the field ends. Quotes inside of a field that does not begin with
//! one are text, as they are for Python and `DuckDB`. TSV has no quotes but escapes: see [`escapes`](super::escapes).

use std::borrow::Cow;

use bstr::ByteSlice;
use memchr::{memchr, memchr3};

use super::{Block, Input, MARK, MAX_LINE, escapes, too_long, utf8};
use crate::report::{Stop, quote};

/// The byte between two fields of TSV.
pub(crate) const TAB: u8 = b'\t';

/// Finds the records in pieces of the input.
#[derive(Default)]
pub(crate) struct Records {
    delimiter: u8,
    header: Option<Header>,
    /// The bytes of the present record, as they are in the input, and what follows them.
    raw: Vec<u8>,
    /// Where the present record starts in `raw`, with the blank lines before it.
    start: usize,
    /// How far `raw` was read, and what is there.
    at: usize,
    place: Place,
    /// Whether the lines of TSV end with `\r\n`, as its header does. Otherwise a `\r` belongs to its field: not all databases
    /// escape it.
    has_carriage_returns: bool,
    /// The line of the last record of TSV, if its last field begins with a quote that is not closed.
    open_line: Option<u64>,
    fields: Fields,
    /// Number of lines before the present record.
    lines: u64,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, PartialEq, Default)]
enum Place {
    /// The start of the input, where a byte order mark can be.
    #[default]
    Mark,
    /// A record, or the blank lines before it.
    Record,
    Field,
    Bare,
    Quoted,
    /// What follows a quote in a quoted field: a second quote, or the end of the field.
    AfterQuote,
}

/// The names of the fields.
pub(crate) struct Header {
    names: Vec<String>,
    line: u64,
}

/// The fields of a record, without their quotes. Those of TSV still have their escapes.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The fields that were quoted, by index.
    quoted: Vec<usize>,
}

/// A record with the names of its fields. The header is also a record.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    /// Its line, from 1.
    pub(crate) line: u64,
    /// The bytes of the record, with the blank lines before it and without its line end.
    pub(crate) text: &'a [u8],
    pub(crate) line_end: &'a [u8],
    is_header: bool,
    is_tsv: bool,
    header: &'a Header,
    fields: &'a Fields,
}

impl Records {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self { delimiter, ..Self::default() }
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
        self.raw.try_reserve(piece.len()).map_err(|_| Stop::out_of_memory())?;
        self.raw.extend_from_slice(piece);
        while if self.is_tsv() { self.find_line_end() } else { self.find_end()? } {
            self.end_record(&mut each)?;
        }
        if piece.is_empty() && self.is_tsv() && self.place == Place::Bare {
            // A backslash at the end of the input is no escape.
            self.fields.bytes.extend_from_slice(&self.raw[self.at..]);
            self.at = self.raw.len();
        }
        if piece.is_empty() && matches!(self.place, Place::Field | Place::Bare | Place::AfterQuote) {
            self.fields.end();
            self.place = Place::Record;
            self.end_record(&mut each)?;
        }
        if piece.is_empty() && self.place == Place::Quoted {
            let hint = "is the input cut off, or is a quote missing?";
            return Err(self.error(&format!("expected its closing quote, found the end of the input; {hint}")));
        }
        if piece.is_empty() {
            return Ok(self.raw[self.start..].to_vec());
        }
        self.raw.drain(..self.start);
        (self.at, self.start) = (self.at - self.start, 0);
        if self.raw.len() > MAX_LINE {
            let line = self.line();
            return Err(Stop::Error(format!("line {line}: {}; is a quote missing?", too_long())));
        }
        Ok(Vec::new())
    }

    /// Reads up to the end of the present record. Returns whether it was found.
    fn find_end(&mut self) -> Result<bool, Stop> {
        let Self { raw, at, place, fields, delimiter, .. } = self;
        while let Some(byte) = raw.get(*at).copied() {
            let rest = &raw[*at..];
            match place {
                Place::Mark => {
                    *at += if rest.starts_with(MARK) { MARK.len() } else { 0 };
                    *place = Place::Record;
                }
                Place::Record if is_line_end(byte) => *at += 1,
                Place::Record => *place = Place::Field,
                Place::Field if byte == b'"' => {
                    fields.quoted.push(fields.ends.len());
                    (*at, *place) = (*at + 1, Place::Quoted);
                }
                Place::Field => *place = Place::Bare,
                Place::Quoted => {
                    let len = memchr(b'"', rest);
                    fields.bytes.extend_from_slice(&rest[..len.unwrap_or(rest.len())]);
                    *at += len.map_or(rest.len(), |len| len + 1);
                    *place = if len.is_some() { Place::AfterQuote } else { Place::Quoted };
                }
                Place::AfterQuote if byte == b'"' => {
                    fields.bytes.push(byte);
                    (*at, *place) = (*at + 1, Place::Quoted);
                }
                Place::AfterQuote if byte != *delimiter && !is_line_end(byte) => {
                    let line = self.lines + count_lines(&self.raw[self.start..self.at]) + 1;
                    let (found, delimiter) = (char::from(byte), char::from(self.delimiter));
                    let hint = "a quote in a quoted field is written twice";
                    let problem = format!(
                        "expected {delimiter:?} or a line end after its closing quote, found {found:?} in line {line}; {hint}"
                    );
                    return Err(self.error(&problem));
                }
                Place::Bare | Place::AfterQuote => {
                    let len = memchr3(*delimiter, b'\r', b'\n', rest).unwrap_or(rest.len());
                    fields.bytes.extend_from_slice(&rest[..len]);
                    *at += len;
                    let Some(byte) = rest.get(len) else { break };
                    fields.end();
                    *at += if rest[len..].starts_with(b"\r\n") { 2 } else { 1 };
                    *place = if byte == delimiter { Place::Field } else { Place::Record };
                    if *place == Place::Record {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    fn is_tsv(&self) -> bool {
        self.delimiter == TAB
    }

    /// Reads up to the end of the present record of TSV: a line feed without a backslash before it. Returns whether it was found.
    fn find_line_end(&mut self) -> bool {
        let Self { raw, at, place, fields, .. } = self;
        if *place == Place::Mark && !raw.is_empty() {
            *at += if raw.starts_with(MARK) { MARK.len() } else { 0 };
            *place = Place::Record;
        }
        if *place == Place::Record {
            let line_end_len =
                |rest: &[u8]| [&b"\n"[..], b"\r\n"].iter().find(|end| rest.starts_with(end)).map(|end| end.len());
            while let Some(len) = line_end_len(&raw[*at..]) {
                *at += len;
            }
            if *at == raw.len() {
                return false;
            }
            *place = Place::Bare;
        }
        while let Some(len) = memchr3(TAB, b'\\', b'\n', &raw[*at..]) {
            let (byte, has_next) = (raw[*at + len], *at + len + 1 < raw.len());
            let len = match byte {
                b'\\' if !has_next => return false,
                b'\\' => len + 2,
                _ => len,
            };
            fields.bytes.extend_from_slice(&raw[*at..*at + len]);
            *at += len;
            if byte == b'\\' {
                continue;
            }
            *at += 1;
            if byte == b'\n' {
                let ends_with_return = *at > 1 && raw[*at - 2] == b'\r';
                self.has_carriage_returns |= self.header.is_none() && ends_with_return;
                if ends_with_return && self.has_carriage_returns {
                    fields.bytes.pop();
                }
            }
            fields.end();
            if byte == b'\n' {
                *place = Place::Record;
                return true;
            }
        }
        fields.bytes.extend_from_slice(&raw[*at..]);
        *at = raw.len();
        false
    }

    fn end_record(&mut self, each: &mut impl FnMut(Record<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        let line = self.line();
        let whole = &self.raw[self.start..self.at];
        let line_end = match whole {
            [.., b'\r', b'\n'] if !self.is_tsv() || self.has_carriage_returns => 2,
            [.., b'\n'] => 1,
            [.., b'\r'] if !self.is_tsv() => 1,
            _ => 0,
        };
        let (text, line_end) = whole.split_at(whole.len() - line_end);
        let is_header = self.header.is_none();
        let header = match self.header.take() {
            Some(header) => header,
            None => Header::new(&self.fields, line, self.is_tsv())?,
        };
        let header = self.header.insert(header);
        let record =
            Record { line, text, line_end, is_header, is_tsv: self.delimiter == TAB, header, fields: &self.fields };
        if record.is_tsv {
            let is_torn = self.open_line.is_some() && record.check().is_err();
            if let Some(line) = self.open_line.filter(|_| is_torn).or_else(|| record.is_in_quotes().then_some(line)) {
                return Err(Stop::Error(format!("line {line}: {}", escapes::IN_QUOTES)));
            }
            self.open_line = Some(line).filter(|_| record.ends_in_quotes());
        }
        each(record)?;
        self.lines += count_lines(whole);
        self.start = self.at;
        self.fields.bytes.clear();
        self.fields.ends.clear();
        self.fields.quoted.clear();
        Ok(())
    }

    /// Returns the line in which the present record begins.
    fn line(&self) -> u64 {
        let raw = &self.raw[self.start..self.at];
        self.lines + count_lines(&raw[..raw.find_not_byteset(b"\r\n").unwrap_or(raw.len())]) + 1
    }

    /// Returns an error about the present field of the present record.
    fn error(&self, problem: &str) -> Stop {
        let index = self.fields.ends.len();
        let name = self.header.as_ref().and_then(|header| header.names.get(index));
        let field = name.map_or_else(|| (index + 1).to_string(), |name| quote(name));
        Stop::Error(format!("line {}: field {field} of the record that begins here: {problem}", self.line()))
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

fn count_lines(text: &[u8]) -> u64 {
    text.find_iter(b"\n").count() as u64
}

impl Input {
    /// Passes the records of the whole input to `each`, the header first.
    pub(crate) fn each_record(
        mut self,
        delimiter: u8,
        mut each: impl FnMut(Record<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut records = Records::new(delimiter);
        loop {
            let piece = self.next_piece(&records)?;
            let has_ended = piece.is_empty();
            records.feed(piece, &mut each)?;
            if has_ended {
                return Ok(());
            }
        }
    }

    /// Returns the next piece of the input of `records`. It is empty at the end of the input.
    pub(crate) fn next_piece(&mut self, records: &Records) -> Result<&[u8], Stop> {
        match self.next()? {
            None => Ok(&[]),
            Some(Block::Lines(lines)) => Ok(lines),
            Some(Block::TooLong) => Err(Stop::Error(format!("line {}: {}", records.lines() + 1, too_long()))),
        }
    }
}

impl Header {
    fn new(fields: &Fields, line: u64, is_tsv: bool) -> Result<Self, Stop> {
        let name = |index| {
            let name = utf8(fields.at(index))
                .and_then(|name| if is_tsv { escapes::read(name).map(Cow::into_owned) } else { Ok(name.to_owned()) });
            name.map_err(|problem| Stop::Error(format!("line {line}: field {} of the header: {problem}", index + 1)))
        };
        let names = (0..fields.ends.len()).map(name).collect::<Result<_, Stop>>()?;
        Ok(Self { names, line })
    }

    /// Checks that the header has each of these fields once.
    pub(crate) fn require<'a>(&self, fields: impl IntoIterator<Item = &'a String>) -> Result<(), Stop> {
        for field in fields {
            let problem = match self.names.iter().filter(|name| *name == field).count() {
                0 => {
                    let names: Vec<_> = self.names.iter().map(|name| quote(name)).collect();
                    let is_other = names.len() == 1 && names[0].contains(';');
                    let hint = if is_other { " (for a table with ; between its fields, give --in ssv)" } else { "" };
                    format!("is missing in the header, which has {}{hint}", names.join(", "))
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
    /// Ends a field.
    fn end(&mut self) {
        self.ends.push(self.bytes.len());
    }

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
        let (expected, found) = (self.header.names.len(), self.fields.ends.len());
        if expected == found {
            return Ok(());
        }
        Err(format!("expected {expected} fields as in the header, found {found}"))
    }

    /// Returns a field as text. The record must have been checked.
    pub(crate) fn field(&self, name: &str) -> Result<Cow<'a, str>, String> {
        let index = self.header.names.iter().position(|other| other == name);
        let index = index.ok_or_else(|| format!("field {} is missing", quote(name)))?;
        let text = utf8(self.fields.at(index)).map_err(|problem| format!("field {}: {problem}", quote(name)))?;
        let missing = if self.is_tsv { &["\\N", "NULL"][..] } else { &["", "\\N"] };
        if missing.contains(&text) && !self.fields.quoted.contains(&index) {
            let found = if text.is_empty() { "an empty field (an empty text is written \"\")" } else { text };
            return Err(format!("field {} is missing: found {found}", quote(name)));
        }
        if !self.is_tsv {
            return Ok(text.into());
        }
        escapes::read(text).map_err(|problem| format!("field {}: {problem}", quote(name)))
    }

    /// Returns whether a record of TSV has the quotes of a spreadsheet: around a name of the header, or around a tab.
    fn is_in_quotes(&self) -> bool {
        let mut fields = (0..self.fields.ends.len()).map(|index| self.fields.at(index));
        if self.is_header {
            fields.any(|name| name.len() > 1 && name.starts_with(b"\"") && name.ends_with(b"\""))
        } else {
            self.check().is_err() && fields.any(is_open)
        }
    }

    /// Returns whether the next line could be a part of the last field, if it is in quotes.
    fn ends_in_quotes(&self) -> bool {
        is_open(self.fields.at(self.fields.ends.len() - 1))
    }
}

/// Returns whether a field begins with a quote that is not closed.
fn is_open(field: &[u8]) -> bool {
    field.starts_with(b"\"") && field.find_iter(b"\"").count() % 2 == 1
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
