//! The result of `stats`.

use std::io::Write;

use imid::dialect::Dialect;
use imid_inspect::{Scheme, named_type};
use serde_json::{Value, json};

use super::rates::Interval;
use super::{Args, Stats};
use crate::commands::stored::{Counts, write_summary};
use crate::report::Stop;
use crate::time::{ZoneArg, rfc3339, timestamp};
use crate::{Out, json};

/// The result.
pub(super) struct Summary<'a> {
    pub(super) args: &'a Args,
    pub(super) counts: Counts,
    pub(super) stats: Stats,
}

/// The width of a line with a bar, and of what is before the time.
const WIDTH: usize = 74;
const INDENT: usize = 14;

impl Summary<'_> {
    /// Writes the result for people.
    pub(super) fn write(&mut self, out: &mut Out) -> Result<(), Stop> {
        write_summary(&self.counts_and_times(&self.args.zone), out)?;
        if self.stats.counted == 0 {
            return Ok(());
        }
        self.write_types(out)?;
        self.write_rates(out)
    }

    /// Returns the numbers of lines, and the times of the first and the last ID.
    fn counts_and_times(&self, zone: &ZoneArg) -> Value {
        let (Counts { lines, valid, invalid, blank }, range) = (self.counts, self.stats.rates.range);
        json!({
            "lines": lines, "valid": valid, "invalid": invalid, "blank": blank,
            "first_time": range.map(|(first, _)| zone.rfc3339(first)),
            "last_time": range.map(|(_, last)| zone.rfc3339(last)),
        })
    }

    /// Returns the dialect that names the types.
    fn dialect(&self) -> &'static Dialect<'static> {
        match self.args.ids.scheme() {
            Scheme::Dialect(dialect) => dialect,
            Scheme::Snowflake(_) => &Dialect::STANDARD,
        }
    }

    fn write_types(&self, out: &mut Out) -> Result<(), Stop> {
        if !self.stats.types.is_empty() {
            writeln!(out, "\nIDs by session type")?;
        }
        for (code, count) in &self.stats.types {
            let (percent, name) = (percent(*count, self.stats.counted), named_type(self.dialect(), *code));
            writeln!(out, "{count:>12}  {percent:>6.2} %  {name}")?;
        }
        Ok(())
    }

    /// Writes a line for each interval.
    fn write_rates(&mut self, out: &mut Out) -> Result<(), Stop> {
        let (columns, interval) = (self.stats.rates.columns(), self.stats.rates.interval());
        // The first one of those with the most IDs.
        let Some((busiest, most)) = columns.iter().rev().max_by_key(|(_, ids)| *ids) else { return Ok(()) };
        writeln!(out, "\nIDs per {interval}")?;
        for (start, ids) in &columns {
            let start = self.start(*start, interval);
            let width = (WIDTH - INDENT - start.len() - 2) as u64;
            let length = (ids * width).div_ceil(*most) as usize;
            writeln!(out, "{}", format!("{ids:>12}  {start}  {}", "#".repeat(length)).trim_end())?;
        }
        Ok(writeln!(out, "{:INDENT$}most: {most} in the {interval} from {}", "", self.start(*busiest, interval))?)
    }

    /// Returns the start of an interval in the time zone, as exactly as the interval needs.
    fn start(&self, unix_ms: u64, interval: Interval) -> String {
        let format = match interval {
            Interval::Second => "%Y-%m-%d %H:%M:%S",
            Interval::Minute | Interval::Hour => "%Y-%m-%d %H:%M",
            Interval::Day | Interval::Week => "%Y-%m-%d",
            Interval::Month | Interval::Year => "%Y-%m",
        };
        timestamp(unix_ms).to_zoned(self.args.zone.zone()).strftime(format).to_string()
    }

    /// Writes the result as one line of JSON.
    pub(super) fn write_json(&mut self, out: &mut Out) -> Result<(), Stop> {
        let dialect = self.dialect();
        let (columns, interval) = (self.stats.rates.columns(), self.stats.rates.interval());
        let of_type =
            |(code, ids): (&u8, &u64)| json!({ "type": code, "type_name": dialect.type_name(*code), "ids": ids });
        let rate = |(start, ids): &(u64, u64)| json!({ "time": rfc3339(*start), "ids": ids });
        let mut object = self.counts_and_times(&ZoneArg::default());
        object["types"] = self.stats.types.iter().map(of_type).collect();
        object["interval"] = interval.to_string().into();
        object["rates"] = columns.iter().map(rate).collect();
        json::write_line(out, &object)
    }
}

/// Returns a share of a whole that is not 0.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^53 are exact, and larger ones nearly so")]
fn percent(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64 * 100.0
}
