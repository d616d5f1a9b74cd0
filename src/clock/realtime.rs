//! The wall clock without `SystemTime`, whose subtraction of the epoch takes a third of a reading: 22.9 ns instead of 35.9 in one
//! run on a Zen 5. benches/generate.rs measures both.

use core::ffi::c_int;

use super::ClockError;

/// `struct timespec` of 64-bit Linux, where `time_t` and `long` are 64 bits wide.
#[repr(C)]
struct Timespec {
    seconds: i64,
    nanos: i64,
}

/// `CLOCK_REALTIME` of Linux.
const REALTIME: c_int = 0;

/// Unix milliseconds from the C library; its safe twin is [`portable`](super::system::portable).
#[inline]
pub(super) fn now_ms() -> Result<u64, ClockError> {
    let mut time = Timespec { seconds: 0, nanos: 0 };
    if read(&mut time) == 0 { time.millis() } else { Err(ClockError::unavailable()) }
}

/// Returns the nanoseconds of the present second; `None` where the clock cannot be read.
pub(super) fn nanos_of_second() -> Option<u32> {
    let mut time = Timespec { seconds: 0, nanos: 0 };
    if read(&mut time) == 0 { u32::try_from(time.nanos).ok() } else { None }
}

impl Timespec {
    #[inline]
    fn millis(&self) -> Result<u64, ClockError> {
        #[expect(
            clippy::cast_sign_loss,
            reason = "the C library keeps nanoseconds in 0..10⁹, and 32 bits divide faster"
        )]
        let millis = u64::from(self.nanos as u32 / 1_000_000);
        match u32::try_from(self.seconds) {
            // One comparison shows that the time is past 1970 and that nothing overflows.
            Ok(seconds) => Ok(u64::from(seconds) * 1_000 + millis),
            Err(_) => self.unusual_millis(millis),
        }
    }

    /// Before 1970, or after 2106.
    #[cold]
    fn unusual_millis(&self, millis: u64) -> Result<u64, ClockError> {
        match u64::try_from(self.seconds) {
            Ok(seconds) => Ok(seconds.saturating_mul(1_000).saturating_add(millis)),
            Err(_) => Err(ClockError::before_1970()),
        }
    }
}

#[inline]
#[expect(unsafe_code, reason = "a third of the time of an ID by the system clock")]
fn read(time: &mut Timespec) -> c_int {
    unsafe extern "C" {
        /// POSIX.1-2001.
        fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    }
    // SAFETY: the signature is POSIX's, the struct has the target's layout, and the pointer is a live exclusive
    // reference.
    unsafe { clock_gettime(REALTIME, time) }
}

#[cfg(test)]
mod tests {
    use super::super::system::portable;
    use super::*;

    #[test]
    fn a_time_is_its_milliseconds_from_1970_to_the_end_of_64_bits() {
        let millis = |seconds, nanos| Timespec { seconds, nanos }.millis();
        let last_of_32_bits = i64::from(u32::MAX);
        assert_eq!(millis(0, 999_999), Ok(0));
        assert_eq!(millis(1_763_665_800, 123_999_999), Ok(1_763_665_800_123));
        assert_eq!(millis(last_of_32_bits, 999_999_999), Ok(4_294_967_295_999));
        assert_eq!(millis(last_of_32_bits + 1, 1_000_000), Ok(4_294_967_296_001));
        assert_eq!(millis(i64::MAX, 0), Ok(u64::MAX));
        for seconds in [-1, i64::MIN] {
            assert!(millis(seconds, 999_999_999).is_err_and(ClockError::is_before_1970));
        }
    }

    #[test]
    fn the_nanoseconds_lie_between_two_of_the_standard_library() {
        let nanos = || std::time::UNIX_EPOCH.elapsed().unwrap().subsec_nanos();
        for _ in 0..10_000 {
            let (before, now, after) = (nanos(), nanos_of_second().unwrap(), nanos());
            // A second that ends between the readings, or a step of the clock, parts them.
            assert!(before <= now && now <= after || before > after, "{before} {now} {after}");
        }
    }

    #[test]
    fn a_reading_lies_between_two_of_its_safe_twin() {
        for _ in 0..10_000 {
            let (before, now, after) = (portable().unwrap(), now_ms().unwrap(), portable().unwrap());
            // A step of the clock between the readings is the one thing that may part them.
            assert!(before <= now && now <= after || before > after, "{before} {now} {after}");
        }
    }
}
