//! The clock steps back, or forth and back: IDs go on, spread as evenly as before, and the lead goes to zero.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use imid::clock::{Clock, ClockError, ManualClock};
use imid::{Generator, MessageId};

use super::{FEW, LEAD, Random, T, ahead, host, hosts, most_in_one_ms, ms, other_room, repeats, room};

const STEP: u64 = 30_000;

/// Eight hosts mint an ID a millisecond each, one in a hundred for the same room, and all clocks step back by 30 s.
///
/// Two hosts meet in one of 4,096 pairs of IDs of one millisecond of time. At half speed a millisecond has 0.02 IDs of
/// the room from each host, so the 28 pairs of hosts meet 28 × 17,500 × 0.02² / 4,096 = 0.05 times in the 35 s after the
/// step: 0.2 times in four runs, with a standard deviation of 0.45. The bound is eight of them away, and it is below the
/// one duplicate in a run that is promised. With the time standing still all 30 s fall into ten milliseconds, and the
/// duplicates are 70 in a run.
#[test]
fn a_step_back_of_30_s_does_not_pile_the_ids_of_eight_hosts_into_one_millisecond() {
    const RUNS: u64 = 4;

    let mut found = 0;
    for run in 0..RUNS {
        let clock = ManualClock::new(T);
        let hosts = hosts(8, run, &clock);
        let mut random = Random(run);
        let mut minted = Vec::new();
        for at in 0..40_000 {
            clock.set(if at < 5_000 { T + at } else { T + at - STEP });
            for ids in &hosts {
                if random.once_in(100) {
                    minted.push(ids.generate(room()).unwrap());
                } else {
                    ids.generate(other_room()).unwrap();
                }
            }
        }
        found += repeats(&minted);
    }
    assert!(found < 4, "{found} duplicates in {RUNS} runs");
}

/// At half speed a millisecond of an ID's time takes two of the clock.
#[test]
fn after_a_step_back_each_millisecond_has_twice_the_ids_and_no_more() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    ids.generate(room()).unwrap();
    let minted: Vec<_> = (0..2 * STEP + 100)
        .map(|at| {
            clock.set(T - STEP + at);
            ids.generate(room()).unwrap()
        })
        .collect();
    assert!(minted.is_sorted_by(|a, b| a < b));
    // Two for the half speed, and what a seeded start near the end of the spin carries from the millisecond before.
    assert!(most_in_one_ms(&minted) <= 4, "{} IDs in one millisecond", most_in_one_ms(&minted));
}

#[test]
fn the_lead_of_a_step_back_shrinks_from_the_first_millisecond_on_and_ends_at_zero() {
    for step in [1, 2, 3, 20, 1_000, STEP, 3_600_000] {
        let clock = ManualClock::new(T);
        let ids = host(step).clock(&clock).build().unwrap();
        let before = ids.generate(room()).unwrap();
        let mut least = i64::MAX;
        // Long steps are walked in strides.
        let stride = (step / 10_000).max(1);
        for at in (0..=2 * step + 2).step_by(usize::try_from(stride).unwrap()) {
            let now = T - step + at;
            clock.set(now);
            let id = ids.generate(room()).unwrap();
            let lead = ahead(id, now);
            assert!(before < id && 0 <= lead, "{lead} ms ahead");
            // A carry out of a full spin is one millisecond.
            assert!(lead <= least.saturating_add(1), "{lead} ms ahead, after {least}, {at} ms after a step of {step}");
            least = least.min(lead);
            assert!(lead <= step.cast_signed() + 1, "{lead} ms ahead after a step of {step} ms");
            if at > step && step > 20 {
                assert!(lead < (step * 3 / 4).cast_signed(), "{lead} ms ahead, {at} ms after a step of {step} ms");
            }
        }
        clock.set(T + step + 10);
        let id = ids.generate(room()).unwrap();
        assert!(ahead(id, T + step + 10) <= 1, "{id:?} after a step of {step} ms has been caught up");
        assert_eq!(ids.stats().behind, ms(0), "after a step of {step} ms");
    }
}

