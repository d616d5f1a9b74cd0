//! The time that a generator mints by: arithmetic on readings of the clock, without a clock and without atomics.
//!
//! The time reached never goes back. Where it is ahead of the clock, it continues at half the clock's speed until the
//! clock has caught up, at the reading `meet`:
//!
//! ```text
//! time(now) = now                  where now >= meet
//!           = (now + meet) / 2     where now <  meet
//! ```
//!
//! Several events move the time reached: a step of the clock back, an ID from another host, a floor, and the stamps
//! that a forked child inherits. An event that moves it to t at the reading `now` asks for `meet = 2 t - now`. IDs then
//! spread over milliseconds at twice their usual density. A reading at or past the time reached ends this early. If the
//! time stood still instead, all hosts that see one event would put their IDs into one millisecond.

use super::error::GenerateKind;
use super::policy::Policy;
use crate::stamp::mix;

/// How many ticks the time stands still after a short jump, before it continues at half speed. Hosts that observe each
/// other's IDs move it by a tick per ID. If it also went on between two IDs, their lead would grow faster.
const PAUSE: u64 = 8;

/// The greatest length of a short jump.
const SHORT_JUMP: u64 = 4 * MAX_SPREAD;

/// The greatest distance between two hosts that one event sends to the same place.
const MAX_SPREAD: u64 = 16;

/// What a generator remembers of time, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Timeline {
    /// The greatest reading.
    pub(super) top: u64,
    /// The time reached: no later ID has an earlier tick.
    pub(super) reached: u64,
    /// The reading at which the clock has caught up with the time reached.
    pub(super) meet: u64,
    /// How far steps of the clock have taken it behind its greatest reading. Full load needs that much more lead until
    /// it ends.
    pub(super) extra: u64,
    /// The greatest `meet` that something other than a step of the clock asked for.
    pub(super) jump: u64,
    /// The greatest `meet` that steps of the clock may ask for.
    pub(super) steps: u64,
    /// The least tick after every trusted floor.
    pub(super) floor: u64,
}

/// The stamps that may be taken at one reading of the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    /// The least one.
    pub(super) first: u64,
    /// The first one past the limit, or the ceiling if that is less.
    pub(super) end: u64,
}

impl Timeline {
    /// Before the first reading.
    pub(super) const NEW: Self = Self { top: 0, reached: 0, meet: 0, extra: 0, jump: 0, steps: 0, floor: 0 };

    /// Returns the time that belongs to a reading.
    #[inline]
    const fn time_at(&self, now: u64) -> u64 {
        if now < self.meet { now.midpoint(self.meet) } else { now }
    }

    /// Returns whether a reading only moves the time on. Nearly every reading does.
    #[inline]
    pub(super) const fn is_plain(&self, now: u64, policy: &Policy) -> bool {
        self.top <= now
            && self.reached <= now
            && self.meet <= now
            && self.extra == 0
            && !self.is_far_ahead(now, policy.max_advance())
            && now <= policy.shape.last_tick()
    }

    /// Returns whether a reading is so far ahead of the greatest one that a second one must agree.
    #[inline]
    pub(super) const fn is_far_ahead(&self, now: u64, max_advance: u64) -> bool {
        now.saturating_sub(self.top) > max_advance
    }

    /// Returns how far a reading is behind the greatest one, or behind a floor that is past that.
    #[inline]
    pub(super) fn distance_behind(&self, now: u64) -> u64 {
        self.top.max(self.floor.saturating_sub(1)).saturating_sub(now)
    }

