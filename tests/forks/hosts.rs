//! A child is a new host: it starts after what it inherited, has a seed of its own, and meets its parent as a stranger does.

use imid::clock::ManualClock;
use imid::generator::GenerateError;
use imid::{Generator, MessageId};
use libtest_mimic::Trial;

use super::child::{Child, Way, ways};
use super::minting::{T, assert_distinct, common, hot, meetings, mint, room, walk};

/// What hosts that one event moves are spread over at most, in milliseconds.
const SPREAD: u64 = 16;

pub(super) fn all() -> Vec<Trial> {
    super::trials! {
        different_sessions_never_meet
        every_copy_of_a_process_starts_in_the_millisecond_after_the_last_inherited
        every_copy_of_a_process_starts_past_the_time_reached
        every_copy_of_a_process_meets_its_parent_once_in_4096_pairs
        one_session_meets_once_in_4096_pairs
        one_session_meets_once_in_4096_pairs_after_a_lead_of_200_ms
        copies_of_copies_are_new_hosts_too
        siblings_do_not_march_in_step_however_they_are_made
        siblings_after_a_lead_of_1_s_start_apart
        a_set_seed_is_the_parents_alone
        rolling_counters_of_a_family_do_not_march_in_step
        no_call_before_its_first_id_makes_a_child_forget_the_fork
        a_reading_past_all_time_is_an_error_in_every_child
        a_generator_without_a_lane_goes_on_in_every_child
        the_default_generator_forks
        every_copy_of_a_process_draws_numbers_of_its_own
    }
}

fn different_sessions_never_meet() {
    let ids = Generator::new();
    let mut all = vec![mint(&ids, room("parent"), 1_000)];
    let children: Vec<_> = ["first", "second", "third"]
        .map(|name| Way::Fork.copy(|| mint(&ids, room(name), 20_000)))
        .into_iter()
        .collect();
    all.push(mint(&ids, room("parent"), 20_000));
    all.extend(children.into_iter().map(Child::ids));
    assert_distinct(&all);
}

fn every_copy_of_a_process_starts_in_the_millisecond_after_the_last_inherited() {
    for (way, lead) in ways().into_iter().flat_map(|way| [(way, 0), (way, 1), (way, 200)]) {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().seed(T).clock(&clock).build().unwrap();
        let last = ids.batch(hot(), lead * 4_096 + 1).unwrap().next_back().unwrap();
        let child = way.copy(|| vec![ids.generate(hot()).unwrap()]);
        let later = child.ids()[0].timestamp_ms().saturating_sub(last.timestamp_ms());
        let most = 1 + SPREAD.min(lead as u64 / 4 + 1);
        assert!((1..=most).contains(&later), "{way:?}: {later} ms after the last inherited, which leads by {lead}");
        assert_eq!(ids.generate(hot()).unwrap().timestamp_ms(), last.timestamp_ms(), "the parent goes on");
    }
}

/// The parent has reached a millisecond, by an ID from elsewhere, and has not minted in it. If a child started in it, parent and
/// children would mint its first stamp.
fn every_copy_of_a_process_starts_past_the_time_reached() {
    for way in ways() {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().clock(&clock).build().unwrap();
        ids.generate(hot()).unwrap();
        ids.observe(MessageId::last_at(T + 40).unwrap()).unwrap();
        let child = way.copy(|| vec![ids.generate(hot()).unwrap()]).ids()[0];
        let parent = ids.generate(hot()).unwrap();
        assert!(T + 40 < parent.timestamp_ms() && parent.timestamp_ms() < child.timestamp_ms(), "{way:?}");
    }
}

/// 10,000 pairs of IDs of one millisecond, so 2.4 meetings; the bound is eight standard deviations away.
fn every_copy_of_a_process_meets_its_parent_once_in_4096_pairs() {
    for way in ways() {
        let mut met = 0;
        for _ in 0..10 {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().clock(&clock).build().unwrap();
            ids.generate(hot()).unwrap();
            let child = way.copy(|| walk(&ids, 1_000, 1));
            met += common(&walk(&ids, 1_000, 1), &child.ids());
        }
        assert!(met < 16, "{way:?}: {met} of 10,000 IDs are the parent's");
    }
}

