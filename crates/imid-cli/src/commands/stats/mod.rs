//! `imid stats`: shows what the IDs of a store tell about its traffic.

mod chart;
mod plot;
mod rates;
mod sessions;
mod summary;

use std::path::PathBuf;

use bstr::ByteSlice;
use imid::MessageId;

use self::rates::Rates;
use self::sessions::Sessions;
use self::summary::{Counts, Leads, Summary};
use super::lines::{Problems, read_line};
use super::rows::{Row, each_record};
use super::whole_number;
use crate::Out;
use crate::input::{Block, Input, Kind, too_long};
use crate::json_line;
use crate::report::{Report, Stop, quote};
use crate::scheme::{Id, SchemeArg};
use crate::time::parse_timestamp_ms;

/// Show how many IDs a file has by session type, session and time
///
/// Each line is an ID in its strict form, or a JSON object with the ID in a field. The lines can be in any order. Blank
/// lines are skipped. In a table, such as CSV, the ID is in the column --id-field, and each row counts as a line. Input that is compressed with gzip or zstd is decompressed.
///
/// The memory does not grow with the input. So the counts of the busiest sessions are exact for up to 49,152 sessions.
/// With more sessions, a count can be too high; the output says by how much at most. The times are counted in intervals
/// of 1 s, which get longer if the IDs have more than 8,192 different seconds.
///
/// A session is shown as its type and its hash, because an ID does not have the session name. Different sessions of one
/// type can share a hash.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid stats ids.txt
  imid stats --time-field at tagged.jsonl.gz
  imid stats --top 100 --json tagged.jsonl
  imid stats --plot rate.svg tagged.jsonl

Exit status:
  0  all lines are valid
  1  a line is invalid")]
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
    /// Field with the time of the message: count the IDs whose time is ahead of it
    #[arg(long, value_name = "FIELD")]
    time_field: Option<String>,
    #[command(flatten)]
    scheme: SchemeArg,
    /// Number of busiest sessions to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole_number::<usize>, allow_negative_numbers = true)]
    top: usize,
    /// Draw the IDs per second to this SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let mut input = Input::open(self.file.as_deref())?;
        let kind = Kind::of(self.input, self.file.as_deref());
        let mut stats = Stats {
            args: self,
            problems: Problems::new(report),
            counts: Counts::default(),
            sessions: Sessions::new()?,
            rates: Rates::default(),
            ahead: self.time_field.as_ref().map(|_| Leads::default()),
            range: None,
        };
        if let Some(delimiter) = kind.delimiter() {
            each_record(input, delimiter, &self.id_field, self.time_field.as_ref(), |line, row| {
                stats.add_row(line, row);
                Ok(())
            })?;
        } else {
            while let Some(block) = input.next()? {
                match block {
                    Block::Lines(lines) => lines.lines_with_terminator().for_each(|line| stats.add_line(line)),
                    Block::TooLong => {
                        stats.counts.lines += 1;
                        stats.count_invalid(stats.counts.lines, &too_long());
                    }
                }
            }
        }
        let mut summary = stats.finish();
        if let Some(path) = &self.plot {
            plot::write(path, &mut summary)?;
        }
        if self.json { summary.write_json(out) } else { summary.write(out) }
    }
}

struct Stats<'a> {
    args: &'a Args,
    problems: Problems<'a>,
    counts: Counts,
    sessions: Sessions,
    rates: Rates,
    ahead: Option<Leads>,
    /// The least and the greatest ID.
    range: Option<(MessageId, MessageId)>,
}

impl Stats<'_> {
    fn add_line(&mut self, line: &[u8]) {
        self.counts.lines += 1;
        if line.trim_ascii().is_empty() {
            self.counts.blank += 1;
            return;
        }
        let read = read_line(line, &self.args.id_field, self.args.scheme.scheme).and_then(|line| {
            let Some(name) = &self.args.time_field else { return Ok((line.id, None)) };
            let object = line.object.ok_or_else(|| format!("expected a JSON object with the field {}", quote(name)))?;
            let time = json_line::parse(object.value(name)?, parse_timestamp_ms);
            Ok((line.id, Some(time.map_err(|problem| format!("field {}: {problem}", quote(name)))?)))
        });
        match read {
            Ok((id, time)) => self.add(id, time),
            Err(problem) => self.count_invalid(self.counts.lines, &problem),
        }
    }

    /// Adds a row of a table, or counts its problem.
    fn add_row(&mut self, number: u64, row: Result<Row<'_>, String>) {
        self.counts.lines += 1;
        let read = row.and_then(|row| {
            let id = row.id.read(self.args.scheme.scheme)?;
            let Some((name, time)) = self.args.time_field.as_ref().zip(row.time) else { return Ok((id, None)) };
            let time = parse_timestamp_ms(time).map_err(|problem| format!("field {}: {problem}", quote(name)))?;
            Ok((id, Some(time)))
        });
        match read {
            Ok((id, time)) => self.add(id, time),
            Err(problem) => self.count_invalid(number, &problem),
        }
    }

    fn add(&mut self, id: Id, time: Option<u64>) {
        self.counts.valid += 1;
        self.sessions.add(id);
        self.rates.add(id.timestamp_ms());
        if let (Some(ahead), Some(time)) = (&mut self.ahead, time) {
            ahead.add(id.timestamp_ms(), time);
        }
        let key = id.sort_key();
        self.range = Some(self.range.map_or((key, key), |(least, greatest)| (least.min(key), greatest.max(key))));
    }

    #[cold]
    fn count_invalid(&mut self, line: u64, problem: &str) {
        self.counts.invalid += 1;
        self.problems.add(|| format!("line {line}: {problem}"));
    }

    fn finish(self) -> Summary {
        let time = |key: MessageId| self.args.scheme.scheme.with_sort_key(key).timestamp_ms();
        Summary {
            counts: self.counts,
            times: self.range.map(|(least, greatest)| (time(least), time(greatest))),
            scheme: self.args.scheme.scheme,
            types: self.sessions.types(),
            busiest: self.sessions.busiest(self.args.top),
            ahead: self.ahead,
            rates: self.rates,
        }
    }
}
