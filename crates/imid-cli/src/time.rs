//! Reads and writes times.

use std::iter;

use imid::MessageId;
use jiff::{SpanRound, Timestamp, Unit, Zoned};

use crate::report::quote;

/// Reads a time: unix milliseconds (digits only) or RFC 3339.
pub(crate) fn parse_unix_ms(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(ms) if !text.starts_with('+') => Ok(ms),
        _ => parse_rfc3339_ms(text),
    }
}

/// Reads an RFC 3339 time.
fn parse_rfc3339_ms(text: &str) -> Result<u64, String> {
    let error = || {
        format!(
            "expected unix milliseconds or an RFC 3339 time such as 2024-11-19T17:37:45.755Z, found {}",
            quote(text)
        )
    };
    let time: Timestamp =
        Some(text).filter(|text| is_date_time(text)).and_then(|text| text.parse().ok()).ok_or_else(error)?;
    // jiff reads second 60 as 59.
    if text[17..].starts_with("60") {
        return Err(format!("expected a second from 00 to 59 (unix time has no leap seconds), found {}", quote(text)));
    }
    // Rounds down and not towards zero, because a time just before 1970 must not become 0.
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

/// Reads a time that an ID can have: unix milliseconds or RFC 3339, up to the last timestamp of an ID.
pub(crate) fn parse_timestamp_ms(text: &str) -> Result<u64, String> {
    let ms = parse_unix_ms(text)?;
    MessageId::first_at(ms).map(|_| ms).map_err(|error| error.to_string())
}

/// Returns a timestamp as RFC 3339 in UTC, with milliseconds.
pub(crate) fn rfc3339(unix_ms: u64) -> String {
    format!("{:.3}", timestamp(unix_ms))
}

/// Converts a timestamp to jiff's type.
pub(crate) fn timestamp(unix_ms: u64) -> Timestamp {
    // PANIC: no built-in dialect or layout has more than 43 bits of milliseconds, which end in 2248.
    Timestamp::from_millisecond(unix_ms.cast_signed()).expect("a timestamp is a time before the year 9999")
}

/// Returns how long ago a time was, to the second, or how far it is in the future.
pub(crate) fn age(time: &Zoned, now: &Zoned) -> String {
    let (past, (from, to)) = if time <= now { (true, (time, now)) } else { (false, (now, time)) };
    let rounding = SpanRound::new().largest(Unit::Year).smallest(Unit::Second).relative(from);
    match from.until((Unit::Year, to)).and_then(|span| span.round(rounding)) {
        Ok(span) if past => format!("{span:#}"),
        Ok(span) => format!("{span:#} ahead of this machine's clock"),
        Err(_) => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(parse_unix_ms(text), Ok(1_732_037_865_755), "{text}");
        }
        assert_eq!(parse_unix_ms("2024-11-19T17:37:45Z"), Ok(1_732_037_865_000));
        // A text that has only digits is a number, even if it looks like a date.
        assert_eq!(parse_unix_ms("20241119173745"), Ok(20_241_119_173_745));
    }

    #[test]
    fn other_forms_of_iso_8601_are_errors() {
        for text in [
            "",
            "2024-11-19",
            "2024-11-19T17Z",
            "2024-11-19T17:37Z",
            "2024-11-19T17:37:45",
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
            let error = parse_unix_ms(text).unwrap_err();
            assert!(error.starts_with("expected unix milliseconds or an RFC 3339 time such as "), "{text}: {error}");
        }
    }

    #[test]
    fn a_leap_second_is_an_error_and_not_the_second_before() {
        let error = parse_unix_ms("2016-12-31T23:59:60Z").unwrap_err();
        let expected =
            "expected a second from 00 to 59 (unix time has no leap seconds), found \"2016-12-31T23:59:60Z\"";
        assert_eq!(error, expected);
    }
}
