//! The step that mints: a run of stamps is taken, or refused.
//!
//! What a call must know of the time depends only on the reading of the clock, so the first call with a new reading
//! computes it, and publishes it in the [`Words`] `reading`, `first` and `end`. A call that mints compares the
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
use super::refusal::Asked;
use super::timeline::{Timeline, Window};
use super::words::Words;
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
    /// The reading at which the clock has caught up with where the stripe was [moved](super::after).
    pub(super) meet: AtomicU64,
}

/// Everything of a generator but its clock.
pub(crate) struct Core<const STRIPES: usize> {
    pub(super) words: Words,
    /// Whether a lane was set. The stamps then belong to one process.
    pub(super) has_lane: bool,
    /// The seed that the builder was given. With `None` each process draws its own.
    pub(super) fixed_seed: Option<u64>,
    pub(super) stripes: [Stripe; STRIPES],
}

/// What a call asks of a stripe.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// How many stamps.
    pub(super) run: u64,
    /// The expanded stamp that they must come after.
    pub(super) after: Option<u64>,
    /// How many ticks that one may be ahead of the clock.
    pub(super) max_ahead: u64,
}

impl Wanted {
    pub(super) const ONE: Self = Self { run: 1, after: None, max_ahead: 0 };
}

impl<const STRIPES: usize> Core<STRIPES> {
    /// `floor` is the first tick that a stamp may have, `ceiling` the first one that no stamp may have.
    pub(crate) const fn new(policy: Policy, has_lane: bool, fixed_seed: Option<u64>, floor: u64, ceiling: u64) -> Self {
        const { assert!(STRIPES > 0, "a generator has at least one stripe") };
        Self {
            words: Words::new(policy, policy.floor(floor), policy.ceiling(ceiling)),
            has_lane,
            fixed_seed,
            stripes: [const { Stripe::new() }; STRIPES],
        }
    }

