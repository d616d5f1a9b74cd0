//! The result of `stats`.

use std::io::Write;

use imid::dialect::Dialect;
use imid_inspect::{Scheme, named_type};
use serde_json::json;

use super::rates::{Interval, ratio};
use super::{Args, Stats};
use crate::commands::stored::Counts;
use crate::report::Stop;
use crate::time::{rfc3339, timestamp};
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
        let (none, zone, range) = (|| "none".to_owned(), &self.args.zone, self.stats.rates.range);
        let times = [
            ("first time", range.map_or_else(none, |(first, _)| zone.rfc3339(first))),
            ("last time", range.map_or_else(none, |(_, last)| zone.rfc3339(last))),
        ];
        for (name, value) in self.counts.rows().into_iter().chain(times) {
            writeln!(out, "{name:<12}{value}")?;
        }
        if self.stats.counted == 0 {
            return Ok(());
        }
        self.write_types(out)?;
        self.write_rates(out)
    }

    /// Writes a line with a count and its share of all IDs.
    fn write_count(&self, out: &mut Out, count: u64, name: &str) -> Result<(), Stop> {
        let percent = ratio(count, self.stats.counted) * 100.0;
        Ok(writeln!(out, "{count:>12}  {percent:>6.2} %  {name}")?)
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
            self.write_count(out, *count, &named_type(self.dialect(), *code))?;
        }
        Ok(())
    }

    /// Writes a line for each interval.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a bar has at most some dozens of characters"
    )]
    fn write_rates(&mut self, out: &mut Out) -> Result<(), Stop> {
        let (columns, interval) = (self.stats.rates.columns(), self.stats.rates.interval());
        // The first one of those with the most IDs.
        let Some((busiest, most)) = columns.iter().rev().max_by_key(|(_, ids)| *ids) else { return Ok(()) };
        writeln!(out, "\nIDs per {interval}")?;
        for (start, ids) in &columns {
            let start = self.start(*start, interval);
            let width = WIDTH - INDENT - start.len() - 2;
            let length = (ratio(*ids, *most) * width as f64).ceil().min(width as f64) as usize;
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
        let (types, range) = (&self.stats.types, self.stats.rates.range);
        let of_type =
            |(code, ids): (&u8, &u64)| json!({ "type": code, "type_name": dialect.type_name(*code), "ids": ids });
        let rate = |(start, ids): &(u64, u64)| json!({ "time": rfc3339(*start), "ids": ids });
        let Counts { lines, valid, invalid, blank } = self.counts;
        let object = json!({
            "lines": lines, "valid": valid, "invalid": invalid, "blank": blank,
            "first_time": range.map(|(first, _)| rfc3339(first)),
            "last_time": range.map(|(_, last)| rfc3339(last)),
            "types": types.iter().map(of_type).collect::<Vec<_>>(),
            "interval": interval.to_string(),
            "rates": columns.iter().map(rate).collect::<Vec<_>>(),
        });
        json::write_line(out, &object)
    }
}
