//! Real forks. A process that forks must have one thread, so these tests run one after another in the main one.

#[cfg(unix)]
mod family;

#[cfg(unix)]
mod tests {
    use core::time::Duration;
    use std::collections::HashSet;
    use std::time::Instant;

    use imid::clock::{Clock, ManualClock, TickClock};
    use imid::generator::Lane;
    use imid::{Generator, MessageId, Session, SessionType, Start};
    use libtest_mimic::Trial;

    use super::family::Child;

    const T: u64 = 1_763_665_800_000;

    pub(super) fn all() -> Vec<Trial> {
        macro_rules! trials {
            ($($test:ident)*) => { vec![$(Trial::test(stringify!($test), || { $test(); Ok(()) })),*] };
        }
        trials! {
            different_sessions_never_meet
            different_lanes_never_meet
            a_lane_is_the_parents_alone
            a_child_starts_after_the_millisecond_of_the_last_inherited
            one_session_meets_once_in_4096_pairs
            one_session_meets_once_in_4096_pairs_after_a_lead_of_200_ms
            siblings_do_not_march_in_step
            siblings_of_a_parent_that_never_minted_do_not_march_in_step
            a_set_seed_is_the_parents_alone
            grandchildren_are_new_hosts_too
            the_default_generator_forks
            a_tick_clock_goes_on_in_children
            a_tick_clock_is_dropped_in_a_child
        }
    }

    fn room(name: &str) -> Session {
        Session::new(SessionType::GROUP, name)
    }

    /// This many IDs, waiting where the limits say so.
    fn mint<C: Clock>(ids: &Generator<C>, session: Session, count: usize) -> Vec<MessageId> {
        (0..count).map(|_| ids.generate_within(session, Duration::from_secs(10)).unwrap()).collect()
    }

    /// `rate` IDs in each of the next milliseconds of a scripted clock.
    fn walk(ids: &Generator<&ManualClock>, session: Session, milliseconds: u64, rate: usize) -> Vec<MessageId> {
        let mut minted = Vec::new();
        for _ in 0..milliseconds {
            ids.clock().advance(Duration::from_millis(1));
            minted.extend((0..rate).map(|_| ids.generate(session).unwrap()));
        }
        minted
    }

    fn assert_distinct(all: &[Vec<MessageId>]) {
        let distinct: HashSet<_> = all.iter().flatten().collect();
        assert_eq!(distinct.len(), all.iter().map(Vec::len).sum::<usize>(), "an ID was minted twice");
    }

    /// How many IDs two increasing lists have in common.
    fn common(a: &[MessageId], b: &[MessageId]) -> u64 {
        assert!(a.is_sorted_by(|a, b| a < b) && b.is_sorted_by(|a, b| a < b));
        a.iter().filter(|id| b.binary_search(id).is_ok()).count() as u64
    }

    /// How many pairs of IDs of two increasing lists share a millisecond.
    fn pairs(a: &[MessageId], b: &[MessageId]) -> u64 {
        let here = |list: &[MessageId], id: MessageId| {
            let from = list.partition_point(|other| other.timestamp_ms() < id.timestamp_ms());
            list.partition_point(|other| other.timestamp_ms() <= id.timestamp_ms()) - from
        };
        a.iter().map(|id| here(b, *id) as u64).sum()
    }

    fn different_sessions_never_meet() {
        let ids = Generator::new();
        let mut all = vec![mint(&ids, room("parent"), 1_000)];
        let children: Vec<_> = ["first", "second", "third"]
            .map(|name| Child::fork(|| mint(&ids, room(name), 20_000)))
            .into_iter()
            .collect();
        all.push(mint(&ids, room("parent"), 20_000));
        all.extend(children.into_iter().map(Child::ids));
        assert_distinct(&all);
    }

    /// A lane belongs to one host, so each process builds its generator with its own.
    fn different_lanes_never_meet() {
        let lane = |index| {
            let ids = Generator::builder().lane(Lane { index, bits: 2 }).build().unwrap();
            mint(&ids, room("hot"), 20_000)
        };
        let children: Vec<_> = (1..4).map(|index| Child::fork(|| lane(index))).collect();
        let mut all = vec![lane(0)];
        all.extend(children.into_iter().map(Child::ids));
        assert_distinct(&all);
    }

    fn a_lane_is_the_parents_alone() {
        for used in [false, true] {
            let ids = Generator::builder().lane(Lane { index: 1, bits: 2 }).build().unwrap();
            if used {
                ids.generate(room("hot")).unwrap();
            }
            let child = Child::fork(|| {
                let error = ids.generate(room("hot")).unwrap_err();
                assert!(error.is_forked() && error.retry_after().is_none());
                let words = "lane of the generator belongs to the parent process: build a generator after the fork";
                assert_eq!(error.to_string(), words);
                Vec::new()
            });
            assert!(child.ids().is_empty());
            ids.generate(room("hot")).unwrap();
        }
    }

