//! IDs whose time is ahead of the clock. A run waits for the clock before it ends, so that the next run cannot mint the
//! same IDs again.

use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, SystemClock};
use imid_inspect::Id;

use crate::report::Report;

/// How long a command waits until it can mint the next ID. Under overload it waits for less than a second. If the clock
/// was set back by hours, it would have to wait longer than this.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(60);

/// The longest single sleep. The clock can be set while the command sleeps.
const MAX_SLEEP: Duration = Duration::from_millis(10);

/// Waits until the clock has passed the last ID of a run. Call it after the ID is written.
///
/// If that takes more than [`MAX_WAIT`], it prints what the next run needs instead.
pub(crate) fn wait_out(last: Option<Id>, report: &Report) {
    let Some(last) = last else { return };
    if let Err(lead) = wait_until_past(last) {
        report.note(format_args!(
            "the last ID is {:.1} s ahead of the clock; if the next run starts before that, give it --after {last}",
            lead.as_secs_f64()
        ));
    }
}

/// Returns the error for an ID of `--after` that is too far ahead of the clock, or `None` if it is not ahead.
pub(crate) fn ahead_of_clock(after: Id) -> Option<String> {
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
    use imid::dialect::Dialect;

    use super::*;

    fn message(unix_ms: u64) -> Id {
        Id::Message { dialect: &Dialect::STANDARD, id: MessageId::first_at(unix_ms).unwrap().into() }
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
