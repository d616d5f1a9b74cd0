//! The step that mints: a run of stamps is taken, or refused.
//!
//! What a call must know of the time depends only on the reading of the clock, so the first call with a new reading
//! computes it, and publishes it in the [`Published`] `reading`, `first` and `end`. A call that mints compares the
//! reading, checks that the stripe's `free` is between the two others, and adds one to `free`.
//!
//! Why old and torn views do no harm:
//! - One word makes IDs distinct and ordered: a stripe's `free`. It changes only by read-modify-write, and only grows. All
//!   threads agree on the order of its values. If a call happens before another one, its value comes first (coherence,
//!   C++20 [intro.races]).
//! - `first` only grows, so an observed ID or a floor comes before all IDs whose calls begin later.
//! - `ceiling` only grows, so an old `end` is below a later ceiling. The limit of the lead can shrink: a late thread can use
//!   the limit of a moment ago.
//! - Each stamp is compared with the `end` after it was taken. At or past it, the stamp is compared with a new one, or
//!   dropped.

use super::error::GenerateKind;
use super::policy::Policy;
use super::published::Published;
use super::slew::{Timeline, Window};
use crate::clock::{Clock, ClockError};
use crate::fork;
use crate::sync::{AtomicU64, Ordering};

/// The bit of a stripe's `free` that says that the generator is closed. It is past every `end`, and additions do not
/// wrap.
const CLOSED: u64 = 1 << 63;

/// Two cache lines: the prefetcher of x86-64 fetches lines in pairs.
#[repr(align(128))]
pub(crate) struct Stripe {
    /// The least compact stamp that has not been taken.
    pub(super) free: AtomicU64,
    /// How many calls were refused.
    pub(super) refused: AtomicU64,
}

/// Everything of a generator but its clock.
pub(crate) struct Core<const STRIPES: usize> {
    pub(super) published: Published,
    /// Whether a lane was set. The stamps then belong to one process.
    pub(super) has_lane: bool,
    /// The seed that the builder was given. With `None` each process draws its own.
    pub(super) fixed_seed: Option<u64>,
    pub(super) stripes: [Stripe; STRIPES],
}

impl<const STRIPES: usize> Core<STRIPES> {
    /// `floor` is the first tick that a stamp may have, `ceiling` the first one that no stamp may have.
    pub(crate) const fn new(policy: Policy, has_lane: bool, fixed_seed: Option<u64>, floor: u64, ceiling: u64) -> Self {
        const { assert!(STRIPES > 0, "a generator has at least one stripe") };
        Self {
            published: Published::new(policy, policy.floor(floor), policy.ceiling(ceiling)),
            has_lane,
            fixed_seed,
            stripes: [const { Stripe::new() }; STRIPES],
        }
    }

    #[inline]
    pub(crate) const fn policy(&self) -> &Policy {
        &self.published.policy
    }

    /// Takes `run` consecutive compact stamps of the stripe that `key` selects, and returns the first.
    #[inline]
    pub(crate) fn take(&self, key: u32, run: u64, clock: &impl Clock) -> Result<u64, GenerateKind> {
        let stripe = &self.stripes[key as usize % STRIPES];
        let reading = clock.now_ms().ok();
        // Loaded here, so that the processor fetches it together with the words if they come from memory. An old `free`
        // does no harm: the stamp that is taken is checked again.
        let free = stripe.free.load(Ordering::Relaxed);
        if let Some(now) = reading
            && self.published.hold_for(now)
        {
            let Window { first, end } = self.published.window();
            if first <= free && free + run <= end {
                if run == 1 {
                    // An addition needs no retry when threads compete. Others may have added since the load, so the
                    // stamp is checked again. The check before the addition limits the dropped stamps to one per
                    // thread. A run uses the exchange, because a dropped run would waste many stamps.
                    // ORDERING: as in `exchange`.
                    let taken = stripe.free.fetch_add(1, Ordering::Release);
                    if taken < end || self.allows_now(taken, clock) {
                        return Ok(taken);
                    }
                } else if stripe.exchange(free, free, run) {
                    return Ok(free);
                }
            }
        }
        self.take_out_of_line(stripe, run, clock, reading)
    }

    /// Takes stamps where the stripe's `free` is outside the window, or where the reading has no window yet.
    #[inline(never)]
    fn take_out_of_line(
        &self,
        stripe: &Stripe,
        run: u64,
        clock: &impl Clock,
        reading: Option<u64>,
    ) -> Result<u64, GenerateKind> {
        if let Some(now) = reading
            && clock.accepts(now)
            && let Some(window) = self.published.window_at(now)
        {
            let mut free = stripe.free.load(Ordering::Relaxed);
            while let Some(first) = window.fit(free, run, &self.published.policy) {
                if stripe.exchange(free, first, run) {
                    return Ok(first);
                }
                free = stripe.free.load(Ordering::Relaxed);
            }
        }
        self.take_by_real_clock(stripe, run, clock)
    }