    fn a_child_starts_after_the_millisecond_of_the_last_inherited() {
        for lead in [0, 1, 200] {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().start(Start::Zero).clock(&clock).build().unwrap();
            let last = ids.batch(room("hot"), lead * 4_096 + 1).unwrap().next_back().unwrap();
            let child = Child::fork(|| vec![ids.generate(room("hot")).unwrap()]);
            // Siblings begin a seeded distance apart, at most a quarter of the lead and at most 16 ms.
            let from = last.timestamp_ms() + 1;
            let first = child.ids()[0].timestamp_ms();
            assert!((from..=from + ((lead as u64 + 1) / 4).min(16)).contains(&first), "{first}, {from}");
            assert_eq!(ids.generate(room("hot")).unwrap().timestamp_ms(), last.timestamp_ms(), "the parent goes on");
        }
    }

    /// The starts of parent and child are unrelated, so their k IDs in a millisecond overlap in k²/4096 on average. The
    /// overlap of two runs is j with probability 2/4096 for each 0 < j < k and k with 1/4096: its second moment is
    /// k(2k² + 1)/3/4096. The bounds are five standard deviations, so one run in a million fails by chance.
    fn one_session_meets_once_in_4096_pairs() {
        const FORKS: u64 = 100;
        const MILLISECONDS: u64 = 2_000;
        const RATE: u64 = 8;

        let mut met = 0;
        for _ in 0..FORKS {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().clock(&clock).build().unwrap();
            ids.generate(room("hot")).unwrap();
            // The child's first is the millisecond after: both walk from there.
            let child = Child::fork(|| walk(&ids, room("hot"), MILLISECONDS, RATE as usize));
            met += common(&walk(&ids, room("hot"), MILLISECONDS, RATE as usize), &child.ids());
        }
        agrees(met, FORKS * MILLISECONDS, RATE);
    }

    fn agrees(met: u64, milliseconds: u64, rate: u64) {
        let expected = milliseconds * rate * rate / 4096;
        let variance = milliseconds * rate * (2 * rate * rate + 1) / 3 / 4096;
        assert!(met.abs_diff(expected).pow(2) < 25 * variance, "{met} meetings, {expected} expected");
    }

    fn one_session_meets_once_in_4096_pairs_after_a_lead_of_200_ms() {
        const FORKS: u64 = 100;
        const LEAD: u64 = 200;
        const MILLISECONDS: u64 = 2_000;
        const RATE: u64 = 8;

        // Meetings and pairs: in the lead, and after it.
        let mut found = [(0, 0); 2];
        for _ in 0..FORKS {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().clock(&clock).build().unwrap();
            let before: Vec<_> = ids.batch(room("hot"), LEAD as usize * 4_096).unwrap().collect();
            let mint = || walk(&ids, room("hot"), LEAD + 2 + MILLISECONDS, RATE as usize);
            let child = Child::fork(mint);
            let (parent, child) = (mint(), child.ids());
            assert!(before[before.len() - 1] < child[0], "among what the parent had minted");

            // While the clock catches up, both go on in the milliseconds that they had reached.
            let caught_up = MessageId::first_at(T + LEAD + 3).unwrap();
            let split = |ids: &[MessageId]| ids.partition_point(|id| *id < caught_up);
            let (parent, child) = (parent.split_at(split(&parent)), child.split_at(split(&child)));
            for (found, (parent, child)) in found.iter_mut().zip([(parent.0, child.0), (parent.1, child.1)]) {
                found.0 += common(parent, child);
                found.1 += pairs(parent, child);
            }
        }
        // The child is at half speed for some time, so it has up to 16 IDs in a millisecond in which the parent has 8. Two such
        // runs overlap in 128/4096 on average, and the second moment is 856/4096: seven times the mean.
        for (met, pairs) in found {
            let mean = pairs / 4096;
            assert!(met.abs_diff(mean).pow(2) <= 25 * 7 * mean.max(1), "{met} meetings of {pairs} pairs");
        }
    }

