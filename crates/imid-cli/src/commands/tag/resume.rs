//! `--resume`: continues a run that ended early after what it wrote.

use std::path::Path;

use bstr::ByteSlice;
use imid::MessageId;

use crate::commands::lines::id_text;
use crate::input::{Block, Input, Records, too_long};
use crate::json_line::JsonLine;
use crate::report::{Stop, quote};
use crate::scheme::pasted_id;

/// What a run wrote before it ended.
#[derive(Clone, Copy, Default)]
pub(super) struct PreviousOutput {
    /// Number of lines. For CSV and TSV, number of records with the header.
    pub(super) items: u64,
    /// Number of bytes of the line end of the last record. It can be the `\r` of a `\r\n`.
    pub(super) line_end: usize,
    /// Number of bytes of blank lines after the last record.
    pub(super) blank: usize,
    /// The ID of the last message.
    pub(super) last: Option<MessageId>,
}

impl PreviousOutput {
    /// Reads the output of a run. `delimiter` is the byte between two fields of CSV or TSV.
    pub(super) fn read(path: &Path, delimiter: Option<u8>, id_field: &str) -> Result<Self, Stop> {
        let input = Input::open(path)?;
        let name = quote(&path.to_string_lossy());
        match delimiter {
            Some(delimiter) => Self::read_records(input, delimiter, id_field, &name),
            None => Self::read_lines(input, id_field, &name),
        }
    }

    fn read_lines(mut input: Input, id_field: &str, name: &str) -> Result<Self, Stop> {
        let mut written = Self::default();
        // The last line that is not blank, and its number.
        let (mut last, mut last_number) = (Vec::new(), 0);
        while let Some(block) = input.next()? {
            let Block::Lines(lines) = block else { return Err(in_line(name, written.items + 1, &too_long())) };
            let mut last_of_block = None;
            for line in lines.lines_with_terminator() {
                written.items += 1;
                if !line.trim_ascii().is_empty() {
                    last_of_block = Some((line, written.items));
                }
            }
            if !lines.ends_with(b"\n") {
                return Err(incomplete(name, written.items));
            }
            if let Some((line, number)) = last_of_block {
                last.clear();
                last.extend_from_slice(line);
                last_number = number;
            }
        }
        if last_number > 0 {
            let id = JsonLine::read(&last).and_then(|object| pasted_id(&id_text(&object, id_field)?));
            written.last = Some(id.map_err(|problem| in_line(name, last_number, &problem))?);
        }
        Ok(written)
    }

    fn read_records(mut input: Input, delimiter: u8, id_field: &str, name: &str) -> Result<Self, Stop> {
        let mut written = Self::default();
        let (mut records, mut buffer) = (Records::new(delimiter), Vec::new());
        // The ID of the last record, or why it has none. Only the last record must have one.
        let mut last = None;
        loop {
            let piece = input.next_piece(&mut buffer, &records)?;
            let has_ended = piece.is_empty();
            let rest = records.feed(&buffer[piece], |record| {
                written.items += 1;
                // At the end of the output, the parser also ends a record that is cut at a line feed in quotes.
                if record.line_end.is_empty() || has_ended {
                    return Err(incomplete(name, record.line));
                }
                written.line_end = record.line_end.len();
                if record.as_header().is_some_and(|header| !header.has(id_field)) {
                    return Err(in_line(name, record.line, &format!("field {id_field:?} is missing in the header")));
                }
                let id = || record.check().and_then(|()| pasted_id(record.field(id_field)?));
                last = (written.items > 1).then(|| id().map_err(|problem| in_line(name, record.line, &problem)));
                Ok(())
            })?;
            if has_ended {
                written.blank = rest.len();
                written.last = last.transpose()?;
                return Ok(written);
            }
        }
    }

    /// Returns the error for an input that has fewer lines or records than the output.
    pub(super) fn too_few(self, found: u64, noun: &str) -> Stop {
        let expected = self.items;
        Stop::Error(format!("--resume: expected at least {expected} {noun} of input, as in the output, found {found}"))
    }
}

fn incomplete(name: &str, line: u64) -> Stop {
    Stop::Error(format!("--resume: {name} ends with an incomplete line; keep its whole lines: head -n {}", line - 1))
}

fn in_line(name: &str, line: u64, problem: &str) -> Stop {
    Stop::Error(format!("--resume: line {line} of {name}: {problem}"))
}