/// The starts of parent and child are unrelated, so their k IDs in a millisecond overlap in k²/4096 on average. The
/// overlap of two runs is j with probability 2/4096 for each 0 < j < k and k with 1/4096: its second moment is
/// k(2k² + 1)/3/4096. The bounds are five standard deviations, so one run in a million fails by chance.
fn one_session_meets_once_in_4096_pairs() {
    const FORKS: u64 = if cfg!(debug_assertions) { 20 } else { 100 };
    const MILLISECONDS: u64 = 2_000;
    const RATE: u64 = 8;

    let mut met = 0;
    for _ in 0..FORKS {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().clock(&clock).build().unwrap();
        ids.generate(hot()).unwrap();
        // The child's first is the millisecond after: both walk from there.
        let child = Way::Fork.copy(|| walk(&ids, MILLISECONDS, RATE as usize));
        met += common(&walk(&ids, MILLISECONDS, RATE as usize), &child.ids());
    }
    agrees(met, FORKS * MILLISECONDS, RATE);
}

fn agrees(met: u64, milliseconds: u64, rate: u64) {
    let expected = milliseconds * rate * rate / 4096;
    let variance = milliseconds * rate * (2 * rate * rate + 1) / 3 / 4096;
    assert!(met.abs_diff(expected).pow(2) < 25 * variance, "{met} meetings, {expected} expected");
}

fn one_session_meets_once_in_4096_pairs_after_a_lead_of_200_ms() {
    const FORKS: u64 = if cfg!(debug_assertions) { 20 } else { 100 };
    const LEAD: u64 = 200;
    const MILLISECONDS: u64 = 2_000;
    const RATE: u64 = 8;

    // Milliseconds in which they met, and 4,096 times those in which they would by chance: in the lead, and after it.
    let mut found = [(0, 0); 2];
    for _ in 0..FORKS {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().clock(&clock).build().unwrap();
        let before: Vec<_> = ids.batch(hot(), LEAD as usize * 4_096).unwrap().collect();
        let mint = || walk(&ids, LEAD + 2 + MILLISECONDS, RATE as usize);
        let child = Way::Fork.copy(mint);
        let (parent, child) = (mint(), child.ids());
        assert!(before[before.len() - 1] < child[0], "among what the parent had minted");

        // While the clock catches up, both go on in the milliseconds that they had reached.
        let caught_up = MessageId::first_at(T + LEAD + 3).unwrap();
        let split = |ids: &[MessageId]| ids.partition_point(|id| *id < caught_up);
        let (parent, child) = (parent.split_at(split(&parent)), child.split_at(split(&child)));
        for (found, (parent, child)) in found.iter_mut().zip([(parent.0, child.0), (parent.1, child.1)]) {
            let (met, chances) = meetings(parent, child);
            found.0 += met;
            found.1 += chances;
        }
    }
    // Two runs of a millisecond that overlap share up to 8 IDs, so milliseconds are counted, and not IDs. They are independent: a
    // Poisson distribution, which exceeds this bound less than once in 10⁶ times for each mean.
    for (met, chances) in found {
        let mean = chances / 4096;
        assert!(met.abs_diff(mean).pow(2) <= 36 * mean + 100, "met in {met} milliseconds, {mean} expected");
    }
}

/// Each way after each other; 0.24 meetings are expected in each pair, and five are rarer than one in a million.
fn copies_of_copies_are_new_hosts_too() {
    for (first, second) in ways().into_iter().flat_map(|first| ways().into_iter().map(move |second| (first, second))) {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().clock(&clock).build().unwrap();
        ids.generate(hot()).unwrap();
        let one = first.copy(|| {
            let mut minted = vec![ids.generate(hot()).unwrap()];
            let other = second.copy(|| walk(&ids, 1_000, 1));
            minted.extend(walk(&ids, 1_000, 1));
            minted.extend(other.ids());
            minted
        });
        let parent = walk(&ids, 1_000, 1);
        let minted = one.ids();
        let (one, other) = minted[1..].split_at(1_000);
        for (a, b) in [(&*parent, one), (one, other), (&*parent, other)] {
            assert!(common(a, b) < 6, "{first:?}, then {second:?}: {} of 1,000 in common", common(a, b));
        }
    }
}

