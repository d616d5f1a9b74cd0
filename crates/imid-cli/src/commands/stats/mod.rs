//! `imid stats`: shows what the IDs of a store tell about its traffic.

mod plot;
mod rates;
mod sessions;
mod summary;

use std::ops::Range;

use imid_inspect::Id;

use self::rates::{Interval, Rates};
use self::sessions::Sessions;
use self::summary::Summary;
use super::problems::Problems;
use super::stored::{StoredIds, Visitor};
use super::whole_number;
use crate::Out;
use crate::json::JsonArg;
use crate::report::{Report, Stop};
use crate::time::{TIME_FORMS, TimeRange, ZoneArg};

/// Count the IDs in files by session type, by session and by time
///
/// Each line is an ID as imid prints it, or a JSON object with such an ID in a field. The lines can be in any order.
/// Blank lines are skipped. In a table, such as CSV, the ID is in the column --id-field, and each row counts as a line.
/// Input that is compressed with gzip or zstd is decompressed.
///
/// Memory use does not grow with the input. The counts of the busiest sessions are exact for up to 49,152 sessions. With
/// more, a count can be too high; the output says by how much at most.
///
/// The intervals are those of --time-zone (UTC without it); a week begins on Monday. The first and the last interval are
/// marked if the IDs begin or end inside them.
///
/// A session is shown as its type and hash, because an ID does not contain the session's name. Different sessions of one
/// type can share a hash.
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  imid stats ids.txt
  imid stats --top 100 --json tagged.jsonl
  imid stats --plot tagged.jsonl > rate.svg
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
  busiest: objects, the busiest sessions; the busiest nodes for Snowflakes
  busiest[].type, busiest[].type_name, busiest[].hash: the session
  busiest[].node: the node of a Snowflake
  busiest[].ids: number of its IDs
  busiest_max_error: how much these numbers can be too high; 0 if they are exact
  interval: second, minute, hour, day, week, month or year
  rates: objects, one for each interval
  rates[].time, rates[].ids, rates[].ids_per_second: the start, the IDs and the rate
  rates[].partial: whether the IDs begin or end inside the interval"))]
pub(crate) struct Args {
    #[command(flatten)]
    ids: StoredIds,
    /// Number of busiest sessions to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole_number(0..=usize::MAX), allow_negative_numbers = true)]
    top: usize,
    #[command(flatten)]
    times: TimeRange,
    #[command(flatten)]
    zone: ZoneArg,
    /// Interval of the rates [default: the shortest of which there are at most 60, or 1,000 in the plot and in JSON]
    #[arg(long, value_name = "INTERVAL")]
    per: Option<Interval>,
    /// Print only the rate of IDs, as an SVG picture
    #[arg(long, conflicts_with = "json")]
    plot: bool,
    #[command(flatten)]
    json: JsonArg,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let times = self.times.times(&self.zone)?;
        let mut stats = Stats { sessions: Sessions::new()?, rates: Rates::default(), counted: 0, times };
        let (counts, _) = self.ids.visit(&mut stats, report)?;
        let mut summary = Summary { args: self, counts, stats };
        match (self.plot, self.json.json) {
            (true, _) => summary.write_plot(out),
            (_, true) => summary.write_json(out),
            _ => summary.write(out),
        }
    }
}

struct Stats {
    sessions: Sessions,
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
            self.sessions.add(id);
            self.rates.add(id.timestamp_ms());
        }
        Ok(())
    }
}
