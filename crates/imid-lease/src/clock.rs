//! The clock that a leased generator mints by: the application's clock, as far as it is believed.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use imid::clock::{Clock, ClockError};

use crate::engine::clock_judgement::{self, Known, Reading, time_of};
use crate::options::{LaneOptions, TrustedClock, millis};
use crate::wait::catch;

/// The value of `believed` until a time is believed.
const UNKNOWN: i64 = i64::MIN;

/// A clock whose jumps are not followed. Clones share what is known of the time.
///
/// A generator asks once for each new reading whether it is the time ([`Clock::accepts`]).
// A reading is accepted immediately if it is not before the last believed time, and would have been accepted then. `Known::read` decides
// about the others.
#[derive(Debug, Clone)]
pub struct BelievedClock<C> {
    clock: C,
    belief: Arc<Belief>,
}

#[derive(Debug)]
struct Belief {
    /// The first and the last reading that are accepted without [`Known::read`].
    near_from_ms: AtomicU64,
    near_to_ms: AtomicU64,
    max_skew_ms: u64,
    /// Whose time is taken where the two differ at the start.
    trusted: Option<TrustedClock>,
    known: Mutex<Known>,
    /// The offset of the time that is believed, for threads that find the lock taken.
    believed: AtomicI64,
}

impl<C> BelievedClock<C> {
    /// Returns the clock of the application.
    pub const fn application(&self) -> &C {
        &self.clock
    }
}

impl<C: Clock> BelievedClock<C> {
    /// Returns the clock of the options, as far as it is believed: a step of more than [`max_skew`](LaneOptions::max_skew) is not followed.
    pub fn of<const STRIPES: usize>(options: &LaneOptions<C, STRIPES>) -> Self
    where
        C: Clone,
    {
        let LaneOptions { clock, settings } = options;
        Self::new(clock.clone(), millis(settings.max_skew), settings.trusted)
    }

    pub(crate) fn new(clock: C, max_skew_ms: u64, trusted: Option<TrustedClock>) -> Self {
        let belief = Belief {
            near_from_ms: AtomicU64::new(u64::MAX),
            near_to_ms: AtomicU64::new(0),
            max_skew_ms,
            trusted,
            known: Mutex::new(Known::default()),
            believed: AtomicI64::new(UNKNOWN),
        };
        Self { clock, belief: Arc::new(belief) }
    }

    /// Returns the time that is believed now; `None` if there is none.
    pub fn believed_ms(&self) -> Option<u64> {
        self.judge(self.reading())
    }

    /// Returns the reading of the application's clock; `None` if it has none. One that panics has none.
    fn reading(&self) -> Option<u64> {
        catch(|| self.clock.refresh()).ok()?.ok()
    }

    /// Returns the reading of the application's clock if it is believed, or else the time that is.
    #[cfg(test)]
    fn judged_ms(&self) -> Result<u64, ClockError> {
        match self.clock.now_ms() {
            Ok(now) if self.accepts(now) => Ok(now),
            now => self.judge(now.ok()).map_or(now, Ok),
        }
    }

    /// Returns the reading of the application's clock and the time that is believed instead, if it is not followed.
    pub(crate) fn not_followed(&self) -> Option<(u64, u64)> {
        let wall = self.reading()?;
        let believed = self.judge(Some(wall))?;
        // The two are read one after the other, and the machine can pause in between.
        (believed.abs_diff(wall) > self.belief.max_skew_ms).then_some((wall, believed))
    }

    /// Returns how far the store's time, by its offset, is ahead of the application's clock in milliseconds.
    pub(crate) fn store_ahead_ms(&self, offset: i64) -> Option<i64> {
        let wall = self.reading()?;
        Some(offset.saturating_sub(clock_judgement::offset(wall, monotonic_ms())))
    }

    /// Returns whether the store's time is far from this clock, and nobody has said which of the two is right.
    pub(crate) fn is_in_doubt(&self) -> bool {
        let wall_ms = self.reading();
        self.judge(wall_ms);
        let is_apart = |known: &Known| known.good.is_none() && known.store.is_some();
        self.belief.trusted.is_none()
            && wall_ms.is_some()
            && self.belief.known.lock().is_ok_and(|known| is_apart(&known))
    }

