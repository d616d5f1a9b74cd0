//! The step that mints after a given ID: [`take`](super::take) with a lower bound, which moves one stripe and nothing else.
//!
//! The rule, of a call with the ID `last` at the reading `c`, where `top` is the greatest reading:
//!
//! 1. `least` is the least stamp that the call may take. With a lane it is the lane's first stamp after the stamp of `last`, which
//!    can be in the same millisecond. Without a lane it is the first stamp of the millisecond after `last`, because another host
//!    can mint the next stamp of this one. It is not less than the seeded start of its millisecond.
//! 2. If the stripe's next stamp (`free`, or the start of the time reached if that is greater) is after `last` already, the call
//!    does what a plain one does. Otherwise the stripe is **moved** to `least`. That is refused, and changes nothing, if `last` is more
//!    than `max_skew` ahead of max(c, top), with the ID's time - `max_skew` - c as the wait, or if `least` is at or past the ceiling or the end of
//!    time. Nothing else refuses a move, and `least` itself is minted.
//! 3. A moved stripe has its own limit beside that of the [timeline](super::timeline); the greater one counts. Let `t` be the
//!    millisecond of `least`, and `b` what steps of the clock grant (`behind`: c + b is never less than `top`). The move raises the
//!    stripe's `meet` to 2 t - max(c, top). While c + b < meet, the stripe's stamps may be up to min(4, `max_lead`) ms past
//!    (c + b + meet) / 2, rounded down: the limit begins at t and continues at half the clock's speed. At `meet` the clock has caught
//!    up, and the move is forgotten.
//! 4. A stripe that is moved and not used stands still, so its lead is gone after t - c.
//!
//! The time reached does not change, so other stripes do not either, and what full load needs after a step back is computed without
//! the stamps that moves granted. A forked child begins each moved stripe in the millisecond after its last stamp.
//!
//! Distinct stamps need no separate argument: a move is an exchange that raises `free`. `meet` is raised before it, so a call
//! that finds `free` moved finds the limit that the move granted.

use super::error::GenerateKind;
use super::take::{Core, Stripe, Wanted};
use super::timeline::{Timeline, Window, fresh};
use super::words::raise;
use crate::clock::Clock;
use crate::sync::Ordering;

impl<const STRIPES: usize> Core<STRIPES> {
    /// Takes a stamp after an expanded one, of the stripe that `key` selects.
    #[inline]
    pub(crate) fn take_after(
        &self,
        key: u32,
        after: u64,
        max_ahead: u64,
        clock: &impl Clock,
    ) -> Result<u64, GenerateKind> {
        let stripe = &self.stripes[key as usize % STRIPES];
        let reading = clock.now_ms().ok();
        // As in `take`, with one more comparison. Additions by other threads only take it further past `after`.
        let free = stripe.free.load(Ordering::Relaxed);
        if let Some(now) = reading
            && self.words.hold_for(now)
        {
            let Window { first, end } = self.words.window();
            if first <= free && free < end && self.policy().shape.least_after(after) <= free {
                // ORDERING: as in `Stripe::exchange`.
                let taken = stripe.free.fetch_add(1, Ordering::Release);
                if taken < end || self.allows_now(stripe, taken, clock) {
                    return Ok(taken);
                }
            }
        }
        self.take_after_out_of_line(stripe, Wanted { after: Some(after), max_ahead, ..Wanted::ONE }, clock, reading)
    }

    #[inline(never)]
    fn take_after_out_of_line(
        &self,
        stripe: &Stripe,
        wanted: Wanted,
        clock: &impl Clock,
        reading: Option<u64>,
    ) -> Result<u64, GenerateKind> {
        if let Some(now) = reading
            && clock.accepts(now)
            && let Some(window) = self.words.window_at(now)
            && let Some(first) = self.take_where_moved(stripe, wanted, window, now)
        {
            return Ok(first);
        }
        self.take_by_real_clock(stripe, wanted, clock)
    }

    /// Takes stamps by the limit of the stripe, and moves it if necessary. `None` means that the real clock must decide.
    #[inline(never)]
    pub(super) fn take_where_moved(&self, stripe: &Stripe, wanted: Wanted, window: Window, now: u64) -> Option<u64> {
        loop {
            let free = stripe.free.load(Ordering::Relaxed);
            let window = Window { first: window.first.max(self.words.first.load(Ordering::Relaxed)), ..window };
            if let Some(least) = self.move_to(free, window, wanted.after) {
                let latest = self.words.latest.load(Ordering::Relaxed);
                if self.refuse_to_move(wanted, least, now, latest).is_some() {
                    return None;
                }
                if self.take_moved(stripe, free, least, now.max(latest)) {
                    return Some(least);
                }
            } else {
                let fit = |window: Window| window.fit(free, wanted.run, self.policy());
                let first = fit(window).or_else(|| fit(self.window_of(stripe, window, now)))?;
                if stripe.exchange(free, first, wanted.run) {
                    return Some(first);
                }
            }
        }
    }

