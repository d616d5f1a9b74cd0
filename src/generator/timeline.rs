//! The time that a generator mints by: arithmetic on readings of the clock, without a clock and without atomics.
//!
//! The time reached never goes back. Where it is ahead of the clock, it goes on at half the clock's speed until the clock
//! has caught up, at the reading `meet`:
//!
//! ```text
//! time(now) = now                  where now >= meet
//!           = (now + meet) / 2     where now <  meet
//! ```
//!
//! Whatever moves the time reached to t at the reading `now` asks for `meet = 2 t - now`: a step of the clock back, an ID
//! seen elsewhere, a floor, the stamps that a forked child inherits. IDs then spread over milliseconds as they always
//! do, at twice the density. If the time stood still instead, all hosts that one event affects would put all their IDs
//! into one millisecond.

use super::policy::Policy;
use crate::stamp::mix;

/// How many ticks past the time reached an ID may be where the clock itself allows less: room for full load, in which
/// each tick starts at a seeded place and runs over into the next. A floor or an observed ID grants no more than this.
pub(super) const GRACE: u64 = 4;

/// The greatest distance between two hosts that one event sends to the same place.
const MAX_SPREAD: u64 = 16;

/// What a generator remembers of time, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Timeline {
    /// The greatest reading.
    pub(super) latest: u64,
    /// The time reached: no later ID has an earlier tick.
    pub(super) reached: u64,
    /// The reading at which the clock has caught up with the time reached.
    pub(super) meet: u64,
    /// How far steps of the clock have taken it behind its greatest reading. Full load needs that much more lead, until
    /// the load ends.
    pub(super) behind: u64,
    /// The least tick after every trusted floor.
    pub(super) floor: u64,
}

/// A clock too far behind: how far, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooFarBehind(pub(super) u64);

/// The stamps that may be taken at one reading of the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    /// The least one.
    pub(super) first: u64,
    /// The first one past the limit.
    pub(super) ceiling: u64,
}

/// A run of stamps that did not fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The stripe's least stamp that has not been taken.
    pub(super) free: u64,
    /// How many stamps are wanted.
    pub(super) run: u64,
    /// The first tick after every stamp of all stripes that was taken.
    pub(super) unissued: u64,
}

/// Why a run of stamps is not granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// The run ends more than `max` ticks after the reading. It fits after `wait` ticks.
    Lead { max: u64, wait: u64 },
    /// The bound that was set from outside.
    Ceiling,
    /// The run ends after the last tick.
    Exhausted,
}

impl Timeline {
    /// The time that belongs to a reading.
    #[inline]
    const fn time_at(&self, now: u64) -> u64 {
        if now < self.meet { now.midpoint(self.meet) } else { now }
    }

    /// Whether a reading moves the time on and nothing else, as nearly every one does.
    #[inline]
    pub(super) const fn is_plain(&self, now: u64, policy: &Policy) -> bool {
        self.latest <= now
            && self.reached <= now
            && self.meet <= now
            && !self.is_far_ahead(now)
            && now <= policy.shape.last_tick()
    }

    /// Whether a reading is so far ahead of the last one that it is not believed until a second one agrees: a minute.
    #[inline]
    pub(super) const fn is_far_ahead(&self, now: u64) -> bool {
        now.saturating_sub(self.latest) > 60_000
    }

    /// The timeline after one more reading, which is at most the last tick.
    ///
    /// `unissued` is the first tick after every stamp that was taken; it is asked for only if it matters.
    #[inline]
    pub(super) fn after(
        self,
        now: u64,
        policy: &Policy,
        unissued: impl FnOnce() -> u64,
    ) -> Result<Self, TooFarBehind> {
        let mut next = self;
        let known = self.latest.max(self.floor.saturating_sub(1));
        if known.saturating_sub(now) > policy.max_rollback {
            return Err(TooFarBehind(known - now));
        }
        let step = self.latest.saturating_sub(now);
        if step > 0 {
            next.behind = self.behind.max(step);
        } else if self.behind > 0 && now > self.latest {
            // The clock is past its earlier readings. What full load has borrowed meanwhile is still needed; to drop it at
            // once would refuse every call until the clock has caught up with the stamps.
            next.behind = self.behind.min(unissued().saturating_sub(now));
        }
        next.latest = self.latest.max(now);
        if self.reached > self.time_at(now) {
            // No sum overflows: ticks are far below 2⁶².
            let wanted = 2 * self.reached - now;
            // A clock that repeats a step forward and back leads by two steps at most. Without the cap each repetition
            // adds a step, because the time also goes on with the step forward.
            let most = if step > 0 { self.latest + 2 * step } else { wanted };
            next.meet = self.meet.max(wanted.min(most));
        }
        next.reached = self.reached.max(next.time_at(now));
        Ok(next)
    }

