//! The system's wall clock, by the fastest reading that the target has.

use super::{Clock, ClockError, SystemClock};

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(super) use super::realtime::nanos_of_second;

impl Clock for SystemClock {
    #[inline]
    fn now_ms(&self) -> Result<u64, ClockError> {
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        return super::realtime::now_ms();

        #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
        portable()
    }
}

/// Returns Unix milliseconds from `SystemTime`.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
#[cfg_attr(
    all(target_os = "linux", target_pointer_width = "64", not(test)),
    expect(dead_code, reason = "the safe version, for tests")
)]
#[inline]
pub(super) fn portable() -> Result<u64, ClockError> {
    match std::time::UNIX_EPOCH.elapsed() {
        // 64-bit arithmetic: `as_millis` is 128 bits wide.
        Ok(since) => Ok(since.as_secs().saturating_mul(1_000).saturating_add(u64::from(since.subsec_millis()))),
        Err(_) => Err(ClockError::before_1970()),
    }
}

/// Returns an error, because `SystemTime` panics on this target.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(super) const fn portable() -> Result<u64, ClockError> {
    Err(ClockError::unavailable())
}

/// Returns the nanoseconds of the present second, `None` where the clock cannot be read. On wasm32-unknown-unknown no
/// thread asks for them.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub(super) fn nanos_of_second() -> Option<u32> {
    std::time::UNIX_EPOCH.elapsed().ok().map(|since| since.subsec_nanos())
}
