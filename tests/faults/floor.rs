//! A floor that is raised while the generator runs: a host takes over what another one owned.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use imid::clock::{Clock, ClockError, ManualClock};
use imid::generator::Lane;
use imid::{Generator, MessageId, SessionTag, SessionType};

use super::{
    FEW, LEAD, MANY_HOSTS, SKEW, SPREAD, T, ahead, assert_few_are_granted, assert_spread, host, hosts, ms, room,
};

const HOUR: u64 = 3_600_000;

fn rooms() -> Vec<SessionTag> {
    (0..300).map(|room| SessionTag::new(SessionType::GROUP, &format!("room-{room}"))).collect()
}

/// The last owner's clock was ahead by more than `observe` believes, and its last ID is the store's word.
#[test]
fn a_host_that_is_running_takes_over_from_one_far_ahead() {
    for jump in [0, 1, 1_000, SKEW + 1, 10_000, HOUR] {
        let clock = ManualClock::new(T);
        let ids = host(jump).stripes::<64>().clock(&clock).build().unwrap();
        for room in rooms() {
            ids.generate(room).unwrap();
        }
        let last = MessageId::last_at(T + jump).unwrap();
        ids.raise_floor(last);
        for room in rooms() {
            let id = ids.generate(room).unwrap_or_else(|error| panic!("{error}, after a floor {jump} ms ahead"));
            assert!(last < id, "{id} sorts before the floor {last}");
            let most = (jump + SPREAD.min(jump / 4) + 2).cast_signed();
            assert!(ahead(id, T) <= most, "{} ms ahead after a floor {jump} ms ahead", ahead(id, T));
        }
    }
}

/// A process that lost its lane continues with another one, whose width can be another one too.
#[test]
fn after_a_floor_a_lane_of_any_width_repeats_no_id_of_a_lane_of_any_width() {
    let clock = ManualClock::new(T);
    let mint = |bits, floor| {
        let lane = Lane { index: (1_u16 << bits) - 1, bits };
        let ids = host(1).lane(lane).floor(floor).max_lead(Duration::from_secs(60)).clock(&clock).build().unwrap();
        (0..500).map(|_| ids.generate(room()).unwrap()).collect::<Vec<_>>()
    };
    for (lost, next) in (0..=12).flat_map(|lost| (0..=12).map(move |next| (lost, next))) {
        let before = mint(lost, MessageId::first_at(T).unwrap());
        let after = mint(next, before[499]);
        assert!(before.is_sorted() && after.is_sorted());
        assert!(before[499] < after[0], "{lost} bits, then {next}");
    }
}

/// A floor that no wait makes good is told by the first call, as one of the builder's is.
#[test]
fn a_floor_further_ahead_than_the_rollback_limit_is_an_error_that_names_the_wait() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    ids.generate(room()).unwrap();
    let last = MessageId::last_at(T + HOUR + 10).unwrap();
    ids.raise_floor(last);
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_rollback());
    let wait = error.retry_after().unwrap();
    clock.advance(wait);
    assert!(last < ids.generate(room()).unwrap());
}

#[test]
fn a_floor_in_the_past_moves_nothing() {
    let clock = ManualClock::new(T);
    let (ids, twin) = (host(1).clock(&clock).build().unwrap(), host(1).clock(&clock).build().unwrap());
    for at in 0..100 {
        clock.set(T + at);
        ids.raise_floor(MessageId::MIN);
        ids.raise_floor(MessageId::last_at(T - 1).unwrap());
        assert_eq!(ids.generate(room()), twin.generate(room()));
    }
}

/// Before the first ID, too: a floor that is raised and one that was built in are the same.
#[test]
fn a_raised_floor_is_the_builders_floor() {
    for jump in [0, 1, 40, 1_000, HOUR] {
        let clock = ManualClock::new(T);
        let floor = MessageId::last_at(T + jump).unwrap();
        let built = host(5).floor(floor).clock(&clock).build().unwrap();
        let raised = host(5).clock(&clock).build().unwrap();
        raised.raise_floor(floor);
        for at in 0..50 {
            clock.set(T + at);
            assert_eq!(built.generate(room()), raised.generate(room()), "{jump} ms ahead, after {at} ms");
        }
    }
}

/// Time has an end, and a floor can lie there.
#[test]
fn a_floor_at_the_end_of_time_leaves_an_error_and_no_panic() {
    for floor in [MessageId::MAX, MessageId::first_at(MessageId::TIMESTAMP_MAX).unwrap()] {
        for built in [false, true] {
            let clock = ManualClock::new(T);
            let builder = if built { host(1).floor(floor) } else { host(1) };
            let ids = builder.clock(&clock).build().unwrap();
            if !built {
                ids.raise_floor(floor);
            }
            match ids.generate(room()) {
                Ok(id) => assert!(floor < id),
                Err(error) => assert!(error.is_exhausted() || error.is_rollback(), "{error}"),
            }
            ids.raise_floor(MessageId::MAX);
            let _ = ids.observe(MessageId::MAX);
            assert!(ids.generate(room()).is_err());
            let _ = ids.stats();
        }
    }
}

