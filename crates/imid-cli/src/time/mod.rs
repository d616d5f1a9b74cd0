//! Reads and writes times.

mod date_time;
mod parse;
mod show;
mod zone;

use imid::clock::{Clock, SystemClock};
pub(crate) use imid_inspect::time::rfc3339;

pub(crate) use self::parse::{TIME_FORMS, TimeArg, TimeField, TimeRange, note_rounded, parse_duration};
pub(crate) use self::show::{LAST_MS, age, timestamp};
pub(crate) use self::zone::ZoneArg;

/// Returns the present time, in Unix milliseconds. Without a clock, every time since 2005 is plausible.
pub(crate) fn now_ms() -> u64 {
    SystemClock.now_ms().unwrap_or(u64::MAX)
}
