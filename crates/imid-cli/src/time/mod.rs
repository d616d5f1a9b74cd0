//! Reads and writes times.

mod parse;
mod show;

pub(crate) use self::parse::{
    SECONDS_OF_OUR_TIME, TIME_FORMS, TimeArg, parse_duration, parse_time_arg, parse_timestamp_ms,
};
pub(crate) use self::show::{LAST_MS, LocalTimes, TimeText, age, difference, rfc3339, timestamp};
