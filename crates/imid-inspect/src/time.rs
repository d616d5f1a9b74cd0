//! Times in UTC, without a clock and without a table of time zones.

/// 2005-01-01T00:00:00Z. All systems of this family are younger.
pub(crate) const PLAUSIBLE_FROM_MS: u64 = 1_104_537_600_000;

/// The last time that [`rfc3339`] writes: 9999-12-31T23:59:59.999Z.
pub const LAST_MS: u64 = 253_402_300_799_999;

pub(crate) const DAY_MS: u64 = 86_400_000;

/// Returns Unix milliseconds as RFC 3339 in UTC, with milliseconds. A later time than [`LAST_MS`] is written as that one.
///
/// ```
/// assert_eq!(imid_inspect::time::rfc3339(1_763_640_000_250), "2025-11-20T12:00:00.250Z");
/// ```
pub fn rfc3339(unix_ms: u64) -> String {
    let unix_ms = unix_ms.min(LAST_MS);
    let (year, month, day) = civil(unix_ms / DAY_MS);
    let (hour, minute) = (unix_ms / 3_600_000 % 24, unix_ms / 60_000 % 60);
    let (second, ms) = (unix_ms / 1_000 % 60, unix_ms % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Returns the date of Unix milliseconds in UTC, such as `2025-11-20`.
pub fn date(unix_ms: u64) -> String {
    rfc3339(unix_ms)[..10].to_owned()
}

/// Returns a duration, such as `250 ms`, `3.250 s` or `2d 3h 4m 5s`. Days have 24 hours.
pub fn duration(ms: u64) -> String {
    let (seconds, rest) = (ms / 1_000, ms % 1_000);
    if seconds == 0 {
        return format!("{ms} ms");
    }
    if seconds < 60 {
        return format!("{seconds}.{rest:03} s");
    }
    let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let parts: Vec<_> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    parts.join(" ")
}

/// The days of 400 years, after which the calendar repeats.
const CYCLE: u64 = 146_097;

/// The days from 0000-03-01 to 1970-01-01. A year that begins in March has its leap day at its end.
const BEFORE_1970: u64 = 719_468;

/// Returns the year, month and day of a day after 1970-01-01.
const fn civil(days: u64) -> (u64, u64, u64) {
    let (cycle, day) = ((days + BEFORE_1970) / CYCLE, (days + BEFORE_1970) % CYCLE);
    // Without the leap days before it, of which the last one of a century and of the cycle are special.
    let year = (day - day / 1_460 + day / 36_524 - day / (CYCLE - 1)) / 365;
    let day = day - (year * 365 + year / 4 - year / 100);
    // From March on, five months have 153 days.
    let month = (day * 5 + 2) / 153;
    let (year, day) = (cycle * 400 + year, day - (month * 153 + 2) / 5 + 1);
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

/// Returns the number of a day since 1970-01-01, or `None` if the calendar has no such day.
pub(crate) fn days_of(year: u64, month: u64, day: u64) -> Option<i64> {
    // The year that begins in March, 2,000 years later, when the calendar is the same and no number is negative.
    let (later, months) = if month > 2 { (year + 2_000, month - 3) } else { (year + 1_999, month + 9) };
    let days = later * 365 + later / 4 - later / 100 + later / 400 + (months * 153 + 2) / 5 + day - 1 - BEFORE_1970;
    // A day that the calendar does not have is another one.
    (civil(days) == (year + 2_000, month, day)).then(|| days.cast_signed() - (5 * CYCLE).cast_signed())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_duration_is_written_for_people() {
        for (ms, expected) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (3_250, "3.250 s"),
            (60_999, "1m"),
            (90_061_000, "1d 1h 1m 1s"),
            (731 * 86_400_000 + 1_000, "731d 1s"),
        ] {
            assert_eq!(duration(ms), expected);
        }
    }

    #[test]
    fn each_day_is_that_of_another_calendar() {
        // Each day of 400 years, in which the calendar repeats, and some of the others.
        for day in (0..146_097).chain((146_097..LAST_MS / DAY_MS).step_by(97)) {
            let ms = day * DAY_MS + day % DAY_MS;
            let other = Timestamp::from_millisecond(ms.cast_signed()).unwrap();
            assert_eq!(rfc3339(ms), format!("{other:.3}"));
            let (year, month, date) = civil(day);
            assert_eq!(days_of(year, month, date), Some(day.cast_signed()));
        }
        assert_eq!((rfc3339(LAST_MS), rfc3339(u64::MAX)), (rfc3339(LAST_MS), "9999-12-31T23:59:59.999Z".into()));
    }
}
