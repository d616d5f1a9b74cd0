//! The result of `stats`.

use std::io::Write;

use imid::dialect::Dialect;
use imid_inspect::{Scheme, named_type};
use serde::Serialize;

use super::chart::{bars, light};
use super::plot;
use super::rates::{Column, Columns, Interval, Per, Rates, ratio};
use super::sessions::{Busiest, Owner};
use crate::commands::stored::Counts;
use crate::report::Stop;
use crate::terminal::Terminal;
use crate::time::{ZoneArg, rfc3339, timestamp};
use crate::{Out, json};

/// IDs whose time is ahead of the time of their message.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Leads {
    pub(super) ids: u64,
    pub(super) ahead: u64,
    pub(super) largest_ms: u64,
}

impl Leads {
    /// Counts an ID.
    pub(super) fn add(&mut self, id_ms: u64, message_ms: u64) {
        let lead = id_ms.saturating_sub(message_ms);
        self.ids += 1;
        self.ahead += u64::from(lead > 0);
        self.largest_ms = self.largest_ms.max(lead);
    }

    fn share(self) -> f64 {
        ratio(self.ahead, self.ids)
    }
}

/// The result.
pub(super) struct Summary {
    pub(super) counts: Counts,
    /// Number of IDs of the times that were asked for.
    pub(super) counted: u64,
    /// The first and the last time, in unix milliseconds.
    pub(super) times: Option<(u64, u64)>,
    pub(super) scheme: Scheme,
    pub(super) types: Vec<(u8, u64)>,
    pub(super) busiest: Busiest,
    pub(super) ahead: Option<Leads>,
    pub(super) rates: Rates,
    /// The interval of the rates, if it is not chosen by their number.
    pub(super) per: Option<Per>,
    /// The time zone of the intervals and of the times for people.
    pub(super) zone: ZoneArg,
}

/// The width of the longest lines: those of the chart.
const WIDTH: usize = 74;

/// The first column of the chart. The greatest value is in front of it.
const CHART_START: usize = 14;

/// The least number of columns of the chart, on a terminal of any width.
const MIN_CHART_COLUMNS: usize = 10;

/// The most intervals in JSON.
const JSON_INTERVALS: usize = 1_000;

impl Summary {
    /// Writes the result for people.
    pub(super) fn write(&mut self, out: &mut Out) -> Result<(), Stop> {
        let terminal = Terminal::stdout();
        let is_wide = terminal.fits(WIDTH);
        let none = || "none".to_owned();
        let times = [
            ("first time", self.times.map_or_else(none, |(first, _)| self.zone.rfc3339(first))),
            ("last time", self.times.map_or_else(none, |(_, last)| self.zone.rfc3339(last))),
        ];
        for (name, value) in self.counts.rows().into_iter().chain(times) {
            writeln!(out, "{name:<12}{value}")?;
        }
        if let Some(ahead) = self.ahead {
            let percent = ahead.share() * 100.0;
            let space = if is_wide { ", " } else { "\n            " };
            writeln!(
                out,
                "{:<12}{} of {} ({percent:.2} %){space}by at most {} ms",
                "ahead", ahead.ahead, ahead.ids, ahead.largest_ms
            )?;
        }
        if self.counted == 0 {
            return Ok(());
        }
        self.write_types(out)?;
        self.write_busiest(out, is_wide)?;
        self.write_chart(out, terminal)
    }

    /// Writes a line with a count and its share of all IDs. If the lines are not wide, the name has its own line.
    fn write_count(&self, out: &mut Out, count: u64, name: &str, is_wide: bool) -> Result<(), Stop> {
        let percent = ratio(count, self.counted) * 100.0;
        let counted = format!("{count:>12}  {percent:>6.2} %");
        if is_wide {
            return Ok(writeln!(out, "{counted}  {name}")?);
        }
        Ok(writeln!(out, "{name}\n{counted}")?)
    }

    /// Returns the dialect that names the types.
    fn dialect(&self) -> &'static Dialect<'static> {
        match self.scheme {
            Scheme::Dialect(dialect) => dialect,
            Scheme::Snowflake(_) => &Dialect::STANDARD,
        }
    }

