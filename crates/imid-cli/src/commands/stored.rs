//! Input with an ID in each line or row, for the commands that read many stored IDs.

use std::io::Write;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use imid::dialect::Dialect;
use imid::error::LineError;
use imid::{MessageId, codec};
use imid_inspect::{Id, Scheme};
use serde_json::Value;

use super::problems::Problems;
use crate::Out;
use crate::candidates;
use crate::input::{self, Block, Input, KindArg, Opened, too_long, trim_line_end, utf8};
use crate::json::{self, JsonLine};
use crate::message::{Message, field};
use crate::report::{Report, Stop};
use crate::scheme::SchemeArg;

/// The arguments that say where the IDs are.
#[derive(clap::Args)]
pub(super) struct StoredIds {
    /// Files to read; without a file, or with -, standard input is read
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    format: KindArg,
    /// Field with the ID, for JSON objects and tables
    #[arg(long, value_name = "FIELD", default_value = "id")]
    id_field: String,
    #[command(flatten)]
    scheme: SchemeArg,
}

/// What a command does with the IDs.
pub(super) trait Visitor {
    /// Adds the ID of a line or row, which has this number among the lines of all files.
    fn add(&mut self, number: u64, id: Id, problems: &mut Problems<'_>) -> Result<(), Stop>;

    /// Notes that the next IDs are those of another file.
    fn begin_file(&mut self) {}

    /// Adds the standard IDs of lines that follow each other. `first` is the number of the first line.
    fn add_lines(&mut self, first: u64, ids: &[MessageId], problems: &mut Problems<'_>) -> Result<(), Stop> {
        for (number, id) in (first..).zip(ids) {
            let id = Id::Message { dialect: &Dialect::STANDARD, id: (*id).into() };
            self.add(number, id, problems)?;
        }
        Ok(())
    }
}

/// Numbers of lines or rows. `lines` is the sum of the others.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) lines: u64,
    pub(super) valid: u64,
    pub(super) invalid: u64,
    pub(super) blank: u64,
}

/// Writes the members of a JSON object for people: numbers and times.
pub(super) fn write_summary(summary: &Value, out: &mut Out) -> Result<(), Stop> {
    for (name, value) in summary.as_object().into_iter().flatten() {
        let value = match value {
            Value::Bool(_) => continue,
            Value::Null if name == "duplicates" => "unknown: the input is not sorted (use --unsorted)".to_owned(),
            Value::Null => "none".to_owned(),
            Value::String(time) => time.clone(),
            number => number.to_string(),
        };
        writeln!(out, "{:<12}{value}", name.replace('_', " "))?;
    }
    Ok(())
}

impl StoredIds {
    pub(super) fn scheme(&self) -> Scheme {
        self.scheme.scheme
    }

    /// Returns whether there are several files.
    pub(super) fn are_several(&self) -> bool {
        self.files.len() > 1
    }

    /// Reads an ID in its strict form, or in another form that the tool writes.
    fn read_id(&self, text: &[u8]) -> Result<Id, String> {
        match self.scheme().parse(text) {
            Some(id) => Ok(id),
            None => candidates::read_id(self.scheme(), utf8(text)?),
        }
    }

    /// Passes the IDs of the whole input to `visitor`. Counts lines that have none, and reports the first ones.
    pub(super) fn visit<'a>(
        &self,
        visitor: &mut impl Visitor,
        report: &'a mut Report,
    ) -> Result<(Counts, Problems<'a>), Stop> {
        let files = input::files(&self.files);
        let mut reader = Reader {
            args: self,
            visitor,
            counts: Counts::default(),
            problems: Problems::new(report),
            line: 0,
            last_ms: None,
            ids: vec![MessageId::MIN; AT_ONCE],
        };
        for file in files {
            let (before, name) = (reader.line, file.map_or("standard input".into(), Path::to_string_lossy));
            if self.are_several() {
                reader.problems.begin_file(&name, before);
                reader.visitor.begin_file();
            }
            match self.format.open(file, "IDs or JSON objects, one per line,")? {
                Opened::Lines(input) => reader.read_input(input)?,
                Opened::Records(input, delimiter) => {
                    let ran = input.each_record(delimiter, |record| {
                        if let Some(header) = record.as_header() {
                            return header.require([&self.id_field]);
                        }
                        reader.line = before + record.line;
                        reader.counts.lines += 1;
                        if reader.counts.lines.is_multiple_of(100_000) {
                            reader.problems.progress(reader.counts.lines, reader.last_ms);
                        }
                        reader.count(record.check().and_then(|()| reader.read_message(&record)))
                    });
                    ran.map_err(|stop| match stop {
                        Stop::Error(problem) if self.are_several() => Stop::Error(format!("{name}: {problem}")),
                        stop => stop,
                    })?;
                }
            }
        }
        Ok((reader.counts, reader.problems))
    }
}