    /// Takes stamps by the real clock, or refuses them.
    ///
    /// The words are loaded before the clock is read, so the readings that they hold were made before this one, and
    /// this one is behind them only if the clock stepped back. A refusal was correct at this reading, even if the
    /// thread was paused before or after it.
    #[cold]
    #[inline(never)]
    pub(super) fn take_by_real_clock(
        &self,
        stripe: &Stripe,
        run: u64,
        clock: &impl Clock,
    ) -> Result<u64, GenerateKind> {
        let refused = |kind| {
            stripe.refused.fetch_add(1, Ordering::Relaxed);
            Err(kind)
        };
        loop {
            let free = stripe.free.load(Ordering::Acquire);
            if free >= CLOSED {
                return refused(GenerateKind::Closed);
            }
            let (timeline, now, window) = match self.read(clock) {
                Ok(read) => read,
                Err(kind) => return refused(kind),
            };
            if self.published.policy.shape.tick(window.first) > timeline.reached {
                // Another thread has moved the time since the words were loaded.
                continue;
            }
            match window.fit(free, run, &self.published.policy) {
                Some(first) if stripe.exchange(free, first, run) => return Ok(first),
                Some(_) => {}
                None => {
                    let (seed, ceiling) =
                        (self.published.seed.load(Ordering::Relaxed), self.published.ceiling.load(Ordering::Relaxed));
                    return refused(timeline.refuse(now, free, run, seed, ceiling, &self.published.policy));
                }
            }
        }
    }

    /// Reads the real clock, and publishes the window of that reading.
    pub(super) fn read(&self, clock: &impl Clock) -> Result<(Timeline, u64, Window), GenerateKind> {
        if self.published.process.load(Ordering::Acquire) != fork::mark() {
            self.begin(self.settled(clock))?;
        }
        let timeline = self.published.timeline();
        // What the next calls will read. A copied clock can be older than the real one. The window then holds for the
        // copy.
        let copy = clock.now_ms().ok();
        let now = self.believed(timeline, self.published.policy.max_advance(), clock)?;
        let next = timeline.after(now, &self.published.policy, || self.unissued())?;
        Ok((next, now, self.published.publish(copy, now, timeline, next)))
    }

    /// Reads the real clock. If the reading is more than `max_advance` ahead of the last one, the lesser of two readings
    /// counts.
    pub(super) fn believed(&self, known: Timeline, max_advance: u64, clock: &impl Clock) -> Result<u64, ClockError> {
        let mut now = clock.refresh()?;
        if known.is_far_ahead(now, max_advance) {
            now = now.min(clock.refresh()?);
        }
        if now > self.published.policy.shape.last_tick() {
            return Err(ClockError::past_2109(now));
        }
        Ok(now)
    }

    /// Returns whether the real clock allows a stamp that has been taken. A thread that was paused before it took the
    /// stamp has an old `end`. The stamp must not be below `first` either, because a floor may have been raised past
    /// it.
    #[cold]
    #[inline(never)]
    pub(super) fn allows_now(&self, taken: u64, clock: &impl Clock) -> bool {
        self.read(clock).is_ok_and(|(.., window)| window.first <= taken && taken < window.end)
    }

    /// Raises the first tick that no stamp may have.
    pub(crate) fn raise_ceiling(&self, tick: u64) {
        // ORDERING: releases the floors that were raised before.
        self.published.ceiling.fetch_max(self.published.policy.ceiling(tick), Ordering::Release);
    }

    /// Closes the generator, and returns a stamp that is at least as great as each one taken.
    pub(crate) fn close(&self) -> Option<u64> {
        // A thread that is paused before its addition now gets a stamp past every `end`. The exchange of a paused
        // thread fails.
        let free = |stripe: &Stripe| stripe.free.fetch_or(CLOSED, Ordering::AcqRel) & !CLOSED;
        let end = self.stripes.iter().map(free).max();
        // A stamp that was dropped can be past the ceiling. An issued one is not.
        // ORDERING: after `free`, which acquires the ceiling of each issued stamp.
        let ceiling = self.published.ceiling.load(Ordering::Relaxed);
        end.and_then(|end| end.min(ceiling).checked_sub(1))
    }

    /// Returns the first tick after every stamp that was taken.
    pub(super) fn unissued(&self) -> u64 {
        self.last_tick().map_or(0, |last| last + 1)
    }

    /// Returns the tick of the greatest stamp taken, over all stripes; `None` before the first.
    pub(crate) fn last_tick(&self) -> Option<u64> {
        self.stripes.iter().filter_map(Stripe::last).max().map(|last| self.published.policy.shape.tick(last))
    }

    /// Returns how many calls were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.stripes.iter().fold(0, |sum, stripe| sum.wrapping_add(stripe.refused.load(Ordering::Relaxed)))
    }

    /// Returns the time reached.
    pub(crate) fn reached(&self) -> u64 {
        self.published.policy.shape.tick(self.published.first.load(Ordering::Relaxed))
    }
}

impl Stripe {
    pub(super) const fn new() -> Self {
        Self { free: AtomicU64::new(0), refused: AtomicU64::new(0) }
    }

    /// Returns the last stamp that was taken.
    pub(super) fn last(&self) -> Option<u64> {
        (self.free.load(Ordering::Relaxed) & !CLOSED).checked_sub(1)
    }

    /// Moves `free` past the run, if no other thread has moved it.
    #[inline]
    pub(super) fn exchange(&self, free: u64, first: u64, run: u64) -> bool {
        // ORDERING: releases the ceiling that allowed the run to `close`, which compares its end with the ceiling.
        self.free.compare_exchange(free, first + run, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::generator::slew::tests::{T, policy};

    /// A thread that was paused can take such stamps.
    #[test]
    fn a_stamp_that_was_taken_is_allowed_in_the_window_only() {
        let core = Core::<1>::new(policy(), false, Some(0), 0, u64::MAX);
        let clock = ManualClock::new(T);
        let (.., Window { first, end }) = core.read(&clock).unwrap();
        for (taken, is_allowed) in [(first - 1, false), (first, true), (end - 1, true), (end, false), (end + 1, false)]
        {
            assert_eq!(core.allows_now(taken, &clock), is_allowed, "{taken}, where {first} to {end} are free");
        }
    }
}