    /// Sets the offset of the store's time, unless this process's clock is the one to trust. A process that mints keeps to the time it had.
    pub(crate) fn set_store(&self, offset: i64, mints: bool) {
        if self.belief.trusted == Some(TrustedClock::Process) {
            return;
        }
        // A forked child never comes here, so the lock is free soon.
        if let Ok(mut known) = self.belief.known.lock() {
            known.hear(offset, self.belief.max_skew_ms, mints);
            // ORDERING: as in `judge`. The next reading is judged.
            self.belief.believed.store(known.believed().unwrap_or(UNKNOWN), Ordering::Relaxed);
            self.belief.near_from_ms.store(u64::MAX, Ordering::Relaxed);
        }
    }

    #[cold]
    #[inline(never)]
    fn judge(&self, wall_ms: Option<u64>) -> Option<u64> {
        let reading = Reading { wall_ms, mono_ms: monotonic_ms() };
        let mut known = match self.belief.known.try_lock() {
            Ok(known) => known,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread judges, or did when this process was forked.
            Err(TryLockError::WouldBlock) => {
                let believed = self.belief.believed.load(Ordering::Relaxed);
                return if believed == UNKNOWN { wall_ms } else { Some(time_of(believed, reading.mono_ms)) };
            }
        };
        let believed = known.read(reading, self.belief.max_skew_ms)?;
        let expected = known.expected().map_or(0, |offset| time_of(offset, reading.mono_ms));
        // A store whose time is wrong is further away than the skew.
        let from = believed.max(expected.saturating_sub(self.belief.max_skew_ms));
        // ORDERING: the words are hints for later readings. Each of them alone keeps a reading within its limit.
        self.belief.believed.store(known.believed().unwrap_or(UNKNOWN), Ordering::Relaxed);
        self.belief.near_from_ms.store(from, Ordering::Relaxed);
        self.belief.near_to_ms.store(expected.saturating_add(self.belief.max_skew_ms), Ordering::Relaxed);
        Some(believed)
    }
}

impl<C: Clock> Clock for BelievedClock<C> {
    /// Returns the reading of the application's clock. [`accepts`](Self::accepts) judges it.
    #[inline]
    fn now_ms(&self) -> Result<u64, ClockError> {
        self.clock.now_ms()
    }

    fn refresh(&self) -> Result<u64, ClockError> {
        let now = self.clock.refresh();
        self.judge(now.ok()).map_or(now, Ok)
    }

    #[inline]
    fn accepts(&self, reading_ms: u64) -> bool {
        let belief = &self.belief;
        belief.near_from_ms.load(Ordering::Relaxed) <= reading_ms
            && reading_ms <= belief.near_to_ms.load(Ordering::Relaxed)
            || self.judge(Some(reading_ms)) == Some(reading_ms)
    }
}

/// The clock that never goes back and continues while the machine is suspended. Apple's `CLOCK_MONOTONIC` does, Linux's does not.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SUSPENDED_TOO: rustix::time::ClockId = rustix::time::ClockId::Boottime;
#[cfg(target_vendor = "apple")]
const SUSPENDED_TOO: rustix::time::ClockId = rustix::time::ClockId::Monotonic;

/// Milliseconds that never go back, and continue while the machine is suspended, as far as the system has such a clock.
pub(crate) fn monotonic_ms() -> u64 {
    #[cfg(test)]
    if let Some(now_ms) = SCRIPTED_MS.get() {
        return now_ms;
    }
    system_ms()
}

#[cfg(test)]
thread_local! {
    /// The time of a test, which its own thread alone sees.
    pub(crate) static SCRIPTED_MS: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn system_ms() -> u64 {
    let time = rustix::time::clock_gettime(SUSPENDED_TOO);
    #[expect(clippy::cast_sign_loss, reason = "the time since the start of the machine")]
    let (seconds, nanos) = (time.tv_sec as u64, time.tv_nsec as u64);
    seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000)
}

/// On Windows, `Instant` continues while the machine is suspended. On other systems it may stand.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn system_ms() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;

    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    millis(ORIGIN.get_or_init(Instant::now).elapsed())
}

