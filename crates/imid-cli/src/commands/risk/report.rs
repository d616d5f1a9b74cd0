//! The result of `risk`.

use std::io::Write;

use imid_inspect::risk::{Forecast, YEAR_S};

use super::words::{exact, how_often, number};
use crate::Out;
use crate::report::Stop;

/// The width of the names of the modes.
const NAMES: usize = 18;

/// The width of the frequencies.
const FREQUENCIES: usize = 31;

/// Writes the table for people. `count` is the number of sessions.
pub(super) fn write(forecast: &Forecast, count: f64, out: &mut Out) -> Result<(), Stop> {
    let (rate, busiest) = (exact(forecast.sessions.rate), number(forecast.sessions.busiest));
    writeln!(out, "{:NAMES$}{}", "hosts", exact(f64::from(forecast.hosts)))?;
    writeln!(out, "{:NAMES$}{rate} per second", "messages")?;
    writeln!(out, "{:NAMES$}{}, the busiest with {busiest} messages per second", "sessions", exact(count))?;
    writeln!(out, "\n{:NAMES$}{:FREQUENCIES$}{:>11}{:>18}", "", "equal IDs", "per year", "one per year at")?;
    for row in &forecast.rows {
        let name = row.title;
        if let Some(condition) = row.condition {
            writeln!(out, "{name:NAMES$}never, {condition}")?;
            continue;
        }
        let at = row.one_a_year_at.map_or_else(|| "-".to_owned(), |rate| format!("{}/s", number(rate)));
        let often =
            if row.equal_ids > 0.0 { how_often(row.equal_ids) } else { "none: there is one session".to_owned() };
        writeln!(out, "{name:NAMES$}{often:FREQUENCIES$}{:>11}{at:>18}", number(row.equal_ids * YEAR_S))?;
    }
    write_advice(forecast, out)
}

fn write_advice(forecast: &Forecast, out: &mut Out) -> Result<(), Stop> {
    if forecast.hosts == 1 {
        return Ok(writeln!(
            out,
            "\nOne process needs no coordination. imid-lease with a file also excludes\nrepeated IDs after a crash."
        )?);
    }
    let (bits, lanes, per_ms) = (forecast.lane_bits(), 1_u32 << forecast.lane_bits(), forecast.ids_per_ms());
    writeln!(
        out,
        "\nMint after the last ID of the locked room. Hosts that mint without its lock:\n\
         imid-lease with {bits} lane bits, {} lanes for {} hosts and those that replace\n\
         them. Each mints up to {} IDs per millisecond and stripe.",
        exact(f64::from(lanes)),
        exact(f64::from(forecast.hosts)),
        exact(f64::from(per_ms)),
    )?;
    if lanes < forecast.hosts * 2 {
        writeln!(out, "There are no more lanes: stop a host before its successor starts.")?;
    }
    if forecast.stripes() > 1.0 {
        writeln!(out, "Use {} stripes, so that each is at most half full.", exact(forecast.stripes()))?;
    }
    Ok(())
}
