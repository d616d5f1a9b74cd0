//! The shared words, and the step that mints: load, advance, exchange.
//!
//! All threads share one [`History`], which is written about once a millisecond, and each session's threads share one
//! [`Stripe`], which every ID writes.
//!
//! Why relaxed orderings do: what makes IDs distinct and ordered is one word, a stripe's `free`. It changes by
//! read-modify-write only, and only upwards; all threads agree on the order of its values, and a call that happens
//! before another comes first in it (coherence, C++20 [intro.races]). The words of the history only ever move a stamp
//! to a later time or grant it a later limit. A thread that sees them late mints a stamp that it could have minted a
//! moment ago.

use super::error::{GenerateKind, ObserveError};
use super::policy::Policy;
use super::seed;
use crate::clock::{Clock, ClockError};
use crate::fork;
use crate::stamp::Reckoning;
use crate::sync::{AtomicU64, Ordering};

/// One cache line pair to itself: the prefetcher of x86-64 fetches lines in pairs.
#[repr(align(128))]
pub(crate) struct Stripe {
    /// The least compact stamp that has not been taken.
    free: AtomicU64,
    /// How many stamps below `free` were passed over and never issued.
    skipped: AtomicU64,
    /// How many calls were refused.
    refused: AtomicU64,
}

/// What the clock has shown, shared by all stripes.
#[repr(align(128))]
struct History {
    /// The greatest reading so far.
    latest: AtomicU64,
    /// The tick that no stamp may come before: past every ID observed, and past the parent's after a fork.
    floor: AtomicU64,
    /// How far the clock stands behind the time that was reached. 0 again once it is past that.
    behind: AtomicU64,
    /// What the fresh counters are mixed from.
    seed: AtomicU64,
    /// The value of [`fork::epoch`] at which this process took its seed; 0 before first use.
    epoch: AtomicU64,
}

/// The history as one thread saw it.
#[derive(Clone, Copy)]
struct View {
    latest: u64,
    floor: u64,
    behind: u64,
}

impl View {
    /// The time that was reached without a further reading.
    #[inline]
    fn reached(self) -> u64 {
        self.latest.max(self.floor)
    }

    /// Whether a reading brings nothing new: the clock has not moved on, nor is it further back than is allowed or
    /// known.
    #[inline]
    fn covers(self, now: u64, policy: &Policy) -> bool {
        now <= self.latest && self.latest - now <= policy.max_rollback && self.reached() - now <= self.behind
    }

    #[inline]
    fn reckon(self, now: u64, policy: &Policy) -> Reckoning {
        Reckoning::new(now, now.max(self.reached()), self.behind, policy.max_lead)
    }
}

/// Everything of a generator but its clock.
pub(crate) struct Core<const STRIPES: usize> {
    history: History,
    policy: Policy,
    /// The seed that the builder was given; `None` where each process draws its own.
    fixed_seed: Option<u64>,
    stripes: [Stripe; STRIPES],
}

impl<const STRIPES: usize> Core<STRIPES> {
    /// `floor` is the tick of an ID that every stamp must come after.
    pub(crate) const fn new(policy: Policy, fixed_seed: Option<u64>, floor: Option<u64>) -> Self {
        const { assert!(STRIPES > 0, "a generator has at least one stripe") };
        // The ID from the store stands for a reading that an earlier process made: the rollback rule holds for it.
        let (latest, floor) = match floor {
            Some(tick) => (tick, tick + 1),
            None => (0, 0),
        };
        Self {
            history: History {
                latest: AtomicU64::new(latest),
                floor: AtomicU64::new(floor),
                behind: AtomicU64::new(0),
                seed: AtomicU64::new(0),
                epoch: AtomicU64::new(0),
            },
            policy,
            fixed_seed,
            stripes: [const { Stripe::new() }; STRIPES],
        }
    }

    /// Makes every word in the thread that builds, as loom wants it.
    #[cfg(loom)]
    pub(crate) fn touch(&self) {
        self.history.view();
        self.history.seed.load(Ordering::Relaxed);
        self.history.epoch.load(Ordering::Relaxed);
        self.issued();
        self.refused();
    }