/// In step they would meet in every millisecond. 32 siblings make 496 pairs, and 1,000 milliseconds 121 meetings;
/// the pairs are nearly independent, and the bound is six standard deviations.
fn assert_out_of_step(way: Way, ids: &Generator<&ManualClock>) {
    let children: Vec<_> = (0..32).map(|_| way.copy(|| walk(ids, 1_000, 1))).collect();
    let siblings: Vec<_> = children.into_iter().map(Child::ids).collect();
    let mut met = 0;
    for (at, sibling) in siblings.iter().enumerate() {
        met += siblings[at + 1..].iter().map(|other| common(sibling, other)).sum::<u64>();
    }
    assert!((55..187).contains(&met), "{way:?}: {met} meetings, 121 expected");
}

fn siblings_do_not_march_in_step_however_they_are_made() {
    for way in ways() {
        for minted in [false, true] {
            let clock = ManualClock::new(T);
            let ids = Generator::builder().clock(&clock).build().unwrap();
            if minted {
                ids.generate(hot()).unwrap();
            }
            assert_out_of_step(way, &ids);
        }
    }
}

/// A parent at full load hands each child the same last stamp, a second ahead. 128 children over 17 milliseconds are 7.5 in each,
/// and more than 32 in one of them are rarer than one in 10⁹.
fn siblings_after_a_lead_of_1_s_start_apart() {
    for way in ways() {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().clock(&clock).build().unwrap();
        while ids.batch(hot(), 1_024).is_ok() {}
        let mut found = [0; 64];
        for _ in 0..128 {
            let first = way.copy(|| vec![ids.generate(hot()).unwrap()]).ids()[0];
            found[usize::try_from(first.timestamp_ms() - (T + 1_000)).unwrap()] += 1;
        }
        assert!(*found.iter().max().unwrap() <= 32, "{way:?}: {found:?}");
        assert!(found[20..].iter().all(|count| *count == 0), "{way:?}: {found:?}");
    }
}

fn a_set_seed_is_the_parents_alone() {
    for way in ways() {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().seed(7).clock(&clock).build().unwrap();
        ids.generate(hot()).unwrap();
        assert_out_of_step(way, &ids);
    }
}

/// A rolling counter goes on from the last stamp, which parent and children have in common. Each child draws
/// another one. All of them count by one per millisecond. So two of them meet in every millisecond if they have drawn the same
/// counter, once in 4,096 times, and otherwise never. A family has three pairs. Three of six families draw a counter twice less
/// than once in 10⁸ times.
fn rolling_counters_of_a_family_do_not_march_in_step() {
    for way in ways() {
        let met: Vec<_> = (0..6).map(|_| rolling_family(way)).collect();
        let in_step = met.iter().filter(|met| **met > 0).count();
        assert!(in_step < 3, "{way:?}: {met:?} of 3,000 IDs in common");
    }
}

/// Returns how many IDs the two children of a parent have in common with each other and with their parent.
fn rolling_family(way: Way) -> u64 {
    let clock = ManualClock::new(T);
    // The last of three stripes.
    let ids: Generator<_, 3> = Generator::builder().stripes().rolling().clock(&clock).build().unwrap();
    assert_eq!(hot().session_hash().to_u32() % 3, 2);
    let before = ids.batch(hot(), 3).unwrap().next_back().unwrap();
    let children: Vec<_> = (0..2).map(|_| way.copy(|| walk(&ids, 1_000, 1))).collect();
    let mut family: Vec<_> = children.into_iter().map(Child::ids).collect();
    assert!(family.iter().all(|child| before.timestamp_ms() < child[0].timestamp_ms()));
    family.push(walk(&ids, 1_000, 1));
    [(0, 1), (0, 2), (1, 2)].map(|(a, b)| common(&family[a], &family[b])).iter().sum()
}

