//! Writes times, the time between IDs and their ages.

use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Unit};

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

/// Returns the time between two IDs, such as `+250 ms`, `+3.250 s` or `+2d 3h 4m 5s`. Days have 24 hours.
pub(crate) fn difference(ms: u64) -> String {
    let (seconds, rest) = (ms / 1_000, ms % 1_000);
    if seconds == 0 {
        return format!("+{ms} ms");
    }
    if seconds < 60 {
        return format!("+{seconds}.{rest:03} s");
    }
    let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let parts: Vec<_> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    format!("+{}", parts.join(" "))
}

/// Returns how long ago a time was, or how far it is in the future, in calendar units of UTC and to the second.
pub(crate) fn age(time: Timestamp, now: Timestamp) -> String {
    // In whole seconds from the start, so that the difference needs no rounding.
    let datetime = |time: Timestamp| Offset::UTC.to_datetime(Timestamp::from_second(time.as_second()).unwrap_or(time));
    let (from, to) = (datetime(time.min(now)), datetime(time.max(now)));
    match from.until((Unit::Year, to)) {
        Ok(span) if time <= now => format!("{span:#}"),
        Ok(span) => format!("{span:#} ahead of this machine's clock"),
        Err(_) => "unknown".into(),
    }
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
    fn an_age_is_in_calendar_units_to_the_second() {
        let time = |text: &str| -> Timestamp { text.parse().unwrap() };
        let now = time("2026-11-22T02:00:00.100Z");
        for (text, expected) in [
            ("2026-11-22T02:00:00.050Z", "0s"),
            ("2026-11-22T01:59:59.900Z", "1s"),
            ("2026-10-22T02:00:00Z", "1mo"),
            ("2024-11-19T17:37:45.755Z", "2y 2d 8h 22m 15s"),
            ("2026-11-23T03:00:00Z", "1d 1h ahead of this machine's clock"),
            ("1970-01-01T00:00:00Z", "56y 10mo 21d 2h"),
        ] {
            assert_eq!(age(time(text), now), expected, "{text}");
        }
    }
}
