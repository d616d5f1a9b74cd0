//! Reads the times of messages and the times that a person types.

use std::iter;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;
use std::time::Duration;

use imid::MessageId;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

use super::{ZoneArg, rfc3339};
use crate::report::{Report, Stop, quote};

/// The arguments that say where the time of a message is, and how it is written.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct TimeField {
    /// Field with the time of the message: a number of --time-unit, or RFC 3339
    #[arg(id = "time_field", long = "time-field", value_name = "FIELD")]
    pub(crate) name: Option<String>,
    /// Unit of times that are numbers, with or without a fraction [default: ms, but a number that is a time of our years in
    /// seconds is an error]
    #[arg(long = "time-unit", value_name = "UNIT", requires = "time_field")]
    unit: Option<TimeUnit>,
    #[command(flatten)]
    pub(crate) zone: ZoneArg,
}

/// The unit of a unix time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum TimeUnit {
    /// Seconds
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
    /// The unit with which a number is a time from 1973 to 5138
    Auto,
}

impl TimeUnit {
    /// Returns the nanoseconds of this unit.
    const fn nanoseconds(self, whole: u64) -> u128 {
        match (self, whole) {
            (Self::S, _) | (Self::Auto, ..100_000_000_000) => 1_000_000_000,
            (Self::Ms, _) | (Self::Auto, ..100_000_000_000_000) => 1_000_000,
            (Self::Us, _) | (Self::Auto, ..100_000_000_000_000_000) => 1_000,
            (Self::Ns | Self::Auto, _) => 1,
        }
    }
}

impl TimeField {
    /// Reads the time of a message, in unix milliseconds. It is a time that an ID can have.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, String> {
        let ms = match (unix_number(text), &self.zone.given) {
            (Some((whole, fraction)), _) => self.number(text, whole, fraction)?,
            (None, Some(zone)) if is_local_time(text) => local_ms(text, zone)?,
            (None, None) if is_local_time(text) => return Err(without_zone(text)),
            _ => parse_rfc3339_ms(text, "unix milliseconds or an RFC 3339 time such as 2024-11-19T17:37:45.755Z")?,
        };
        if ms > MessageId::MAX.timestamp_ms() && is_date_time(text) {
            return Err(past_the_end(text));
        }
        MessageId::first_at(ms).map(|_| ms).map_err(|error| error.to_string())
    }

    fn number(&self, text: &str, whole: u64, fraction: &str) -> Result<u64, String> {
        let milliseconds = |hint: &str| Err(format!("expected unix milliseconds ({hint}), found {}", quote(text)));
        let unit = match self.unit {
            Some(unit) => unit,
            None if SECONDS_OF_OUR_TIME.contains(&whole) => return milliseconds("for seconds, give --time-unit s"),
            None if text.contains('.') => return milliseconds("for a fraction, give --time-unit"),
            None if SECONDS_OF_OUR_TIME.contains(&(whole / 1_000_000)) => {
                return milliseconds("for microseconds, give --time-unit us");
            }
            None if SECONDS_OF_OUR_TIME.contains(&(whole / 1_000_000_000)) => {
                return milliseconds("for nanoseconds, give --time-unit ns");
            }
            None => TimeUnit::Ms,
        };
        let nanoseconds = unit.nanoseconds(whole);
        // The digits of the fraction that count are those of nanoseconds.
        let digits = format!("{fraction:0<9.9}").parse::<u128>().unwrap_or_default();
        let ns = u128::from(whole) * nanoseconds + digits * nanoseconds / 1_000_000_000;
        u64::try_from(ns / 1_000_000).map_err(|_| past_the_end(text))
    }
}

/// Returns the parts of a number before and after its point, if the text has no other characters than digits and a point.
fn unix_number(text: &str) -> Option<(u64, &str)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_digits(whole) && is_digits(fraction)).then(|| whole.parse().ok().map(|whole| (whole, fraction))).flatten()
}

/// Returns whether a text has the shape of a date.
fn is_date(text: &str) -> bool {
    strip_shape(text, "0000-00-00") == Some("")
}