#[test]
fn hosts_that_are_given_one_floor_start_a_seeded_distance_apart() {
    let clock = ManualClock::new(T);
    let floor = MessageId::last_at(T + 1_000).unwrap();
    let first = hosts(MANY_HOSTS, 3, &clock).into_iter().map(|ids| {
        ids.generate(room()).unwrap();
        ids.raise_floor(floor);
        ids.generate(room()).unwrap()
    });
    assert_spread(&first.collect::<Vec<_>>(), T + 1_000, SPREAD);
}

#[test]
fn a_raised_floor_grants_a_few_milliseconds_and_no_lead() {
    for jump in [1, LEAD, 10_000] {
        let clock = ManualClock::new(T);
        let ids = host(jump).clock(&clock).build().unwrap();
        ids.raise_floor(MessageId::last_at(T + jump).unwrap());
        assert_few_are_granted(&ids, jump);
    }
}

/// The same floor over and over, as a host does that reads the store's greatest ID before each take-over: its own.
#[test]
fn floors_from_the_own_store_do_not_creep() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    let mut last = ids.generate(room()).unwrap();
    for now in (T..T + 20_000).step_by(2) {
        clock.set(now);
        ids.raise_floor(last);
        last = ids.generate(room()).unwrap();
        assert!(ahead(last, now) <= (SPREAD + FEW).cast_signed(), "{} ms ahead at {}", ahead(last, now), now - T);
    }
}

/// What one thread has raised comes before what another mints after it has learned of that, while both run.
#[test]
fn a_raised_floor_holds_for_every_thread_that_knows_of_it() {
    const ROUNDS: u64 = if cfg!(debug_assertions) { 300 } else { 3_000 };

    let clock = ManualClock::new(T);
    let ids: Generator<_, 4> = host(1).stripes::<4>().max_lead(ms(1 << 40)).clock(&clock).build().unwrap();
    let (raised, done, rooms) = (AtomicU64::new(0), AtomicBool::new(false), rooms());
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                let floor = T + round * 7;
                ids.raise_floor(MessageId::last_at(floor).unwrap());
                raised.store(floor, Ordering::Release);
                if round % 3 == 0 {
                    // Less than the floors, so time is behind them, now more, now less.
                    clock.set(T + round * 6 - round % 60);
                }
                for _ in 0..200 {
                    std::hint::spin_loop();
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        for room in &rooms[..2] {
            let (ids, raised, done) = (&ids, &raised, &done);
            scope.spawn(move || {
                let mut last = MessageId::MIN;
                while !done.load(Ordering::Relaxed) {
                    let floor = raised.load(Ordering::Acquire);
                    let id = ids.generate(*room).unwrap();
                    assert!(last < id && floor < id.timestamp_ms(), "{id:?} after a floor of {floor}");
                    last = id;
                }
            });
        }
    });
}

/// A floor of the year 2108, from a store in which somebody forged an ID. The clock is right, so the error does not blame it.
#[test]
fn a_forged_floor_is_named_by_the_error() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).floor(MessageId::first_at(T + 2_602_607_819_877).unwrap()).build().unwrap();
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_rollback());
    assert_eq!(
        error.to_string(),
        "clock is 2602607819877 ms behind the floor of the generator (limit 3600000 ms): check the floor, wait, or raise max_rollback"
    );
    assert_eq!(error.retry_after(), Some(ms(2_602_607_819_877 - 3_600_000)));
}

/// A clock during whose reading another thread moves the generator's time.
struct Meddling {
    ids: Cell<Option<&'static Generator<&'static Meddling>>>,
    /// How many readings are left until then.
    left: Cell<u32>,
}

impl Clock for Meddling {
    fn now_ms(&self) -> Result<u64, ClockError> {
        let left = self.left.get();
        self.left.set(left.wrapping_sub(1));
        if left == 0
            && let Some(ids) = self.ids.take()
        {
            ids.raise_floor_ms(T + 5_000);
        }
        Ok(T)
    }
}

/// Between the loads of the words and the refusal, another thread can have moved the time to where there is room. The call then looks
/// again, whichever reading of its own it was at.
#[test]
fn a_call_is_not_refused_by_what_the_time_was_before_another_thread_moved_it() {
    for at in 0..3 {
        let clock: &'static Meddling =
            Box::leak(Box::new(Meddling { ids: Cell::new(None), left: Cell::new(u32::MAX) }));
        let ids: &'static Generator<_> = Box::leak(Box::new(host(1).max_lead(ms(2)).clock(clock).build().unwrap()));
        while ids.generate(room()).is_ok() {}
        clock.ids.set(Some(ids));
        clock.left.set(at);
        let id = ids.generate(room()).unwrap_or_else(|error| panic!("moved at reading {at}: {error}"));
        assert!(clock.ids.get().is_none(), "the call has {at} readings");
        assert!(id.timestamp_ms() >= T + 5_000);
    }
}