/// 4,096 IDs in each millisecond of the clock, before, during and after a step: none is refused, and none is further
/// ahead than the step and `max_lead`.
#[test]
fn full_load_meets_no_refusal_through_a_step_of_30_s_or_an_hour() {
    for step in [STEP, 3_600_000] {
        let clock = ManualClock::new(T);
        let ids = host(step).clock(&clock).build().unwrap();
        let mut last = MessageId::MIN;
        let mut mint = |now: u64, run: usize| {
            clock.set(now);
            let mut batch = ids.batch(room(), run).unwrap_or_else(|error| panic!("{error}, at {now} - {T}"));
            let (first, end) = (batch.next().unwrap(), batch.next_back().unwrap());
            assert!(last < first);
            last = end;
            assert!(ahead(end, now) <= (step + LEAD).cast_signed(), "{} ms ahead of {now}", ahead(end, now));
        };
        for at in 0..200 {
            mint(T + at, 4_096);
        }
        // Milliseconds around the step, around the old time and around the meeting one by one; strides between, whose
        // batches hold as many IDs as a millisecond each.
        let mut at = 0;
        while at < 2 * step + 500 {
            let near = [0, step, 2 * step].iter().any(|edge| at.abs_diff(*edge) < 300);
            let stride = if near { 1 } else { 100 };
            at += stride;
            mint(T + 200 - step + at, 4_096 * usize::try_from(stride).unwrap());
        }
        assert_eq!(ids.stats().refused, 0);
    }
}

/// Full load needs more lead while the clock is behind; once the step has been slewed, it is the plain one again.
#[test]
fn what_a_step_back_granted_is_given_back_when_the_load_has_ended() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    ids.generate(room()).unwrap();
    for at in (0..3 * STEP).step_by(10) {
        clock.set(T - STEP + at);
        ids.generate(room()).unwrap();
    }
    let now = T + 2 * STEP;
    clock.set(now);
    let mut last = ids.generate(room()).unwrap();
    while let Ok(mut batch) = ids.batch(room(), 4_096) {
        last = batch.next_back().unwrap();
    }
    assert!(ahead(last, now) <= LEAD.cast_signed(), "{} ms ahead", ahead(last, now));
}

/// A clock that shows the time of its script, and can hold one reader after it has read: a thread that is paused there.
struct Paused {
    time: ManualClock,
    hold: AtomicBool,
    arrived: Barrier,
    resumed: Barrier,
}

impl Paused {
    fn at(ms: u64) -> Self {
        Self { time: ManualClock::new(ms), hold: false.into(), arrived: Barrier::new(2), resumed: Barrier::new(2) }
    }

    /// The next reading is made at once, and returned after `meanwhile` has run in this thread.
    fn pause<R: Send>(&self, reader: impl FnOnce() -> R + Send, meanwhile: impl FnOnce()) -> R {
        self.hold.store(true, Ordering::SeqCst);
        thread::scope(|scope| {
            let reader = scope.spawn(reader);
            self.arrived.wait();
            meanwhile();
            self.resumed.wait();
            reader.join().expect("a thread that mints")
        })
    }
}

impl Clock for Paused {
    fn now_ms(&self) -> Result<u64, ClockError> {
        let reading = self.time.now_ms();
        if self.hold.swap(false, Ordering::SeqCst) {
            self.arrived.wait();
            self.resumed.wait();
        }
        reading
    }
}

/// A thread reads the clock and is paused. The clock steps back, and another thread notices that. The reading of the
/// paused thread is from before the step, and must not be taken for a time that runs at half speed already.
#[test]
fn a_reading_from_before_a_step_does_not_double_the_step() {
    for (before, step) in [(0, STEP), (0, 3_600_000), (1, STEP), (50, STEP), (5, 10), (0, 1)] {
        let clock = Paused::at(T);
        let ids = host(step).clock(&clock).build().unwrap();
        let first = ids.generate(room()).unwrap();
        clock.time.set(T + before);
        let mint = || ids.generate(room()).unwrap();
        let late = clock.pause(mint, || {
            clock.time.set(T + before - step);
            let other = ids.generate(room()).unwrap();
            assert!(first < other && ahead(other, T + before) <= 1, "{} ms ahead", ahead(other, T + before));
        });
        assert!(first < late);
        assert!(ahead(late, T + before) <= 1, "{} ms past the time before the step", ahead(late, T + before));
        // What the late thread left behind is not further ahead either.
        let next = ids.generate(room()).unwrap();
        assert!(late < next && ahead(next, T + before) <= 1, "{} ms ahead", ahead(next, T + before));
    }
}