/// Returns whether a text is an RFC 3339 time without its offset.
fn is_local_time(text: &str) -> bool {
    is_date_time(&format!("{text}Z"))
}

/// Reads a time without an offset in a zone. A time that a clock shows twice is the earlier one.
fn local_ms(text: &str, zone: &TimeZone) -> Result<u64, String> {
    let time = zone.to_timestamp(local_time(text)?).map_err(|_| past_the_end(text))?;
    unix_ms(time, text)
}

/// Reads a time without an offset.
fn local_time(text: &str) -> Result<DateTime, String> {
    // jiff reads second 60 as 59.
    let time = text.parse().ok().filter(|_| !text[17..].starts_with("60"));
    time.ok_or_else(|| format!("expected a time such as 2024-11-19T17:37:45.755, found {}", quote(text)))
}

/// The error for a time without an offset, if no zone was given.
fn without_zone(text: &str) -> String {
    let expected = "a time with its zone, such as 2024-11-19T17:37:45Z (or give --time-zone)";
    format!("expected {expected}, found {}", quote(text))
}

/// A time that a person typed.
#[derive(Clone, PartialEq, Eq, Debug)]
enum TimeArg {
    UnixMs(u64),
    /// Unix milliseconds that would be a time of the last decades in seconds.
    LikeSeconds(u64),
    /// A date or a time without an offset, and its text.
    Local(DateTime, String),
}

impl TimeArg {
    /// Returns the time in unix milliseconds, with a local time in this zone. A date is its first millisecond.
    fn in_zone(&self, zone: &ZoneArg) -> Result<u64, String> {
        match self {
            Self::UnixMs(unix_ms) | Self::LikeSeconds(unix_ms) => Ok(*unix_ms),
            Self::Local(_, text) if zone.given.is_none() && !is_date(text) => Err(without_zone(text)),
            Self::Local(time, text) => {
                let time = zone.zone().to_timestamp(*time).map_err(|_| past_the_end(text))?;
                before_the_end(unix_ms(time, text)?, text)
            }
        }
    }
}

/// The arguments that choose IDs by their time.
#[derive(clap::Args)]
pub(crate) struct TimeRange {
    /// Use only IDs from this time on
    #[arg(long, value_name = "TIME", value_parser = parse_time_arg, allow_hyphen_values = true)]
    from: Option<TimeArg>,
    /// Use only IDs before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time_arg, allow_hyphen_values = true)]
    to: Option<TimeArg>,
}

impl TimeRange {
    /// Returns the times, with dates and times without an offset in this zone. Notes a number that looks like seconds.
    pub(crate) fn times(&self, zone: &ZoneArg, report: &Report) -> Result<Range<u64>, Stop> {
        let ms = |option: &str, time: &Option<TimeArg>, missing| {
            let Some(time) = time else { return Ok::<_, Stop>(missing) };
            let ms = time.in_zone(zone).map_err(|problem| Stop::Usage(format!("{option}: {problem}")))?;
            if let TimeArg::LikeSeconds(_) = time {
                let time = zone.rfc3339(ms);
                report.note(format_args!("{ms} is read as milliseconds, {time}; for unix seconds, write {ms}s"));
            }
            Ok(ms)
        };
        let times = ms("--from", &self.from, 0)?..ms("--to", &self.to, u64::MAX)?;
        if times.is_empty() {
            let (from, to) = (zone.rfc3339(times.start), zone.rfc3339(times.end));
            return Err(Stop::Usage(format!("expected --from before --to, found {from} and {to}")));
        }
        Ok(times)
    }
}

/// A time above all IDs.
#[derive(clap::Args)]
pub(crate) struct AboveTime {
    /// A time above all IDs that were minted, such as that of the greatest one in the message store
    ///
    /// A register cannot show what a process has minted whose clock was ahead by more than --max-skew after the backup was made.
    #[arg(long, value_name = "TIME", value_parser = parse_time_arg, allow_hyphen_values = true)]
    above: Option<TimeArg>,
}

