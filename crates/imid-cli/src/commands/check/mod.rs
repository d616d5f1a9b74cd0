//! `imid check`: checks that many IDs are valid, in order and distinct.

mod duplicates;
mod memory;
mod summary;

use std::path::PathBuf;

use bstr::ByteSlice;
use imid::error::LineError;
use imid::{MessageId, codec};
use itertools::Itertools;

use self::duplicates::{Duplicates, Lines, SortError};
use self::memory::Memory;
use self::summary::{Counts, Summary};
use super::lines::{Problems, read_line};
use super::rows::{Row, each_record};
use crate::Out;
use crate::input::{Block, Input, Kind, too_long};
use crate::json;
use crate::report::{Report, Stop, quote};
use crate::scheme::{Id, Scheme, SchemeArg};
use crate::time::rfc3339;

/// Check that the IDs of a file are valid, strictly increasing and distinct
///
/// Each line is an ID in its strict form, or a JSON object with the ID in a field. CRLF and blank lines are allowed. In a
/// table, such as CSV, the ID is in the column --id-field, and each row counts as a line.
///
/// The first 10 problems are printed on standard error with their line numbers. The summary counts all of them. Its
/// "equal" and "lower" count the IDs that are equal to or lower than the ID before them.
///
/// If the input is not sorted, equal IDs need not be neighbours, so the number of duplicates is unknown. --unsorted
/// finds them and names their lines: it sorts in memory, and with temporary files (in $TMPDIR) if the IDs do not fit into
/// --memory. With --unsorted, an ID that is lower than the ID before it is not a problem.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid check ids.txt
  imid check --json tagged.jsonl
  imid check --unsorted --id-field message_id export.jsonl
  imid new -n 1000 | imid check

Exit status:
  0  no problem was found
  1  a line is invalid, a duplicate, or equal to or lower than the line before it")]
pub(crate) struct Args {
    /// File to read; without a file, or with -, standard input is read
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Format of the input [default: csv or tsv if FILE is called so, such as chat.csv.gz; otherwise lines]
    #[arg(long = "in", value_name = "FORMAT")]
    input: Option<Kind>,
    /// Field with the ID, for JSON objects and tables
    #[arg(long, value_name = "FIELD", default_value = "id")]
    id_field: String,
    /// Find duplicates in input of any order
    #[arg(long)]
    unsorted: bool,
    /// Memory for --unsorted, such as 500M or 2G; each ID takes 16 bytes, in memory or in a temporary file [default: 64M]
    #[arg(long, value_name = "SIZE", requires = "unsorted")]
    memory: Option<Memory>,
    #[command(flatten)]
    scheme: SchemeArg,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let mut input = Input::open(self.file.as_deref())?;
        let kind = Kind::of(self.input, self.file.as_deref());
        let mut check = Check {
            id_field: &self.id_field,
            scheme: self.scheme.scheme,
            duplicates: self.unsorted.then(|| Duplicates::new(self.memory.unwrap_or_default())),
            problems: Problems::new(report),
            counts: Counts::default(),
            previous: None,
            least: None,
            greatest: None,
            ids: vec![MessageId::MIN; AT_ONCE],
        };
        if let Some(delimiter) = kind.delimiter() {
            each_record(input, delimiter, &self.id_field, None, |line, row| check.check_row(line, row))?;
        } else {
            while let Some(block) = input.next()? {
                match block {
                    Block::Lines(lines) => check.check_lines(lines)?,
                    Block::TooLong => {
                        check.counts.lines += 1;
                        check.count_invalid(check.counts.lines, &too_long());
                    }
                }
            }
        }
        let summary = check.finish()?;
        if self.json { json::write_line(out, &summary) } else { summary.write(out) }
    }
}

/// Number of IDs that are read at once. The IDs and their lines take 36 KiB.
const AT_ONCE: usize = 1 << 10;

struct Check<'a> {
    id_field: &'a str,
    scheme: Scheme,
    duplicates: Option<Duplicates>,
    problems: Problems<'a>,
    counts: Counts,
    previous: Option<MessageId>,
    least: Option<MessageId>,
    greatest: Option<MessageId>,
    /// The IDs that are read at once.
    ids: Vec<MessageId>,
}

