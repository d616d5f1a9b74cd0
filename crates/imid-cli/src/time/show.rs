//! Writes the ages of IDs.

use imid_inspect::time::duration;
use jiff::Timestamp;

/// The last time that a zone can show: 9999-12-30T22:00:00Z, the last one of jiff in whole seconds.
pub(crate) const LAST_MS: u64 = 253_402_207_200_000;

/// Converts a timestamp to jiff's type.
pub(crate) fn timestamp(unix_ms: u64) -> Timestamp {
    // PANIC: no built-in dialect or layout has more than 43 bits of milliseconds, which end in 2248.
    Timestamp::from_millisecond(unix_ms.cast_signed()).expect("a timestamp is a time before the year 9999")
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
    fn an_age_is_a_duration() {
        let now = 1_795_305_600_000;
        for (ms, expected) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (3_250, "3.250 s"),
            (60_999, "1m"),
            (90_061_000, "1d 1h 1m 1s"),
            (731 * 86_400_000 + 1_000, "731d 1s"),
        ] {
            assert_eq!(age(now - ms, now), expected);
            if ms > 0 {
                assert_eq!(age(now + ms, now), format!("{expected} ahead of this machine's clock"));
            }
        }
    }
}
