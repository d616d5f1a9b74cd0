//! Reads and writes times.

mod parse;
mod show;

use imid::clock::{Clock, SystemClock};

pub(crate) use self::parse::{TIME_FORMS, TimeArg, TimeField, TimeRange, parse_duration, parse_time_arg, time_zone};
pub(crate) use self::show::{LAST_MS, LocalTimes, TimeText, age, duration, rfc3339, timestamp};

/// Returns the present time, in unix milliseconds. Without a clock, every time since 2005 is plausible.
pub(crate) fn now_ms() -> u64 {
    SystemClock.now_ms().unwrap_or(u64::MAX)
}
