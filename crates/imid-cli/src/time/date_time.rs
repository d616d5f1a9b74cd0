//! Times that the clocks of a zone show.

use imid::MessageId;
use imid_inspect::typed_time;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::rfc3339;
use crate::report::quote;

/// Returns a time that the clocks of a zone show, in Unix milliseconds. One that they show twice is the earlier one.
pub(super) fn in_zone(local: DateTime, zone: &TimeZone, text: &str) -> Result<u64, String> {
    let ambiguous = zone.to_ambiguous_timestamp(local);
    if let AmbiguousOffset::Gap { before, after } = ambiguous.offset() {
        let gap = SignedDuration::from_secs(i64::from(after.seconds() - before.seconds()));
        let zone = zone.iana_name().unwrap_or("this zone");
        let problem = format!("clocks of {zone} go forward by {gap:#} and never show it");
        return Err(format!("expected a time that exists, found {}: the {problem}", quote(text)));
    }
    unix_ms(ambiguous.compatible().map_err(|_| past_the_end(text))?, text)
}

/// Reads an offset such as `+01`, `+0100`, `+01:00` or `UTC+1`.
pub(super) fn offset(text: &str) -> Option<Offset> {
    Offset::from_seconds(typed_time::offset(text)? * 60).ok()
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
