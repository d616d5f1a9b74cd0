//! `imid check`: validity, order and distinctness of many IDs.

use std::io::Write;
use std::path::PathBuf;

use bstr::ByteSlice;
use imid::error::LineError;
use imid::{MessageId, codec};
use serde::Serialize;

use crate::Out;
use crate::duplicates::Duplicates;
use crate::family::{self, Family, FamilyArg};
use crate::input::{Block, Input, too_long, without_end};
use crate::members::{self, Object};
use crate::parts::{self, rfc3339};
use crate::report::{Report, Stop, plain, quote};

/// Check a list of IDs: valid, strictly increasing, distinct
///
/// One ID per line in its strict form, or JSON lines with the ID in a field; CRLF and blank lines are welcome. The
/// first troubles are told on standard error with their lines, and all of them are counted.
///
/// In sorted input equal IDs are neighbours. Where the input is not sorted, the summary says that duplicates were not
/// ruled out; --unsorted finds them, with a sort that spills to temporary files ($TMPDIR) and so never takes more than
/// 100 MB of memory. With --unsorted a line that is lower than the one before it is nothing wrong.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid check ids.txt
  imid check --json tagged.jsonl
  imid check --unsorted --id-field message_id export.jsonl
  imid new -n 1000 | imid check

Exit status:
  0  nothing is wrong
  1  a line is invalid, equal to or lower than the one before it, or a duplicate")]
pub(crate) struct Args {
    /// File to read; standard input where there is none or it is called -
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Field with the ID, in lines that are JSON objects
    #[arg(long, value_name = "FIELD", default_value = "id")]
    id_field: String,
    /// Find duplicates in any order
    #[arg(long)]
    unsorted: bool,
    #[command(flatten)]
    family: FamilyArg,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let mut input = Input::open(self.file.as_deref())?;
        let mut check = Check {
            id_field: &self.id_field,
            family: self.family.family,
            duplicates: self.unsorted.then(Duplicates::new),
            troubles: Troubles { report, told: 0 },
            tally: Tally::default(),
            ids: vec![MessageId::MIN; AT_ONCE],
        };
        while let Some(block) = input.next()? {
            match block {
                Block::Lines(lines) => check.lines(lines)?,
                Block::TooLong => {
                    check.tally.lines += 1;
                    check.invalid(&too_long());
                }
            }
        }
        let summary = check.finish()?;
        if self.json { parts::write_line(out, &summary) } else { summary.write(out) }
    }
}

/// What has been counted so far.
#[derive(Default)]
struct Tally {
    lines: u64,
    valid: u64,
    invalid: u64,
    equal: u64,
    lower: u64,
    previous: Option<MessageId>,
    least: Option<MessageId>,
    greatest: Option<MessageId>,
}

/// Tells the first troubles, and remembers that there were some.
struct Troubles<'a> {
    report: &'a mut Report,
    told: u32,
}

impl Troubles<'_> {
    const MAX_TOLD: u32 = 10;

    fn tell(&mut self, what: impl FnOnce() -> String) {
        self.report.fail();
        self.told += 1;
        match self.told {
            ..=Self::MAX_TOLD => self.report.error(what()),
            told if told == Self::MAX_TOLD + 1 => self.report.note("further ones are only counted"),
            _ => self.told = Self::MAX_TOLD + 2,
        }
    }
}

/// How many IDs are read at once: 32 KiB with their lines, which the first-level cache holds.
const AT_ONCE: usize = 1 << 10;

struct Check<'a> {
    id_field: &'a str,
    family: Family,
    duplicates: Option<Duplicates>,
    troubles: Troubles<'a>,
    tally: Tally,
    /// Room for the IDs of some lines.
    ids: Vec<MessageId>,
}