impl AboveTime {
    /// Returns the time, with a date and a time without an offset in this zone. A number that looks like seconds is an error: a
    /// time that is too early would be ignored.
    pub(crate) fn ms(&self, zone: &ZoneArg) -> Result<Option<u64>, Stop> {
        let wrong = |problem: String| Stop::Usage(format!("--above: {problem}"));
        match &self.above {
            None => Ok(None),
            Some(TimeArg::LikeSeconds(number)) => {
                Err(wrong(format!("expected unix milliseconds, found {number}; for unix seconds, write {number}s")))
            }
            Some(time) => time.in_zone(zone).map(Some).map_err(wrong),
        }
    }
}

/// The forms of [`parse_time_arg`], for the help of a command.
pub(crate) const TIME_FORMS: &str = "\
Times:
  2025-11-20                     a date: its first millisecond in --time-zone
  2025-11-20T12:00:00.5          a time in --time-zone, which must be given
  2025-11-20T12:00:00.5+01:00    RFC 3339
  1763640000000                  unix milliseconds
  1763640000s                    unix seconds
  now, -1h, +90m, -2d12h         now, and a duration before or after now";

/// Reads a time that a person types: RFC 3339, a date, unix milliseconds, unix seconds with an `s`, `now`, or a signed
/// duration from now such as `-1h`.
fn parse_time_arg(text: &str) -> Result<TimeArg, String> {
    /// All arguments of a run have the same present time, so that the range from `-1h` to `now` is an hour long.
    static NOW: LazyLock<Timestamp> = LazyLock::new(Timestamp::now);
    match parse_time_at(text, *NOW)? {
        TimeArg::UnixMs(unix_ms) => before_the_end(unix_ms, text).map(TimeArg::UnixMs),
        time => Ok(time),
    }
}

/// Returns a time, or an error if no ID can have it. One more than the last time is the end of a range.
fn before_the_end(unix_ms: u64, text: &str) -> Result<u64, String> {
    if unix_ms > MessageId::MAX.timestamp_ms() + 1 { Err(past_the_end(text)) } else { Ok(unix_ms) }
}

/// Reads an argument that is a duration with its units, such as `10s`, `500ms` or `1m30s`. A number without a unit is an
/// error, because some tools read it as seconds and some as milliseconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<Span>().ok();
    let duration = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    let duration = duration.and_then(|duration: SignedDuration| duration.try_into().ok());
    duration.ok_or_else(|| format!("expected a duration such as 10s, 500ms or 1m30s, found {}", quote(text)))
}

/// Unix seconds from 1990 to 2100. As milliseconds they are times in January and February 1970.
pub(crate) const SECONDS_OF_OUR_TIME: RangeInclusive<u64> = 631_152_000..=4_102_444_800;

fn parse_time_at(text: &str, now: Timestamp) -> Result<TimeArg, String> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits(text) {
        let unix_ms = text.parse().map_err(|_| past_the_end(text))?;
        let is_like_seconds = SECONDS_OF_OUR_TIME.contains(&unix_ms);
        return Ok(if is_like_seconds { TimeArg::LikeSeconds(unix_ms) } else { TimeArg::UnixMs(unix_ms) });
    }
    if let Some(seconds) = text.strip_suffix('s').filter(|seconds| is_digits(seconds)) {
        let unix_ms = seconds.parse().ok().and_then(|seconds: u64| seconds.checked_mul(1_000));
        return unix_ms.map(TimeArg::UnixMs).ok_or_else(|| past_the_end(text));
    }
    if text == "now" {
        return unix_ms(now, text).map(TimeArg::UnixMs);
    }
    if text.starts_with(['-', '+']) {
        let expected = || format!("expected a duration from now such as -1h or +90m, found {}", quote(text));
        let duration: Span = text.parse().map_err(|_| expected())?;
        // In UTC each day has 24 hours.
        let time = now.to_zoned(TimeZone::UTC).checked_add(duration).map_err(|_| expected())?;
        return unix_ms(time.timestamp(), text).map(TimeArg::UnixMs);
    }
    if is_date(text) {
        let date = text.parse().map_err(|_| format!("expected a date such as 2025-11-20, found {}", quote(text)))?;
        return Ok(TimeArg::Local(date, text.to_owned()));
    }
    if is_local_time(text) {
        return Ok(TimeArg::Local(local_time(text)?, text.to_owned()));
    }
    parse_rfc3339_ms(
        text,
        "a time such as 2024-11-19T17:37:45.755Z, 2024-11-19, 1732037865755, 1732037865s, now or -1h",
    )
    .map(TimeArg::UnixMs)
}