/// Several steps back while a thread is paused, and the clock already on its way again.
#[test]
fn a_reading_from_before_two_steps_is_no_further_ahead_than_their_sum() {
    let clock = Paused::at(T);
    let ids = host(1).clock(&clock).build().unwrap();
    ids.generate(room()).unwrap();
    let late = clock.pause(
        || ids.generate(room()).unwrap(),
        || {
            for now in [T - 10_000, T - 9_000, T - 20_000, T - 19_500] {
                clock.time.set(now);
                ids.generate(room()).unwrap();
            }
        },
    );
    assert!(ahead(late, T) <= 1_001, "{} ms past the time before the steps", ahead(late, T));
}

/// As a machine whose time daemon and hypervisor disagree: one second forth, one second back, over and over.
#[test]
fn a_clock_that_repeats_a_step_leads_by_two_steps_at_most_and_refuses_nothing() {
    const EACH: u64 = 1_000;

    for (pause, rate) in [(7, 1), (100, 1), (1_000, 3), (3_000, 1)] {
        let clock = ManualClock::new(T);
        let ids = host(pause).clock(&clock).build().unwrap();
        let (mut now, mut most) = (T, 0);
        for round in 0..60 {
            now = if round % 2 == 0 { now + EACH } else { now - EACH };
            for _ in 0..pause {
                now += 1;
                clock.set(now);
                for _ in 0..rate {
                    most = most.max(ahead(ids.generate(room()).unwrap(), now));
                }
            }
        }
        assert!(most <= (2 * EACH + FEW).cast_signed(), "{most} ms ahead with {pause} ms between the steps");
        assert_eq!(ids.stats().refused, 0);
    }
}

/// The same while a longer step is being slewed. Each return of the clock moves the time on by half a step, and each step back
/// keeps that: what bounds the lead is twice the distance to the greatest reading, 31 s, from where the clock is, half of
/// which is taken at once.
#[test]
fn a_clock_that_repeats_a_step_while_it_is_behind_does_not_carry_the_time_away() {
    const EACH: u64 = 1_000;

    for pause in [7, 100, 600] {
        let clock = ManualClock::new(T);
        let ids = host(pause).clock(&clock).build().unwrap();
        ids.generate(room()).unwrap();
        let (mut now, mut most) = (T - STEP, 0);
        for round in 0..60_000 / pause {
            now = if round % 2 == 0 { now + EACH } else { now - EACH };
            for _ in 0..pause {
                now += 1;
                clock.set(now);
                most = most.max(ahead(ids.generate(room()).unwrap(), now));
            }
        }
        let bound = ((STEP + EACH) * 3 / 2 + FEW).cast_signed();
        assert!(most <= bound, "{most} ms ahead with {pause} ms between the steps");
    }
}

