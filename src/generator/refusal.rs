//! Why a run of stamps is refused, and how long to wait for it: arithmetic, without a clock and without atomics.

use super::error::GenerateKind;
use super::policy::Policy;
use super::slew::Timeline;

impl Timeline {
    /// Returns why a run does not fit into the window of this reading: it is past the ceiling, the last tick or the limit.
    ///
    /// The wait is exact where only load is ahead of the clock. Elsewhere it is a part of it: the limit gains at most one tick per
    /// tick of the clock, and the time reached, where it is ahead, half a tick until the clock has caught up.
    #[cold]
    pub(super) fn refuse(
        &self,
        now: u64,
        free: u64,
        run: u64,
        seed: u64,
        ceiling: u64,
        policy: &Policy,
    ) -> GenerateKind {
        let shape = &policy.shape;
        let start = self.window(now, seed, ceiling, policy).start(free, policy);
        let last = shape.tick(start + (run - 1));
        if start + run > ceiling {
            return if last > shape.last_tick() { GenerateKind::Exhausted } else { GenerateKind::Ceiling };
        }
        let (by_time, by_clock) = self.limits(now, policy);
        let mut wait = last.saturating_sub(by_clock);
        // A fresh run moves with the time reached. If it is too long for what that grants, only the clock's limit reaches it.
        let fresh_ticks = shape.tick(policy.origin.rolled(free, shape) + (run - 1));
        if start == free || fresh_ticks <= policy.grace() {
            let wanted = self.reached + last.saturating_sub(by_time);
            let at_half_speed = (2 * wanted).saturating_sub(self.meet);
            wait = wait.min(at_half_speed.min(wanted).saturating_sub(now));
        }
        GenerateKind::Lead { max: by_time.max(by_clock) - now, wait: wait.max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::slew::tests::{END, IDLE, SHAPE, T, policy};
    use crate::stamp::{Origin, mix};

    /// For states by chance: no call before the end of a wait succeeds. If load or a step back is the cause, the first call after it
    /// does. Where an ID from elsewhere is ahead, a run that begins with the time reached can take more calls.
    #[test]
    fn no_wait_is_too_long() {
        const CASES: u64 = 20_000;
        const LOAD: usize = 0;
        const STEP: usize = 2;
        let (mut count, mut after_one, mut after_many) = (0, [0; 4], [0; 4]);
        let mut draw = |most: u64| {
            count += 1;
            (mix(count) >> 16) % (most + 1)
        };
        for _ in 0..CASES {
            let ahead = draw(300);
            let kind = draw(3) as usize;
            let before = match kind {
                LOAD => IDLE,
                1 => Timeline { reached: T + ahead, ..IDLE },
                STEP => Timeline { meet: T + ahead, extra: ahead, ..IDLE },
                _ => Timeline { reached: T + ahead, meet: T + 2 * ahead, jump: T + 2 * ahead, ..IDLE },
            };
            let origin = [Origin::Below(1), Origin::Below(4096), Origin::Rolling][draw(2) as usize];
            let policy = Policy { origin, max_lead: draw(100), ..policy() };
            let (mut now, seed) = (if kind == LOAD { T } else { T - draw(90) }, draw(u64::MAX >> 16));
            let (run, free) = (1 + draw(policy.longest_run() - 1), SHAPE.first_of(T - 5 + draw(300)) + draw(4095));
            let after = |timeline: Timeline, now| timeline.after(now, &policy, || SHAPE.tick(free - 1) + 1).unwrap();
            let fits =
                |timeline: Timeline, now| timeline.window(now, seed, END, &policy).fit(free, run, &policy).is_some();
            let mut timeline = after(before, now);
            let mut waits = 0;
            while !fits(timeline, now) {
                let GenerateKind::Lead { max, wait } = timeline.refuse(now, free, run, seed, END, &policy) else {
                    panic!("a wait")
                };
                assert_eq!(max, timeline.limit(now, &policy) - now);
                let early = (now..now + wait).find(|at| fits(after(timeline, *at), *at));
                assert_eq!(early, None, "{wait} ms from {now}: {timeline:?} {policy:?} {seed} {free} {run}");
                now += wait;
                timeline = after(timeline, now);
                waits += 1;
            }
            after_one[kind] += u64::from(waits == 1);
            after_many[kind] += u64::from(waits > 1);
        }
        assert!(after_one.iter().all(|cases| *cases > CASES / 20), "{after_one:?}");
        assert!(after_many[LOAD] == 0 && after_many[STEP] == 0, "{after_many:?}");
    }

    #[test]
    fn what_waiting_does_not_help_is_said() {
        let refuse = |free, run, ceiling| IDLE.refuse(T, free, run, 0, ceiling, &policy());
        assert_eq!(refuse(SHAPE.first_of(T + 9), 1, SHAPE.first_of(T + 9)), GenerateKind::Ceiling);
        assert_eq!(refuse(SHAPE.first_of(T + 8) | 4_095, 2, SHAPE.first_of(T + 9)), GenerateKind::Ceiling);
        assert_eq!(refuse(END - 1, 2, END), GenerateKind::Exhausted);
    }
}