/// Reads an RFC 3339 time. `forms` are what an error says was expected.
fn parse_rfc3339_ms(text: &str, forms: &str) -> Result<u64, String> {
    let error = || format!("expected {forms}, found {}", quote(text));
    if !is_date_time(text) {
        return Err(error());
    }
    // jiff reads second 60 as 59.
    if text[17..].starts_with("60") {
        return Err(format!("expected a second from 00 to 59 (unix time has no leap seconds), found {}", quote(text)));
    }
    match text.parse() {
        Ok(time) => before_the_end(unix_ms(time, text)?, text),
        // The last hours of the year 9999 are valid, but jiff does not have them.
        Err(_) if text.starts_with("9999-12-3") && text[..19].parse::<DateTime>().is_ok() => Err(past_the_end(text)),
        Err(_) => Err(error()),
    }
}

fn past_the_end(text: &str) -> String {
    let end = rfc3339(MessageId::MAX.timestamp_ms());
    format!("expected a time up to {end}, found {}", quote(text))
}

/// Returns the unix milliseconds of a time. Rounds down and not towards zero, because a time just before 1970 must not
/// become 0.
fn unix_ms(time: Timestamp, text: &str) -> Result<u64, String> {
    u64::try_from(time.as_nanosecond().div_euclid(1_000_000))
        .map_err(|_| format!("expected a time in 1970 or later, found {}", quote(text)))
}

/// Returns whether a text has the shape of RFC 3339's `date-time`, because jiff reads other forms too. jiff checks the
/// ranges, except for the hours of an offset: it accepts 24 and 25.
fn is_date_time(text: &str) -> bool {
    let rest = strip_shape(text, "0000-00-00").and_then(|rest| rest.strip_prefix(['T', 't', ' ']));
    let Some(rest) = rest.and_then(|rest| strip_shape(rest, "00:00:00")) else { return false };
    let is_digit = |c: char| c.is_ascii_digit();
    let offset = strip_shape(rest, ".0").map_or(rest, |rest| rest.trim_start_matches(is_digit));
    let is_offset = || ["+00:00", "-00:00"].iter().any(|shape| strip_shape(offset, shape) == Some(""));
    matches!(offset, "Z" | "z") || is_offset() && offset[1..] < *"24"
}

