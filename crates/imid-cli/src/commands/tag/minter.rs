//! Mints the IDs of a run, with the present time or with the times of the messages.

use std::time::Duration;

use imid::dialect::Dialect;
use imid::{Generator, MessageId};
use imid_inspect::Id;

use super::Args;
use super::plan::Facts;
use super::replay::Replay;
use crate::lead::{self, MAX_WAIT};
use crate::report::{Report, Stop};

/// Mints the IDs of a run.
pub(super) struct Minter {
    times: Times,
    last: Option<MessageId>,
}

/// Where the times of the IDs come from.
#[expect(clippy::large_enum_variant, reason = "a run has only one value of this type")]
enum Times {
    Messages(Replay),
    Clock { generator: Generator, after: Option<Id> },
}

impl Minter {
    /// `after` is the last ID of the previous run.
    pub(super) fn new(args: &Args, after: Option<MessageId>) -> Result<Self, Stop> {
        let times = if let Some(replay) = replay(args, after)? {
            Times::Messages(replay)
        } else {
            let mut builder = Generator::builder();
            if let Some(after) = after {
                builder = builder.floor(after);
            }
            let generator = builder.build().map_err(|error| Stop::Error(error.to_string()))?;
            Times::Clock { generator, after: after.map(standard) }
        };
        Ok(Self { times, last: None })
    }

    /// Mints the ID of the message of a line.
    pub(super) fn mint(&mut self, facts: Facts, line: u64) -> Result<MessageId, String> {
        let id = match &mut self.times {
            Times::Messages(replay) => replay.mint(facts.session, facts.unix_ms, line)?,
            Times::Clock { generator, after } => {
                generator.generate_within(facts.session, MAX_WAIT).map_err(|error| {
                    let ahead = after.filter(|_| error.is_rollback()).and_then(lead::ahead_of_clock);
                    ahead.unwrap_or_else(|| error.to_string())
                })?
            }
        };
        self.last = Some(id);
        Ok(id)
    }

    /// Waits until a run that starts now cannot repeat an ID of this one. Call it after the IDs are written.
    pub(super) fn finish(&self, report: &Report) {
        if let (Times::Clock { .. }, Some(id)) = (&self.times, self.last) {
            lead::wait_out(Some(standard(id)), report);
        }
    }

    /// Prints how many IDs moved forward in time.
    pub(super) fn summary(&self, tagged: u64, report: &Report) {
        let Times::Messages(replay) = &self.times else { return };
        let (tagged, shifts) = (counted(tagged, "line"), replay.shifts());
        report.print(match shifts.count {
            0 => format!("tagged {tagged}; no ID moved forward"),
            n => format!("tagged {tagged}; {} moved forward, by at most {} ms", counted(n, "ID"), shifts.largest_ms),
        });
    }
}

/// Returns what mints the IDs of a run with the times of the messages, or `None` without a time field.
pub(super) fn replay(args: &Args, after: Option<MessageId>) -> Result<Option<Replay>, Stop> {
    if args.time.name.is_none() {
        return Ok(None);
    }
    let mut builder = Generator::builder();
    if let Some(seed) = args.seed {
        builder = builder.seed(seed);
    }
    let mut replay =
        Replay::new(builder, args.max_shift.map(millis)).map_err(|error| Stop::Error(error.to_string()))?;
    if let Some(after) = after {
        replay.continue_after(after).map_err(|error| Stop::Error(error.to_string()))?;
    }
    Ok(Some(replay))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn standard(id: MessageId) -> Id {
    Id::Message { dialect: &Dialect::STANDARD, id: id.into() }
}

fn counted(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
