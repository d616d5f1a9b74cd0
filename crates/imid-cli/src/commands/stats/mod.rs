//! `imid stats`: shows what the IDs of a store tell about its traffic.

mod rates;
mod summary;

use std::collections::BTreeMap;
use std::ops::Range;

use imid_inspect::Id;

use self::rates::{Interval, Rates};
use self::summary::Summary;
use super::problems::Problems;
use super::stored::{StoredIds, Visitor};
use crate::Out;
use crate::json::JsonArg;
use crate::report::{Report, Stop};
use crate::time::{TIME_FORMS, TimeRange, ZoneArg};

/// Count the IDs in files by session type and by time
///
/// Each line is an ID as imid prints it, or a JSON object with such an ID in a field. The lines can be in any order.
/// Blank lines are skipped. In a table, such as CSV, the ID is in the column --id-field, and each row counts as a line.
/// Input that is compressed with gzip or zstd is decompressed.
///
/// Memory use does not grow with the input.
///
/// The intervals are those of --time-zone (UTC without it); a week begins on Monday.
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  imid stats ids.txt
  imid stats --json tagged.jsonl
  imid stats --from 2025-11-20 --per day --time-zone Asia/Shanghai tagged.jsonl

{TIME_FORMS}

Exit status:
  0  all lines are valid
  1  a line is invalid, or the input cannot be read
  2  the arguments are wrong

JSON members:
  lines: number of lines: the sum of the next three
  valid, invalid, blank: numbers of such lines
  first_time, last_time: of the least and the greatest ID; null without an ID
  types: objects, one for each session type
  types[].type, types[].type_name, types[].ids: the type and its number of IDs
  interval: second, minute, hour, day, week, month or year
  rates: objects, one for each interval
  rates[].time, rates[].ids: the start and the IDs"))]
pub(crate) struct Args {
    #[command(flatten)]
    ids: StoredIds,
    #[command(flatten)]
    times: TimeRange,
    #[command(flatten)]
    zone: ZoneArg,
    /// Interval of the rates [default: the shortest of which there are at most 60, or 1,000 in JSON]
    #[arg(long, value_name = "INTERVAL")]
    per: Option<Interval>,
    #[command(flatten)]
    json: JsonArg,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let times = self.times.times(&self.zone)?;
        // A person reads one screen.
        let rates = Rates::new(self.per, if self.json.json { 1_000 } else { 60 }, self.zone.zone());
        let mut stats = Stats { types: BTreeMap::new(), rates, counted: 0, times };
        let (counts, _) = self.ids.visit(&mut stats, report)?;
        let mut summary = Summary { args: self, counts, stats };
        if self.json.json { summary.write_json(out) } else { summary.write(out) }
    }
}

struct Stats {
    /// The count of each session type. Snowflakes have no type.
    types: BTreeMap<u8, u64>,
    rates: Rates,
    /// Number of IDs that are counted.
    counted: u64,
    /// The times of the IDs that are counted.
    times: Range<u64>,
}

impl Visitor for Stats {
    fn add(&mut self, _: u64, id: Id, _: &mut Problems<'_>) -> Result<(), Stop> {
        if self.times.contains(&id.timestamp_ms()) {
            self.counted += 1;
            if let Id::Message { id, .. } = id {
                *self.types.entry(id.type_code()).or_default() += 1;
            }
            self.rates.add(id.timestamp_ms());
        }
        Ok(())
    }
}
