//! Times that a person types. The caller knows the zones and the present time.

use core::ops::RangeInclusive;

use imid::MessageId;

use crate::number::Number;
use crate::time::{DAY_MS, days_of, rfc3339};

/// A time that a person typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypedTime {
    /// Unix milliseconds.
    At(u64),
    /// What the clocks of a zone show: a day, and the milliseconds of the day if they are typed.
    Shown(Day, Option<u64>),
}

/// A day in a zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Day {
    /// Its number since 1970-01-01.
    Number(i64),
    /// Its distance before today.
    BeforeToday(u64),
}

/// The forms of a time, as an error lists them.
const FORMS: &str = "a time such as 2025-11-20 12:00, 2025-11-20T12:00:00Z, 2025-11-20, yesterday 14:00, 14:00, today, now, -1h, \
                     1763640000000 or 1763640000s";

/// Unix seconds from 1990 to 2100. As milliseconds they are times in January and February 1970.
pub const SECONDS_OF_OUR_TIME: RangeInclusive<u64> = 631_152_000..=4_102_444_800;

/// Years, and dates without dashes. As milliseconds they are times of the first day of 1970.
const YEARS_AND_DATES: [RangeInclusive<u64>; 2] = [1_970..=2_109, 19_700_101..=21_091_231];

/// Reads a time: a date, `today` or `yesterday`, each alone or with a time of day; a time of day; RFC 3339, also without
/// seconds, with a space for the `T`, and with the offsets that databases write; Unix milliseconds, or seconds with an `s`; `now`, or
/// a duration from now such as `-1h`.
///
/// ```
/// use imid_inspect::typed_time::{Day, TypedTime, parse};
///
/// let now_ms = 1_763_640_000_250;
/// assert_eq!(parse("-1h", now_ms), Ok(TypedTime::At(1_763_636_400_250)));
/// assert_eq!(parse("yesterday 14:00", now_ms), Ok(TypedTime::Shown(Day::BeforeToday(1), Some(50_400_000))));
/// ```
///
/// # Errors
/// The text has none of these forms, such as `tomorrow`; a part is out of its range, such as `2025-11-31`; or the time is before
/// 1970. The error lists the forms.
pub fn parse(text: &str, now_ms: u64) -> Result<TypedTime, String> {
    let error = |expected: &str| format!("expected {expected}, found {text:?}");
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let end = || error(&format!("a time up to {}", rfc3339(MessageId::MAX.timestamp_ms())));
    if let Some(number) = Number::read(text).filter(|number| is_digits(text) || number.fraction.is_empty()) {
        let ms: u64 = number.whole.parse().map_err(|_| end())?;
        if SECONDS_OF_OUR_TIME.contains(&ms) {
            return Err(format!("expected Unix milliseconds, found {text}; for Unix seconds, write {ms}s"));
        }
        if YEARS_AND_DATES.iter().any(|numbers| numbers.contains(&ms)) {
            return Err(format!("expected Unix milliseconds, found {text}; a date is written as 2025-11-20"));
        }
        return Ok(TypedTime::At(ms));
    }
    if let Some(seconds) = text.strip_suffix('s').filter(|seconds| is_digits(seconds)) {
        return seconds.parse::<u64>().ok().and_then(|s| s.checked_mul(1_000)).map(TypedTime::At).ok_or_else(end);
    }
    if text == "now" {
        return Ok(TypedTime::At(now_ms));
    }
    if let Some(sign @ ('-' | '+')) = text.chars().next() {
        let ms = duration(&text[1..]).ok_or_else(|| error("a duration from now such as -1h or +90m"))?;
        let time = if sign == '-' { now_ms.checked_sub(ms) } else { now_ms.checked_add(ms) };
        return time.map(TypedTime::At).ok_or_else(|| error("a time in 1970 or later"));
    }
    let (day, rest) = if let Some((date, rest)) = strip_shape(text, "0000-00-00") {
        let number = |from: usize, to: usize| date[from..to].parse().unwrap_or_default();
        let day = days_of(number(0, 4), number(5, 7), number(8, 10));
        let day = day.ok_or_else(|| error("a date such as 2025-11-20, today or yesterday"))?;
        (Some(Day::Number(day)), rest)
    } else {
        let named = |(days, name)| Some((Some(Day::BeforeToday(days)), text.strip_prefix(name)?));
        [(0, "today"), (1, "yesterday")].into_iter().find_map(named).unwrap_or((None, text))
    };
    let rest = match (day, rest.strip_prefix(['T', 't', ' '])) {
        (Some(day), _) if rest.is_empty() => return Ok(TypedTime::Shown(day, None)),
        (Some(_), time) => time.ok_or_else(|| error(FORMS))?,
        (None, _) => rest,
    };
    let (clock_ms, after) = clock(rest).ok_or_else(|| error(FORMS))?;
    let clock_ms = clock_ms.ok_or_else(|| error("a second from 00 to 59 (Unix time has no leap seconds)"))?;
    match (day, after) {
        (_, "") => Ok(TypedTime::Shown(day.unwrap_or(Day::BeforeToday(0)), Some(clock_ms))),
        (Some(Day::Number(day)), _) => {
            let offset = offset(after.strip_prefix(' ').unwrap_or(after)).ok_or_else(|| error(FORMS))?;
            let shown = day * DAY_MS.cast_signed() + clock_ms.cast_signed();
            let ms = u64::try_from(shown - i64::from(offset) * 60_000);
            ms.map(TypedTime::At).map_err(|_| error("a time in 1970 or later"))
        }
        _ => Err(error(FORMS)),
    }
}

