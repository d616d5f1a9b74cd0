//! Mints the IDs of a run, with the present time or with the times of the messages.

use std::time::Duration;

use imid::Generator;
use imid::dialect::Dialect;
use imid_inspect::Id;
use imid_inspect::time::duration;

use super::Args;
use super::plan::Facts;
use super::replay::{Replay, Shifts, time_of};
use crate::clock_minter::ClockMinter;
use crate::report::{Report, Stop};
use crate::time::ZoneArg;

/// Mints the IDs of a run, by where their times come from.
#[expect(clippy::large_enum_variant, reason = "a run has only one value of this type")]
pub(super) enum Minter {
    Messages { dialect: &'static Dialect<'static>, replay: Replay },
    Clock(ClockMinter),
}

impl Minter {
    /// `after` is the last ID of the previous run.
    pub(super) fn new(args: &Args, after: Option<Id>) -> Result<Self, Stop> {
        if args.time.name.is_none() {
            return Ok(Self::Clock(ClockMinter::new(args.dialect, after)?));
        }
        let mut builder = Generator::builder();
        if let Some(seed) = args.seed {
            builder = builder.seed(seed);
        }
        let mut replay =
            Replay::new(builder, args.max_shift.map(millis)).map_err(|error| Stop::Error(error.to_string()))?;
        if let Some(after) = after {
            replay.continue_after(after.sort_key()).map_err(|error| Stop::Error(error.to_string()))?;
        }
        Ok(Self::Messages { dialect: args.dialect, replay })
    }

    /// Mints the ID of the message of a line.
    pub(super) fn mint(&mut self, facts: Facts, line: u64) -> Result<Id, String> {
        match self {
            Self::Messages { dialect, replay } => {
                let id = replay.mint(facts.session, facts.unix_ms, line)?;
                Ok(Id::Message { dialect, id: id.into() })
            }
            Self::Clock(minter) => minter.mint(facts.session),
        }
    }

    /// Waits until a run that starts now cannot repeat an ID of this one. Call it after the IDs are written.
    pub(super) fn finish(&self, report: &Report) {
        if let Self::Clock(minter) = self {
            minter.finish(report);
        }
    }

    /// Prints the times of the IDs, and how many moved forward in time.
    pub(super) fn summary(&self, tagged: u64, ids: Option<[Id; 2]>, zone: &ZoneArg, report: &Report) {
        let Self::Messages { replay, .. } = self else { return };
        let times = ids.map(|ids| ids.map(|id| zone.rfc3339(id.timestamp_ms())));
        let times = times.map(|[first, last]| format!(", from {first} to {last}")).unwrap_or_default();
        let Shifts { count, largest_ms, line } = replay.shifts();
        let moved = match count {
            0 => "no ID moved forward".to_owned(),
            n => {
                let (ids, moved) = (counted(n, "ID"), duration(largest_ms));
                format!("{ids} moved forward, by at most {moved}, to {}", time_of(line))
            }
        };
        report.print(format_args!("tagged {}{times}; {moved}", counted(tagged, "line")));
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn counted(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