/// The same under the fullest load that a millisecond holds, with the lead that is allowed for it.
#[test]
fn a_clock_that_repeats_a_step_under_full_load_leads_by_two_steps_and_the_lead() {
    const EACH: u64 = 1_000;

    let clock = ManualClock::new(T);
    let ids = host(3).clock(&clock).build().unwrap();
    let (mut now, mut most, mut refused) = (T, 0, 0);
    for round in 0..100 {
        now = if round % 2 == 0 { now + EACH } else { now - EACH };
        for _ in 0..500 {
            now += 1;
            clock.set(now);
            match ids.batch(room(), 4_096) {
                Ok(mut batch) => most = most.max(ahead(batch.next_back().unwrap(), now)),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(most <= (2 * EACH + LEAD + FEW).cast_signed(), "{most} ms ahead");
    // The clock itself shows a second less in every two rounds than has passed.
    assert_eq!(refused, 0);
}

/// Three steps back of `step` milliseconds, each of them taken back to a second before the greatest reading, and a fourth one that
/// stays. From the third one on, the time stands still in part. Full rate goes on all the same, with a lead of two steps at most
/// beyond `max_lead`.
#[test]
fn repeated_steps_refuse_nothing_while_the_time_stands_still() {
    const PAUSE: u64 = 300;

    for (step, run) in [(STEP, 1), (STEP, 4_096), (300_000, 1_000)] {
        let clock = ManualClock::new(T);
        let ids = host(step).clock(&clock).build().unwrap();
        let mut last = ids.generate(room()).unwrap();
        for at in 1..=7 * PAUSE + 2 * step {
            let is_back = at / PAUSE % 2 == 1 || at > 7 * PAUSE;
            let behind = if is_back { step } else { 1_000 };
            let now = if at < PAUSE { T + at } else { T + at - behind };
            clock.set(now);
            let mut batch = ids.batch(room(), run).unwrap_or_else(|error| panic!("{error}, after {at} ms"));
            let (first, end) = (batch.next().unwrap(), batch.next_back());
            assert!(last < first);
            last = end.unwrap_or(first);
            assert!(ahead(last, now) <= (2 * step + LEAD + FEW).cast_signed(), "{} ms ahead", ahead(last, now));
        }
    }
}

/// Steps of random lengths, about three a second, at half of a thousand IDs per millisecond. DESIGN.md says what a higher load meets.
#[test]
fn random_steps_refuse_nothing_and_keep_the_order_and_the_lead() {
    const RATE: usize = 500;

    for (step, seed) in [1_000, 30_000, 300_000].into_iter().flat_map(|step| (0..10).map(move |seed| (step, seed))) {
        let mut random = Random(seed);
        let clock = ManualClock::new(T);
        let ids = Generator::builder().clock(&clock).build().unwrap();
        let mut last = None;
        let (mut behind, mut until) = (0, 0);
        for at in 0..12_000 {
            if at == until {
                until += 1 + random.next() % 600;
                behind = [0, step, random.next() % step][usize::try_from(random.next() % 3).unwrap()];
            }
            let now = T + step + at - behind;
            clock.set(now);
            let mut batch = ids.batch(room(), RATE).unwrap_or_else(|error| panic!("{error}, after {at} ms of {seed}"));
            let (first, end) = (batch.next(), batch.next_back());
            assert!(last < first);
            last = end;
            let ahead = end.unwrap().timestamp_ms().saturating_sub(now);
            assert!(ahead <= 2 * step + 1_000, "{ahead} ms ahead, after {at} ms of {seed}");
        }
    }
}

/// One reading of half an hour ago, and then the right time again: nothing was wrong but that reading, and IDs stay where
/// the clock is.
#[test]
fn one_reading_far_behind_leaves_no_lead() {
    for behind in [1, 100, 1_000, STEP, 1_800_000] {
        let clock = ManualClock::new(T);
        let ids = host(behind).clock(&clock).build().unwrap();
        for at in 0..200 {
            clock.set(if at == 100 { T + at - behind } else { T + at });
            let id = ids.generate(room()).unwrap();
            let now = T + at;
            assert!(ahead(id, now) <= 2, "{} ms ahead, {at} ms, a reading {behind} ms behind", ahead(id, now));
        }
    }
}

/// The clock was set back and, a while later, forward again. Once it shows the time that was reached, the step is over.
#[test]
fn a_step_back_that_is_taken_back_leaves_no_lead() {
    for (back, pause) in [(STEP, 10), (STEP, 5_000), (1_000, 300), (3_600_000, 1_000)] {
        let clock = ManualClock::new(T);
        let ids = host(back).clock(&clock).build().unwrap();
        for at in 0..pause + 20_000 {
            let is_back = (100..100 + pause).contains(&at);
            clock.set(if is_back { T + at - back } else { T + at });
            let id = ids.generate(room()).unwrap();
            let now = T + at;
            assert!(ahead(id, now) <= 2, "{} ms past the true time, {pause} ms after {back} ms back", ahead(id, now));
        }
    }
}

/// Each cause finds time ahead already, by another one: a step after an observed ID, a step after a floor, a step after a
/// step. At 1 ID a millisecond no millisecond may get more than the four of half speed and a carry.
#[test]
fn a_step_back_while_time_is_ahead_is_slewed_too() {
    for (jump, step, pause) in [
        (4_000, 1_000, 0),
        (4_000, 1_000, 100),
        (4_000, 10, 1),
        (4_000, 30_000, 500),
        (100, 60_000, 7),
        (100_000, 30_000, 0),
        (100_000, 30_000, 10),
        (100_000, 1, 0),
    ] {
        for cause in 0..3 {
            let clock = ManualClock::new(T);
            let ids = host(jump).max_skew(ms(jump)).clock(&clock).build().unwrap();
            let mut minted = vec![ids.generate(room()).unwrap()];
            let event = MessageId::last_at(T + jump).unwrap();
            let base = match cause {
                0 => {
                    ids.observe(event).unwrap();
                    T
                }
                1 => {
                    ids.raise_floor(event);
                    T
                }
                _ => {
                    // The clock was ahead, and is corrected.
                    clock.set(T + jump);
                    minted.push(ids.generate(room()).unwrap());
                    T
                }
            };
            for at in 0..2_000 {
                clock.set(if at < pause { base + at } else { base + at - step });
                minted.push(ids.generate(room()).unwrap());
            }
            assert!(minted.is_sorted_by(|a, b| a < b));
            // The first IDs after a jump to a seeded place are more than those of half speed.
            let most = most_in_one_ms(&minted);
            assert!(
                most <= 6,
                "cause {cause}, {jump} ms ahead, then a step of {step} ms: {most} IDs in one millisecond"
            );
        }
    }
}

/// The clock steps back by 30 s, passes its old reading, and steps back again before it has caught up with the time that was
/// reached. At one ID per millisecond half speed gives two to a millisecond; a carry and the step itself can add some.
#[test]
fn a_second_step_back_is_slewed_while_the_first_one_still_is() {
    for (first, pause, second) in
        [(STEP, 31_000, 1_000), (STEP, 31_000, 29_000), (STEP, 45_000, 9_000), (100, 120, 60_000)]
    {
        let clock = ManualClock::new(T);
        let ids = host(second).clock(&clock).build().unwrap();
        let mut minted = vec![ids.generate(room()).unwrap()];
        for at in 0..pause + 3_000 {
            clock.set(if at < pause { T + at - first } else { T + at - first - second });
            minted.push(ids.generate(room()).unwrap());
        }
        assert!(minted.is_sorted_by(|a, b| a < b));
        let most = most_in_one_ms(&minted);
        assert!(most <= 6, "{most} IDs in one millisecond, {pause} ms after {first} ms back, {second} ms back");
    }
}

/// The small steps of a time daemon, at random, for a minute: order, and a lead of no more than the largest two.
#[test]
fn many_small_steps_add_up_to_no_lead() {
    let mut random = Random(9);
    let clock = ManualClock::new(T);
    let ids: Generator<_> = host(9).clock(&clock).build().unwrap();
    let (mut now, mut last, mut most) = (T, MessageId::MIN, 0);
    for _ in 0..60_000 {
        now += 1;
        if random.once_in(50) {
            now = now + random.next() % 41 - 20;
        }
        clock.set(now);
        let id = ids.generate(room()).unwrap();
        assert!(last < id);
        last = id;
        most = most.max(ahead(id, now));
    }
    // A walk of steps within 20 ms is back by more than its largest step only where several follow each other before
    // the clock has caught up; 100 ms are five of them at once.
    assert!(most <= 100, "{most} ms ahead");
}

/// An ID from elsewhere keeps the time ahead while the clock shows 30 s too little for two readings, 20 ms apart. Only that time has
/// passed, and not the step forward by which the clock is right again.
#[test]
fn a_glitch_back_leaves_no_lead_even_while_an_observed_id_is_ahead() {
    for glitch in [500, STEP, 1_800_000] {
        let clock = ManualClock::new(T);
        let ids = host(1).clock(&clock).build().unwrap();
        ids.generate(room()).unwrap();
        ids.observe(MessageId::last_at(T + 100).unwrap()).unwrap();
        for now in [T + 10 - glitch, T + 30 - glitch] {
            clock.set(now);
            ids.generate(room()).unwrap();
        }
        for now in T + 40..T + 400 {
            clock.set(now);
            let lead = ahead(ids.generate(room()).unwrap(), now);
            // 117 ms at the most when it was observed, less half of the time since, and 10 ms for the glitch.
            let most = (127 - (now - T).cast_signed() / 2).max(0) + 1;
            assert!(lead <= most, "{lead} ms ahead at {} ms after a glitch of {glitch} ms", now - T);
        }
    }
}
