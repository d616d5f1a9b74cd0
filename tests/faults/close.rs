//! `close` ends a generator for ever and tells its exact end, whatever threads are on their way.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use imid::clock::{Clock, ManualClock};
use imid::generator::Lane;
use imid::{Generator, MessageId, SessionTag, SessionType};

use super::{T, host, ms, room};

/// Every call that mints is refused, now and later, whatever the clock does and whatever is raised.
fn assert_closed<const STRIPES: usize>(ids: &Generator<&ManualClock, STRIPES>) {
    for step in 0..5 {
        for session in [room(), SessionTag::from_u32(0).unwrap()] {
            let error = ids.generate(session).unwrap_err();
            assert!(error.is_closed() && error.retry_after().is_none(), "{error}, step {step}");
            assert!(!error.is_ceiling() && !error.is_overload() && !error.is_exhausted());
            assert!(ids.batch(session, 3).unwrap_err().is_closed());
            assert!(ids.fill(session, &mut [MessageId::MIN; 2]).unwrap_err().is_closed());
            assert!(ids.generate_within(session, ms(50)).unwrap_err().is_closed());
        }
        match step {
            0 => ids.clock().advance(Duration::from_secs(108_000)),
            1 => ids.raise_ceiling_ms(u64::MAX),
            2 => ids.raise_floor(MessageId::last_at(T + 50).unwrap()),
            3 => _ = ids.observe(MessageId::last_at(T + 108_000_900).unwrap()),
            _ => ids.clock().set(T),
        }
    }
    let _ = ids.stats();
}

#[test]
fn a_closed_generator_mints_no_more() {
    for minted in [0, 1, 5_000] {
        let clock = ManualClock::new(T);
        let ids = host(1).stripes::<4>().clock(&clock).build().unwrap();
        for _ in 0..minted {
            ids.generate(room()).unwrap();
        }
        ids.close();
        assert_closed(&ids);
        ids.close();
        assert_closed(&ids);
    }
}

/// The millisecond after the last ID.
#[test]
fn close_returns_the_exact_end() {
    let clock = ManualClock::new(T);
    assert_eq!(host(1).clock(&clock).build().unwrap().close(), None, "none was issued");

    for bits in [0, 3, 12] {
        let lane = Lane { index: (1 << bits) - 1, bits };
        let ids = host(1).lane(lane).stripes::<8>().clock(&clock).build().unwrap();
        let rooms = (0..50).map(|room| SessionTag::new(SessionType::GROUP, &format!("room-{room}")));
        let last = rooms.map(|room| ids.generate(room).unwrap()).max().unwrap();
        let end = ids.close().unwrap();
        assert_eq!(end, last.timestamp_ms() + 1, "{bits} bits");
        // The second time it says the same, or nothing less.
        assert!(ids.close().is_none_or(|again| again == end));
    }
}

/// A run that is taken counts to its end, whether or not it is read.
#[test]
fn close_counts_the_whole_of_a_run() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    let mut batch = ids.batch(room(), 10_000).unwrap();
    let end = ids.close().unwrap();
    let last = batch.next_back().unwrap();
    assert_eq!(end, last.timestamp_ms() + 1);
}