    #[inline]
    pub(crate) const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Takes `run` consecutive compact stamps of the stripe that `key` selects, and returns the first.
    #[inline]
    pub(crate) fn take(&self, key: u32, run: u64, clock: &impl Clock) -> Result<u64, GenerateKind> {
        let stripe = &self.stripes[key as usize % STRIPES];
        let reading = clock.now_ms().ok();
        if let Some(now) = reading
            && self.is_awake()
        {
            let view = self.history.view();
            if view.covers(now, &self.policy)
                && let Some(first) = self.take_from(stripe, run, clock, view.reckon(now, &self.policy))
            {
                return Ok(first);
            }
        }
        self.take_out_of_line(stripe, run, clock, reading)
    }

    /// The same at the turn of a millisecond; for all else the clock is read anew.
    #[inline(never)]
    fn take_out_of_line(
        &self,
        stripe: &Stripe,
        run: u64,
        clock: &impl Clock,
        reading: Option<u64>,
    ) -> Result<u64, GenerateKind> {
        if let Some(now) = reading
            && self.is_awake()
            && now > self.history.latest.load(Ordering::Relaxed)
            && let Ok(at) = self.tick(now)
            && let Some(first) = self.take_from(stripe, run, clock, at)
        {
            return Ok(first);
        }
        self.take_anew(stripe, run, clock)
    }

    /// Load, advance, exchange. `None` where the reckoning does not allow it.
    #[inline]
    fn take_from(&self, stripe: &Stripe, run: u64, clock: &impl Clock, at: Reckoning) -> Option<u64> {
        loop {
            let free = stripe.free.load(Ordering::Relaxed);
            let first = at.advance(free, run, self.fresh_start(at.time, free), &self.policy.shape).ok()?;
            if first == free && run == 1 {
                // The next stamp in line. An addition cannot lose to another thread as an exchange can; but others may
                // have added since the load, so the limit is looked at again, by the real clock if need be, and a stamp
                // past it is given up. The look before bounds what can be given up by the number of threads. (A long
                // run is not worth that waste.)
                let first = stripe.free.fetch_add(run, Ordering::Relaxed);
                if at.admit(first, run, &self.policy.shape).is_ok() || self.admits_now(first, run, clock) {
                    return Some(first);
                }
                stripe.skipped.fetch_add(run, Ordering::Relaxed);
                return None;
            }
            if stripe.exchange(free, first, run) {
                return Some(first);
            }
        }
    }

    /// Whether the real clock allows a run that has been taken. A thread that was paused before it took the run holds
    /// an old limit.
    #[cold]
    #[inline(never)]
    fn admits_now(&self, first: u64, run: u64, clock: &impl Clock) -> bool {
        let view = self.history.view();
        let at = clock.refresh().map_err(GenerateKind::from).and_then(|now| self.look_back(view, now));
        at.is_ok_and(|at| at.admit(first, run, &self.policy.shape).is_ok())
    }

    /// The same with the real clock, before anything is refused.
    ///
    /// The words are loaded before the clock is read, so a refusal was true at that reading, however long the thread
    /// has been paused before it or since.
    #[cold]
    #[inline(never)]
    fn take_anew(&self, stripe: &Stripe, run: u64, clock: &impl Clock) -> Result<u64, GenerateKind> {
        self.wake();
        loop {
            let free = stripe.free.load(Ordering::Relaxed);
            let view = self.history.view();
            let step = clock.refresh().map_err(GenerateKind::from).and_then(|now| {
                let at = self.look_back(view, now)?;
                Ok(at.advance(free, run, self.fresh_start(at.time, free), &self.policy.shape)?)
            });
            match step {
                Ok(first) if stripe.exchange(free, first, run) => return Ok(first),
                Ok(_) => {}
                Err(kind) => {
                    stripe.refused.fetch_add(1, Ordering::Relaxed);
                    return Err(kind);
                }
            }
        }
    }