/// Returns the text after a shape. In the shape, 0 stands for any digit.
fn strip_shape<'a>(text: &'a str, shape: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(shape.len())?;
    let fits = |(byte, shape): (u8, u8)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    iter::zip(start.bytes(), shape.bytes()).all(fits).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_timestamp_ms(text: &str) -> Result<u64, String> {
        TimeField::default().parse(text)
    }

    #[test]
    fn every_form_of_rfc_3339_is_a_time() {
        for text in [
            "2024-11-19T17:37:45.755Z",
            "2024-11-19t17:37:45.755z",
            "2024-11-19 17:37:45.755Z",
            "2024-11-19T17:37:45.755999999+00:00",
            "2024-11-19T17:37:45.755-00:00",
            "2024-11-20T01:07:45.755+07:30",
            "2024-11-19T09:37:45.755-08:00",
            "2024-11-20T17:36:45.755+23:59",
            "1732037865755",
        ] {
            assert_eq!(parse_timestamp_ms(text), Ok(1_732_037_865_755), "{text}");
        }
        assert_eq!(parse_timestamp_ms("2024-11-19T17:37:45Z"), Ok(1_732_037_865_000));
        // A text that has only digits is a number, even if it looks like a date.
        let error = parse_timestamp_ms("20241119173745").unwrap_err();
        assert!(error.starts_with("expected a timestamp"), "{error}");
    }

    #[test]
    fn other_forms_of_iso_8601_are_errors() {
        for text in [
            "",
            "2024-11-19",
            "2024-11-19T17Z",
            "2024-11-19T17:37Z",
            "2024-11-19T173745Z",
            "20241119T173745Z",
            "2024-11-19T17:37:45.Z",
            "2024-11-19T17:37:45,755Z",
            "2024-11-19T17:37:45Z[Europe/Berlin]",
            "2024-11-19T17:37:45+01:00[Europe/Berlin]",
            "2024-11-19T17:37:45+01",
            "2024-11-19T17:37:45+0100",
            "2024-11-19T17:37:45+01:00:00",
            "2024-11-19T17:37:45 Z",
            " 2024-11-19T17:37:45Z",
            "2024-11-19T17:37:45Z ",
            "2024-11-19_17:37:45Z",
            "+002024-11-19T17:37:45Z",
            "-002024-11-19T17:37:45Z",
            "2024-W47-2T17:37:45Z",
            "2024-11-1é17:37:45Z",
            "2024-13-19T17:37:45Z",
            "2023-02-29T17:37:45Z",
            "2024-11-19T24:00:00Z",
            "2024-11-19T17:60:00Z",
            "2024-11-19T17:37:61Z",
            "2024-11-19T17:37:45+24:00",
            "2024-11-19T17:37:45-23:60",
            "+1732037865755",
            "-1",
            "18446744073709551616",
            // This is RFC 3339, but has more digits than the tool reads.
            "2024-11-19T17:37:45.0000000001Z",
        ] {
            let error = parse_timestamp_ms(text).unwrap_err();
            assert!(error.starts_with("expected unix milliseconds or an RFC 3339 time such as "), "{text}: {error}");
        }
    }

    #[test]
    fn a_number_is_read_in_its_unit_with_its_fraction() {
        let field = |unit| TimeField { unit: Some(unit), ..TimeField::default() };
        for (unit, text, ms) in [
            (TimeUnit::S, "1763640000", 1_763_640_000_000),
            (TimeUnit::S, "1763640000.123456", 1_763_640_000_123),
            (TimeUnit::S, "5.0009", 5_000),
            (TimeUnit::Ms, "1763640000.9", 1_763_640_000),
            (TimeUnit::Us, "1763640000123999", 1_763_640_000_123),
            (TimeUnit::Ns, "1763640000123999999", 1_763_640_000_123),
            (TimeUnit::Auto, "1763640000", 1_763_640_000_000),
            (TimeUnit::Auto, "1763640000.5", 1_763_640_000_500),
            (TimeUnit::Auto, "1763640000123", 1_763_640_000_123),
            (TimeUnit::Auto, "1763640000123999", 1_763_640_000_123),
            (TimeUnit::Auto, "1763640000123999999", 1_763_640_000_123),
            (TimeUnit::S, "2025-11-20T12:00:00Z", 1_763_640_000_000),
        ] {
            assert_eq!(field(unit).parse(text), Ok(ms), "{text} {unit:?}");
        }
        for text in ["1.", ".5", "1.5.2", "1e9", "-1.5", "1,5", "NaN", "99999999999999999999"] {
            assert!(field(TimeUnit::S).parse(text).is_err(), "{text}");
        }
        assert!(field(TimeUnit::S).parse("1763640000123").unwrap_err().starts_with("expected a timestamp"));
    }

    #[test]
    fn a_number_of_another_unit_is_an_error_that_names_the_option() {
        for (text, hint) in [
            ("1763640000", "for seconds, give --time-unit s"),
            ("1763640000.123456", "for seconds, give --time-unit s"),
            ("1763640000123456", "for microseconds, give --time-unit us"),
            ("1763640000123456789", "for nanoseconds, give --time-unit ns"),
        ] {
            let expected = format!("expected unix milliseconds ({hint}), found {text:?}");
            assert_eq!(parse_timestamp_ms(text), Err(expected));
        }
        assert_eq!(parse_timestamp_ms("5"), Ok(5));
    }

    #[test]
    fn a_time_past_the_last_id_is_not_called_another_form() {
        let expected = |text: &str| Err(format!("expected a time up to 2109-05-15T07:35:11.103Z, found {text:?}"));
        for text in
            ["9999-12-31T23:59:59Z", "9999-12-30T00:00:00Z", "2109-05-15T07:35:11.104Z", "2109-05-15T07:35:11.105Z"]
        {
            assert_eq!(parse_timestamp_ms(text), expected(text), "{text}");
        }
        assert_eq!(parse_timestamp_ms("2109-05-15T07:35:11.103999Z"), Ok(4_398_046_511_103));
        assert!(parse_timestamp_ms("9999-12-32T23:59:59Z").unwrap_err().starts_with("expected unix milliseconds or"));
    }

    #[test]
    fn a_person_can_type_dates_and_durations() {
        let now: Timestamp = "2025-11-20T12:00:00.250Z".parse().unwrap();
        let expected = 1_763_640_000_250;
        for (text, ms) in [
            ("now", expected),
            ("-1h", expected - 3_600_000),
            ("+90m", expected + 5_400_000),
            ("-2d12h", expected - 216_000_000),
            ("+250ms", expected + 250),
            ("2025-11-20", 1_763_596_800_000),
            ("2025-11-20T12:00:00.25Z", expected),
            ("1763640000s", 1_763_640_000_000),
            ("1763640000250", expected),
        ] {
            let time = parse_time_at(text, now).unwrap();
            assert!(!matches!(time, TimeArg::LikeSeconds(_)), "{text}");
            assert_eq!(time.in_zone(&ZoneArg::default()), Ok(ms), "{text}");
        }
        for (text, start) in [
            ("2025-11-31", "expected a date such as 2025-11-20, found \"2025-11-31\""),
            ("-1", "expected a duration from now such as -1h or +90m, found \"-1\""),
            ("-1x", "expected a duration from now such as -1h or +90m, found \"-1x\""),
            ("-100y", "expected a time in 1970 or later, found \"-100y\""),
            ("yesterday", "expected a time such as 2024-11-19T17:37:45.755Z, "),
            ("", "expected a time such as 2024-11-19T17:37:45.755Z, "),
            ("s", "expected a time such as 2024-11-19T17:37:45.755Z, "),
            ("18446744073709551616", "expected a time up to 2109-05-15T07:35:11.103Z, found \"18446744073709551616\""),
            (
                "18446744073709551615s",
                "expected a time up to 2109-05-15T07:35:11.103Z, found \"18446744073709551615s\"",
            ),
        ] {
            let error = parse_time_at(text, now).unwrap_err();
            assert!(error.starts_with(start), "{text}: {error}");
        }
    }

    #[test]
    fn a_duration_has_units_and_is_not_negative() {
        for (text, ms) in [("10s", 10_000), ("500ms", 500), ("1m30s", 90_000), ("2d", 172_800_000), ("0ms", 0)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "10", "0", "-1s", "s", "10 x", "1mo", "1.5"] {
            let expected = format!("expected a duration such as 10s, 500ms or 1m30s, found {text:?}");
            assert_eq!(parse_duration(text), Err(expected));
        }
    }

    #[test]
    fn a_number_of_seconds_is_noticed() {
        for (text, looks_like_seconds) in
            [("1763640000", true), ("631152000", true), ("0", false), ("5", false), ("1763640000000", false)]
        {
            let time = parse_time_arg(text).unwrap();
            assert_eq!(matches!(time, TimeArg::LikeSeconds(_)), looks_like_seconds, "{text}");
        }
    }
}