/// Threads mint while another closes. What a call returned is at or before the end, and what began after the close is an
/// error: round after round, so that the close falls into every part of a call.
#[test]
fn what_was_minted_while_it_closed_is_at_or_before_the_end() {
    const ROUNDS: u64 = if cfg!(debug_assertions) { 300 } else { 2_000 };

    for round in 0..ROUNDS {
        let clock = ManualClock::new(T);
        let ids = host(round).stripes::<4>().max_lead(ms(1 << 30)).clock(&clock).build().unwrap();
        let start = Barrier::new(4);
        let (minted, end) = thread::scope(|scope| {
            let threads: Vec<_> = (0..3_u64)
                .map(|thread| {
                    let (ids, start) = (&ids, &start);
                    scope.spawn(move || {
                        let session = SessionTag::new(SessionType::GROUP, &format!("room-{}", thread / 2));
                        let mut minted = Vec::new();
                        start.wait();
                        loop {
                            let run = if (round + thread) % 3 == 0 { 50 } else { 1 };
                            match ids.batch(session, run) {
                                Ok(batch) => minted.extend(batch),
                                Err(error) => {
                                    assert!(error.is_closed(), "{error}");
                                    break minted;
                                }
                            }
                        }
                    })
                })
                .collect();
            start.wait();
            for _ in 0..round % 50 * 20 {
                std::hint::spin_loop();
            }
            if round % 4 == 0 {
                clock.advance(ms(1));
            }
            let end = ids.close();
            assert!(ids.generate(room()).unwrap_err().is_closed());
            let minted: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
            (minted, end)
        });
        let last = minted.iter().max();
        assert!(
            last.is_none_or(|last| end.is_some_and(|end| last.timestamp_ms() < end)),
            "{last:?} after the end {end:?}"
        );
        // The stamps that calls under way gave up are no more than their runs: less than a millisecond.
        if let (Some(end), Some(last)) = (end, last) {
            let past = end - last.timestamp_ms();
            assert!(past <= 2, "the end {end} is {past} ms after the last ID");
        }
        assert_closed(&ids);
    }
}

/// Threads run into the ceiling together, and the last of them may take a stamp past it and give it up. The end is the
/// last ID's all the same: below the ceiling, and exact, since no call is under way.
#[test]
fn the_end_of_a_generator_at_its_ceiling_is_its_last_id() {
    const ROUNDS: u64 = if cfg!(debug_assertions) { 1_000 } else { 5_000 };

    for round in 0..ROUNDS {
        // One stamp a millisecond: 40 in all.
        let (clock, lane) = (ManualClock::new(T), Lane { index: 1, bits: 12 });
        let ids = host(round).lane(lane).max_lead(Duration::MAX).ceiling_ms(T + 40).clock(&clock).build().unwrap();
        let start = Barrier::new(2);
        let mint = || {
            start.wait();
            std::iter::from_fn(|| ids.generate(room()).ok()).last()
        };
        let last = thread::scope(|scope| {
            let other = scope.spawn(mint);
            mint().max(other.join().unwrap())
        });
        let (last, end) = (last.unwrap(), ids.close().unwrap());
        assert_eq!(last.timestamp_ms(), T + 39);
        assert_eq!(end, last.timestamp_ms() + 1, "round {round}");
    }
}

/// A thread that waits notices.
#[test]
fn a_wait_ends_when_the_generator_is_closed() {
    let clock = ManualClock::new(T);
    let ids = host(1).max_lead(ms(0)).clock(&clock).build().unwrap();
    ids.generate(room()).unwrap();
    clock.set(T - 2 * 3_600_000);
    assert!(ids.generate(room()).unwrap_err().is_rollback());
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(ms(50));
            ids.close();
        });
        let began = std::time::Instant::now();
        let error = ids.generate_within(room(), Duration::from_secs(7_200)).unwrap_err();
        assert!(error.is_closed() && began.elapsed() < Duration::from_secs(10), "{error}");
    });
}

/// The next owner starts at the end and repeats nothing, though it has the same seed and an older clock.
#[test]
fn the_next_owner_starts_after_the_end() {
    let mut all = Vec::new();
    let mut floor = 0;
    for owner in 0..50_u64 {
        let clock = ManualClock::new(T + owner % 7);
        let ids = host(1).floor_ms(floor).clock(&clock).build().unwrap();
        all.extend((0..owner * 50).map(|_| ids.generate(room()).unwrap()));
        floor = ids.close().unwrap_or(floor);
    }
    assert!(all.is_sorted_by(|a, b| a < b));
}

/// A clock without a time is no obstacle.
#[test]
fn close_needs_no_clock() {
    struct Broken;
    impl Clock for Broken {
        fn now_ms(&self) -> Result<u64, imid::clock::ClockError> {
            Err(imid::clock::ClockError::unavailable())
        }
    }
    let ids = host(1).clock(Broken).build().unwrap();
    assert!(ids.generate(room()).unwrap_err().is_clock());
    assert_eq!(ids.close(), None);
    assert!(ids.generate(room()).unwrap_err().is_closed());
}