impl Check<'_> {
    fn check_lines(&mut self, mut rest: &[u8]) -> Result<(), Stop> {
        while !rest.is_empty() {
            // Most lines are an ID and a line feed. Many of these are read at once, without a search for their ends.
            if self.scheme.is_standard() {
                let read = codec::decode_lines(rest, b'\n', &mut self.ids);
                let count = read.unwrap_or_else(LineError::index);
                self.count_ids(count)?;
                rest = &rest[rest.len().min(count * codec::LINE_LEN)..];
                if read.is_ok() {
                    continue;
                }
            }
            let (line, after) = rest.split_at(rest.find_byte(b'\n').map_or(rest.len(), |at| at + 1));
            self.check_line(line)?;
            rest = after;
        }
        Ok(())
    }

    /// Counts the first IDs of those that were read at once. Each ID was a line.
    fn count_ids(&mut self, count: usize) -> Result<(), Stop> {
        if let [first, .., last] = self.ids[..count]
            && self.duplicates.is_none()
            && self.previous.is_none_or(|previous| previous < first)
            && self.ids[..count].is_sorted_by(|a, b| a < b)
        {
            self.counts.lines += count as u64;
            self.counts.valid += count as u64;
            self.previous = Some(last);
            self.widen(first, last);
            return Ok(());
        }
        for at in 0..count {
            self.counts.lines += 1;
            self.count_valid(self.counts.lines, self.ids[at])?;
        }
        Ok(())
    }

    fn check_line(&mut self, line: &[u8]) -> Result<(), Stop> {
        self.counts.lines += 1;
        let text = line.trim_ascii();
        if text.is_empty() {
            self.counts.blank += 1;
            return Ok(());
        }
        let scheme = self.scheme;
        let id = read_line(line, self.id_field, scheme).map(|line| line.id.sort_key());
        match id {
            Ok(id) => self.count_valid(self.counts.lines, id),
            Err(problem) => {
                self.count_invalid(self.counts.lines, &problem);
                Ok(())
            }
        }
    }

    /// Checks a row of a table, or counts its problem.
    fn check_row(&mut self, number: u64, row: Result<Row<'_>, String>) -> Result<(), Stop> {
        self.counts.lines += 1;
        match row.and_then(|row| row.id.read(self.scheme)) {
            Ok(id) => self.count_valid(number, id.sort_key()),
            Err(problem) => {
                self.count_invalid(number, &problem);
                Ok(())
            }
        }
    }

    /// Counts the ID of the line with this number.
    fn count_valid(&mut self, number: u64, id: MessageId) -> Result<(), Stop> {
        self.counts.valid += 1;
        if let Some(previous) = self.previous.replace(id)
            && id <= previous
        {
            self.count_out_of_order(number, id, previous);
        }
        self.widen(id, id);
        match &mut self.duplicates {
            Some(duplicates) => duplicates.push(id, number).map_err(cannot_sort),
            None => Ok(()),
        }
    }

    /// Extends the range from the least to the greatest ID, so that it includes these two.
    fn widen(&mut self, first: MessageId, last: MessageId) {
        self.least = Some(self.least.map_or(first, |least| least.min(first)));
        self.greatest = self.greatest.max(Some(last));
    }

    #[cold]
    fn count_out_of_order(&mut self, line: u64, id: MessageId, previous: MessageId) {
        let (count, relation) =
            if id == previous { (&mut self.counts.equal, "equal to") } else { (&mut self.counts.lower, "lower than") };
        *count += 1;
        // With --unsorted, order does not matter and all duplicates are printed at the end.
        if self.duplicates.is_none() {
            let (id, previous) = (self.scheme.with_sort_key(id), self.scheme.with_sort_key(previous));
            self.problems.add(|| format!("line {line}: {id} is {relation} the ID before it, {previous}"));
        }
    }

    #[cold]
    fn count_invalid(&mut self, line: u64, problem: &str) {
        self.counts.invalid += 1;
        self.problems.add(|| format!("line {line}: {problem}"));
    }

    fn finish(mut self) -> Result<Summary, Stop> {
        let is_sorted = self.counts.lower == 0;
        let duplicates = match self.duplicates {
            Some(duplicates) => {
                let mut surplus = 0;
                duplicates
                    .for_each(|id, lines| {
                        surplus += lines.count - 1;
                        self.problems.add(|| occurs(self.scheme.with_sort_key(id), lines));
                    })
                    .map_err(cannot_sort)?;
                Some(surplus)
            }
            None => is_sorted.then_some(self.counts.equal),
        };
        let time = |id: Option<MessageId>| id.map(|id| rfc3339(self.scheme.with_sort_key(id).timestamp_ms()));
        Ok(Summary {
            counts: self.counts,
            sorted: is_sorted,
            duplicates,
            first_time: time(self.least),
            last_time: time(self.greatest),
        })
    }
}

/// Returns the message for an ID that occurs more than once.
fn occurs(id: Id, lines: &Lines) -> String {
    let more = if lines.count > lines.first.len() as u64 { " and more" } else { "" };
    format!("{id} occurs {} times, in lines {}{more}", lines.count, lines.first.iter().join(", "))
}

fn cannot_sort(error: SortError) -> Stop {
    match error {
        SortError::OutOfMemory => Stop::Error("out of memory; --memory SIZE uses less".into()),
        SortError::Io(error) => Stop::Error(format!(
            "cannot sort with temporary files in {}: {error}",
            quote(&std::env::temp_dir().to_string_lossy())
        )),
    }
}