    /// In step they would meet in every millisecond. 32 siblings make 496 pairs, and 1,000 milliseconds 121 meetings;
    /// the pairs are nearly independent, and the bound is six standard deviations.
    fn assert_out_of_step(ids: &Generator<&ManualClock>) {
        let children: Vec<_> = (0..32).map(|_| Child::fork(|| walk(ids, room("hot"), 1_000, 1))).collect();
        let siblings: Vec<_> = children.into_iter().map(Child::ids).collect();
        let mut met = 0;
        for (at, sibling) in siblings.iter().enumerate() {
            met += siblings[at + 1..].iter().map(|other| common(sibling, other)).sum::<u64>();
        }
        assert!((55..187).contains(&met), "{met} meetings, 121 expected");
    }

    fn siblings_do_not_march_in_step() {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().clock(&clock).build().unwrap();
        ids.generate(room("hot")).unwrap();
        assert_out_of_step(&ids);
    }

    fn siblings_of_a_parent_that_never_minted_do_not_march_in_step() {
        let clock = ManualClock::new(T);
        assert_out_of_step(&Generator::builder().clock(&clock).build().unwrap());
    }

    fn a_set_seed_is_the_parents_alone() {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().seed(7).clock(&clock).build().unwrap();
        ids.generate(room("hot")).unwrap();
        assert_out_of_step(&ids);
    }

    fn grandchildren_are_new_hosts_too() {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().clock(&clock).build().unwrap();
        let first = ids.generate(room("hot")).unwrap();
        let child = Child::fork(|| {
            let mut minted = vec![ids.generate(room("hot")).unwrap()];
            let grandchild = Child::fork(|| walk(&ids, room("hot"), 1_000, 1));
            minted.extend(walk(&ids, room("hot"), 1_000, 1));
            minted.extend(grandchild.ids());
            minted
        });
        let parent = walk(&ids, room("hot"), 1_000, 1);
        let child = child.ids();
        let (last, (child, grandchild)) = (child[0], child[1..].split_at(1_000));
        assert!(first.timestamp_ms() < last.timestamp_ms() && last.timestamp_ms() < grandchild[0].timestamp_ms());
        // 1,000 pairs each, 0.24 meetings expected: five are rarer than one in a million.
        for (a, b) in [(&*parent, child), (child, grandchild), (&*parent, grandchild)] {
            assert!(common(a, b) < 6, "in step");
        }
    }

    fn the_default_generator_forks() {
        let mut all = vec![vec![imid::generate(room("parent")).unwrap()]];
        let child = Child::fork(|| (0..1_000).map(|_| imid::generate(room("child")).unwrap()).collect());
        all.push((0..1_000).map(|_| imid::generate(room("parent")).unwrap()).collect());
        let child = child.ids();
        assert!(all[0][0].timestamp_ms() < child[0].timestamp_ms());
        all.push(child);
        assert_distinct(&all);
    }

    /// Whether the clock moves on by 20 ms. One that stands would be waited for in vain; a thread may be starved for long.
    fn goes_on(clock: &TickClock) -> bool {
        let (began, first) = (Instant::now(), clock.now_ms().unwrap());
        while began.elapsed() < Duration::from_secs(10) {
            if clock.now_ms().unwrap() >= first + 20 {
                return true;
            }
        }
        false
    }

    fn a_tick_clock_goes_on_in_children() {
        let clock = TickClock::start().unwrap();
        let ids = Generator::builder().clock(clock.clone()).build().unwrap();
        let first = ids.generate(room("hot")).unwrap();
        let child = Child::fork(|| {
            assert!(goes_on(&clock), "the child's clock stands");
            let grandchild = Child::fork(|| {
                assert!(goes_on(&clock), "the grandchild's clock stands");
                mint(&ids, room("grandchild"), 20_000)
            });
            let mut minted = mint(&ids, room("child"), 20_000);
            minted.extend(grandchild.ids());
            minted
        });
        assert!(goes_on(&clock), "the parent's clock stands");
        let parent = mint(&ids, room("parent"), 20_000);
        let child = child.ids();
        assert!(first.timestamp_ms() < child[0].timestamp_ms());
        assert_distinct(&[parent, child]);
    }

    /// The child has the handle of a thread that it does not have. Dropping it must not wait for that thread.
    fn a_tick_clock_is_dropped_in_a_child() {
        let clock = TickClock::start().unwrap();
        let child = Child::fork(move || {
            drop(clock);
            let own = TickClock::start().unwrap();
            assert!(goes_on(&own), "a child can start a clock of its own");
            Vec::new()
        });
        assert!(child.ids().is_empty());
    }
}

fn main() {
    let mut arguments = libtest_mimic::Arguments::from_args();
    // One thread: the main one.
    arguments.test_threads = Some(1);
    #[cfg(unix)]
    libtest_mimic::run(&arguments, tests::all()).exit();
    #[cfg(not(unix))]
    libtest_mimic::run(&arguments, Vec::new()).exit();
}
