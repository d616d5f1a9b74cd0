//! The wall clock as of the kernel's last timer interrupt.

use super::{Clock, ClockError, SystemClock};

/// The system's wall clock at the kernel's last timer interrupt (`CLOCK_REALTIME_COARSE`): 64-bit Linux only.
///
/// A reading takes a fraction of what [`SystemClock`]'s takes, and needs no thread. It is up to 10 ms old, depending on
/// the kernel's settings (`CONFIG_HZ`), and moves on by 1 to 10 ms at a time. IDs are then that much older than they
/// could be, never equal and never out of order. A generator reads the system clock itself before it refuses anything.
///
/// ```
/// use imid::Generator;
/// use imid::clock::CoarseClock;
///
/// let ids = Generator::builder().clock(CoarseClock).build()?;
/// # Ok::<(), imid::generator::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CoarseClock;

impl Clock for CoarseClock {
    #[inline]
    fn now_ms(&self) -> Result<u64, ClockError> {
        super::realtime::coarse_ms()
    }

    #[inline]
    fn refresh(&self) -> Result<u64, ClockError> {
        SystemClock.now_ms()
    }
}
