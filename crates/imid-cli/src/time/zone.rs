//! The time zone in which a command reads and prints times.

use jiff::tz::TimeZone;

use super::date_time::offset;
use super::{rfc3339, timestamp};
use crate::report::quote;

/// The argument that names the time zone.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct ZoneArg {
    /// Time zone of dates, of times without an offset and of printed times, such as Europe/Berlin or +08:00 [default: UTC];
    /// JSON is in UTC
    #[arg(id = "time_zone", long = "time-zone", value_name = "ZONE", value_parser = time_zone, allow_hyphen_values = true)]
    pub(crate) given: Option<TimeZone>,
}

impl ZoneArg {
    /// Returns the zone, which is UTC by default.
    pub(crate) fn zone(&self) -> TimeZone {
        self.given.clone().unwrap_or(TimeZone::UTC)
    }

    /// Returns a timestamp as RFC 3339 in this zone, with milliseconds. In UTC it ends with `Z`.
    pub(crate) fn rfc3339(&self, unix_ms: u64) -> String {
        match &self.given {
            Some(zone) if *zone != TimeZone::UTC => {
                timestamp(unix_ms).to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S.%3f%:z").to_string()
            }
            _ => rfc3339(unix_ms),
        }
    }
}

/// Reads the name of a time zone, or an offset.
fn time_zone(name: &str) -> Result<TimeZone, String> {
    if let Some(offset) = offset(name) {
        return Ok(offset.to_time_zone());
    }
    // These need no database of time zones.
    if ["UTC", "Z", "GMT", "Etc/UTC"].iter().any(|utc| utc.eq_ignore_ascii_case(name)) {
        return Ok(TimeZone::UTC);
    }
    TimeZone::get(name).map_err(|_| {
        if jiff::tz::db().is_definitively_empty() {
            let hint = "this system has no database of time zones (the package tzdata)";
            return format!("expected an offset such as +08:00, or UTC, found {}: {hint}", quote(name));
        }
        format!("expected a time zone such as Europe/Berlin, +08:00 or UTC, found {}", quote(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_the_offset_that_its_zone_has_then() {
        for (name, utc, expected) in [
            ("UTC", "2025-11-20T12:00:00.005Z", "2025-11-20T12:00:00.005Z"),
            ("utc", "2025-11-20T12:00:00.005Z", "2025-11-20T12:00:00.005Z"),
            ("Z", "2025-11-20T12:00:00.005Z", "2025-11-20T12:00:00.005Z"),
            ("GMT", "2025-11-20T12:00:00.005Z", "2025-11-20T12:00:00.005Z"),
            ("Asia/Kolkata", "2025-11-20T19:00:00.005Z", "2025-11-21T00:30:00.005+05:30"),
            ("America/St_Johns", "2025-07-01T00:00:00Z", "2025-06-30T21:30:00.000-02:30"),
            ("America/St_Johns", "2025-12-01T00:00:00Z", "2025-11-30T20:30:00.000-03:30"),
            // The clocks show these two alike.
            ("Europe/Berlin", "2024-10-27T00:30:00Z", "2024-10-27T02:30:00.000+02:00"),
            ("Europe/Berlin", "2024-10-27T01:30:00Z", "2024-10-27T02:30:00.000+01:00"),
            ("+08:00", "2025-11-20T12:00:00.005Z", "2025-11-20T20:00:00.005+08:00"),
            ("-0330", "2025-11-20T12:00:00.005Z", "2025-11-20T08:30:00.005-03:30"),
            ("+00:00", "2025-11-20T12:00:00.005Z", "2025-11-20T12:00:00.005Z"),
            ("Pacific/Kiritimati", "9999-12-30T22:00:00Z", "9999-12-31T12:00:00.000+14:00"),
        ] {
            let zone = ZoneArg { given: Some(time_zone(name).unwrap()) };
            let time: jiff::Timestamp = utc.parse().unwrap();
            let ms = u64::try_from(time.as_millisecond()).unwrap();
            assert_eq!(zone.rfc3339(ms), expected);
            assert_eq!(ZoneArg::default().rfc3339(ms), rfc3339(ms));
        }
    }
}
