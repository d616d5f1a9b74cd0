//! Records of CSV or TSV with a header. The bytes of each record are kept, so that they can be copied.
//!
//! The reader of CSV is strict about quotes, because a quote that is missing or left over moves the ends of all later records: a
//! quoted field must be closed, and after its closing quote the field ends. Quotes inside of a field that does not begin with
//! one are text, as they are for Python and `DuckDB`. TSV has no quotes but escapes: see [`escapes`](super::escapes).

use std::borrow::Cow;
use std::ops::Range;

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
    /// Where the present record starts in `raw`, with the blank lines before it. Other places are counted from here.
    start: usize,
    /// How far the present record was read.
    at: usize,
    /// Where its present field starts. `None` before the record and in blank lines.
    field: Option<usize>,
    /// Whether the present field is in quotes that are not closed yet.
    is_quoted: bool,
    /// Its fields that have ended, with their quotes and escapes.
    fields: Vec<Range<usize>>,
    /// Whether the lines of TSV end with `\r\n`, as its header does. Otherwise a `\r` belongs to its field: not all databases
    /// escape it.
    has_carriage_returns: bool,
    /// The line of the last record of TSV, if its last field begins with a quote that is not closed.
    open_line: Option<u64>,
    /// Number of lines before the present record.
    lines: u64,
}

/// The names of the fields.
pub(crate) struct Header {
    names: Vec<String>,
    line: u64,
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
    /// The places of the fields in the text.
    fields: &'a [Range<usize>],
}