/// Number of IDs that are read together. The IDs and their lines take 36 KiB.
const AT_ONCE: usize = 1 << 10;

struct Reader<'a, 'r, V> {
    args: &'a StoredIds,
    visitor: &'a mut V,
    counts: Counts,
    problems: Problems<'r>,
    /// The number of the present line among the lines of all files.
    line: u64,
    /// The time of the last ID.
    last_ms: Option<u64>,
    /// The IDs that are read together.
    ids: Vec<MessageId>,
}

impl<V: Visitor> Reader<'_, '_, V> {
    fn read_input(&mut self, mut input: Input) -> Result<(), Stop> {
        while let Some(block) = input.next(false)? {
            match block {
                Block::Lines(lines) => self.read_lines(lines)?,
                Block::TooLong(_) => {
                    self.line += 1;
                    self.counts.lines += 1;
                    self.count_invalid(&too_long());
                }
            }
            self.problems.progress(self.counts.lines, self.last_ms);
        }
        Ok(())
    }

    fn read_lines(&mut self, mut rest: &[u8]) -> Result<(), Stop> {
        while !rest.is_empty() {
            // Most lines are an ID and a line feed. Many of these are read together, without a search for line ends.
            if self.args.scheme().is_standard() {
                let read = codec::decode_lines(rest, b'\n', &mut self.ids);
                let count = read.unwrap_or_else(LineError::index);
                self.visitor.add_lines(self.line + 1, &self.ids[..count], &mut self.problems)?;
                self.last_ms = self.ids[..count].last().map(|id| id.timestamp_ms()).or(self.last_ms);
                self.line += count as u64;
                self.counts.lines += count as u64;
                self.counts.valid += count as u64;
                rest = &rest[rest.len().min(count * codec::LINE_LEN)..];
                if read.is_ok() {
                    continue;
                }
            }
            let (line, after) = rest.split_at(rest.find_byte(b'\n').map_or(rest.len(), |at| at + 1));
            self.read_line(line)?;
            rest = after;
        }
        Ok(())
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), Stop> {
        self.line += 1;
        self.counts.lines += 1;
        if line.trim_ascii().is_empty() {
            self.counts.blank += 1;
            return Ok(());
        }
        let read = if line.trim_ascii_start().starts_with(b"{") {
            JsonLine::read(line).and_then(|object| self.read_message(&object))
        } else {
            self.read_text(trim_line_end(line))
        };
        self.count(read)
    }

    /// Reads the ID of a message.
    fn read_message(&self, message: &impl Message) -> Result<Id, String> {
        // A Snowflake can be a number in JSON. A message ID is always a string.
        let is_text = self.args.scheme().is_text();
        let id = field(message, &self.args.id_field, |id| if is_text { id.string() } else { id.text() })?;
        self.args.read_id(id.as_bytes())
    }

    /// Reads a line that is an ID.
    fn read_text(&self, line: &[u8]) -> Result<Id, String> {
        // COPY of PostgreSQL escapes the backslash of a bytea.
        let line = if line.starts_with(br"\\x") { &line[1..] } else { line };
        self.args.read_id(line).map_err(|problem| {
            let hint = str::from_utf8(line).ok().and_then(json::table_hint);
            hint.map_or(problem.clone(), |hint| format!("{problem} ({hint})"))
        })
    }

    /// Counts a line or row, and passes on its ID.
    fn count(&mut self, read: Result<Id, String>) -> Result<(), Stop> {
        match read {
            Ok(id) => {
                self.counts.valid += 1;
                self.last_ms = Some(id.timestamp_ms());
                self.visitor.add(self.line, id, &mut self.problems)
            }
            Err(problem) => {
                self.count_invalid(&problem);
                Ok(())
            }
        }
    }

    #[cold]
    fn count_invalid(&mut self, problem: &str) {
        self.counts.invalid += 1;
        let place = self.problems.place(self.line);
        self.problems.add(|| format!("{place}: {problem}"));
    }
}
