//! Writes times, the time between IDs and their ages.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

/// The last time that [`rfc3339`] can write: 9999-12-30T22:00:00Z, the last one of jiff in whole seconds.
pub(crate) const LAST_MS: u64 = 253_402_207_200_000;

/// Returns a timestamp as RFC 3339 in UTC, with milliseconds.
pub(crate) fn rfc3339(unix_ms: u64) -> String {
    format!("{:.3}", timestamp(unix_ms))
}

/// Writes times, and keeps the text of the last second: IDs that follow each other often have the same second.
#[derive(Default)]
pub(crate) struct TimeText {
    second: Option<i64>,
    text: String,
}

impl TimeText {
    /// Returns the same text as [`rfc3339`].
    pub(crate) fn rfc3339(&mut self, unix_ms: u64) -> &str {
        self.rfc3339_signed(unix_ms.cast_signed())
    }

    /// The same for a time that can be before 1970.
    fn rfc3339_signed(&mut self, unix_ms: i64) -> &str {
        let (second, ms) = (unix_ms.div_euclid(1_000), unix_ms.rem_euclid(1_000) as u16);
        if self.second != Some(second) {
            self.text = format!("{:.3}", timestamp_signed(unix_ms));
            self.second = Some(second);
        }
        let digits = [b'0' + (ms / 100) as u8, b'0' + (ms / 10 % 10) as u8, b'0' + (ms % 10) as u8];
        let at = self.text.len() - "000Z".len();
        // PANIC: the bytes are ASCII digits.
        let digits = str::from_utf8(&digits).expect("digits are ASCII");
        self.text.replace_range(at..at + digits.len(), digits);
        &self.text
    }
}

/// Converts a timestamp to jiff's type.
pub(crate) fn timestamp(unix_ms: u64) -> Timestamp {
    timestamp_signed(unix_ms.cast_signed())
}

fn timestamp_signed(unix_ms: i64) -> Timestamp {
    // PANIC: no built-in dialect or layout has more than 43 bits of milliseconds, which end in 2248.
    Timestamp::from_millisecond(unix_ms).expect("a timestamp is a time before the year 9999")
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

/// Writes the local times of a zone.
pub(crate) struct LocalTimes {
    zone: TimeZone,
    shifted: TimeText,
    /// The offset of the last time.
    offset: Option<Offset>,
    /// The offset and the name of the zone.
    suffix: String,
}

impl LocalTimes {
    pub(crate) fn new(zone: TimeZone) -> Self {
        Self { zone, shifted: TimeText::default(), offset: None, suffix: String::new() }
    }

    /// Returns the local date and time with milliseconds, and the offset with the name of the zone.
    pub(crate) fn at(&mut self, unix_ms: u64) -> (&str, &str) {
        let time = timestamp(unix_ms);
        let offset = self.zone.to_offset(time);
        if self.offset != Some(offset) {
            self.offset = Some(offset);
            self.suffix = time.to_zoned(self.zone.clone()).strftime("%:z %Q").to_string();
        }
        // The local time looks like the UTC time of another moment.
        let shifted = unix_ms.cast_signed() + i64::from(offset.seconds()) * 1_000;
        (self.shifted.rfc3339_signed(shifted).trim_end_matches('Z'), &self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_text_of_a_second_is_that_of_each_time() {
        let mut times = TimeText::default();
        for ms in [0, 1, 999, 1_000, 1_763_640_000_250, 1_763_640_000_009, 1_763_640_000_999, 1_763_640_001_000, 5] {
            assert_eq!(times.rfc3339(ms), rfc3339(ms));
        }
    }

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
