//! Dates and times in text: RFC 3339, and as databases and spreadsheets write it.

use std::iter;

use imid::MessageId;
use imid_inspect::typed_time;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::rfc3339;
use crate::report::quote;

/// A date and a time, with the offset if the text has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DateAndTime {
    local: DateTime,
    offset: Option<Offset>,
}

impl DateAndTime {
    /// Reads a text that has the shape of RFC 3339's `date-time`, also without seconds, with a space before the time, and
    /// with an offset as PostgreSQL (`+00`), `BigQuery` (` UTC`) or Snowflake (` +0000`) writes it, or without one. For any
    /// other text, the error says that `forms` were expected.
    ///
    /// jiff reads more shapes, so it gets only those that are checked here.
    pub(super) fn read(text: &str, forms: &str) -> Result<Self, String> {
        let error = |expected: &str| format!("expected {expected}, found {}", quote(text));
        let (local, offset) = split(text).ok_or_else(|| error(forms))?;
        // jiff reads second 60 as 59.
        if local.get(17..).is_some_and(|second| second.starts_with("60")) {
            return Err(error("a second from 00 to 59 (Unix time has no leap seconds)"));
        }
        let local = local.parse().map_err(|_| error(forms))?;
        Ok(Self { local, offset })
    }

    pub(super) fn has_offset(&self) -> bool {
        self.offset.is_some()
    }

    /// Returns the time in Unix milliseconds. Without an offset it is one of this zone.
    pub(super) fn unix_ms(&self, zone: &TimeZone, text: &str) -> Result<u64, String> {
        let time = match self.offset {
            Some(offset) => offset.to_timestamp(self.local).map_err(|_| past_the_end(text))?,
            None => in_zone(self.local, zone, text)?,
        };
        unix_ms(time, text)
    }
}

/// Returns a time that the clocks of a zone show. One that they show twice is the earlier one.
pub(super) fn in_zone(local: DateTime, zone: &TimeZone, text: &str) -> Result<Timestamp, String> {
    let ambiguous = zone.to_ambiguous_timestamp(local);
    if let AmbiguousOffset::Gap { before, after } = ambiguous.offset() {
        let gap = SignedDuration::from_secs(i64::from(after.seconds() - before.seconds()));
        let zone = zone.iana_name().unwrap_or("this zone");
        let problem = format!("clocks of {zone} go forward by {gap:#} and never show it");
        return Err(format!("expected a time that exists, found {}: the {problem}", quote(text)));
    }
    ambiguous.compatible().map_err(|_| past_the_end(text))
}

/// Returns whether a text has the shape of a date.
pub(super) fn is_date(text: &str) -> bool {
    strip_shape(text, "0000-00-00") == Some("")
}

/// Returns the date and the time, and the offset, which can be missing.
fn split(text: &str) -> Option<(&str, Option<Offset>)> {
    let rest = strip_shape(text, "0000-00-00")?.strip_prefix(['T', 't', ' '])?;
    let mut rest = strip_shape(rest, "00:00")?;
    if let Some(after) = strip_shape(rest, ":00") {
        let is_digit = |c: char| c.is_ascii_digit();
        rest = strip_shape(after, ".0").map_or(after, |rest| rest.trim_start_matches(is_digit));
    }
    let offset = match rest {
        "" => None,
        "Z" | "z" | " UTC" | " GMT" => Some(Offset::UTC),
        // `UTC+1` is the name of a zone, and not a part of a time.
        _ => Some(rest.strip_prefix(' ').unwrap_or(rest))
            .filter(|rest| rest.starts_with(['+', '-']))
            .and_then(offset)?
            .into(),
    };
    Some((&text[..text.len() - rest.len()], offset))
}

/// Reads an offset such as `+01`, `+0100`, `+01:00` or `UTC+1`.
pub(super) fn offset(text: &str) -> Option<Offset> {
    Offset::from_seconds(typed_time::offset(text)? * 60).ok()
}

/// Returns the text after a shape. In the shape, 0 stands for any digit.
fn strip_shape<'a>(text: &'a str, shape: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(shape.len())?;
    let fits = |(byte, shape): (u8, u8)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    iter::zip(start.bytes(), shape.bytes()).all(fits).then_some(rest)
}

pub(super) fn past_the_end(text: &str) -> String {
    let end = rfc3339(MessageId::MAX.timestamp_ms());
    format!("expected a time up to {end}, found {}", quote(text))
}

/// Returns the Unix milliseconds of a time. Rounds down and not towards zero, because a time just before 1970 must not
/// become 0.
pub(super) fn unix_ms(time: Timestamp, text: &str) -> Result<u64, String> {
    u64::try_from(time.as_nanosecond().div_euclid(1_000_000))
        .map_err(|_| format!("expected a time in 1970 or later, found {}", quote(text)))
}