    /// The greatest tick that a stamp may have.
    #[inline]
    pub(super) const fn limit(&self, now: u64, policy: &Policy) -> u64 {
        let grace = if policy.max_lead < GRACE { policy.max_lead } else { GRACE };
        let (granted, lead) = (self.reached + grace, now + self.behind + policy.max_lead);
        if granted > lead { granted } else { lead }
    }

    /// The window of a timeline that ends with this reading. `bound` is the first stamp that must not be taken.
    #[inline]
    pub(super) const fn window(&self, now: u64, seed: u64, bound: u64, policy: &Policy) -> Window {
        let past = policy.shape.first_of(self.limit(now, policy) + 1);
        Window { first: fresh(self.reached, seed, policy), ceiling: if past < bound { past } else { bound } }
    }

    /// Why a run does not fit into the window, and when it will.
    #[cold]
    pub(super) fn refuse(&self, now: u64, asked: Asked, seed: u64, bound: u64, policy: &Policy) -> Refusal {
        let (shape, Asked { free, run, unissued }) = (&policy.shape, asked);
        let max = self.limit(now, policy) - now;
        let mut at = now;
        loop {
            // The readings to come are not behind this one, so none is too far behind.
            let Ok(later) = self.after(at, policy, || unissued) else { return Refusal::Lead { max, wait: at - now } };
            let last = later.window(at, seed, bound, policy).start(free, policy) + (run - 1);
            if shape.tick(last) > shape.last_tick() {
                return Refusal::Exhausted;
            }
            if last >= bound {
                return Refusal::Ceiling;
            }
            let limit = later.limit(at, policy);
            if shape.tick(last) <= limit {
                return Refusal::Lead { max, wait: at - now };
            }
            // The limit gains at most a tick on the run for each tick that the clock moves, so this skips no reading at
            // which the run would fit.
            at += shape.tick(last) - limit;
            if at > shape.last_tick() {
                return Refusal::Exhausted;
            }
        }
    }

    /// Where to start instead of `tick`, to which an event may send many hosts at once: a seeded distance later, at most a
    /// quarter of the distance that it moves the time, and at most 16 ms.
    pub(super) const fn spread(&self, tick: u64, now: u64, seed: u64) -> u64 {
        let time = self.time_at(now);
        let jump = tick.saturating_sub(if time > self.reached { time } else { self.reached });
        let most = if jump / 4 < MAX_SPREAD { jump / 4 } else { MAX_SPREAD };
        // Another mix than that of the starts, which it must not depend on.
        let mixed = mix(!seed ^ tick.rotate_left(u64::BITS / 2)) >> u32::BITS;
        tick + ((mixed * (most + 1)) >> u32::BITS)
    }
}

/// The least stamp of a tick that an ID may have. A rolling start adds its counter in [`Window::start`].
#[inline]
pub(super) const fn fresh(tick: u64, seed: u64, policy: &Policy) -> u64 {
    policy.shape.first_of(tick) | policy.origin.start(tick, 0, seed, &policy.shape)
}

impl Window {
    /// The first stamp of a run: the next free one, or a fresh one.
    #[inline]
    pub(super) const fn start(&self, free: u64, policy: &Policy) -> u64 {
        if free >= self.first {
            return free;
        }
        self.first | policy.origin.rolled(free, &policy.shape)
    }

    /// The first stamp of a run that ends before the ceiling.
    #[inline]
    pub(super) const fn fit(&self, free: u64, run: u64, policy: &Policy) -> Option<u64> {
        let start = self.start(free, policy);
        if start + run <= self.ceiling { Some(start) } else { None }
    }
}