/// The first thing that a child does with its generator need not be to mint.
fn no_call_before_its_first_id_makes_a_child_forget_the_fork() {
    type Call = fn(&Generator<&ManualClock>);
    let calls: [(&str, Call); 7] = [
        ("stats", |ids| _ = ids.stats()),
        ("observe the past", |ids| ids.observe(MessageId::MIN).unwrap()),
        ("observe the future", |ids| ids.observe(MessageId::last_at(T + 3).unwrap()).unwrap()),
        ("raise the floor", |ids| ids.raise_floor(MessageId::last_at(T + 3).unwrap())),
        ("raise the ceiling", |ids| ids.raise_ceiling_ms(u64::MAX)),
        ("a run that is too long", |ids| assert!(ids.batch(hot(), usize::MAX).is_err())),
        ("an empty batch", |ids| assert_eq!(ids.batch(hot(), 0).unwrap().len(), 0)),
    ];
    for way in ways() {
        for (name, call) in calls {
            let mut met = 0;
            for _ in 0..8 {
                let clock = ManualClock::new(T);
                let ids = Generator::builder().clock(&clock).build().unwrap();
                ids.generate(hot()).unwrap();
                let child = way.copy(|| {
                    call(&ids);
                    walk(&ids, 1_000, 1)
                });
                met += common(&walk(&ids, 1_000, 1), &child.ids());
            }
            // 8,000 pairs, 1.95 meetings expected: 16 are rarer than one in 10⁹.
            assert!(met < 16, "{way:?}, {name}: {met} of 8,000 IDs are the parent's");
        }
    }
}

/// A generator compares one word, the reading plus a mark of the process, which is a multiple of 2⁴². In a child, which has
/// no mark yet, some readings of a broken clock sum to the word that the parent left. They are past 2109 and give no ID.
fn a_reading_past_all_time_is_an_error_in_every_child() {
    for way in ways() {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().clock(&clock).build().unwrap();
        let published = ids.generate(hot()).unwrap();
        let assert_no_time = |reading| {
            clock.set(reading);
            let minted = ids.generate(hot());
            assert!(minted.is_err_and(GenerateError::is_clock), "{way:?}: {minted:?} at the reading {reading}");
        };
        let one = way.copy(|| {
            (1..2_000).for_each(|mark| assert_no_time((mark << 42) + T));
            Vec::new()
        });
        assert!(one.ids().is_empty());
        // After an observed ID the word holds for no reading at all.
        ids.observe(published).unwrap();
        let other = way.copy(|| {
            assert_no_time(u64::MAX);
            Vec::new()
        });
        assert!(other.ids().is_empty());
        assert!(published < ids.generate(hot()).unwrap(), "the parent goes on");
    }
}

fn a_generator_without_a_lane_goes_on_in_every_child() {
    for way in ways() {
        let ids = Generator::new();
        let before = ids.generate(hot()).unwrap();
        let child = way.copy(|| (0..1_000).map(|_| ids.generate(hot()).unwrap()).collect());
        let child = child.ids();
        assert!(before.timestamp_ms() < child[0].timestamp_ms() && child.is_sorted_by(|a, b| a < b));
    }
}

fn the_default_generator_forks() {
    let mut all = vec![vec![imid::generate(room("parent")).unwrap()]];
    let child = Way::Fork.copy(|| (0..1_000).map(|_| imid::generate(room("child")).unwrap()).collect());
    all.push((0..1_000).map(|_| imid::generate(room("parent")).unwrap()).collect());
    let child = child.ids();
    assert!(all[0][0].timestamp_ms() < child[0].timestamp_ms());
    all.push(child);
    assert_distinct(&all);
}

/// A child inherits what its parent draws random numbers from. If it drew the same ones, both would make the same IDs for two rooms of one
/// tag, again and again.
fn every_copy_of_a_process_draws_numbers_of_its_own() {
    let draw = || (0..1_000).map(|_| MessageId::after(None, hot(), T).unwrap()).collect::<Vec<_>>();
    draw();
    for way in ways() {
        let children: Vec<_> = (0..2).map(|_| way.copy(draw)).collect();
        let mut all = vec![draw()];
        all.extend(children.into_iter().map(Child::ids));
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let equal = all[a].iter().zip(&all[b]).filter(|(a, b)| a == b).count();
            // 0.24 are expected.
            assert!(equal < 10, "{way:?}: {equal} of 1,000 equal draws of processes {a} and {b}");
        }
    }
}
