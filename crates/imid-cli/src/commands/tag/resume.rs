//! `--resume`: continues a run that ended early after what it wrote.

use bstr::ByteSlice;
use imid::MessageId;

use crate::input::{Block, Input, Records, too_long};
use crate::json::JsonLine;
use crate::message::{Value, field};
use crate::output_file::PartFile;
use crate::report::{Stop, quote};
use crate::scheme::pasted_id;

/// What a run wrote before it ended.
#[derive(Default)]
pub(super) struct PreviousOutput {
    /// Number of lines. For CSV and TSV, number of records with the header.
    pub(super) items: u64,
    /// Number of bytes of the line end of the last record. It can be the `\r` of a `\r\n`.
    pub(super) line_end: usize,
    /// Number of bytes of blank lines after the last record.
    pub(super) blank: usize,
    /// Number of bytes, without an incomplete line or record at the end.
    pub(super) len: u64,
    /// The last line that is not blank, and its number. For CSV and TSV, the last record.
    pub(super) last_line: (u64, Vec<u8>),
    /// The ID of the last message.
    pub(super) last: Option<MessageId>,
}

impl PreviousOutput {
    /// Reads the output of a run. `delimiter` is the byte between two fields of CSV or TSV.
    pub(super) fn read(target: &PartFile, delimiter: Option<u8>, id_field: &str) -> Result<Self, Stop> {
        let name = quote(&target.part().to_string_lossy());
        let input = Input::new(Box::new(target.reader()?), name.clone())?;
        match delimiter {
            Some(delimiter) => Self::read_records(input, delimiter, id_field, &name),
            None => Self::read_lines(input, id_field, &name),
        }
    }

    fn read_lines(mut input: Input, id_field: &str, name: &str) -> Result<Self, Stop> {
        let mut written = Self::default();
        while let Some(block) = input.next()? {
            let Block::Lines(lines) = block else { return Err(in_line(name, written.items + 1, &too_long())) };
            let mut last_of_block = None;
            for line in lines.lines_with_terminator() {
                if !line.ends_with(b"\n") {
                    // Only the last line, and only if the run was killed or the system crashed.
                    break;
                }
                written.items += 1;
                written.len += line.len() as u64;
                if !line.trim_ascii().is_empty() {
                    last_of_block = Some((line, written.items));
                }
            }
            if let Some((line, number)) = last_of_block {
                written.last_line = (number, line.to_vec());
            }
        }
        let (number, line) = &written.last_line;
        if *number > 0 {
            let id = JsonLine::read(line).and_then(|object| pasted_id(&field(&object, id_field, Value::string)?));
            written.last = Some(id.map_err(|problem| in_line(name, *number, &problem))?);
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
            let rest = records.feed_cut(&buffer[piece], |record| {
                // A record that was cut.
                if record.line_end.is_empty() {
                    return Ok(());
                }
                written.items += 1;
                written.len += (record.text.len() + record.line_end.len()) as u64;
                written.line_end = record.line_end.len();
                let text = &record.text[record.text.find_not_byteset(b"\r\n").unwrap_or(0)..];
                written.last_line.1.clear();
                written.last_line.1.extend_from_slice(text);
                if record.as_header().is_some_and(|header| !header.has(id_field)) {
                    return Err(in_line(name, record.line, &format!("field {id_field:?} is missing in the header")));
                }
                let id = || record.check().and_then(|()| pasted_id(record.field(id_field)?));
                last = (written.items > 1).then(|| id().map_err(|problem| in_line(name, record.line, &problem)));
                Ok(())
            })?;
            if has_ended {
                written.blank = rest.find_not_byteset(b"\r\n").unwrap_or(rest.len());
                written.len += written.blank as u64;
                written.last = last.transpose()?;
                return Ok(written);
            }
        }
    }

    /// Returns the error for an input that has fewer lines or records than the output.
    pub(super) fn too_few(&self, found: u64, noun: &str) -> Stop {
        let expected = self.items;
        Stop::Error(format!("--resume: expected at least {expected} {noun} of input, as in the output, found {found}"))
    }
}

/// Checks that a line of the output begins as a line of the input does.
pub(super) fn check_start(line: u64, output: &[u8], input: &[u8]) -> Result<(), Stop> {
    if output.starts_with(input) {
        return Ok(());
    }
    let hint = "--resume needs the input of the first run, which had no --keep-going";
    Err(Stop::Error(format!("line {line} of the input is not line {line} of FILE.part: {hint}")))
}

fn in_line(name: &str, line: u64, problem: &str) -> Stop {
    Stop::Error(format!("--resume: line {line} of {name}: {problem}"))
}