    fn write_types(&self, out: &mut Out) -> Result<(), Stop> {
        if !self.types.is_empty() {
            writeln!(out, "\nIDs by session type")?;
        }
        for (code, count) in &self.types {
            // These names are short.
            self.write_count(out, *count, &named_type(self.dialect(), *code), true)?;
        }
        Ok(())
    }

    fn write_busiest(&self, out: &mut Out, is_wide: bool) -> Result<(), Stop> {
        let Busiest { owners, max_error, number } = &self.busiest;
        if owners.is_empty() {
            return Ok(());
        }
        let noun = if matches!(self.scheme, Scheme::Dialect(_)) { "sessions" } else { "nodes" };
        if let Some(number) = number {
            writeln!(out, "\nBusiest {noun}, of {number}")?;
        } else {
            let space = if is_wide { " " } else { "\n" };
            writeln!(out, "\nBusiest {noun};{space}a count can be too high by at most {max_error}")?;
        }
        for (owner, count) in owners {
            let owner = match owner {
                Owner::SessionTag { type_code, hash } => {
                    format!("type {}, hash {hash}", named_type(self.dialect(), *type_code))
                }
                Owner::Node(node) => format!("node {node}"),
            };
            self.write_count(out, *count, &owner, is_wide)?;
        }
        Ok(())
    }

    fn write_chart(&mut self, out: &mut Out, terminal: Terminal) -> Result<(), Stop> {
        let columns = terminal.columns_of(WIDTH).saturating_sub(CHART_START).max(MIN_CHART_COLUMNS);
        let chart = self.columns(columns);
        let (unit, seconds) = chart.unit();
        let rate = |column: &Column| column.ids_per_second() * seconds;
        let Some(peak) = chart.peak() else { return Ok(()) };
        writeln!(
            out,
            "\nIDs per {unit}, {} per {}",
            chart.interval,
            if self.per.is_some() { "line" } else { "column" }
        )?;
        let (first, last) = (&chart.columns[0], &chart.columns[chart.columns.len() - 1]);
        if self.per.is_some() {
            self.write_lines(out, &chart, columns, terminal.is_ascii)?;
        } else {
            let values: Vec<_> = chart.columns.iter().map(|column| (rate(column), column.is_partial)).collect();
            for (index, row) in bars(&values, terminal.is_ascii).iter().enumerate() {
                let label = if index == 0 { format!("{:.1}", rate(peak)) } else { String::new() };
                writeln!(out, "{label:>12}  {}", row.trim_end())?;
            }
            let (first, last) = (self.start(first.start_ms, chart.interval), self.start(last.start_ms, chart.interval));
            let width = chart.columns.len();
            if width >= first.len() + last.len() + 2 {
                writeln!(out, "{:CHART_START$}{first}{last:>1$}", "", width - first.len())?;
            } else {
                writeln!(out, "{:CHART_START$}from {first}", "")?;
            }
        }
        let (indent, space) = if terminal.fits(WIDTH) { (CHART_START, " ") } else { (0, "\n") };
        if chart.columns.iter().any(|column| column.is_partial) {
            let light = light(terminal.is_ascii);
            writeln!(out, "{:indent$}{light}: the IDs begin or end inside of it", "")?;
        }
        let (rate, time) = (rate(peak), self.start(peak.start_ms, chart.interval));
        writeln!(out, "{:indent$}most: {rate:.1} in the {} from{space}{time}", "", chart.interval)?;
        let share = ratio(peak.ids, self.counted);
        if share > 0.9 && chart.columns.len() > MIN_CHART_COLUMNS {
            // Floor, because not all IDs are there.
            let percent = (share * 100.0).floor();
            writeln!(
                out,
                "{:indent$}it has {percent} % of the IDs;{space}--from and --to show a part of the time",
                ""
            )?;
        }
        Ok(())
    }

