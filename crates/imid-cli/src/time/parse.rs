//! Reads the times of messages and the times that a person types.

use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use imid::MessageId;
use imid_inspect::Id;
use imid_inspect::time::rfc3339;
use imid_inspect::typed_time::{self, Day, SECONDS_OF_OUR_TIME, TypedTime};
use jiff::civil::Date;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

use super::date_time::{in_zone, past_the_end, unix_ms};
use super::{ZoneArg, timestamp};
use crate::number::Number;
use crate::report::{Report, Stop, quote};

/// The arguments that say where the time of a message is, and how it is written.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct TimeField {
    /// Field with the time of the message: a number of --time-unit, or a time such as 2025-11-20T12:00:00Z or
    /// 2025-11-20 12:00:00 UTC
    #[arg(id = "time_field", long = "time-field", value_name = "FIELD")]
    pub(crate) name: Option<String>,
    /// Unit of times that are numbers, with or without a fraction [default: ms, but a number that is a present-day time in
    /// seconds is an error]
    #[arg(long = "time-unit", value_name = "UNIT", requires = "time_field")]
    unit: Option<TimeUnit>,
    /// Accept times before 2005 and more than two years ahead of now
    #[arg(long, requires = "time_field")]
    any_time: bool,
    #[command(flatten)]
    pub(crate) zone: ZoneArg,
}

/// The unit of a Unix time.
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
}

impl TimeUnit {
    const fn nanoseconds(self) -> u128 {
        match self {
            Self::S => 1_000_000_000,
            Self::Ms => 1_000_000,
            Self::Us => 1_000,
            Self::Ns => 1,
        }
    }
}

impl TimeField {
    /// Reads the time of a message, in Unix milliseconds. It is a time that an ID can have, and without --any-time one that a
    /// message can have.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, String> {
        let ms = self.read_any(text)?;
        let now = u64::try_from(NOW.as_millisecond()).unwrap_or(0);
        let is_plausible = || MessageId::first_at(ms).is_ok_and(|id| Id::from(id).is_plausible(now));
        if self.any_time || is_plausible() {
            return Ok(ms);
        }
        let found = format!("{}, which is {}", quote(text), rfc3339(ms));
        Err(format!("expected a time from 2005 to two years from now, found {found}; --any-time allows others"))
    }

    fn read_any(&self, text: &str) -> Result<u64, String> {
        if let Some(number) = unix_number(text) {
            return checked(self.number(text, &number)?);
        }
        // A person types more forms than a program writes, such as `UTC+1`: it is the name of a zone, with either sign.
        let is_zone = |pair: &[u8]| pair[0].is_ascii_alphabetic() && b"+-".contains(&pair[1]);
        let is_written =
            text.len() > "2024-11-19".len() && text.as_bytes()[4] == b'-' && !text.as_bytes().windows(2).any(is_zone);
        let time = TimeArg::parse(text).ok().filter(|_| is_written).ok_or_else(|| {
            let forms = "Unix milliseconds or a time from 1970 on such as 2024-11-19T17:37:45.755Z";
            format!("expected {forms}, found {}", quote(text))
        })?;
        let ms = time.in_zone(&self.zone)?;
        if ms > MessageId::MAX.timestamp_ms() {
            return Err(past_the_end(text));
        }
        checked(ms)
    }

    fn number(&self, text: &str, (whole, number): &(u64, Number)) -> Result<u64, String> {
        let (whole, fraction) = (*whole, &number.fraction);
        if number.is_filled {
            ROUNDED.fetch_add(1, Ordering::Relaxed);
            FIRST_ROUNDED.get_or_init(|| text.to_owned());
        }
        let is_in = |per_second: u64| SECONDS_OF_OUR_TIME.contains(&(whole / per_second));
        let hint = match self.unit {
            None if is_in(1) => Some("for seconds, give --time-unit s"),
            None if !fraction.is_empty() => Some("for a fraction, give --time-unit"),
            None if is_in(1_000_000) => Some("for microseconds, give --time-unit us"),
            None if is_in(1_000_000_000) => Some("for nanoseconds, give --time-unit ns"),
            _ => None,
        };
        if let Some(hint) = hint {
            return Err(format!("expected Unix milliseconds ({hint}), found {}", quote(text)));
        }
        let nanoseconds = self.unit.unwrap_or(TimeUnit::Ms).nanoseconds();
        // The digits of the fraction that count are those of nanoseconds.
        let digits = fraction.bytes().chain(iter::repeat(b'0')).take(9);
        let billionths = digits.fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
        let ns = u128::from(whole) * nanoseconds + u128::from(billionths) * nanoseconds / 1_000_000_000;
        u64::try_from(ns / 1_000_000).map_err(|_| past_the_end(text))
    }
}

