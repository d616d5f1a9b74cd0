//! Where the milliseconds come from.

mod error;
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64"))]
mod realtime;
#[cfg(feature = "std")]
mod system;
#[cfg(feature = "std")]
mod tick;

use core::time::Duration;

pub use error::ClockError;
#[cfg(feature = "std")]
pub use tick::TickClock;

use crate::sync::{AtomicU64, Ordering};

/// A source of Unix time in milliseconds. Shared by all threads that mint.
///
/// A clock may stand still, jump or step back: the generator keeps its promises regardless.
///
/// Your own clock needs [`now_ms`](Self::now_ms) only. The other two are for a clock that reads a copy of its source, as
/// [`TickClock`] does, or that validates its readings.
pub trait Clock {
    /// Returns the present time: milliseconds since 1970-01-01T00:00:00Z, below 2⁴².
    ///
    /// # Errors
    /// There is no time to read, or it is before 1970. A generator refuses times past 2109 itself.
    fn now_ms(&self) -> Result<u64, ClockError>;

    /// Returns the present time from the real source, if [`now_ms`](Self::now_ms) reads a copy of it.
    ///
    /// A generator calls this before it refuses anything, so a stale copy does not cause a refusal.
    ///
    /// # Errors
    /// As for [`now_ms`](Self::now_ms).
    fn refresh(&self) -> Result<u64, ClockError> {
        self.now_ms()
    }

    /// Returns whether a reading of [`now_ms`](Self::now_ms) is credible. If it is not, the generator calls
    /// [`refresh`](Self::refresh) and uses what that returns.
    ///
    /// A clock that validates its readings does so here: a [`Generator`](crate::Generator) asks once per new reading, so further
    /// calls in the same millisecond do not pay for the check. By default every reading is believed.
    fn accepts(&self, reading_ms: u64) -> bool {
        let _ = reading_ms;
        true
    }
}

/// Implements [`Clock`] for a pointer to one.
macro_rules! by_pointer {
    ($($pointer:ty),*) => {
        $(
            impl<C: Clock + ?Sized> Clock for $pointer {
                fn now_ms(&self) -> Result<u64, ClockError> {
                    (**self).now_ms()
                }

                fn refresh(&self) -> Result<u64, ClockError> {
                    (**self).refresh()
                }

                fn accepts(&self, reading_ms: u64) -> bool {
                    (**self).accepts(reading_ms)
                }
            }
        )*
    };
}

by_pointer!(&C);
#[cfg(feature = "std")]
by_pointer!(Box<C>, std::sync::Arc<C>);

/// The system's wall clock. A [`Clock`] only with the feature `std`.
///
/// On `wasm32-unknown-unknown`, which has no clock, reading it is an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// A clock that changes only when it is told to: for tests, replays and imports.
///
/// ```
/// use core::time::Duration;
/// use imid::clock::{Clock, ManualClock};
///
/// let clock = ManualClock::new(1_763_665_800_000);
/// clock.advance(Duration::from_millis(5));
/// assert_eq!(clock.now_ms(), Ok(1_763_665_800_005));
/// ```
#[derive(Debug)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// Creates a clock that shows this time, in Unix milliseconds.
    pub const fn new(ms: u64) -> Self {
        Self(AtomicU64::new(ms))
    }

    /// Sets the time, in Unix milliseconds; it may step back.
    pub fn set(&self, ms: u64) {
        // ORDERING: the time is a hint; nothing else is published with it.
        self.0.store(ms, Ordering::Relaxed);
    }

    /// Advances the time by whole milliseconds; the rest of the duration is dropped.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        // ORDERING: as in `set`. Two threads that advance concurrently may count as one: a script has one writer.
        self.0.store(self.0.load(Ordering::Relaxed).saturating_add(by), Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}
