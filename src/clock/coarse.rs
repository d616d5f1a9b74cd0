//! The wall clock as of the kernel's last timer interrupt.

use super::{Clock, ClockError, SystemClock};

/// The system's wall clock at the kernel's last timer interrupt (`CLOCK_REALTIME_COARSE`): 64-bit Linux only.
///
/// It needs no thread. On a Zen 4 with a timer of 250 Hz a reading took 4 ns, about a tenth of [`SystemClock`]'s, and moved on
/// by 4 ms at a time. Depending on the kernel (`CONFIG_HZ`) a step is 1 to 10 ms. For a generator this means:
///
/// - IDs are up to a step older than they could be. They are distinct and in order all the same.
/// - All IDs of a step begin in its first millisecond. At full load they run ahead of the reading by a step, which counts for
///   [`max_lead`](crate::generator::Builder::max_lead). The capacity is the same.
/// - Two hosts that write one session have more IDs in a common millisecond: with steps of 4 ms they make equal IDs four times
///   as often as with the system clock. Route each session to one host, or give each host a lane.
///
/// A generator reads the system clock itself before it refuses anything.
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