    /// Returns where a stripe must be moved to, if its next stamp is not after `after`.
    pub(super) fn move_to(&self, free: u64, window: Window, after: Option<u64>) -> Option<u64> {
        let policy = self.policy();
        let after = after?;
        let least = policy.shape.least_after(after);
        if window.start(free, policy) >= least {
            return None;
        }
        let least = if self.has_lane { least } else { policy.shape.first_of(policy.shape.tick_of(after) + 1) };
        let tick = policy.shape.tick(least);
        let start = fresh(tick, self.words.seed.load(Ordering::Relaxed), policy);
        Some(least.max(start | policy.origin.rolled(free, &policy.shape)))
    }

    /// Moves a stripe to a stamp and takes it. `false` if another thread was faster, or has raised a floor past it.
    ///
    /// `latest` is the greatest reading. The clock, and what its steps grant, is never before that again, so the stamp stays below the
    /// limit.
    pub(super) fn take_moved(&self, stripe: &Stripe, free: u64, least: u64, latest: u64) -> bool {
        // ORDERING: after the ceiling, as in `Words::window`: stamps between an old ceiling and a floor can be another generator's.
        if least < self.words.first.load(Ordering::Relaxed) {
            return false;
        }
        let tick = self.policy().shape.tick(least);
        raise(&stripe.meet, (2 * tick).saturating_sub(latest));
        stripe.exchange(free, least, 1)
    }

    /// Returns why a stripe is not moved to `least`.
    pub(super) fn refuse_to_move(&self, wanted: Wanted, least: u64, now: u64, latest: u64) -> Option<GenerateKind> {
        let (shape, max) = (&self.policy().shape, wanted.max_ahead);
        let tick = wanted.after.map_or(0, |after| shape.tick_of(after));
        if tick.saturating_sub(now.max(latest)) > max {
            // From the clock as it is, so that the excess is the wait.
            return Some(GenerateKind::Skew { max, found: tick - now });
        }
        if shape.tick(least) > shape.last_tick() {
            return Some(GenerateKind::Exhausted);
        }
        // ORDERING: acquires the floors that were raised before the ceiling, as in `Words::window`.
        (least >= self.words.ceiling.load(Ordering::Acquire)).then_some(GenerateKind::Ceiling)
    }

    /// Returns the window of a stripe, from that of all stripes at this reading.
    pub(super) fn window_of(&self, stripe: &Stripe, window: Window, now: u64) -> Window {
        let timeline = Timeline { behind: self.words.behind.load(Ordering::Relaxed), ..Timeline::NEW };
        // ORDERING: after `free`, whose move released it.
        let moved = timeline.moved(now, stripe.meet.load(Ordering::Relaxed), self.policy());
        let Some(limit) = moved else { return window };
        // ORDERING: the ceiling first, as in `Words::window`.
        let ceiling = self.words.ceiling.load(Ordering::Acquire);
        let end = self.policy().shape.first_of(limit + 1).min(ceiling);
        Window { first: window.first.max(self.words.first.load(Ordering::Relaxed)), end: window.end.max(end) }
    }

    /// Moves each stripe to the tick after the last stamp that a closed generator has taken of it, if that is further. Where it is ahead
    /// of the clock, it has the limit of a move.
    pub(crate) fn continue_after(&self, closed: &Self, clock: &impl Clock) {
        // The move is measured from the greatest reading, which this one may not have made yet.
        let latest = self.read(clock).map_or(0, |(timeline, ..)| timeline.latest);
        let latest = latest.max(closed.words.latest.load(Ordering::Relaxed));
        let policy = self.policy();
        for (stripe, before) in self.stripes.iter().zip(&closed.stripes) {
            if let Some(last) = before.last() {
                let tick = policy.shape.tick(last) + 1;
                let start = fresh(tick, self.words.seed.load(Ordering::Relaxed), policy);
                raise(&stripe.meet, (2 * tick).saturating_sub(latest));
                raise(&stripe.free, start | policy.origin.rolled(last + 1, &policy.shape));
            }
        }
    }

    /// Begins each moved stripe of a forked child in the tick after the last stamp that it inherited. The time reached covers
    /// the others.
    pub(super) fn leave_the_parents_moves(&self, latest: u64, start: impl Fn(u64) -> u64) {
        for stripe in &self.stripes {
            if stripe.meet.load(Ordering::Relaxed) > latest
                && let Some(last) = stripe.last()
            {
                let tick = self.policy().shape.tick(last) + 1;
                raise(&stripe.free, self.policy().shape.first_of(tick) | start(tick));
            }
        }
    }
}