    /// Returns the timeline after one more reading, which is at most the last tick.
    ///
    /// `unissued` returns the first tick after every stamp that was taken. It is called only if it matters.
    #[inline]
    pub(super) fn after(self, now: u64, policy: &Policy, unissued: impl FnOnce() -> u64) -> Result<Self, GenerateKind> {
        let mut next = self;
        let (max, found) = (policy.max_rollback, self.distance_behind(now));
        if found > max {
            let by_floor = self.floor > self.top + 1;
            return Err(if by_floor {
                GenerateKind::Floor { max, found }
            } else {
                GenerateKind::Rollback { max, found }
            });
        }
        let step = self.top.saturating_sub(now);
        if step > 0 {
            // A clock that repeats a step forward and back would add half a step each time, because the time also moves with
            // the step forward. With this limit the time reaches (top + steps) / 2 at most, the greatest step past `top`.
            next.steps = self.steps.max(self.top.max(self.jump) + 2 * step);
            // Earlier steps can have moved the time further ahead than this one takes the clock back. Without that part
            // full load would be refused where the time stands still. A jump grants no lead, so its part does not
            // count.
            let by_jumps = (self.jump + PAUSE).saturating_sub(self.top).div_ceil(2);
            let by_steps = self.reached.saturating_sub(now + by_jumps);
            next.extra = self.extra.max(step).max(by_steps);
        } else if self.extra > 0 && now > self.top {
            // The clock is past its earlier readings. Full load has borrowed milliseconds in the meantime. If they were
            // dropped immediately, every call would be refused until the clock has caught up with the stamps.
            next.extra = self.extra.min(unissued().saturating_sub(now));
        }
        if now > self.top {
            // Of a step forward that takes a step back, only the part past the greatest reading is time that has passed. Where the
            // clock has come here at its own pace, this is the `meet` that it had.
            next.meet = self.meet.min((2 * self.reached + 1).saturating_sub(self.top));
        }
        next.top = self.top.max(now);
        if now >= self.reached {
            // The clock has caught up, perhaps because a step back was taken back.
            next.meet = 0;
        } else if self.reached > next.time_at(now) {
            let wanted = if step > 0 {
                (2 * self.reached - now).min(next.steps)
            } else {
                let wanted = self.meet_after_jump(self.reached, now);
                next.jump = self.jump.max(wanted);
                wanted
            };
            next.meet = next.meet.max(wanted);
        }
        next.reached = self.reached.max(next.time_at(now));
        Ok(next)
    }

    /// Returns the reading at which the clock catches up with a time that an event moves to `tick` at the reading
    /// `now`.
    pub(super) const fn meet_after_jump(&self, tick: u64, now: u64) -> u64 {
        let pause = if tick.saturating_sub(self.time_at(now)) <= SHORT_JUMP { PAUSE } else { 0 };
        (2 * tick).saturating_sub(now + pause)
    }

    /// Returns the greatest tick that a stamp may have.
    #[inline]
    pub(super) const fn limit(&self, now: u64, policy: &Policy) -> u64 {
        let (granted, lead) = self.limits(now, policy);
        if granted > lead { granted } else { lead }
    }

    /// Returns the greatest tick by the time reached, and by the clock.
    #[inline]
    pub(super) const fn limits(&self, now: u64, policy: &Policy) -> (u64, u64) {
        (self.reached + policy.grace(), now + self.extra + policy.max_lead)
    }

    /// Returns the window of a timeline that ends with this reading. `ceiling` is the first stamp that must not be taken.
    #[inline]
    pub(super) const fn window(&self, now: u64, seed: u64, ceiling: u64, policy: &Policy) -> Window {
        let past = policy.shape.first_of(self.limit(now, policy) + 1);
        Window { first: fresh(self.reached, seed, policy), end: if past < ceiling { past } else { ceiling } }
    }

    /// Returns where to start instead of at `tick`. An event can move many hosts to `tick` at the same time, so each starts a
    /// seeded distance later: at most a quarter of the jump, and at most 16 ms.
    pub(super) const fn spread(&self, tick: u64, now: u64, seed: u64) -> u64 {
        let time = self.time_at(now);
        let jump = tick.saturating_sub(if time > self.reached { time } else { self.reached });
        let most = if jump / 4 < MAX_SPREAD { jump / 4 } else { MAX_SPREAD };
        // It must not depend on the mix of the starts.
        let mixed = mix(!seed ^ tick.rotate_left(u64::BITS / 2)) >> u32::BITS;
        tick + ((mixed * (most + 1)) >> u32::BITS)
    }
}

/// Returns the least stamp of a tick that an ID may have. A rolling start adds its counter in [`Window::start`].
#[inline]
pub(super) const fn fresh(tick: u64, seed: u64, policy: &Policy) -> u64 {
    policy.shape.first_of(tick) | policy.origin.start(tick, 0, seed, &policy.shape)
}

impl Window {
    /// Returns the first stamp of a run: the next free one, or a fresh one.
    #[inline]
    pub(super) const fn start(&self, free: u64, policy: &Policy) -> u64 {
        if free >= self.first {
            return free;
        }
        self.first | policy.origin.rolled(free, &policy.shape)
    }