/// Returns a time that an ID can have.
fn checked(ms: u64) -> Result<u64, String> {
    MessageId::first_at(ms).map(|_| ms).map_err(|error| error.to_string())
}

/// Number of times of messages that have an exponent and not all of their digits, and the first one.
static ROUNDED: AtomicU64 = AtomicU64::new(0);
static FIRST_ROUNDED: OnceLock<String> = OnceLock::new();

/// Says how many times of messages can have lost digits. A spreadsheet shows 1763640000123 as 1.76E+12, and exports that.
pub(crate) fn note_rounded(report: &Report) {
    let Some(first) = FIRST_ROUNDED.get() else { return };
    let (count, first) = (ROUNDED.load(Ordering::Relaxed), quote(first));
    let times = if count == 1 { "1 time has" } else { &format!("{count} times have") };
    report.note(format_args!("{times} an exponent, such as {first}: digits that a spreadsheet left out are read as 0"));
}

/// Returns a number and its whole part, if a text is a number without a sign.
fn unix_number(text: &str) -> Option<(u64, Number)> {
    let number = text.starts_with(|c: char| c.is_ascii_digit()).then(|| Number::read(text))??;
    Some((number.whole.parse().ok()?, number))
}

/// The error for a time without an offset, if no zone was given.
fn without_zone(text: &str) -> String {
    let expected = "a time with its zone, such as 2024-11-19T17:37:45Z (or give --time-zone)";
    format!("expected {expected}, found {}", quote(text))
}

/// A time that a person typed, and its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TimeArg {
    time: TypedTime,
    text: String,
}

impl TimeArg {
    /// Reads a time that a person types: see [`TIME_FORMS`].
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::parse_at(text, *NOW)
    }

    fn parse_at(text: &str, now: Timestamp) -> Result<Self, String> {
        Ok(Self { time: typed_time::parse(text, unix_ms(now, text)?)?, text: text.to_owned() })
    }

    /// Reads a date, `today` or `yesterday`.
    pub(crate) fn parse_day(text: &str) -> Result<Self, String> {
        let day = Self::parse(text).ok().filter(|arg| matches!(arg.time, TypedTime::Shown(_, None)));
        day.ok_or_else(|| format!("expected a date such as 2025-11-20, today or yesterday, found {}", quote(text)))
    }

    /// Returns the time of an option in Unix milliseconds, if it was given.
    pub(crate) fn ms_of(option: &str, given: Option<&Self>, zone: &ZoneArg) -> Result<Option<u64>, Stop> {
        let ms = given.map(|time| time.in_zone(zone)).transpose();
        ms.map_err(|problem| Stop::Usage(format!("{option}: {problem}")))
    }

    /// Returns the time in Unix milliseconds, with a local time in this zone. A date is its first millisecond.
    fn in_zone(&self, zone: &ZoneArg) -> Result<u64, String> {
        let text = &self.text;
        let clock_ms = match self.time {
            TypedTime::At(unix_ms) => return before_the_end(unix_ms, text),
            TypedTime::Shown(_, None) => return first_ms(self.date(zone), zone),
            TypedTime::Shown(..) if zone.given.is_none() => return Err(without_zone(text)),
            TypedTime::Shown(_, Some(ms)) => ms.cast_signed(),
        };
        let time = self.date(zone).at(0, 0, 0, 0).checked_add(Span::new().milliseconds(clock_ms));
        before_the_end(in_zone(time.map_err(|_| past_the_end(text))?, &zone.zone(), text)?, text)
    }

    /// Returns the date that the clocks of a zone show at this time.
    fn date(&self, zone: &ZoneArg) -> Date {
        let (from, days) = match self.time {
            TypedTime::Shown(Day::Number(days), _) => (EPOCH, days),
            TypedTime::Shown(Day::BeforeToday(days), _) => (NOW.to_zoned(zone.zone()).date(), -days.cast_signed()),
            TypedTime::At(ms) => return timestamp(ms).to_zoned(zone.zone()).date(),
        };
        from.saturating_add(Span::new().days(days))
    }

    /// Returns the times of its day in a zone.
    pub(crate) fn times_of_day(&self, zone: &ZoneArg) -> Result<Range<u64>, String> {
        let day = self.date(zone);
        let next = day.tomorrow().map_err(|_| past_the_end(&self.text))?;
        let times = first_ms(day, zone)?..first_ms(next, zone)?;
        if times.is_empty() { Err(format!("expected a day that {day} is not: its zone skips it")) } else { Ok(times) }
    }
}