/// Reads an offset in minutes: `+01`, `+0100`, `+01:00`, and `UTC+8`, `GMT-3:30` and `UTC` as people write them.
///
/// ```
/// use imid_inspect::typed_time::offset;
///
/// assert_eq!([offset("UTC+8"), offset("-03:30"), offset("UTC"), offset("CET")], [Some(480), Some(-210), Some(0), None]);
/// ```
pub fn offset(text: &str) -> Option<i32> {
    let named = ["UTC", "GMT", "utc", "gmt"].iter().find_map(|name| text.strip_prefix(name));
    let signed = named.unwrap_or(text);
    if matches!((named, text), (Some(""), _) | (_, "Z" | "z")) {
        return Some(0);
    }
    let sign = match signed.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = &signed[1..];
    let shapes = if named.is_some() { &["00", "0000", "00:00", "0", "0:00"][..] } else { &["00", "0000", "00:00"] };
    let number: i32 =
        digits.replace(':', "").parse().ok().filter(|_| shapes.iter().any(|shape| has_shape(digits, shape)))?;
    let (hours, minutes) = if digits.len() > 2 { (number / 100, number % 100) } else { (number, 0) };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Reads `1h`, `90m` and `2d12h`, in milliseconds. Days have 24 hours.
fn duration(text: &str) -> Option<u64> {
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", DAY_MS), ("w", 7 * DAY_MS)];
    let (mut rest, mut total) = (text, 0_u64);
    while !rest.is_empty() {
        let (count, unit) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let (unit, after) = unit.split_at(unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len()));
        let (_, ms) = units.iter().find(|(name, _)| *name == unit)?;
        total = total.checked_add(count.parse::<u64>().ok()?.checked_mul(*ms)?)?;
        rest = after;
    }
    (!text.is_empty()).then_some(total)
}

/// Reads `14:00`, `14:00:05` and `14:00:05.123`. Returns the milliseconds, or nothing for second 60, and what follows.
fn clock(text: &str) -> Option<(Option<u64>, &str)> {
    let number = |digits: &str| digits.parse::<u64>().ok();
    let (start, mut rest) = strip_shape(text, "00:00")?;
    let (hours, minutes, mut seconds, mut ms) = (number(&start[..2])?, number(&start[3..])?, 0, 0);
    if let Some((start, after)) = strip_shape(rest, ":00") {
        (seconds, rest) = (number(&start[1..])?, after);
        let len = rest.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        if (1..=9).contains(&len) {
            ms = number(&format!("{:0<3}", &rest[1..=len])[..3])?;
            rest = &rest[1 + len..];
        }
    }
    let total = ((hours * 60 + minutes) * 60 + seconds) * 1_000 + ms;
    (hours < 24 && minutes < 60 && seconds <= 60).then_some((Some(total).filter(|_| seconds < 60), rest))
}