    /// Writes a line for each interval.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a bar has at most some dozens of characters"
    )]
    fn write_lines(&self, out: &mut Out, chart: &Columns, width: usize, is_ascii: bool) -> Result<(), Stop> {
        let greatest = chart.columns.iter().map(|column| column.ids).max().unwrap_or_default();
        for column in &chart.columns {
            let bar = match column {
                Column { is_partial: true, .. } => light(is_ascii),
                _ if is_ascii => '#',
                _ => '█',
            };
            let start = self.start(column.start_ms, chart.interval);
            let length = (ratio(column.ids, greatest) * width.saturating_sub(start.len() + 2) as f64).ceil() as usize;
            let bar: String = std::iter::repeat_n(bar, length).collect();
            writeln!(out, "{:>12}  {start}  {bar}", column.ids)?;
        }
        Ok(())
    }

    /// Returns the columns of `--per`, or at most this many.
    fn columns(&mut self, most: usize) -> Columns {
        match self.per {
            Some(per) => self.rates.per(per.interval(), &self.zone.zone()),
            None => self.rates.fit(most, &self.zone.zone()),
        }
    }

    /// Draws the rates as SVG.
    pub(super) fn plot(&mut self) -> Result<String, Box<dyn std::error::Error>> {
        if self.counted == 0 {
            return plot::draw_nothing();
        }
        let columns = self.columns(plot::MAX_POINTS);
        plot::draw(&columns, &self.zone.zone())
    }

    /// Returns the start of an interval in the time zone, as exactly as the interval needs.
    fn start(&self, unix_ms: u64, interval: Interval) -> String {
        let format = match interval {
            Interval::Seconds(1..60) => "%Y-%m-%d %H:%M:%S",
            Interval::Seconds(_) => "%Y-%m-%d %H:%M",
            Interval::Days(_) => "%Y-%m-%d",
            Interval::Months(_) => "%Y-%m",
        };
        timestamp(unix_ms).to_zoned(self.zone.zone()).strftime(format).to_string()
    }

    /// Writes the result as one line of JSON.
    pub(super) fn write_json(&mut self, out: &mut Out) -> Result<(), Stop> {
        let dialect = self.dialect();
        let type_name = |code: u8| dialect.type_name(code);
        let rates = self.columns(JSON_INTERVALS);
        let object = Object {
            counts: self.counts,
            first_time: self.times.map(|(first, _)| rfc3339(first)),
            last_time: self.times.map(|(_, last)| rfc3339(last)),
            ahead: self.ahead.map(|ahead| LeadsObject { counts: ahead, share: ahead.share() }),
            types: self
                .types
                .iter()
                .map(|(code, ids)| TypeObject { r#type: *code, type_name: type_name(*code), ids: *ids })
                .collect(),
            busiest: self
                .busiest
                .owners
                .iter()
                .map(|(owner, ids)| match *owner {
                    Owner::SessionTag { type_code, hash } => {
                        OwnerObject::SessionTag { r#type: type_code, type_name: type_name(type_code), hash, ids: *ids }
                    }
                    Owner::Node(node) => OwnerObject::Node { node, ids: *ids },
                })
                .collect(),
            busiest_max_error: self.busiest.max_error,
            interval: rates.interval.to_string(),
            rates: rates
                .columns
                .iter()
                .map(|column| RateObject {
                    time: rfc3339(column.start_ms),
                    ids: column.ids,
                    ids_per_second: column.ids_per_second(),
                    partial: column.is_partial,
                })
                .collect(),
        };
        json::write_line(out, &object)
    }
}

/// The result, in the order of the output.
#[derive(Serialize)]
struct Object {
    #[serde(flatten)]
    counts: Counts,
    first_time: Option<String>,
    last_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ahead: Option<LeadsObject>,
    types: Vec<TypeObject>,
    busiest: Vec<OwnerObject>,
    busiest_max_error: u64,
    /// The length of an interval of `rates`.
    interval: String,
    rates: Vec<RateObject>,
}

#[derive(Serialize)]
struct LeadsObject {
    #[serde(flatten)]
    counts: Leads,
    share: f64,
}

#[derive(Serialize)]
struct TypeObject {
    r#type: u8,
    type_name: Option<&'static str>,
    ids: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
enum OwnerObject {
    SessionTag { r#type: u8, type_name: Option<&'static str>, hash: u32, ids: u64 },
    Node { node: u32, ids: u64 },
}

#[derive(Serialize)]
struct RateObject {
    time: String,
    ids: u64,
    ids_per_second: f64,
    partial: bool,
}
