//! How far IDs are ahead of the clock: the rows of the table in the documentation of the crate. Each row is a bound that holds
//! and that is reached.

use imid::clock::ManualClock;
use imid::{Generator, MessageId};

use super::{LEAD, Random, SKEW, T, ahead, host, hosts, room};

/// The next millisecond, the spread of hosts that see one event, and what full load may borrow then.
const MORE: u64 = 21;

/// Mints at a time until it is refused, and returns how far the last ID is ahead.
fn exhaust(ids: &Generator<&ManualClock>, now: u64) -> u64 {
    ids.clock().set(now);
    let mut most = 0;
    while let Ok(mut batch) = ids.batch(room(), 512) {
        most = most.max(ahead(batch.next_back().expect("a run of 512"), now).cast_unsigned());
    }
    most
}

#[test]
fn in_ordinary_use_by_a_millisecond() {
    let clock = ManualClock::new(T);
    let hosts = hosts(50, 1, &clock);
    let mut random = Random(1);
    let mut most = 0;
    for now in T..T + 5_000 {
        clock.set(now);
        for ids in &hosts {
            for _ in 0..random.next() % 5 {
                most = most.max(ahead(ids.generate(room()).unwrap(), now));
            }
        }
    }
    assert_eq!(most, 1);
}

#[test]
fn under_overload_by_the_lead() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    let most = (T..T + 3_000).map(|now| exhaust(&ids, now)).max();
    assert_eq!(most, Some(LEAD));
}

#[test]
fn after_a_step_back_by_the_step_and_for_twice_its_length() {
    for step in [1, 30, 5_000, 3_600_000] {
        let clock = ManualClock::new(T);
        let ids = host(1).clock(&clock).build().unwrap();
        ids.generate(room()).unwrap();
        let lead_at = |now| {
            clock.set(now);
            ahead(ids.generate(room()).unwrap(), now)
        };
        let first = lead_at(T - step).cast_unsigned();
        assert!((step..=step + 1).contains(&first), "{first} ms ahead after a step of {step}");
        // Half of it is left after the time of the step, and nothing after twice the time.
        let stride = step.div_ceil(1_000);
        for now in (T - step..T + step).step_by(usize::try_from(stride).unwrap()) {
            let most = (T + step - now).div_ceil(2) + 1;
            let lead = lead_at(now);
            assert!(lead <= most.cast_signed(), "{lead} ms ahead at {now} after a step of {step}");
            let least = ((T + step - now) / 2).saturating_sub(stride);
            assert!(lead >= least.cast_signed(), "{lead} ms ahead at {now} after a step of {step}");
        }
        assert!(lead_at(T + step) <= 1);
    }
}

#[test]
fn under_overload_while_it_is_behind_by_the_step_and_the_lead() {
    for step in [100, 5_000] {
        for is_loaded_before in [false, true] {
            let clock = ManualClock::new(T);
            let ids = host(1).clock(&clock).build().unwrap();
            ids.generate(room()).unwrap();
            if is_loaded_before {
                exhaust(&ids, T);
            }
            let most = (T - step..T + 2 * step).step_by(3).map(|now| exhaust(&ids, now)).max().unwrap();
            assert!((step + LEAD - 5..=step + LEAD).contains(&most), "{most} ms ahead after a step of {step}");
        }
    }
}

/// The clock errs to both sides. Its greatest reading is then s ahead of the true time, and its greatest step is twice s.
#[test]
fn while_a_clock_errs_by_s_by_three_times_s_and_for_six_times_s() {
    const S: u64 = 1_000;

    let (mut greatest, mut longest) = (0, 0);
    for run in 0..60 {
        let clock = ManualClock::new(T);
        let ids = host(run).clock(&clock).build().unwrap();
        let (mut random, mut offset) = (Random(run), S);
        let once_in = [2, 20, 300][run as usize % 3];
        let right_from = 5_000 + 100 * run;
        for at in 0..right_from + 7 * S {
            if at >= right_from {
                offset = S;
            } else if random.once_in(once_in) {
                let between = random.next() % (2 * S + 1);
                offset = random.one_of(&[0, 2 * S, between]);
            }
            clock.set(T + at + offset - S);
            let lead = ahead(ids.generate(room()).unwrap(), T + at);
            greatest = greatest.max(lead);
            if at >= right_from && lead > 1 {
                longest = longest.max(at - right_from + 1);
            }
        }
    }
    assert!((S * 5 / 2..=3 * S + 1).contains(&greatest.cast_unsigned()), "{greatest} ms ahead");
    assert!((4 * S..=6 * S).contains(&longest), "{longest} ms until the clock has caught up");
}

#[test]
fn after_an_id_from_elsewhere_or_a_floor_by_its_own_lead_and_21_ms() {
    for jump in [2_000, SKEW] {
        let seen = MessageId::last_at(T + jump).unwrap();
        let (mut by_observe, mut by_floor) = (0, 0);
        for seed in 0..200 {
            let clock = ManualClock::new(T);
            let ids = host(seed).clock(&clock).build().unwrap();
            ids.generate(room()).unwrap();
            ids.observe(seen).unwrap();
            by_observe = by_observe.max(exhaust(&ids, T));
            let ids = host(seed).floor(seen).clock(&clock).build().unwrap();
            by_floor = by_floor.max(exhaust(&ids, T));
        }
        assert_eq!((by_observe, by_floor), (jump + MORE, jump + MORE));
    }
}

/// The next millisecond and the spread are caught up at half speed as well.
#[test]
fn after_an_id_from_elsewhere_or_a_floor_for_twice_its_lead_and_34_ms() {
    for jump in [0, 70, 2_000] {
        let seen = MessageId::last_at(T + jump).unwrap();
        // A spread is at most a quarter of the jump, and at most 16 ms.
        let most = 2 * (jump + 1 + 16.min((jump + 1) / 4));
        for is_floor in [false, true] {
            let longest = (0..200).map(|seed| {
                let clock = ManualClock::new(T);
                let ids = host(seed).clock(&clock).build().unwrap();
                ids.generate(room()).unwrap();
                if is_floor {
                    ids.raise_floor(seen);
                } else {
                    ids.observe(seen).unwrap();
                }
                let is_ahead = |now: &u64| {
                    clock.set(*now);
                    ahead(ids.generate(room()).unwrap(), *now) > 1
                };
                (T..T + most + 50).filter(is_ahead).max().map_or(0, |last| last + 1 - T)
            });
            let longest = longest.max().unwrap();
            assert!(
                (most.saturating_sub(12)..=most).contains(&longest),
                "{longest} ms after {jump} ms, at most {most}"
            );
        }
    }
}

/// Each start may borrow a few milliseconds again. So restarts add up if they come sooner than the clock makes it good.
#[test]
fn after_restarts_under_overload_40_ms_apart_by_the_lead_and_10_ms_apart_without_a_bound() {
    for (every, expected) in [(40, LEAD..=LEAD + MORE), (10, 7_500..=8_700)] {
        let clock = ManualClock::new(T);
        let (mut stored, mut most) = (0, 0);
        for restart in 0..1_000 {
            let start = T + restart * every;
            clock.set(start);
            let ids = host(restart).floor_ms(stored).clock(&clock).build().unwrap();
            for now in start..start + every {
                most = most.max(exhaust(&ids, now));
            }
            stored = ids.close().unwrap();
        }
        assert!(expected.contains(&most), "{most} ms ahead after restarts every {every} ms");
    }
}