    #[inline]
    pub(crate) const fn policy(&self) -> &Policy {
        &self.words.policy
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
            && self.words.hold_for(now)
        {
            let Window { first, end } = self.words.window();
            if first <= free && free + run <= end {
                if run == 1 {
                    // An addition needs no retry when threads compete. Others may have added since the load, so the
                    // stamp is checked again. The check before the addition limits the dropped stamps to one per
                    // thread. A run uses the exchange, because a dropped run would waste many stamps.
                    // ORDERING: as in `exchange`.
                    let taken = stripe.free.fetch_add(1, Ordering::Release);
                    if taken < end || self.allows_now(stripe, taken, clock) {
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
            && let Some(window) = self.words.window_at(now)
        {
            let mut free = stripe.free.load(Ordering::Relaxed);
            while let Some(first) = window.fit(free, run, &self.words.policy) {
                if stripe.exchange(free, first, run) {
                    return Ok(first);
                }
                free = stripe.free.load(Ordering::Relaxed);
            }
            return self.take_past_window(stripe, run, clock, Some((window, now)));
        }
        self.take_past_window(stripe, run, clock, None)
    }

    /// Takes stamps where the window of all stripes, if there is one for the reading, has none.
    #[cold]
    #[inline(never)]
    fn take_past_window(
        &self,
        stripe: &Stripe,
        run: u64,
        clock: &impl Clock,
        read: Option<(Window, u64)>,
    ) -> Result<u64, GenerateKind> {
        let wanted = Wanted { run, ..Wanted::ONE };
        let moved = read.and_then(|(window, now)| self.take_where_moved(stripe, wanted, window, now));
        moved.map_or_else(|| self.take_by_real_clock(stripe, wanted, clock), Ok)
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
        wanted: Wanted,
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
            if self.words.policy.shape.tick(window.first) > timeline.reached {
                // Another thread has moved the time since the words were loaded.
                continue;
            }
            if let Some(least) = self.move_to(free, window, wanted.after) {
                if let Some(kind) = self.refuse_to_move(wanted, least, now, timeline.latest) {
                    return refused(kind);
                }
                if self.take_moved(stripe, free, least, timeline.latest) {
                    return Ok(least);
                }
                continue;
            }
            match self.window_of(stripe, window, now).fit(free, wanted.run, &self.words.policy) {
                Some(first) if stripe.exchange(free, first, wanted.run) => return Ok(first),
                Some(_) => {}
                None => {
                    let asked = Asked { free, run: wanted.run, meet: stripe.meet.load(Ordering::Relaxed) };
                    let (seed, ceiling) =
                        (self.words.seed.load(Ordering::Relaxed), self.words.ceiling.load(Ordering::Relaxed));
                    let unissued = |at| self.unissued(at);
                    return refused(timeline.refuse(now, asked, unissued, seed, ceiling, &self.words.policy));
                }
            }
        }
    }

    /// Reads the real clock, and publishes the window of that reading.
    pub(super) fn read(&self, clock: &impl Clock) -> Result<(Timeline, u64, Window), GenerateKind> {
        if self.words.process.load(Ordering::Acquire) != fork::mark() {
            self.begin(self.settled(clock))?;
        }
        let timeline = self.words.timeline();
        // What the next calls will read. A copied clock can be older than the real one. The window then holds for the
        // copy.
        let copy = clock.now_ms().ok();
        let now = self.believed(timeline, self.words.policy.max_advance(), clock)?;
        let next = timeline.after(now, &self.words.policy, |at| self.unissued(at))?;
        Ok((next, now, self.words.publish(copy, now, timeline, next)))
    }

    /// Reads the real clock. If the reading is more than `max_advance` ahead of the last one, the lesser of two readings
    /// counts.
    pub(super) fn believed(&self, known: Timeline, max_advance: u64, clock: &impl Clock) -> Result<u64, ClockError> {
        let mut now = clock.refresh()?;
        if known.is_far_ahead(now, max_advance) {
            now = now.min(clock.refresh()?);
        }
        if now > self.words.policy.shape.last_tick() {
            return Err(ClockError::past_2109(now));
        }
        Ok(now)
    }

    /// Returns whether the real clock allows a stamp that has been taken. A thread that was paused before it took the
    /// stamp has an old `end`. The stamp must not be below `first` either, because a floor may have been raised past
    /// it.
    #[cold]
    #[inline(never)]
    pub(super) fn allows_now(&self, stripe: &Stripe, taken: u64, clock: &impl Clock) -> bool {
        self.read(clock).is_ok_and(|(_, now, window)| {
            let window = self.window_of(stripe, window, now);
            window.first <= taken && taken < window.end
        })
    }

    /// Raises the first tick that no stamp may have.
    pub(crate) fn raise_ceiling(&self, tick: u64) {
        // ORDERING: releases the floors that were raised before.
        self.words.ceiling.fetch_max(self.words.policy.ceiling(tick), Ordering::Release);
    }

    /// Closes the generator, and returns a stamp that is at least as great as each one taken.
    pub(crate) fn close(&self) -> Option<u64> {
        // A thread that is paused before its addition now gets a stamp past every `end`. The exchange of a paused
        // thread fails.
        let free = |stripe: &Stripe| stripe.free.fetch_or(CLOSED, Ordering::AcqRel) & !CLOSED;
        let end = self.stripes.iter().map(free).max();
        // A stamp that was dropped can be past the ceiling. An issued one is not.
        // ORDERING: after `free`, which acquires the ceiling of each issued stamp.
        let ceiling = self.words.ceiling.load(Ordering::Relaxed);
        end.and_then(|end| end.min(ceiling).checked_sub(1))
    }

    /// Returns the first tick after every stamp that was taken, without those that the moves of their stripes grant.
    ///
    /// What steps of the clock grant is not counted, because it ends when this says so.
    pub(super) fn unissued(&self, now: u64) -> u64 {
        let (policy, timeline) = (self.policy(), Timeline { behind: 0, ..Timeline::NEW });
        let last = self.stripes.iter().filter_map(|stripe| {
            let tick = policy.shape.tick(stripe.last()?);
            let granted = timeline.moved(now, stripe.meet.load(Ordering::Relaxed), policy);
            granted.is_none_or(|limit| limit < tick).then_some(tick + 1)
        });
        last.max().unwrap_or(0)
    }

    /// Returns the tick of the greatest stamp taken, over all stripes; `None` before the first.
    pub(crate) fn last_tick(&self) -> Option<u64> {
        self.stripes.iter().filter_map(Stripe::last).max().map(|last| self.words.policy.shape.tick(last))
    }

    /// Returns how many calls were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.stripes.iter().fold(0, |sum, stripe| sum.wrapping_add(stripe.refused.load(Ordering::Relaxed)))
    }

    /// Returns the time reached.
    pub(crate) fn reached(&self) -> u64 {
        self.words.policy.shape.tick(self.words.first.load(Ordering::Relaxed))
    }
}

impl Stripe {
    pub(super) const fn new() -> Self {
        Self { free: AtomicU64::new(0), refused: AtomicU64::new(0), meet: AtomicU64::new(0) }
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
