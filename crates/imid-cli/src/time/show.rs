//! Writes times, the time between IDs and their ages.

use jiff::Timestamp;

/// The last time that [`rfc3339`] can write: 9999-12-30T22:00:00Z, the last one of jiff in whole seconds.
pub(crate) const LAST_MS: u64 = 253_402_207_200_000;

/// Returns a timestamp as RFC 3339 in UTC, with milliseconds.
pub(crate) fn rfc3339(unix_ms: u64) -> String {
    format!("{:.3}", timestamp(unix_ms))
}

/// Converts a timestamp to jiff's type.
pub(crate) fn timestamp(unix_ms: u64) -> Timestamp {
    // PANIC: no built-in dialect or layout has more than 43 bits of milliseconds, which end in 2248.
    Timestamp::from_millisecond(unix_ms.cast_signed()).expect("a timestamp is a time before the year 9999")
}

/// Returns a duration, such as `250 ms`, `3.250 s` or `2d 3h 4m 5s`. Days have 24 hours.
pub(crate) fn duration(ms: u64) -> String {
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

/// Returns how long ago a time was, or how far it is in the future.
pub(crate) fn age(unix_ms: u64, now_ms: u64) -> String {
    let age = duration(unix_ms.abs_diff(now_ms));
    if unix_ms <= now_ms { age } else { format!("{age} ahead of this machine's clock") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_and_a_duration_are_written_alike() {
        let now = 1_795_305_600_000;
        for (ms, expected) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (3_250, "3.250 s"),
            (60_999, "1m"),
            (90_061_000, "1d 1h 1m 1s"),
            (731 * 86_400_000 + 1_000, "731d 1s"),
        ] {
            assert_eq!([duration(ms), age(now - ms, now)], [expected, expected]);
            if ms > 0 {
                assert_eq!(age(now + ms, now), format!("{expected} ahead of this machine's clock"));
            }
        }
    }
}
