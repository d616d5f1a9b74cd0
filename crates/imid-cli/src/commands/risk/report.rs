//! The result of `risk`, as a table and as JSON.
#![allow(clippy::cast_precision_loss, reason = "counts below 2^53 are exact, and larger ones nearly so")]

use std::io::Write;

use serde::Serialize;

use crate::report::Stop;
use crate::risk::{
    Burst, Estimate, Found, MODES, Mode, Pairs, Sessions, YEAR_S, exact, how_often, number, probability,
};
use crate::time::{ZoneArg, rfc3339};
use crate::{Out, json};

/// Where the numbers come from.
pub(super) enum Source {
    Traffic { sessions: Sessions, count: f64, burst: Option<Burst> },
    History(Found),
}

/// How often IDs repeat, for some ways to deploy.
pub(super) struct Forecast {
    pub(super) hosts: u32,
    source: Source,
    /// At least, and at most. Without a history both are the same.
    pairs: (Pairs, Pairs),
    /// Those with the most equal IDs first.
    rows: Vec<Row>,
}

/// A way to deploy.
struct Row {
    mode: Mode,
    /// Equal IDs per second, at least and at most.
    equal_ids: (f64, f64),
    one_a_year_at: Option<f64>,
}

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// The width of the names of the modes.
const NAMES: usize = 18;

/// The width of the frequencies.
const FREQUENCIES: usize = 31;

impl Forecast {
    pub(super) fn new(hosts: u32, source: Source, pairs: (Pairs, Pairs)) -> Self {
        let rate = source.rate();
        let row = |mode: &Mode| {
            let of = |pairs: Pairs| pairs.equal_ids(*mode, hosts);
            let equal_ids = (of(pairs.0), of(pairs.1));
            Row {
                mode: *mode,
                equal_ids,
                one_a_year_at: pairs.1.growth_to_one_a_year(*mode, hosts).map(|growth| growth * rate),
            }
        };
        let mut rows: Vec<_> = MODES.iter().map(row).collect();
        // The sort is stable, so the modes without equal IDs keep their order.
        rows.sort_by(|a, b| b.equal_ids.1.total_cmp(&a.equal_ids.1));
        Self { hosts, source, pairs, rows }
    }

    pub(super) fn rate(&self) -> f64 {
        self.source.rate()
    }

    pub(super) fn modes(&self) -> impl Iterator<Item = Mode> {
        self.rows.iter().map(|row| row.mode)
    }

    /// Returns the equal IDs of a year, at most, if all rates were so many times what they are.
    pub(super) fn equal_ids_per_year(&self, mode: Mode, growth: f64) -> f64 {
        let pairs = self.pairs.1;
        let grown = Pairs {
            independent: pairs.independent * growth * growth,
            in_bursts: pairs.in_bursts * growth,
            of_two: pairs.of_two * growth * growth,
        };
        grown.equal_ids(mode, self.hosts) * YEAR_S
    }

