//! A ceiling: the first millisecond that no ID may have. Leases stand on it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, ClockError, ManualClock, SystemClock, TickClock};
use imid::generator::Lane;
use imid::{Generator, MessageId, SessionTag, SessionType};

use super::{T, host, ms, room};

const HOUR: u64 = 3_600_000;

/// All that can be minted now, one by one or by runs; what ends it must be the ceiling.
fn drain<C: Clock, const STRIPES: usize>(ids: &Generator<C, STRIPES>, session: SessionTag) -> Vec<MessageId> {
    let mut minted = Vec::new();
    for run in [1_000, 64, 1] {
        loop {
            match ids.batch(session, run) {
                Ok(batch) => minted.extend(batch),
                Err(error) => {
                    assert!(error.is_ceiling(), "{error}");
                    break;
                }
            }
        }
    }
    let error = ids.generate(session).unwrap_err();
    assert!(error.is_ceiling() && !error.is_overload() && !error.is_closed());
    assert!(ids.fill(session, &mut [MessageId::MIN; 3]).unwrap_err().is_ceiling());
    minted
}

/// With the seed `T` the spins of that millisecond start at 0. So every stamp below the ceiling is minted, and none at it.
#[test]
fn the_last_id_is_the_last_of_the_millisecond_before_the_ceiling() {
    for room_ms in [1, 2, 10] {
        let clock = ManualClock::new(T);
        let ids = host(T).ceiling_ms(T + room_ms).clock(&clock).build().unwrap();
        let minted = drain(&ids, room());
        assert_eq!(minted.len() as u64, 4_096 * room_ms);
        let last = minted[minted.len() - 1];
        assert_eq!((last.timestamp_ms(), last.spin()), (T + room_ms - 1, 4_095));
        // As time goes on it does not get better.
        clock.set(T + room_ms);
        assert!(ids.generate(room()).unwrap_err().is_ceiling());
        clock.set(T + HOUR);
        assert!(ids.generate(room()).unwrap_err().is_ceiling());
        ids.raise_ceiling_ms(T + HOUR + 1);
        assert_eq!(ids.generate(room()).unwrap().timestamp_ms(), T + HOUR);
    }
}

#[test]
fn a_ceiling_in_the_past_or_at_the_present_allows_nothing() {
    for ceiling in [0, 1, T - 1, T] {
        let clock = ManualClock::new(T);
        let ids = host(1).ceiling_ms(ceiling).clock(&clock).build().unwrap();
        assert!(ids.generate(room()).unwrap_err().is_ceiling());
        // The clock steps back below it: time that was reached is not reached again.
        clock.set(T - 10);
        let minted = ids.generate(room()).map(MessageId::timestamp_ms);
        assert!(minted.is_err() || minted.unwrap() < ceiling, "{minted:?}");
    }
}

#[test]
fn a_ceiling_only_grows() {
    let clock = ManualClock::new(T);
    let ids = host(1).ceiling_ms(T + 5).clock(&clock).build().unwrap();
    for lower in [0, T, T + 4] {
        ids.raise_ceiling_ms(lower);
    }
    clock.set(T + 4);
    assert_eq!(ids.generate(room()).unwrap().timestamp_ms(), T + 4);
    clock.set(T + 5);
    assert!(ids.generate(room()).unwrap_err().is_ceiling());
    ids.raise_ceiling_ms(u64::MAX);
    assert_eq!(ids.generate(room()).unwrap().timestamp_ms(), T + 5);
    // Past the end of time it is as good as none.
    ids.raise_ceiling_ms(MessageId::TIMESTAMP_MAX);
    clock.set(MessageId::TIMESTAMP_MAX);
    clock.set(MessageId::TIMESTAMP_MAX);
    assert_eq!(ids.generate(room()).unwrap().timestamp_ms(), MessageId::TIMESTAMP_MAX);
}

/// Each thing that moves an ID ahead of the clock, up to the ceiling and no further: overload, a step back, an observed ID,
/// a floor, a batch, a full spin that carries, lanes.
#[test]
fn no_path_mints_at_the_ceiling() {
    let far = Duration::from_secs(3_600_000);
    for bits in [0, 3, 12] {
        for event in 0..8 {
            let lane = Lane { index: (1 << bits) - 1, bits };
            let clock = ManualClock::new(T);
            let ids =
                host(event).lane(lane).max_lead(far).max_skew(far).ceiling_ms(T + 20).clock(&clock).build().unwrap();
            ids.generate(room()).unwrap();
            match event {
                0 => {}
                1 => clock.set(T - 30_000),
                2 => ids.observe(MessageId::last_at(T + 17).unwrap()).unwrap(),
                3 => ids.observe(MessageId::last_at(T + 30).unwrap()).unwrap(),
                4 => ids.raise_floor(MessageId::last_at(T + 18).unwrap()),
                5 => ids.raise_floor(MessageId::last_at(T + HOUR).unwrap()),
                6 => clock.set(T + 19),
                _ => {
                    clock.set(T + 30_000);
                    let _ = ids.generate(room());
                    clock.set(T + 10);
                }
            }
            let minted = drain(&ids, room());
            let most = minted.iter().map(|id| id.timestamp_ms()).max();
            assert!(most.is_none_or(|most| most < T + 20), "{bits} bits, event {event}: {most:?}");
            assert!(ids.generate_within(room(), ms(20)).unwrap_err().is_ceiling());
        }
    }
}