impl Check<'_> {
    fn lines(&mut self, mut rest: &[u8]) -> Result<(), Stop> {
        while !rest.is_empty() {
            // Nearly every line is an ID and a line feed: many are read at once, without a search for their ends.
            if self.family.is_standard() {
                let read = codec::decode_lines(rest, b'\n', &mut self.ids);
                let count = read.unwrap_or_else(LineError::index);
                self.run(count)?;
                rest = &rest[rest.len().min(count * codec::LINE_LEN)..];
                if read.is_ok() {
                    continue;
                }
            }
            let (line, after) = rest.split_at(rest.find_byte(b'\n').map_or(rest.len(), |at| at + 1));
            self.line(line)?;
            rest = after;
        }
        Ok(())
    }

    /// Counts the first IDs that have been read, each of a line of its own.
    fn run(&mut self, count: usize) -> Result<(), Stop> {
        let tally = &mut self.tally;
        if let [first, .., last] = self.ids[..count]
            && self.duplicates.is_none()
            && tally.previous.is_none_or(|previous| previous < first)
            && self.ids[..count].is_sorted_by(|a, b| a < b)
        {
            tally.lines += count as u64;
            tally.valid += count as u64;
            tally.previous = Some(last);
            tally.least = Some(tally.least.map_or(first, |least| least.min(first)));
            tally.greatest = tally.greatest.max(Some(last));
            return Ok(());
        }
        for at in 0..count {
            self.tally.lines += 1;
            self.valid(self.ids[at])?;
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Result<(), Stop> {
        self.tally.lines += 1;
        let text = line.trim_ascii();
        if text.is_empty() {
            return Ok(());
        }
        let family = self.family;
        let key = |text: &[u8]| family.parse(text).map(|id| family::key(&id));
        let id = if text.starts_with(b"{") {
            Object::read(line).and_then(|object| {
                let value = object.value(self.id_field)?;
                let text = members::text(value).filter(|_| value.starts_with('"') || !family.is_text());
                let text = text.ok_or_else(|| {
                    format!("field {}: expected a string, found {}", quote(self.id_field), plain(value))
                })?;
                key(text.as_bytes())
            })
        } else {
            key(without_end(line))
        };
        match id {
            Ok(id) => self.valid(id),
            Err(what) => {
                self.invalid(&what);
                Ok(())
            }
        }
    }

    fn valid(&mut self, id: MessageId) -> Result<(), Stop> {
        let tally = &mut self.tally;
        tally.valid += 1;
        if let Some(previous) = tally.previous.replace(id)
            && id <= previous
        {
            self.out_of_order(id, previous);
        }
        let tally = &mut self.tally;
        tally.least = Some(tally.least.map_or(id, |least| least.min(id)));
        tally.greatest = tally.greatest.max(Some(id));
        match &mut self.duplicates {
            Some(duplicates) => duplicates.push(id).map_err(|error| cannot_sort(&error)),
            None => Ok(()),
        }
    }

    #[cold]
    fn out_of_order(&mut self, id: MessageId, previous: MessageId) {
        let (count, what) =
            if id == previous { (&mut self.tally.equal, "equal to") } else { (&mut self.tally.lower, "lower than") };
        *count += 1;
        // Where order does not matter, duplicates are told in the end, neighbours or not.
        if self.duplicates.is_none() {
            let line = self.tally.lines;
            let (id, previous) = (self.family.with_key(id), self.family.with_key(previous));
            self.troubles.tell(|| format!("line {line}: {id} is {what} the ID before it, {previous}"));
        }
    }

    #[cold]
    fn invalid(&mut self, what: &str) {
        self.tally.invalid += 1;
        self.troubles.tell(|| format!("line {}: {what}", self.tally.lines));
    }

    fn finish(mut self) -> Result<Summary, Stop> {
        let tally = self.tally;
        let is_sorted = tally.lower == 0;
        let duplicates = match self.duplicates {
            Some(duplicates) => {
                let mut surplus = 0;
                duplicates
                    .each(|id, times| {
                        surplus += times as u64 - 1;
                        self.troubles.tell(|| format!("{} occurs {times} times", self.family.with_key(id)));
                    })
                    .map_err(|error| cannot_sort(&error))?;
                Some(surplus)
            }
            None => is_sorted.then_some(tally.equal),
        };
        let time = |id: Option<MessageId>| id.map(|id| rfc3339(self.family.with_key(id).timestamp_ms()));
        Ok(Summary {
            lines: tally.lines,
            valid: tally.valid,
            invalid: tally.invalid,
            equal: tally.equal,
            lower: tally.lower,
            sorted: is_sorted,
            duplicates,
            first_time: time(tally.least),
            last_time: time(tally.greatest),
        })
    }
}

fn cannot_sort(error: &std::io::Error) -> Stop {
    Stop::Error(format!("cannot sort in {}: {error}", quote(&std::env::temp_dir().to_string_lossy())))
}

/// What there is to say in the end, in the order in which it is said.
#[derive(Serialize)]
struct Summary {
    lines: u64,
    valid: u64,
    invalid: u64,
    equal: u64,
    lower: u64,
    sorted: bool,
    /// How many IDs have occurred before; `None` where that is not known.
    duplicates: Option<u64>,
    first_time: Option<String>,
    last_time: Option<String>,
}

impl Summary {
    fn write(&self, out: &mut impl Write) -> Result<(), Stop> {
        let none = || "none".to_owned();
        let duplicates = self.duplicates.map_or_else(
            || "not ruled out: the input is not sorted (--unsorted finds them)".into(),
            |count| count.to_string(),
        );
        let rows = [
            ("lines", self.lines.to_string()),
            ("valid", self.valid.to_string()),
            ("invalid", self.invalid.to_string()),
            ("equal", self.equal.to_string()),
            ("lower", self.lower.to_string()),
            ("duplicates", duplicates),
            ("first time", self.first_time.clone().unwrap_or_else(none)),
            ("last time", self.last_time.clone().unwrap_or_else(none)),
        ];
        for (name, value) in rows {
            writeln!(out, "{name:<12}{value}")?;
        }
        Ok(())
    }
}
