//! Times.

use core::time::Duration;

/// 2025-11-20T19:10:00Z.
pub(crate) const T: u64 = 1_763_665_800_000;

#[allow(dead_code, reason = "no test uses all of it")]
pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