/// A thread raises a ceiling bit by bit, and writes down first to where; others mint as fast as they can. Every ID is
/// below what had been written down when its call returned.
fn race<C: Clock + Sync, const STRIPES: usize>(ids: &Generator<C, STRIPES>, from: u64, turn: impl Fn(u64) + Sync) {
    const RAISES: u64 = if cfg!(debug_assertions) { 300 } else { 2_000 };

    let (granted, done) = (AtomicU64::new(from), AtomicBool::new(false));
    thread::scope(|scope| {
        for thread in 0..3 {
            let (granted, done) = (&granted, &done);
            scope.spawn(move || {
                let session = SessionTag::new(SessionType::GROUP, &format!("room-{thread}"));
                let mut last = MessageId::MIN;
                while !done.load(Ordering::Relaxed) {
                    let run = if thread == 2 { 200 } else { 1 };
                    match ids.batch(session, run) {
                        Ok(mut batch) => {
                            let first = batch.next().unwrap();
                            let end = batch.next_back().unwrap_or(first);
                            assert!(last < first);
                            last = end;
                            let ceiling = granted.load(Ordering::SeqCst);
                            assert!(end.timestamp_ms() < ceiling, "{} at {ceiling}", end.timestamp_ms());
                        }
                        Err(error) => {
                            assert!(error.is_ceiling() || error.is_overload(), "{error}");
                            thread::yield_now();
                        }
                    }
                }
            });
        }
        for raise in 1..=RAISES {
            turn(raise);
            granted.store(from + raise, Ordering::SeqCst);
            ids.raise_ceiling_ms(from + raise);
            thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
    });
    for thread in 0..3 {
        let session = SessionTag::new(SessionType::GROUP, &format!("room-{thread}"));
        let ceiling = granted.load(Ordering::SeqCst);
        while let Ok(mut batch) = ids.batch(session, 1_000) {
            assert!(batch.next_back().unwrap().timestamp_ms() < ceiling);
        }
    }
}

#[test]
fn no_id_is_at_the_ceiling_while_it_is_raised_and_the_clock_runs_wild() {
    let clock = ManualClock::new(T);
    let ids = host(1).max_lead(Duration::MAX).ceiling_ms(T).clock(&clock).build().unwrap();
    race(&ids, T, |raise| clock.set(T + raise * 3 - raise % 13));
    let clock = ManualClock::new(T);
    let ids = host(2).stripes::<8>().ceiling_ms(T).clock(&clock).build().unwrap();
    race(&ids, T, |raise| {
        clock.set(T + raise - raise.min(raise % 7 * 9));
        if raise % 5 == 0 {
            let _ = ids.observe(MessageId::last_at(T + raise + 40).unwrap());
        }
        if raise % 11 == 0 {
            ids.raise_floor(MessageId::last_at(T + raise - 1).unwrap());
        }
    });
}

#[test]
fn no_id_is_at_the_ceiling_by_the_clocks_of_the_system() {
    let now = SystemClock.now_ms().unwrap();
    let ids = Generator::builder().max_lead(Duration::MAX).ceiling_ms(now).build().unwrap();
    race(&ids, now, |_| ());
    let clock = TickClock::start().unwrap();
    let now = SystemClock.now_ms().unwrap();
    let ids = Generator::builder().stripes::<64>().ceiling_ms(now).clock(clock).build().unwrap();
    race(&ids, now, |_| ());
}

thread_local! {
    /// Whether this thread reads [`SlowlyRefreshed`] at once.
    static IN_A_HURRY: Cell<bool> = const { Cell::new(false) };
}

/// Stands, and takes its time to say so when it is asked for the real time.
struct SlowlyRefreshed;

impl Clock for SlowlyRefreshed {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(T)
    }

    fn refresh(&self) -> Result<u64, ClockError> {
        let began = Instant::now();
        while !IN_A_HURRY.get() && began.elapsed() < Duration::from_micros(20) {
            std::hint::spin_loop();
        }
        Ok(T)
    }
}