    /// Returns the names of the modes that repeat no ID.
    pub(super) fn never(&self) -> Vec<&'static str> {
        let unique = self.rows.iter().filter(|row| self.condition(row.mode).is_some());
        unique.map(|row| row.mode.title()).collect()
    }

    /// Returns the condition of a mode that repeats no ID with this number of hosts.
    fn condition(&self, mode: Mode) -> Option<&'static str> {
        let is_one_process = self.hosts == 1 && mode != Mode::Uuid7;
        mode.condition().or(is_one_process.then_some("while one process mints all IDs"))
    }

    /// Returns the bits of a lane: two lanes for each host, because old and new processes overlap in a deployment.
    fn lane_bits(&self) -> u32 {
        (2 * self.hosts).next_power_of_two().ilog2().min(12)
    }

    /// Returns how many IDs a host mints in a millisecond, per stripe.
    fn ids_per_ms(&self) -> u32 {
        4_096 >> self.lane_bits()
    }

    /// Returns how many stripes a host needs, if each is at most half full.
    fn stripes(&self) -> f64 {
        let needed = self.rate() / f64::from(self.hosts) / 1_000.0 / f64::from(self.ids_per_ms()) * 2.0;
        needed.ceil().max(1.0)
    }

    fn recommended(&self) -> Mode {
        if self.hosts == 1 { Mode::AnyHost } else { Mode::Lease }
    }

    /// Writes the table for people.
    pub(super) fn write(&self, zone: &ZoneArg, out: &mut Out) -> Result<(), Stop> {
        self.source.write(self.hosts, zone, out)?;
        writeln!(out, "\n{:NAMES$}{:FREQUENCIES$}{:>11}{:>18}", "", "equal IDs", "a year", "one a year at")?;
        for row in &self.rows {
            let name = row.mode.title();
            if let Some(condition) = self.condition(row.mode) {
                writeln!(out, "{name:NAMES$}never, {condition}")?;
                continue;
            }
            let at = row.one_a_year_at.map_or_else(|| "-".to_owned(), |rate| format!("{}/s", number(rate)));
            let line = |equal_ids: f64, at: &str| {
                format!("{:FREQUENCIES$}{:>11}{at:>18}", self.source.how_often(equal_ids), number(equal_ids * YEAR_S))
            };
            let most = line(row.equal_ids.1, &at);
            writeln!(out, "{name:NAMES$}{most}")?;
            if row.equal_ids.0 < row.equal_ids.1 {
                let least = line(row.equal_ids.0, "");
                writeln!(out, "{:NAMES$}{}", "  or, at least", least.trim_end())?;
            }
        }
        self.write_advice(out)
    }

    fn write_advice(&self, out: &mut Out) -> Result<(), Stop> {
        if self.hosts == 1 {
            return Ok(writeln!(
                out,
                "\nOne process needs no coordination. imid-lease with a file also excludes\nrepeated IDs after a crash."
            )?);
        }
        let (bits, lanes, per_ms) = (self.lane_bits(), 1_u32 << self.lane_bits(), self.ids_per_ms());
        writeln!(
            out,
            "\nUse imid-lease with {bits} lane bits: {} lanes for {} hosts and those that replace\n\
             them. Each mints up to {} IDs per millisecond and stripe.",
            exact(f64::from(lanes)),
            exact(f64::from(self.hosts)),
            exact(f64::from(per_ms)),
        )?;
        if lanes < self.hosts * 2 {
            writeln!(out, "There are no more lanes: stop a host before its successor starts.")?;
        }
        if self.stripes() > 1.0 {
            writeln!(out, "Use {} stripes, so that each is at most half full.", exact(self.stripes()))?;
        }
        Ok(())
    }

    /// Writes one JSON object.
    pub(super) fn write_json(&self, out: &mut Out) -> Result<(), Stop> {
        let modes = self.rows.iter().map(|row| JsonMode {
            mode: row.mode.name(),
            is_unique: self.condition(row.mode).is_some(),
            condition: self.condition(row.mode),
            equal_ids_per_year: row.equal_ids.1 * YEAR_S,
            least_per_year: row.equal_ids.0 * YEAR_S,
            probability_in_a_year: probability(row.equal_ids.1, YEAR_S),
            one_a_year_at: row.one_a_year_at,
        });
        let (sessions, busiest_rate, history) = match &self.source {
            Source::Traffic { sessions, count, .. } => (Some(*count), Some(sessions.busiest), None),
            Source::History(found) => {
                let history = JsonHistory {
                    messages: found.messages,
                    first_time: rfc3339(found.first_ms),
                    last_time: rfc3339(found.last_ms),
                    unit_ms: found.unit_ms,
                    whole_seconds: found.whole_seconds,
                    pairs_of_one_session: found.of_one.value,
                    pairs_of_shared_hash: found.of_shared.value,
                    pairs_of_two_sessions: found.of_two.value,
                    errors: [found.of_one.error, found.of_shared.error, found.of_two.error],
                };
                (None, None, Some(history))
            }
        };
        let result = JsonForecast {
            hosts: self.hosts,
            rate: self.rate(),
            sessions,
            busiest_rate,
            history,
            modes: modes.collect(),
            recommended: self.recommended().name(),
            lane_bits: self.lane_bits(),
            lanes: 1 << self.lane_bits(),
            ids_per_ms: self.ids_per_ms(),
            stripes: self.stripes(),
        };
        json::write_line(out, &result)
    }
}

impl Source {
    /// Returns the messages per second.
    fn rate(&self) -> f64 {
        match self {
            Self::Traffic { sessions, .. } => sessions.rate,
            Self::History(found) => found.messages as f64 / found.seconds(),
        }
    }

