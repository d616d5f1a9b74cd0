//! Why a run of stamps is refused, and how long to wait for it: arithmetic, without a clock and without atomics.

use super::error::GenerateKind;
use super::policy::Policy;
use super::timeline::Timeline;

/// How many later readings a refusal tries. If the wait is longer, it returns the part that it has found, and the caller asks
/// again after that.
const MOST_LOOKS: u32 = 1_000;

/// A run of stamps that did not fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The stripe's least stamp that has not been taken.
    pub(super) free: u64,
    /// How many stamps are wanted.
    pub(super) run: u64,
    /// The stripe's `meet`.
    pub(super) meet: u64,
}

impl Timeline {
    /// Returns why a run does not fit into the window, and when it will: past the ceiling or the last tick, or more than `max` ticks
    /// after the reading.
    #[cold]
    pub(super) fn refuse(
        &self,
        now: u64,
        asked: Asked,
        unissued: impl Fn(u64) -> u64,
        seed: u64,
        ceiling: u64,
        policy: &Policy,
    ) -> GenerateKind {
        let (shape, Asked { free, run, meet }) = (&policy.shape, asked);
        let max = self.limit(now, policy).max(self.moved(now, meet, policy).unwrap_or(0)) - now;
        // The least number of ticks between the first and the last stamp of a fresh run.
        let least_ticks = shape.tick(policy.origin.rolled(free, shape) + (run - 1));
        let (mut at, mut looks) = (now, 0);
        loop {
            if at > shape.last_tick() {
                return GenerateKind::Exhausted;
            }
            // Later readings are not behind this one, so none of them is too far behind.
            let Ok(later) = self.after(at, policy, &unissued) else {
                return GenerateKind::Lead { max, wait: at - now };
            };
            let window = later.window(at, seed, ceiling, policy);
            let start = window.start(free, policy);
            let last = shape.tick(start + (run - 1));
            if start + run > ceiling {
                if start > free && at < self.reached {
                    // A fresh run starts earlier once the clock has caught up.
                    at = self.reached;
                    continue;
                }
                return if last > shape.last_tick() { GenerateKind::Exhausted } else { GenerateKind::Ceiling };
            }
            let (granted, lead) = later.limits(at, policy);
            let moved = later.moved(at, meet, policy);
            let granted = granted.max(moved.unwrap_or(0));
            let (past_granted, past_lead) = (last.saturating_sub(granted), last.saturating_sub(lead));
            if past_granted == 0 || past_lead == 0 {
                return GenerateKind::Lead { max, wait: at - now };
            }
            // A reading at which the run fits is not skipped. A limit gains at most one tick per tick of the clock. A fresh run
            // moves with the time reached. If it is too long for what that grants, only the clock's own limit can reach it. At
            // another start the run can end a tick earlier, but the time has then gone on by a tick.
            let is_fresh = start > free;
            let mut next = at
                + match moved {
                    Some(_) => 1,
                    None if is_fresh && later.reached + least_ticks > granted => past_lead,
                    _ => past_granted.min(past_lead),
                };
            if later.reached == self.reached && moved.is_none() {
                // Until time continues, only the clock's own limit moves.
                let goes_on = (2 * self.reached).saturating_sub(self.meet);
                next = next.max(goes_on.min(at + past_lead));
            }
            if at <= self.latest {
                // Past the greatest reading the time has gone on by less than before it, so a fresh run starts earlier.
                next = next.min(self.latest + 1);
            }
            // At the time reached the clock has caught up, and the lead ends.
            at = if at < self.reached { next.min(self.reached) } else { next };
            looks += 1;
            if looks == MOST_LOOKS {
                return GenerateKind::Lead { max, wait: at - now };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::timeline::tests::{END, IDLE, SHAPE, T, policy};
    use crate::stamp::{Origin, mix};

    /// The clock shows 1970, and the time that an ID from elsewhere reached stands still for 30 years. A search of each reading
    /// would take minutes.
    #[test]
    fn a_refusal_is_worked_out_at_once_however_long_the_wait_is() {
        const YEARS: u64 = 1_000_000_000_000;
        let reached = 2 * YEARS;
        let stopped = Timeline { latest: YEARS, reached, meet: 3 * YEARS, jump: 3 * YEARS, behind: YEARS, ..IDLE };
        let policy = Policy { max_lead: 7, max_rollback: u64::MAX, ..policy() };
        let asked = Asked { free: SHAPE.first_of(reached + 7), run: 1, meet: 0 };
        let unissued = |_| reached + 8;
        let GenerateKind::Lead { wait, .. } = stopped.refuse(0, asked, unissued, 0, END, &policy) else {
            panic!("a wait")
        };
        let fits = |at: u64| {
            let later = stopped.after(at, &policy, unissued).unwrap();
            later.window(at, 0, END, &policy).fit(asked.free, asked.run, &policy).is_some()
        };
        assert!(!fits(0) && !fits(wait - 1) && fits(wait), "{wait}");
        assert!(wait > YEARS / 2);
    }

    /// The wait is the least one after which the run fits. Here it is found by trying each reading, for states by chance.
    #[test]
    fn the_wait_is_exact() {
        const CASES: u64 = 30_000;
        let (mut count, mut compared) = (0, [0; 3]);
        let mut draw = |most: u64| {
            count += 1;
            (mix(count) >> 16) % (most + 1)
        };
        for _ in 0..CASES {
            let ahead = draw(300);
            let kind = draw(2);
            let before = match kind {
                0 => Timeline { reached: T + ahead, ..IDLE },
                1 => Timeline { meet: T + ahead, behind: ahead, ..IDLE },
                _ => Timeline { reached: T + ahead, meet: T + 2 * ahead, jump: T + 2 * ahead, ..IDLE },
            };
            let origin = [Origin::Below(1), Origin::Below(4096), Origin::Rolling][draw(2) as usize];
            let policy = Policy { origin, max_lead: draw(100), ..policy() };
            let (now, seed) = (T - draw(90), draw(u64::MAX >> 16));
            let (run, free) = (1 + draw(policy.longest_run() - 1), SHAPE.first_of(T - 5 + draw(300)) + draw(4095));
            let asked = Asked { free, run, meet: [0, T + draw(3_000)][draw(1) as usize] };
            let unissued = |_| SHAPE.tick(free - 1) + 1;
            let after = before.after(now, &policy, unissued).unwrap();
            let fits = |wait: u64| {
                let later = after.after(now + wait, &policy, unissued).unwrap();
                let mut window = later.window(now + wait, seed, END, &policy);
                if let Some(limit) = later.moved(now + wait, asked.meet, &policy) {
                    window.end = window.end.max(SHAPE.first_of(limit + 1));
                }
                window.fit(free, run, &policy).is_some()
            };
            // Of a longer wait a part is returned.
            if let Some(wait) = (0..1_000).find(|wait| fits(*wait))
                && wait > 0
            {
                let max = after.limit(now, &policy).max(after.moved(now, asked.meet, &policy).unwrap_or(0)) - now;
                let refused = after.refuse(now, asked, unissued, seed, END, &policy);
                assert_eq!(refused, GenerateKind::Lead { max, wait }, "{before:?} {policy:?} {now} {seed} {asked:?}");
                compared[kind as usize] += 1;
            }
        }
        assert!(compared.iter().all(|cases| *cases > CASES / 20), "{compared:?}");
    }

    /// Almost the longest run, while the clock is far behind: it fits only into a millisecond that starts at 0. Such a millisecond
    /// can come after many seconds, and a refusal does not look that far.
    #[test]
    fn of_a_long_wait_a_part_is_returned() {
        let policy = Policy { origin: Origin::Below(4096), max_lead: 5, max_rollback: u64::MAX, ..policy() };
        let (mut parts, mut wholes) = (0, 0);
        for seed in (0..40).map(mix) {
            let asked = Asked { free: SHAPE.first_of(T), run: 5 * 4096, meet: 0 };
            let (mut now, mut timeline) = (T / 2, Timeline { latest: T / 2, meet: T + T / 2, ..IDLE });
            let mut found = 0;
            loop {
                let fits = |now| {
                    let later = timeline.after(now, &policy, |_| T).unwrap();
                    later.window(now, seed, END, &policy).fit(asked.free, asked.run, &policy).is_some()
                };
                let GenerateKind::Lead { wait, .. } = timeline.refuse(now, asked, |_| T, seed, END, &policy) else {
                    panic!("a wait")
                };
                assert!((now..now + wait).all(|now| !fits(now)), "longer than the wait is");
                now += wait;
                found += 1;
                if fits(now) {
                    break;
                }
                assert!(wait >= 1_000, "a part of {wait} ms");
                timeline = timeline.after(now, &policy, |_| T).unwrap();
            }
            *if found > 1 { &mut parts } else { &mut wholes } += 1;
        }
        assert!(parts > 0 && wholes > 0, "{parts}, {wholes}");
    }

    #[test]
    fn what_waiting_does_not_help_is_said() {
        let asked = |free, run| Asked { free, run, meet: 0 };
        let refuse = |free, run, ceiling| IDLE.refuse(T, asked(free, run), |_| T, 0, ceiling, &policy());
        assert_eq!(refuse(SHAPE.first_of(T + 9), 1, SHAPE.first_of(T + 9)), GenerateKind::Ceiling);
        assert_eq!(refuse(SHAPE.first_of(T + 8) | 4_095, 2, SHAPE.first_of(T + 9)), GenerateKind::Ceiling);
        assert_eq!(refuse(END - 1, 2, END), GenerateKind::Exhausted);
    }
}
