//! Mints IDs with the present time. Under load, IDs are ahead of the clock, so a run waits for the clock before it ends: the next
//! run cannot mint the same IDs again.

use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, SystemClock};
use imid::dialect::Dialect;
use imid::{Generator, SessionTag};
use imid_inspect::{Id, Scheme};

use crate::candidates::read_id;
use crate::report::{Report, Stop};

/// How long a command waits until it can mint the next ID. Under overload it waits for less than a second. If the clock
/// was set back by hours, it would have to wait longer than this.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The longest single sleep. The clock can be set while the command sleeps.
const MAX_SLEEP: Duration = Duration::from_millis(10);

/// The argument that continues after another run.
#[derive(clap::Args)]
pub(crate) struct AfterArg {
    /// Make all IDs greater than this one, the last ID of the previous run
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    after: Option<String>,
}

impl AfterArg {
    /// Returns the ID that all new IDs come after.
    pub(crate) fn id(&self, dialect: &'static Dialect<'static>) -> Result<Option<Id>, Stop> {
        let id = self.after.as_deref().map(|text| read_id(Scheme::Dialect(dialect), text)).transpose();
        id.map_err(|problem| Stop::Usage(format!("--after: {problem}")))
    }
}

/// Mints IDs with the present time.
pub(crate) struct ClockMinter {
    dialect: &'static Dialect<'static>,
    generator: Generator,
    /// The ID that all IDs come after: that of `--after`.
    after: Option<Id>,
    last: Option<Id>,
}

impl ClockMinter {
    /// The dialect is one that can mint: it has the standard layout.
    pub(crate) fn new(dialect: &'static Dialect<'static>, after: Option<Id>) -> Result<Self, Stop> {
        let mut builder = Generator::builder();
        if let Some(after) = after {
            builder = builder.floor(after.sort_key());
        }
        let generator = builder.build().map_err(|error| Stop::Error(error.to_string()))?;
        Ok(Self { dialect, generator, after, last: None })
    }

    pub(crate) fn mint(&mut self, session: SessionTag) -> Result<Id, String> {
        let id = self.generator.generate_within(session, MAX_WAIT).map_err(|error| {
            let ahead = self.after.filter(|_| error.is_rollback()).and_then(ahead_of_clock);
            ahead.unwrap_or_else(|| error.to_string())
        })?;
        Ok(*self.last.insert(Id::Message { dialect: self.dialect, id: id.into() }))
    }

    /// Waits until the clock has passed the last ID. Call it after the IDs are written.
    ///
    /// If that takes more than [`MAX_WAIT`], it prints what the next run needs instead.
    pub(crate) fn finish(&self, report: &Report) {
        if let Some(last) = self.last
            && let Err(lead) = wait_until_past(last)
        {
            report.note(format_args!(
                "the last ID is {:.1} s ahead of the clock; if the next run starts before that, give it --after {last}",
                lead.as_secs_f64()
            ));
        }
    }
}

/// Returns the error for an ID of `--after` that is too far ahead of the clock, or `None` if it is not ahead.
fn ahead_of_clock(after: Id) -> Option<String> {
    let lead = time_left(after);
    (!lead.is_zero()).then(|| format!("--after: {after} is {:.1} s ahead of the clock", lead.as_secs_f64()))
}

/// Returns how long it takes until the clock is in a later millisecond than an ID.
fn time_left(id: Id) -> Duration {
    Duration::from_millis((id.timestamp_ms() + 1).saturating_sub(SystemClock.now_ms().unwrap_or(0)))
}

/// Waits until new IDs come after this one without knowing it.
///
/// # Errors
/// That takes more than [`MAX_WAIT`], or the clock cannot be read. The error is the time that is left.
fn wait_until_past(id: Id) -> Result<(), Duration> {
    let deadline = Instant::now() + MAX_WAIT;
    loop {
        let lead = time_left(id);
        if lead.is_zero() {
            return Ok(());
        }
        if lead > deadline.saturating_duration_since(Instant::now()) {
            return Err(lead);
        }
        thread::sleep(lead.min(MAX_SLEEP));
    }
}

#[cfg(test)]
mod tests {
    use imid::MessageId;

    use super::*;

    fn message(unix_ms: u64) -> Id {
        MessageId::first_at(unix_ms).unwrap().into()
    }

    #[test]
    fn the_wait_ends_when_the_clock_is_in_a_later_millisecond() {
        let last = SystemClock.now_ms().unwrap() + 30;
        assert_eq!(wait_until_past(message(last)), Ok(()));
        let now = SystemClock.now_ms().unwrap();
        assert!(now > last, "the wait for {last} ended at {now}");
        assert_eq!(wait_until_past(message(0)), Ok(()));
    }

    #[test]
    fn an_id_of_the_next_day_is_not_waited_for() {
        let tomorrow = SystemClock.now_ms().unwrap() + 86_400_000;
        let left = wait_until_past(message(tomorrow)).unwrap_err();
        assert!(Duration::from_secs(23 * 3_600) < left && left <= Duration::from_millis(86_400_001), "{left:?}");
    }
}