    /// Returns the first stamp of a run, or `None` if the run does not fit into the window.
    #[inline]
    pub(super) const fn fit(&self, free: u64, run: u64, policy: &Policy) -> Option<u64> {
        let start = self.start(free, policy);
        if start + run <= self.end { Some(start) } else { None }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::layout::TIMESTAMP_MAX;
    use crate::stamp::{Origin, Shape};

    pub(in crate::generator) const T: u64 = 1_763_665_800_000;
    pub(in crate::generator) const SHAPE: Shape = Shape::new(TIMESTAMP_MAX, 0, 0, 12);
    pub(in crate::generator) const END: u64 = SHAPE.first_of(TIMESTAMP_MAX + 1);
    pub(in crate::generator) const IDLE: Timeline =
        Timeline { top: T, reached: T, meet: 0, extra: 0, jump: 0, steps: 0, floor: 0 };

    /// Starts at zero, a lead of 100 ms, a rollback and a skew of 1,000 ms.
    pub(in crate::generator) fn policy() -> Policy {
        Policy { shape: SHAPE, origin: Origin::Below(1), max_lead: 100, max_rollback: 1_000, max_skew: 1_000 }
    }

    /// Returns the timeline after one more reading; nothing is issued ahead of it.
    fn read(seen: Timeline, now: u64) -> Result<Timeline, GenerateKind> {
        seen.after(now, &policy(), || 0)
    }

    #[test]
    fn a_reading_moves_the_time_as_the_table_says() {
        let step = Timeline { meet: T + 30, extra: 30, steps: T + 60, ..IDLE };
        let slewed = Timeline { reached: T + 15, ..step };
        let second = Timeline { top: T + 2, reached: T + 16, extra: 0, ..step };
        let third = Timeline { reached: T + 18, meet: T + 35, ..second };
        let seen = Timeline { reached: T + 100, ..IDLE };
        let ahead = Timeline { jump: T + 200, ..seen };
        let near = Timeline { reached: T + 16, ..IDLE };
        let moved = Timeline { meet: T + 24, jump: T + 24, ..near };
        #[rustfmt::skip]
        let table = [
            // what                                          before  reading   reached  meet     behind  limit
            ("the same reading",                             IDLE,   T,        T,       0,       0,      T + 100),
            ("the next reading",                             IDLE,   T + 1,    T + 1,   0,       0,      T + 101),
            ("a reading far ahead",                          IDLE,   T + 500,  T + 500, 0,       0,      T + 600),
            ("a step back stays at the time reached",        IDLE,   T - 30,   T,       T + 30,  30,     T + 100),
            ("a step back by the limit",                     IDLE,   T - 1000, T,       T + 1000, 1000,  T + 100),
            ("the same step again changes nothing",          step,   T - 30,   T,       T + 30,  30,     T + 100),
            ("half speed: an odd reading",                   step,   T - 29,   T,       T + 30,  30,     T + 101),
            ("half speed: an even reading",                  step,   T - 28,   T + 1,   T + 30,  30,     T + 102),
            ("half speed: to the time of the step",          step,   T - 1,    T + 14,  T + 30,  30,     T + 129),
            ("past it, without load nothing is granted",     slewed, T + 2,    T + 16,  T + 30,  0,      T + 102),
            ("the clock has caught up",                      slewed, T + 30,   T + 30,  0,       0,      T + 130),
            ("a step back is taken back",                    step,   T,        T,       0,       30,     T + 130),
            ("a second step while the first is slewed",      second, T - 3,    T + 16,  T + 35,  19,     T + 116),
            ("and a third one",                                 third,  T - 3,    T + 18,  T + 39,  21,     T + 118),
            ("a step back while the time is ahead",          ahead,  T - 10,   T + 100, T + 210, 10,     T + 104),
            ("an ID from elsewhere moves the time",          seen,   T,        T + 100, T + 200, 0,      T + 104),
            ("and from there at half speed",                 seen,   T + 10,   T + 100, T + 190, 0,      T + 110),
            ("a short jump",                                 near,   T,        T + 16,  T + 24,  0,      T + 100),
            ("after it the time pauses",                     moved,  T + 9,    T + 16,  T + 24,  0,      T + 109),
            ("and goes on at half speed",                    moved,  T + 12,   T + 18,  T + 24,  0,      T + 112),
            ("it is in the past of this reading",            seen,   T + 100,  T + 100, 0,       0,      T + 200),
        ];
        for (what, before, now, reached, meet, extra, limit) in table {
            let after = read(before, now).unwrap();
            let top = before.top.max(now);
            assert_eq!(after, Timeline { top, reached, meet, extra, ..after }, "{what}");
            assert_eq!(after.limit(now, &policy()), limit, "{what}");
            assert_eq!(read(after, now), Ok(after), "{what}, twice");
        }
    }

    #[test]
    fn the_time_pauses_after_a_jump_of_at_most_64_ms() {
        assert_eq!(IDLE.meet_after_jump(T + 64, T), T + 128 - PAUSE);
        assert_eq!(IDLE.meet_after_jump(T + 65, T), T + 130);
    }

    #[test]
    fn a_reading_past_the_rollback_is_refused_with_its_distance() {
        assert_eq!(read(IDLE, T - 1_001), Err(GenerateKind::Rollback { max: 1_000, found: 1_001 }));
        let at_floor = Timeline { floor: T + 1, ..IDLE };
        assert_eq!(read(at_floor, T - 1_001), Err(GenerateKind::Rollback { max: 1_000, found: 1_001 }));
        // A floor is the tick after a trusted ID, which counts as a reading.
        let floor = |ahead| read(Timeline { reached: T + ahead + 1, floor: T + ahead + 1, ..IDLE }, T);
        assert!(floor(1_000).is_ok());
        assert_eq!(floor(1_001), Err(GenerateKind::Floor { max: 1_000, found: 1_001 }));
    }

    #[test]
    fn a_jump_ahead_grants_a_few_ticks_and_no_lead() {
        let far = Timeline { reached: T + 5_000, ..IDLE };
        assert_eq!(read(far, T).unwrap().limit(T, &policy()), T + 5_000 + 4);
        let strict = Policy { max_lead: 0, ..policy() };
        assert_eq!(far.limit(T, &strict), T + 5_000, "no more than the lead");
    }

    #[test]
    fn full_load_keeps_what_a_step_granted_until_the_load_ends() {
        let step = Timeline { meet: T + 30, extra: 30, ..IDLE };
        let extra = |unissued: u64| step.after(T + 1, &policy(), || unissued).unwrap().extra;
        assert_eq!(extra(T + 200), 30);
        assert_eq!(extra(T + 11), 10);
        assert_eq!(extra(T), 0);
    }

    /// A clock with two sources that disagree, and answer in turn.
    #[test]
    fn a_clock_that_repeats_a_step_leads_by_two_steps_at_most() {
        let mut seen = IDLE;
        let mut most = 0;
        for turn in 0..10_000 {
            let real = T + turn / 10;
            // Forward by less than the lead, so that the clock does not catch up.
            let now = if turn % 2 == 0 { real } else { real + 400 };
            seen = read(seen, if turn < 5 { real + 1_000 } else { now }).unwrap();
            most = most.max(seen.reached - real);
        }
        assert!((1_000..=2_000).contains(&most), "{most}");
    }

    /// A lead shrinks by half a tick per tick, and ends at zero.
    #[test]
    fn a_lead_shrinks_to_nothing() {
        let mut seen = read(IDLE, T - 700).unwrap();
        for now in T - 700..T + 698 {
            seen = read(seen, now).unwrap();
            assert_eq!(seen.reached - now, (T + 700 - now) / 2);
        }
        for now in T + 698..T + 800 {
            seen = read(seen, now).unwrap();
            assert_eq!(seen.reached, now);
        }
    }

    #[test]
    fn plain_readings_are_those_that_only_move_the_time_on() {
        let plain = |seen: Timeline, now| seen.is_plain(now, &policy());
        assert!(plain(IDLE, T) && plain(IDLE, T + 1) && plain(IDLE, T + 1_000));
        assert!(!plain(IDLE, T - 1), "a step back");
        assert!(!plain(IDLE, T + 1_001), "far ahead");
        assert!(!plain(Timeline { reached: T + 2, ..IDLE }, T + 1), "ahead of the reading");
        assert!(!plain(Timeline { meet: T + 2, ..IDLE }, T + 1), "at half speed");
        assert!(!plain(Timeline { top: TIMESTAMP_MAX, ..IDLE }, TIMESTAMP_MAX + 1), "past the end");
    }

    #[test]
    fn hosts_spread_by_a_quarter_of_the_jump_and_at_most_16_ticks() {
        for (jump, most) in [(0, 0), (1, 0), (3, 0), (4, 1), (40, 10), (64, 16), (5_000, 16), (1 << 40, 16)] {
            let found: Vec<_> = (0..2_000).map(|seed| IDLE.spread(T + jump, T, mix(seed)) - (T + jump)).collect();
            assert_eq!((found.iter().min(), found.iter().max()), (Some(&0), Some(&most)), "{jump}");
        }
        assert_eq!(IDLE.spread(T - 1, T, 3), T - 1, "the past is no jump");
    }

    #[test]
    fn the_end_of_a_window_is_the_least_of_limit_and_ceiling() {
        let window = |ceiling| IDLE.window(T, 0, ceiling, &policy());
        assert_eq!(window(END), Window { first: SHAPE.first_of(T), end: SHAPE.first_of(T + 101) });
        let ceiling = SHAPE.first_of(T + 1);
        assert_eq!(window(ceiling).end, ceiling);
        let fit = |free, run| window(ceiling).fit(free, run, &policy());
        assert_eq!(fit(0, 4_096), Some(SHAPE.first_of(T)));
        assert_eq!(fit(0, 4_097), None);
        assert_eq!(fit(ceiling - 1, 1), Some(ceiling - 1));
        assert_eq!(fit(ceiling, 1), None);
    }
}