/// Splits a text after a shape.
fn strip_shape<'a>(text: &'a str, shape: &str) -> Option<(&'a str, &'a str)> {
    text.split_at_checked(shape.len()).filter(|(start, _)| has_shape(start, shape))
}

/// Returns whether a text has a shape, in which 0 stands for any digit.
fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(byte, shape): (u8, u8)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_763_640_000_250; // 2025-11-20T12:00:00.250Z

    #[test]
    fn each_form_that_a_person_types_is_read() {
        let (at, shown) = (TypedTime::At, |day, ms| TypedTime::Shown(Day::Number(day), Some(ms)));
        let (date, day) = (|day| TypedTime::Shown(Day::Number(day), None), 1_763_596_800_000);
        let before = |days, ms| TypedTime::Shown(Day::BeforeToday(days), ms);
        for (text, expected) in [
            ("now", at(NOW)),
            ("-2d12h", at(NOW - 216_000_000)),
            ("+250ms", at(NOW + 250)),
            ("1763640000s", at(1_763_640_000_000)),
            ("1.76364e12", at(1_763_640_000_000)),
            ("2025-11-20", date(20_412)),
            ("1969-12-31", date(-1)),
            ("0000-03-01", date(-719_468)),
            ("1970-01-01", date(0)),
            ("2024-02-29", date(19_782)),
            ("today", before(0, None)),
            ("yesterday", before(1, None)),
            ("yesterday 14:00", before(1, Some(50_400_000))),
            ("today 00:00:01", before(0, Some(1_000))),
            ("14:00", before(0, Some(50_400_000))),
            ("2025-11-20 19:10", shown(20_412, 69_000_000)),
            ("2025-11-20T19:10:05.123456", shown(20_412, 69_005_123)),
            ("2025-11-20T19:10:05.1Z", at(day + 69_005_100)),
            ("2025-11-20 19:10:05+0800", at(day + 69_005_000 - 28_800_000)),
            ("2025-11-20 19:10 -03:30", at(day + 69_000_000 + 12_600_000)),
            ("2025-11-20 19:10 UTC", at(day + 69_000_000)),
        ] {
            assert_eq!(parse(text, NOW), Ok(expected), "{text}");
        }
        for (text, start) in [
            ("tomorrow", "expected a time such as 2025-11-20 12:00, "),
            ("", "expected a time such as "),
            ("today 25:00", "expected a time such as "),
            ("14:00+01", "expected a time such as "),
            ("2025-11-20x", "expected a time such as "),
            ("2025-11-31", "expected a date such as 2025-11-20, today or yesterday, found \"2025-11-31\""),
            ("2025-02-29", "expected a date such as "),
            ("2025-13-01", "expected a date such as "),
            ("1969-12-31 23:59Z", "expected a time in 1970 or later"),
            ("2016-12-31T23:59:60Z", "expected a second from 00 to 59"),
            ("-1x", "expected a duration from now such as -1h or +90m, found \"-1x\""),
            ("-", "expected a duration from now "),
            ("-30000d", "expected a time in 1970 or later, found \"-30000d\""),
            ("1763640000", "expected Unix milliseconds, found 1763640000; for Unix seconds, write 1763640000s"),
            ("20251120", "expected Unix milliseconds, found 20251120; a date is written as 2025-11-20"),
        ] {
            let error = parse(text, NOW).unwrap_err();
            assert!(error.starts_with(start), "{text}: {error}");
        }
        for (text, minutes) in [("+05:30", 330), ("-0330", -210), ("UTC+8", 480), ("GMT-3:30", -210), ("Z", 0)] {
            assert_eq!(offset(text), Some(minutes), "{text}");
        }
        for text in ["", "8", "+8", "UTC8", "+24", "+01:60", "CET", "é+1"] {
            assert_eq!(offset(text), None, "{text}");
        }
    }
}