    /// What a reading means that has just been made, be it ahead of the history or behind it.
    fn look_back(&self, view: View, now: u64) -> Result<Reckoning, GenerateKind> {
        if now > view.latest {
            return Ok(self.tick(now)?);
        }
        let rollback = view.latest - now;
        if rollback > self.policy.max_rollback {
            return Err(GenerateKind::Rollback { max: self.policy.max_rollback, found: rollback });
        }
        Ok(self.fall_behind(view, now).reckon(now, &self.policy))
    }

    /// Remembers how far a reading is behind the time that was reached, if that is further than before.
    fn fall_behind(&self, view: View, now: u64) -> View {
        let gap = view.reached().saturating_sub(now);
        let behind =
            if gap > view.behind { self.history.behind.fetch_max(gap, Ordering::Relaxed) } else { view.behind };
        View { behind: behind.max(gap), ..view }
    }

    /// Takes over a reading that is later than all before it.
    fn tick(&self, now: u64) -> Result<Reckoning, ClockError> {
        if now > self.policy.shape.last_tick() {
            return Err(ClockError::past_2109(now));
        }
        self.history.latest.fetch_max(now, Ordering::Relaxed);
        let mut view = self.history.view();
        if view.behind > 0 {
            view.behind = self.settle(view, now);
        }
        Ok(self.fall_behind(view, now).reckon(now, &self.policy))
    }

    /// Lowers `behind`, now that the clock is past its earlier readings, to what is left until it is past the stamps
    /// issued meanwhile as well.
    ///
    /// Under full load the lead that was granted during a rollback lasts; dropping it at once would refuse every call
    /// until the clock has caught up with the stamps.
    fn settle(&self, view: View, now: u64) -> u64 {
        let unissued = self.last_tick().map_or(0, |last| last + 1);
        let needed = unissued.max(view.floor).saturating_sub(now).min(view.behind);
        // A failed exchange means that another thread has settled, or that the clock stepped back again: the next tick
        // looks at it.
        let exchange = self.history.behind.compare_exchange(view.behind, needed, Ordering::Relaxed, Ordering::Relaxed);
        exchange.map_or_else(|behind| behind, |_| needed)
    }

    /// Whether this process has its own seed: one compare covers first use and fork.
    #[inline]
    fn is_awake(&self) -> bool {
        // ORDERING: acquires the seed and the floor that `wake` stored before it.
        self.history.epoch.load(Ordering::Acquire) == fork::epoch()
    }

    /// Takes the seed, and in a forked child leaves the parent's stamps alone: the child begins in the millisecond
    /// after the last one that it inherited, unknown to the parent.
    ///
    /// Threads that arrive together may each do this. The seed of the last one stays, and the floors only rise.
    fn wake(&self) {
        let epoch = fork::watch();
        let known = self.history.epoch.load(Ordering::Acquire);
        if known == epoch {
            return;
        }
        let forked = known != 0;
        if forked && let Some(last) = self.last_tick() {
            self.history.floor.fetch_max(last + 1, Ordering::Relaxed);
        }
        let seed = match self.fixed_seed {
            Some(seed) if !forked => seed,
            _ => seed::draw(self.history.seed.load(Ordering::Relaxed)),
        };
        self.history.seed.store(seed, Ordering::Relaxed);
        // ORDERING: releases the seed and the floor to threads that find the generator awake.
        self.history.epoch.store(epoch, Ordering::Release);
    }

    /// Makes every later stamp come after `tick`.
    #[inline]
    pub(crate) fn observe(&self, tick: u64, clock: &impl Clock) -> Result<(), ObserveError> {
        // Later stamps are at this time or after it, whatever the clock does.
        if tick < self.history.view().reached() {
            return Ok(());
        }
        self.raise_floor(tick, clock)
    }