/// A lane that was lost and is taken again: the stamps between the old ceiling and the new floor are another host's. Two threads
/// mint up to the old ceiling. The one that mints the last ID below it raises floor and ceiling at once. The other one may have
/// checked the old ceiling before, and then takes the stamp at it.
///
/// Only threads that run at the same time can meet there, so the test goes on until enough of them have. A machine without a
/// second free core ends it earlier. The models of `tests/loom` need no luck.
#[test]
fn stamps_between_an_old_ceiling_and_a_new_floor_are_left_to_others() {
    const ROUNDS: u64 = 20_000;
    const CONTENDED_ROUNDS: u64 = 1_000;
    const LONGEST: Duration = Duration::from_secs(5);

    // One stamp a millisecond, in a lane of 12 bits: 40 below the ceiling, then 3 of another host.
    let build = |round| {
        let builder = host(round).lane(Lane { index: 7, bits: 12 }).max_lead(Duration::MAX).ceiling_ms(T + 40);
        let ids = builder.clock(SlowlyRefreshed).build().unwrap();
        // The window of this reading is published, so that the threads meet in an addition.
        assert_eq!(ids.generate(room()).unwrap().timestamp_ms(), T);
        ids
    };
    IN_A_HURRY.set(true);
    let rounds: Vec<_> = (0..ROUNDS).map(build).collect();
    let (arrived, contended) = (AtomicU64::new(0), AtomicU64::new(0));
    let began = Instant::now();
    let mint = || {
        for (round, ids) in (1..).zip(&rounds) {
            IN_A_HURRY.set(false);
            // A barrier that sleeps or yields would wake one thread after the other has minted everything.
            arrived.fetch_add(1, Ordering::SeqCst);
            while arrived.load(Ordering::SeqCst) < 2 * round {
                std::hint::spin_loop();
            }
            let mut minted = 0;
            loop {
                let Ok(id) = ids.generate(room()) else { continue };
                let place = id.timestamp_ms() - T;
                if (40..43).contains(&place) {
                    // The other thread does not wait anymore.
                    arrived.store(2 * ROUNDS, Ordering::SeqCst);
                    panic!("{place} ms after the start is another host's, round {round}");
                }
                if place == 39 {
                    IN_A_HURRY.set(true);
                    ids.raise_floor(MessageId::last_at(T + 42).unwrap());
                    ids.raise_ceiling_ms(T + 600);
                }
                if place > 60 {
                    break;
                }
                minted += u64::from(place < 40);
            }
            // Both count a round in which both minted.
            if (1..39).contains(&minted) {
                contended.fetch_add(1, Ordering::Relaxed);
            }
            if contended.load(Ordering::Relaxed) >= 2 * CONTENDED_ROUNDS || began.elapsed() > LONGEST {
                arrived.store(2 * ROUNDS, Ordering::SeqCst);
                return;
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(mint);
        mint();
    });
    println!("{} rounds in which both minted", contended.load(Ordering::Relaxed) / 2);
}

/// What a ceiling that is written ahead is for: the next process starts there, and repeats nothing that this one minted,
/// whatever it had minted when it was killed, and wherever the clock is then.
#[test]
fn a_crash_at_full_speed_repeats_nothing_where_the_ceiling_is_the_next_floor() {
    let mut all = Vec::new();
    let mut ceiling = T;
    for process in 0..12_u64 {
        // The clock may have been set back meanwhile.
        let clock = ManualClock::new(T + process * 5 - process % 3 * 4);
        let floor = MessageId::last_at(ceiling - 1).unwrap();
        ceiling += 15;
        // The worst case: every process has the same seed.
        let ids = host(1).floor(floor).ceiling_ms(ceiling).max_lead(Duration::MAX).clock(&clock).build().unwrap();
        let minted = drain(&ids, room());
        assert!(minted.iter().all(|id| floor < *id && id.timestamp_ms() < ceiling));
        all.extend(minted);
    }
    // Each has 15 ms of stamps, less the seeded distance at the start.
    assert!(all.len() > 12 * 4_096, "{}", all.len());
    assert!(all.is_sorted_by(|a, b| a < b));
}

/// A lease that is renewed late: the wait ends when the ceiling is raised, not when a time-out ends.
#[test]
fn a_wait_for_the_ceiling_ends_when_it_is_raised() {
    let ids = Generator::builder().ceiling_ms(1).build().unwrap();
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_ceiling());
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(ms(100));
            ids.raise_ceiling_ms(MessageId::TIMESTAMP_MAX);
        });
        let began = Instant::now();
        let waited = ids.generate_within(room(), Duration::from_secs(30));
        // Either it does not wait for what no clock brings, or it notices.
        match waited {
            Ok(_) => assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed()),
            Err(error) => assert!(error.is_ceiling() && error.retry_after().is_none()),
        }
    });
}