const EPOCH: Date = Date::constant(1970, 1, 1);

/// The arguments that choose IDs by their time.
#[derive(clap::Args)]
pub(crate) struct TimeRange {
    /// Use only IDs from this time on
    #[arg(long, value_name = "TIME", value_parser = TimeArg::parse, allow_hyphen_values = true)]
    from: Option<TimeArg>,
    /// Use only IDs before this time
    #[arg(long, value_name = "TIME", value_parser = TimeArg::parse, allow_hyphen_values = true)]
    to: Option<TimeArg>,
}

impl TimeRange {
    /// Returns the times, with dates and times without an offset in this zone.
    pub(crate) fn times(&self, zone: &ZoneArg) -> Result<Range<u64>, Stop> {
        let from = TimeArg::ms_of("--from", self.from.as_ref(), zone)?.unwrap_or(0);
        let times = from..TimeArg::ms_of("--to", self.to.as_ref(), zone)?.unwrap_or(u64::MAX);
        if times.is_empty() {
            let (from, to) = (zone.rfc3339(times.start), zone.rfc3339(times.end));
            let hint = match &self.to {
                Some(day @ TimeArg { time: TypedTime::Shown(Day::Number(_), None), .. }) if from == to => {
                    let next = day.date(zone).tomorrow().unwrap_or(Date::MAX);
                    format!("; a date is its first millisecond, so the day ends before --to {next}")
                }
                _ => String::new(),
            };
            return Err(Stop::Usage(format!("expected --from before --to, found {from} and {to}{hint}")));
        }
        Ok(times)
    }
}

/// The forms of [`TimeArg`], for the help of a command.
pub(crate) const TIME_FORMS: &str = "\
Times:
  2025-11-20, today, yesterday   a date: its first millisecond in --time-zone
  2025-11-20T12:00:00.5          a time in --time-zone, which must be given
  14:00, yesterday 14:00         the same, of today or of another day
  2025-11-20T12:00:00.5+01:00    RFC 3339; also +01, +0100, UTC, a space for T, no seconds
  1763640000000, 1.76364e12      Unix milliseconds
  1763640000s                    Unix seconds
  now, -1h, +90m, -2d12h         now, and a duration before or after now";

/// All arguments of a run have the same present time, so that the range from `-1h` to `now` is an hour long.
static NOW: LazyLock<Timestamp> = LazyLock::new(Timestamp::now);