    #[inline(never)]
    fn raise_floor(&self, tick: u64, clock: &impl Clock) -> Result<(), ObserveError> {
        let latest = self.history.latest.load(Ordering::Relaxed);
        // Skew is measured from readings, never from the floor: else a chain of IDs, each a little ahead, would carry
        // it away from the clock without bound.
        let ahead = |now: u64| tick.saturating_sub(now.max(latest));
        let mut now = clock.now_ms()?;
        if ahead(now) > self.policy.max_skew {
            now = clock.refresh()?;
        }
        if now > self.policy.shape.last_tick() {
            return Err(ClockError::past_2109(now).into());
        }
        if ahead(now) > self.policy.max_skew {
            return Err(ObserveError::skew(self.policy.max_skew, ahead(now)));
        }
        self.history.floor.fetch_max(tick + 1, Ordering::Relaxed);
        Ok(())
    }

    /// Forgets all readings but the present one, and gives up the stamps that lie ahead of it.
    pub(crate) fn resync(&self, clock: &impl Clock) -> Result<(), ClockError> {
        self.wake();
        let now = clock.refresh()?;
        if now > self.policy.shape.last_tick() {
            return Err(ClockError::past_2109(now));
        }
        let seed = seed::draw(self.history.seed.load(Ordering::Relaxed));
        self.history.seed.store(seed, Ordering::Relaxed);
        self.history.latest.store(now, Ordering::Relaxed);
        self.history.floor.store(0, Ordering::Relaxed);
        self.history.behind.store(0, Ordering::Relaxed);
        for stripe in &self.stripes {
            let free = stripe.free.load(Ordering::Relaxed);
            // A stripe that is no further ahead than overload may take it needs no correction, and keeps its order.
            if free > self.policy.shape.first_of(now + self.policy.max_lead + 1) {
                let fresh = self.policy.shape.first_of(now) | self.fresh_start(now, free);
                let free = stripe.free.swap(fresh, Ordering::Relaxed);
                stripe.skipped.fetch_add(fresh.wrapping_sub(free), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    #[inline]
    fn fresh_start(&self, tick: u64, free: u64) -> u64 {
        let seed = self.history.seed.load(Ordering::Relaxed);
        self.policy.origin.start(tick, free, seed, &self.policy.shape)
    }

    /// The tick of the greatest stamp taken, over all stripes; `None` before the first.
    pub(crate) fn last_tick(&self) -> Option<u64> {
        let free = self.stripes.iter().map(|stripe| stripe.free.load(Ordering::Relaxed)).max();
        free.and_then(|free| free.checked_sub(1)).map(|last| self.policy.shape.tick(last))
    }

    /// How many stamps were issued.
    pub(crate) fn issued(&self) -> u64 {
        self.sum(|stripe| {
            // Skipped first: a stamp taken in between then counts as issued, not as less than none.
            let skipped = stripe.skipped.load(Ordering::Relaxed);
            stripe.free.load(Ordering::Relaxed).wrapping_sub(skipped)
        })
    }

    /// How many calls were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.sum(|stripe| stripe.refused.load(Ordering::Relaxed))
    }

    /// How far the clock stands behind the time that was reached, at the last look.
    pub(crate) fn behind(&self) -> u64 {
        self.history.behind.load(Ordering::Relaxed)
    }

    fn sum(&self, count: impl Fn(&Stripe) -> u64) -> u64 {
        self.stripes.iter().fold(0, |sum, stripe| sum.wrapping_add(count(stripe)))
    }
}

impl History {
    #[inline]
    fn view(&self) -> View {
        View {
            latest: self.latest.load(Ordering::Relaxed),
            floor: self.floor.load(Ordering::Relaxed),
            behind: self.behind.load(Ordering::Relaxed),
        }
    }
}

impl Stripe {
    const fn new() -> Self {
        Self { free: AtomicU64::new(0), skipped: AtomicU64::new(0), refused: AtomicU64::new(0) }
    }

    /// Moves `free` past the run, if no other thread has moved it.
    #[inline]
    fn exchange(&self, free: u64, first: u64, run: u64) -> bool {
        let taken = self.free.compare_exchange(free, first + run, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if taken && first > free {
            self.skipped.fetch_add(first - free, Ordering::Relaxed);
        }
        taken
    }
}