/// Returns how long it takes until a monotonic time; at least a millisecond, so that no one tries again without a pause.
pub(crate) fn until(at_ms: u64) -> Duration {
    Duration::from_millis(at_ms.saturating_sub(monotonic_ms()).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::clock_judgement::offset;
    use imid::clock::ManualClock;

    const T: u64 = 1_795_204_812_345;

    #[test]
    fn a_jump_is_not_the_time() {
        let manual = ManualClock::new(T);
        let clock = BelievedClock::new(&manual, 5_000, None);
        assert_eq!(clock.judged_ms(), Ok(T));
        manual.set(T + 4_000);
        assert_eq!(clock.judged_ms(), Ok(T + 4_000));
        assert!(clock.accepts(T + 4_000));
        for jump in [T + 3_600_000, T - 3_600_000] {
            manual.set(jump);
            assert_eq!(clock.now_ms(), Ok(jump));
            assert!(!clock.accepts(jump));
            for now in [clock.judged_ms(), clock.refresh()] {
                let now = now.unwrap();
                assert!((T - 1..T + 10_000).contains(&now), "{now}");
            }
        }
    }

    #[test]
    fn a_clock_that_is_wrong_from_the_start_is_not_believed_while_another_thread_judges() {
        for wrong in [T - 3_600_000, T + 3_600_000] {
            let manual = ManualClock::new(wrong);
            let clock = BelievedClock::new(&manual, 5_000, None);
            clock.set_store(offset(T, monotonic_ms()), false);
            let _judging = clock.belief.known.lock().unwrap();
            assert!(!clock.accepts(wrong));
            for now in [clock.judged_ms(), clock.refresh()] {
                let now = now.unwrap();
                assert!((T - 1..T + 60_000).contains(&now), "{now}");
            }
        }
    }

    #[test]
    fn short_steps_do_not_lead_past_the_skew_from_the_stores_time() {
        let manual = ManualClock::new(T);
        let clock = BelievedClock::new(&manual, 3_600_000, None);
        clock.set_store(offset(T, monotonic_ms()), false);
        for (step, is_time) in [(3_000_000, true), (4_000_000, false), (6_000_000, false), (2_000_000, true)] {
            manual.set(T + step);
            assert_eq!(clock.accepts(T + step), is_time, "{step}");
            assert_eq!(clock.judged_ms() == Ok(T + step), is_time, "{step}");
        }
    }

    #[test]
    fn a_jump_toward_a_store_whose_time_is_wrong_is_not_the_time() {
        let manual = ManualClock::new(T);
        let clock = BelievedClock::new(&manual, 5_000, None);
        clock.set_store(offset(T, monotonic_ms()), false);
        assert_eq!(clock.judged_ms(), Ok(T));
        clock.set_store(offset(T + 3_600_000, monotonic_ms()), false);
        for _ in 0..2 {
            manual.set(T + 1_800_000);
            assert!(!clock.accepts(T + 1_800_000));
            let now = clock.judged_ms().unwrap();
            assert!((T..T + 10_000).contains(&now), "{now}");
        }
    }

    #[test]
    fn a_jump_back_is_measured_from_the_present_time() {
        let manual = ManualClock::new(T);
        let clock = BelievedClock::new(&manual, 50, None);
        assert_eq!(clock.judged_ms(), Ok(T));
        std::thread::sleep(std::time::Duration::from_millis(60));
        assert!(!clock.accepts(T - 45), "it should be 60 ms later");
    }

    #[test]
    fn the_monotonic_clock_goes_on() {
        let start = monotonic_ms();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let passed = monotonic_ms() - start;
        assert!((19..5_000).contains(&passed), "{passed}");
    }

    #[test]
    fn a_clock_that_is_not_followed_is_shown_with_the_time_that_is_believed() {
        SCRIPTED_MS.set(Some(1_000));
        let manual = ManualClock::new(T);
        let clock = BelievedClock::new(&manual, 5_000, None);
        assert_eq!(clock.not_followed(), None);
        manual.set(T + 5_000);
        assert_eq!(clock.not_followed(), None);
        assert_eq!(clock.judged_ms(), Ok(T + 5_000));
        for wall in [T + 5_000 - 5_001, T + 5_000 + 5_001] {
            manual.set(wall);
            assert_eq!(clock.not_followed(), Some((wall, T + 5_000)));
        }
    }

    #[test]
    fn a_reading_near_the_believed_time_is_no_jump_even_if_it_is_far_from_the_stores_time() {
        SCRIPTED_MS.set(Some(1_000));
        let manual = ManualClock::new(T);
        let clock = BelievedClock::new(&manual, 5_000, None);
        clock.set_store(offset(T, 1_000), false);
        manual.set(T + 1_000);
        assert_eq!(clock.judged_ms(), Ok(T + 1_000));
        for (wall, shown) in [(T + 6_000, None), (T + 6_001, Some((T + 6_001, T + 1_000)))] {
            manual.set(wall);
            assert_eq!(clock.not_followed(), shown);
        }
    }
}