impl Records {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self { delimiter, ..Self::default() }
    }

    /// Passes the records of a piece of the input to `each`, the header first. A piece has whole lines, and an empty one is the
    /// end of the input.
    ///
    /// Returns the bytes after the last record. They are blank lines.
    pub(crate) fn feed(
        &mut self,
        piece: &[u8],
        mut each: impl FnMut(Record<'_>) -> Result<(), Stop>,
    ) -> Result<Vec<u8>, Stop> {
        self.raw.try_reserve(piece.len()).map_err(|_| Stop::out_of_memory())?;
        self.raw.extend_from_slice(piece);
        while self.find_end()? {
            self.end_record(&mut each)?;
        }
        if !piece.is_empty() {
            self.raw.drain(..self.start);
            self.start = 0;
            if self.raw.len() > MAX_LINE {
                let line = self.line();
                return Err(Stop::Error(format!("line {line}: {}; is a quote missing?", too_long())));
            }
            return Ok(Vec::new());
        }
        if self.is_quoted {
            let hint = "is the input cut off, or is a quote missing?";
            return Err(self.error(&format!("expected its closing quote, found the end of the input; {hint}")));
        }
        if let Some(field) = self.field {
            self.fields.push(field..self.at);
            self.end_record(&mut each)?;
        }
        Ok(self.raw[self.start..].to_vec())
    }

    /// Reads up to the end of the present record. Returns whether it was found.
    fn find_end(&mut self) -> Result<bool, Stop> {
        let (text, is_tsv, delimiter) = (&self.raw[self.start..], self.delimiter == TAB, self.delimiter);
        if self.header.is_none() && self.at == 0 && text.starts_with(MARK) {
            self.at = MARK.len();
        }
        while self.at < text.len() {
            let rest = &text[self.at..];
            let Some(field) = self.field else {
                match line_end_len(rest, is_tsv) {
                    0 => self.field = Some(self.at),
                    len => self.at += len,
                }
                continue;
            };
            if self.is_quoted {
                let Some(len) = memchr(b'"', rest) else {
                    self.at = text.len();
                    break;
                };
                self.at += len + 1;
                match text.get(self.at) {
                    // Two quotes stand for one.
                    Some(b'"') => self.at += 1,
                    Some(found) if *found != delimiter && line_end_len(&text[self.at..], false) == 0 => {
                        let line = self.lines + count_lines(&text[..self.at]) + 1;
                        let (found, delimiter) = (char::from(*found), char::from(delimiter));
                        let hint = "a quote in a quoted field is written twice";
                        let problem = format!(
                            "expected {delimiter:?} or a line end after its closing quote, found {found:?} in line {line}; {hint}"
                        );
                        return Err(self.error(&problem));
                    }
                    _ => self.is_quoted = false,
                }
                continue;
            }
            if self.at == field && !is_tsv && rest[0] == b'"' {
                (self.at, self.is_quoted) = (self.at + 1, true);
                continue;
            }
            let Some(len) = memchr3(delimiter, if is_tsv { b'\\' } else { b'\r' }, b'\n', rest) else {
                self.at = text.len();
                break;
            };
            self.at += len;
            match rest[len] {
                // What follows is escaped. At the end of the input it is no escape.
                b'\\' if is_tsv => self.at = text.len().min(self.at + 2),
                byte if byte == delimiter => {
                    self.fields.push(field..self.at);
                    self.at += 1;
                    self.field = Some(self.at);
                }
                _ => {
                    let ends_with_return = is_tsv && text[field..self.at].ends_with(b"\r");
                    self.has_carriage_returns |= self.header.is_none() && ends_with_return;
                    let is_of_line_end = ends_with_return && self.has_carriage_returns;
                    self.fields.push(field..self.at - usize::from(is_of_line_end));
                    self.at += line_end_len(&rest[len..], false);
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn end_record(&mut self, each: &mut impl FnMut(Record<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        let (line, is_tsv, is_header) = (self.line(), self.delimiter == TAB, self.header.is_none());
        let whole = &self.raw[self.start..self.start + self.at];
        let (text, line_end) = whole.split_at(self.fields.last().map_or(0, |field| field.end));
        let header = match &mut self.header {
            Some(header) => header,
            none => none.insert(Header::new(text, &self.fields, line, is_tsv)?),
        };
        let record = Record { line, text, line_end, is_header, is_tsv, header, fields: &self.fields };
        if is_tsv {
            let is_torn = self.open_line.is_some() && record.check().is_err();
            if let Some(line) = self.open_line.filter(|_| is_torn).or_else(|| record.is_in_quotes().then_some(line)) {
                return Err(Stop::Error(format!("line {line}: {}", escapes::IN_QUOTES)));
            }
            self.open_line = Some(line).filter(|_| record.ends_in_quotes());
        }
        each(record)?;
        self.lines += count_lines(whole);
        (self.start, self.at, self.field) = (self.start + self.at, 0, None);
        self.fields.clear();
        Ok(())
    }

    /// Returns the line in which the present record begins.
    fn line(&self) -> u64 {
        let text = &self.raw[self.start..self.start + self.at];
        self.lines + count_lines(&text[..text.find_not_byteset(b"\r\n").unwrap_or(text.len())]) + 1
    }

    /// Returns an error about the present field of the present record.
    fn error(&self, problem: &str) -> Stop {
        let index = self.fields.len();
        let name = self.header.as_ref().and_then(|header| header.names.get(index));
        let field = name.map_or_else(|| (index + 1).to_string(), |name| quote(name));
        Stop::Error(format!("line {}: field {field} of the record that begins here: {problem}", self.line()))
    }
}

/// Returns the length of the line end at the start of a text, or 0. In TSV, a `\r` alone belongs to a field.
fn line_end_len(text: &[u8], is_tsv: bool) -> usize {
    match text {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        [b'\r', ..] if !is_tsv => 1,
        _ => 0,
    }
}

fn count_lines(text: &[u8]) -> u64 {
    text.find_iter(b"\n").count() as u64
}

/// Returns the text of a field, without its quotes or escapes.
fn field_text(field: &[u8], is_tsv: bool) -> Result<Cow<'_, str>, String> {
    match field {
        _ if is_tsv => utf8(field).and_then(escapes::read),
        [b'"', inner @ .., b'"'] if inner.contains(&b'"') => Ok(utf8(inner)?.replace("\"\"", "\"").into()),
        [b'"', inner @ .., b'"'] => utf8(inner).map(Cow::from),
        _ => utf8(field).map(Cow::from),
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
        match self.next(false)? {
            None => Ok(&[]),
            Some(Block::Lines(lines)) => Ok(lines),
            Some(Block::TooLong(_)) => Err(Stop::Error(format!("line {}: {}", records.lines + 1, too_long()))),
        }
    }
}

impl Header {
    fn new(text: &[u8], fields: &[Range<usize>], line: u64, is_tsv: bool) -> Result<Self, Stop> {
        let name = |(number, field): (usize, &Range<usize>)| {
            let name = field_text(&text[field.clone()], is_tsv).map(Cow::into_owned);
            name.map_err(|problem| Stop::Error(format!("line {line}: field {number} of the header: {problem}")))
        };
        Ok(Self { names: (1..).zip(fields).map(name).collect::<Result<_, _>>()?, line })
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

impl<'a> Record<'a> {
    /// Returns the header, if this record is the header.
    pub(crate) fn as_header(&self) -> Option<&'a Header> {
        self.is_header.then_some(self.header)
    }

    /// Checks that the record has as many fields as the header.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (expected, found) = (self.header.names.len(), self.fields.len());
        if expected == found {
            return Ok(());
        }
        Err(format!("expected {expected} fields as in the header, found {found}"))
    }

    /// Returns a field as text. The record must have been checked.
    pub(crate) fn field(&self, name: &str) -> Result<Cow<'a, str>, String> {
        let index = self.header.names.iter().position(|other| other == name);
        let field = self.at(index.ok_or_else(|| format!("field {} is missing", quote(name)))?);
        // In quotes, it is not missing.
        let missing = if self.is_tsv { ["\\N", "NULL"] } else { ["", "\\N"] };
        if let Some(found) = missing.iter().find(|missing| missing.as_bytes() == field) {
            let found = if found.is_empty() { "an empty field (an empty text is written \"\")" } else { found };
            return Err(format!("field {} is missing: found {found}", quote(name)));
        }
        field_text(field, self.is_tsv).map_err(|problem| format!("field {}: {problem}", quote(name)))
    }

    /// Returns the bytes of a field.
    fn at(&self, index: usize) -> &'a [u8] {
        &self.text[self.fields[index].clone()]
    }

    /// Returns whether a record of TSV has the quotes of a spreadsheet: around a name of the header, or around a tab.
    fn is_in_quotes(&self) -> bool {
        let mut fields = (0..self.fields.len()).map(|index| self.at(index));
        if self.is_header {
            fields.any(|name| name.len() > 1 && name.starts_with(b"\"") && name.ends_with(b"\""))
        } else {
            self.check().is_err() && fields.any(is_open)
        }
    }

    /// Returns whether the next line could be a part of the last field, if it is in quotes.
    fn ends_in_quotes(&self) -> bool {
        is_open(self.at(self.fields.len() - 1))
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