/// Returns the first millisecond of a date. Where clocks go forward at midnight, the day begins later.
fn first_ms(date: Date, zone: &ZoneArg) -> Result<u64, String> {
    let text = date.to_string();
    let start = date.to_zoned(zone.zone()).map_err(|_| past_the_end(&text))?;
    before_the_end(unix_ms(start.timestamp(), &text)?, &text)
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

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    fn parse_timestamp_ms(text: &str) -> Result<u64, String> {
        TimeField::default().read_any(text)
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
        // As PostgreSQL, BigQuery, Snowflake, Python and spreadsheets write them.
        for text in [
            "2024-11-19 17:37:45.755+00",
            "2024-11-20 01:37:45.755+08",
            "2024-11-20 01:37:45.755+0800",
            "2024-11-19 17:37:45.755 UTC",
            "2024-11-19 17:37:45.755 +0000",
            "2024-11-19 09:37:45.755 -08:00",
            "1.732037865755e12",
            "1.732037865755E+12",
        ] {
            assert_eq!(parse_timestamp_ms(text), Ok(1_732_037_865_755), "{text}");
        }
        for text in
            ["2024-11-19T17:37Z", "2024-11-19 17:37 UTC", "2024-11-19 18:37+01", "1.73203786e12", "1.73203786E12"]
        {
            assert_eq!(
                parse_timestamp_ms(text),
                Ok(1_732_037_860_000 - if text.contains('-') { 40_000 } else { 0 }),
                "{text}"
            );
        }
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
            "2024-11-19T173745Z",
            "20241119T173745Z",
            "2024-11-19T17:37:45.Z",
            "2024-11-19T17:37:45,755Z",
            "2024-11-19T17:37:45Z[Europe/Berlin]",
            "2024-11-19T17:37:45+01:00[Europe/Berlin]",
            "2024-11-19T17:37:45+1",
            "2024-11-19T17:37:45+01 UTC",
            "2024-11-19T17:37:45 UTC+1",
            "2024-11-19T17:37:45 GMT-3:30",
            "2024-11-19T17:37:45 CET",
            "2024-11-19T17:37:45+010",
            "2024-11-19T17:37:45+é",
            "2024-11-19T17:37:45+01:00:00",
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
            assert!(error.starts_with("expected Unix milliseconds or a time from 1970 on such as "), "{text}: {error}");
        }
    }

    #[test]
    fn a_number_is_read_in_its_unit_with_its_fraction() {
        let field = |unit| TimeField { unit: Some(unit), ..TimeField::default() };
        for (unit, text, ms) in [
            (TimeUnit::S, "1763640000", 1_763_640_000_000),
            (TimeUnit::S, "1763640000.123456", 1_763_640_000_123),
            (TimeUnit::S, "5.0009", 5_000),
            (TimeUnit::S, "1.7636400001234e9", 1_763_640_000_123),
            (TimeUnit::Ms, "1763640000.9", 1_763_640_000),
            (TimeUnit::Us, "1763640000123999", 1_763_640_000_123),
            (TimeUnit::Ns, "1763640000123999999", 1_763_640_000_123),
            (TimeUnit::S, "2025-11-20T12:00:00Z", 1_763_640_000_000),
        ] {
            assert_eq!(field(unit).read_any(text), Ok(ms), "{text} {unit:?}");
        }
        for text in ["1.", ".5", "1.5.2", "1e-9", "-1.5", "1,5", "NaN", "99999999999999999999"] {
            assert!(field(TimeUnit::S).read_any(text).is_err(), "{text}");
        }
        assert!(field(TimeUnit::S).read_any("1763640000123").unwrap_err().starts_with("expected a timestamp"));
    }

    #[test]
    fn a_time_that_no_message_has_is_an_error_unless_it_is_allowed() {
        let field = TimeField::default();
        for (text, found) in [
            ("0", "1970-01-01T00:00:00.000Z"),
            ("45981", "1970-01-01T00:00:45.981Z"),
            ("176364000000", "1975-08-04T06:00:00.000Z"),
            ("1104537599999", "2004-12-31T23:59:59.999Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
            ("2109-05-01T00:00:00Z", "2109-05-01T00:00:00.000Z"),
        ] {
            let expected = format!("expected a time from 2005 to two years from now, found {text:?}, which is {found}");
            assert_eq!(field.parse(text), Err(expected + "; --any-time allows others"));
            assert!(TimeField { any_time: true, ..field.clone() }.parse(text).is_ok());
        }
        let soon = NOW.as_millisecond() + 729 * 86_400_000;
        assert!(field.parse("1104537600000").is_ok() && field.parse(&soon.to_string()).is_ok());
    }

    #[test]
    fn a_number_of_another_unit_is_an_error_that_names_the_option() {
        for (text, hint) in [
            ("1763640000", "for seconds, give --time-unit s"),
            ("1763640000.123456", "for seconds, give --time-unit s"),
            ("1763640000123456", "for microseconds, give --time-unit us"),
            ("1763640000123456789", "for nanoseconds, give --time-unit ns"),
        ] {
            let expected = format!("expected Unix milliseconds ({hint}), found {text:?}");
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
        assert!(parse_timestamp_ms("9999-12-32T23:59:59Z").unwrap_err().starts_with("expected Unix milliseconds or"));
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
            ("1.76364e12", expected - 250),
            ("2025-11-20 12:00:00.25+00", expected),
            ("2025-11-20 12:00 UTC", expected - 250),
        ] {
            let time = TimeArg::parse_at(text, now).unwrap();
            assert_eq!(time.in_zone(&ZoneArg::default()), Ok(ms), "{text}");
        }
        for (text, start) in [
            ("2025-11-31", "expected a date such as 2025-11-20, today or yesterday, found \"2025-11-31\""),
            ("-1", "expected a duration from now such as -1h or +90m, found \"-1\""),
            ("-1x", "expected a duration from now such as -1h or +90m, found \"-1x\""),
            ("-30000d", "expected a time in 1970 or later, found \"-30000d\""),
            ("tomorrow", "expected a time such as 2025-11-20 12:00, "),
            ("", "expected a time such as 2025-11-20 12:00, "),
            ("s", "expected a time such as 2025-11-20 12:00, "),
            ("18446744073709551616", "expected a time up to 2109-05-15T07:35:11.103Z, found \"18446744073709551616\""),
            (
                "18446744073709551615s",
                "expected a time up to 2109-05-15T07:35:11.103Z, found \"18446744073709551615s\"",
            ),
        ] {
            let error = TimeArg::parse_at(text, now).and_then(|time| time.in_zone(&ZoneArg::default())).unwrap_err();
            assert!(error.starts_with(start), "{text}: {error}");
        }
    }

    #[test]
    fn a_time_of_today_and_of_yesterday_is_one_of_the_zone() {
        let now: Timestamp = "2025-11-20T20:00:00Z".parse().unwrap();
        // In Shanghai it is the 21st. `Day` has the present time of the run, so only distances are compared.
        let shanghai = ZoneArg { given: Some(TimeZone::get("Asia/Shanghai").unwrap()) };
        let ms = |text: &str| TimeArg::parse_at(text, now).unwrap().in_zone(&shanghai).unwrap();
        assert_eq!(ms("today 14:00") - ms("today"), 14 * 3_600_000);
        assert_eq!(ms("14:00:00.5") - ms("yesterday 14:00"), 86_400_500);
        let error = TimeArg::parse_at("14:00", now).unwrap().in_zone(&ZoneArg::default()).unwrap_err();
        assert!(error.starts_with("expected a time with its zone, such as "), "{error}");
    }

    #[test]
    fn a_local_time_that_the_clocks_skip_is_an_error() {
        let berlin = ZoneArg { given: Some(TimeZone::get("Europe/Berlin").unwrap()) };
        let field = TimeField { zone: berlin.clone(), ..TimeField::default() };
        let arg = |text: &str| TimeArg::parse_at(text, Timestamp::UNIX_EPOCH).unwrap().in_zone(&berlin);
        for text in ["2025-03-30T02:00:00", "2025-03-30 02:30", "2025-03-30T02:59:59.999"] {
            let problem = "the clocks of Europe/Berlin go forward by 1h and never show it";
            let expected = format!("expected a time that exists, found {text:?}: {problem}");
            assert_eq!([arg(text), field.read_any(text)], [Err(expected.clone()), Err(expected)]);
        }
        for (text, ms) in [
            ("2025-03-30T01:59:59", 1_743_296_399_000),
            ("2025-03-30T03:00:00", 1_743_296_400_000),
            // Shown twice: the earlier one.
            ("2025-10-26T02:30:00", 1_761_438_600_000),
        ] {
            assert_eq!([arg(text), field.read_any(text)], [Ok(ms), Ok(ms)], "{text}");
        }
        // A day that begins at 01:00, and one that is skipped.
        let zone = |name| ZoneArg { given: Some(TimeZone::get(name).unwrap()) };
        let hours = |zone: &ZoneArg, day: &str| {
            TimeArg::parse_day(day).unwrap().times_of_day(zone).map(|times| (times.end - times.start) / 3_600_000)
        };
        assert_eq!(hours(&zone("America/Sao_Paulo"), "2018-11-04"), Ok(23));
        assert_eq!(hours(&berlin, "2025-10-26"), Ok(25));
        assert!(hours(&zone("Pacific/Apia"), "2011-12-30").is_err());
        assert_eq!(hours(&zone("Pacific/Apia"), "2011-12-31"), Ok(24));
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
    fn a_number_of_another_meaning_is_noticed() {
        for text in ["1763640000", "631152000"] {
            let expected = format!("expected Unix milliseconds, found {text}; for Unix seconds, write {text}s");
            assert_eq!(TimeArg::parse(text), Err(expected));
        }
        for text in ["2025", "20251120"] {
            let expected = format!("expected Unix milliseconds, found {text}; a date is written as 2025-11-20");
            assert_eq!(TimeArg::parse(text), Err(expected));
        }
        for (text, ms) in [("0", 0), ("5", 5), ("631151999", 631_151_999), ("1763640000000", 1_763_640_000_000)] {
            assert_eq!(TimeArg::parse(text).map(|arg| arg.time), Ok(TypedTime::At(ms)));
        }
    }
}