    /// Writes how often something happens, of which so many are expected per second.
    fn how_often(&self, per_second: f64) -> String {
        match self {
            _ if per_second > 0.0 => how_often(per_second),
            Self::Traffic { .. } => "none: there is one session".to_owned(),
            Self::History(_) => "none in this history".to_owned(),
        }
    }

    /// Writes what the numbers are about.
    fn write(&self, hosts: u32, zone: &ZoneArg, out: &mut Out) -> Result<(), Stop> {
        writeln!(out, "{:NAMES$}{}", "hosts", exact(f64::from(hosts)))?;
        match self {
            Self::Traffic { sessions, count, burst } => {
                writeln!(out, "{:NAMES$}{} a second", "messages", exact(sessions.rate))?;
                let busiest = number(sessions.busiest);
                writeln!(out, "{:NAMES$}{}, the busiest with {busiest} messages a second", "sessions", exact(*count))?;
                if let Some(burst) = burst {
                    let (n, ms) = (exact(burst.messages), exact(burst.over_ms));
                    writeln!(out, "{:NAMES$}{n} messages over {ms} ms", "bursts")?;
                }
            }
            Self::History(found) => {
                let (first, last) = (zone.rfc3339(found.first_ms), zone.rfc3339(found.last_ms));
                let (messages, per_day) = (exact(found.messages as f64), number(self.rate() * DAY_S));
                writeln!(out, "{:NAMES$}{messages}, {per_day} a day", "messages")?;
                writeln!(out, "{:NAMES$}from {first} to {last}", "")?;
                write_pairs(found, out)?;
            }
        }
        Ok(())
    }
}

/// Writes the pairs of a history.
fn write_pairs(found: &Found, out: &mut Out) -> Result<(), Stop> {
    let count = |estimate: Estimate| match estimate.error {
        0.0 => exact(estimate.value),
        error => format!("about {} (standard error {})", number(estimate.value), number(error)),
    };
    let time = if found.unit_ms == 1 { "millisecond" } else { "time" };
    writeln!(out, "{:NAMES$}{} of one session and one {time}", "pairs", count(found.of_one))?;
    writeln!(out, "{:NAMES$}{} of two sessions and one {time}", "", count(found.of_two))?;
    writeln!(out, "{:NAMES$}{} of these share type and hash", "", count(found.of_shared))?;
    if found.unit_ms > 1 {
        let unit = match found.unit_ms {
            1_000 => "whole seconds".to_owned(),
            unit => format!("multiples of {} ms", exact(unit as f64)),
        };
        writeln!(
            out,
            "\nAll times are {unit}, so the number of pairs in a millisecond cannot be\n\
             known. The first line of a mode is for messages of one time that are all in one\n\
             millisecond, the second one for messages that are spread over the time at random."
        )?;
    } else if found.whole_seconds > 0.05 {
        let percent = found.whole_seconds * 100.0;
        writeln!(out, "\n{percent:.0} % of the times are whole seconds. If they are rounded, there are fewer pairs.")?;
    }
    if found.of_one.value == 0.0 {
        writeln!(out, "\nNo pair of one session was found. With up to 3 expected, that is not unusual.")?;
    }
    Ok(())
}

#[derive(Serialize)]
struct JsonForecast {
    hosts: u32,
    rate: f64,
    sessions: Option<f64>,
    busiest_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<JsonHistory>,
    modes: Vec<JsonMode>,
    recommended: &'static str,
    lane_bits: u32,
    lanes: u32,
    ids_per_ms: u32,
    stripes: f64,
}

#[derive(Serialize)]
struct JsonHistory {
    messages: u64,
    first_time: String,
    last_time: String,
    unit_ms: u64,
    whole_seconds: f64,
    pairs_of_one_session: f64,
    pairs_of_shared_hash: f64,
    pairs_of_two_sessions: f64,
    errors: [f64; 3],
}

#[derive(Serialize)]
struct JsonMode {
    mode: &'static str,
    is_unique: bool,
    condition: Option<&'static str>,
    equal_ids_per_year: f64,
    least_per_year: f64,
    probability_in_a_year: f64,
    one_a_year_at: Option<f64>,
}
