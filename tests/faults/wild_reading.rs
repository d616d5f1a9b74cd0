//! A clock that shows one reading far ahead of all others: a hypervisor's or a driver's fault, gone at the next reading.

use std::cell::Cell;

use imid::clock::{Clock, ClockError, ManualClock};
use imid::{Generator, MessageId};

use super::{T, ahead, host, ms, room};

/// 2100-01-01T00:00:00Z.
const WILD: u64 = 4_102_444_800_000;

/// Shows the time of its script, except at one reading.
struct WildOnce {
    time: ManualClock,
    /// How many readings are left until the wild one.
    left: Cell<u32>,
    wild: u64,
}

impl Clock for WildOnce {
    fn now_ms(&self) -> Result<u64, ClockError> {
        let left = self.left.get();
        self.left.set(left.wrapping_sub(1));
        if left == 0 { Ok(self.wild) } else { self.time.now_ms() }
    }
}

/// Any reading may be the wild one: the first of all, one of the fast path, one that was asked for again.
#[test]
fn one_wild_reading_is_survived_wherever_it_comes() {
    for wild in
        [T + 1_100, T + 19_000, T + 59_000, T + 61_000, T + 3_600_000, T + 86_400_000, WILD, MessageId::TIMESTAMP_MAX]
    {
        for at in 0..40 {
            let clock = WildOnce { time: ManualClock::new(T), left: at.into(), wild };
            // With this limit a reading of 59 s ahead that is believed stops all calls for 39 s.
            let ids: Generator<_> = host(1).max_rollback(ms(20_000)).clock(&clock).build().unwrap();
            let mut last = MessageId::MIN;
            for call in 0..200 {
                if call % 5 == 4 {
                    clock.time.advance(ms(1));
                }
                let now = clock.time.now_ms().unwrap();
                let id = ids.generate(room()).unwrap_or_else(|error| panic!("reading {at} was {wild}: {error}"));
                assert!(last < id);
                assert!(ahead(id, now) <= 2, "{} ms ahead: reading {at} was {wild}", ahead(id, now));
                last = id;
            }
        }
    }
}

/// Beside a foreign ID the clock is read too.
#[test]
fn a_wild_reading_does_not_let_a_forged_id_pass() {
    for at in 0..6 {
        let clock = WildOnce { time: ManualClock::new(T), left: u32::MAX.into(), wild: WILD };
        let ids = host(1).clock(&clock).build().unwrap();
        ids.generate(room()).unwrap();
        clock.left.set(at);
        let forged = ids.observe(MessageId::first_at(WILD).unwrap());
        let id = ids.generate(room()).unwrap_or_else(|error| panic!("reading {at}: {error}"));
        // To refuse the ID is best; to take it over for a reading that nothing confirms is not.
        assert!(forged.is_err() && ahead(id, T) <= 2, "{} ms ahead: reading {at}", ahead(id, T));
    }
}

/// The generator itself would believe this reading at once. A limit that is less than it must not be passed with it, whether it is
/// the first reading of the call or the one that a refusal asks for.
#[test]
fn a_wild_reading_does_not_let_an_id_past_the_limit_of_observe_limited() {
    for at in 0..6 {
        let clock = WildOnce { time: ManualClock::new(T), left: u32::MAX.into(), wild: T + 900 };
        let ids = host(1).clock(&clock).build().unwrap();
        ids.generate(room()).unwrap();
        clock.left.set(at);
        let past_the_limit = ids.observe_limited(MessageId::first_at(T + 800).unwrap(), ms(50));
        clock.left.set(u32::MAX);
        let id = ids.generate(room()).unwrap();
        assert!(past_the_limit.is_err() && ahead(id, T) <= 2, "{} ms ahead: reading {at}", ahead(id, T));
        ids.observe_limited(MessageId::first_at(T + 50).unwrap(), ms(50)).unwrap();
    }
}

/// A machine that slept, or whose clock was set for the first time: the second reading agrees with the first.
#[test]
fn a_clock_that_was_set_forward_is_believed_at_once() {
    for forward in [900, 1_100, 59_000, 60_000, 61_000, 86_400_000, 40 * 365 * 86_400_000] {
        let clock = ManualClock::new(T);
        let ids = host(1).clock(&clock).build().unwrap();
        let before = ids.generate(room()).unwrap();
        clock.set(T + forward);
        let after = ids.generate(room()).unwrap();
        assert!(before < after);
        assert!((0..=1).contains(&ahead(after, T + forward)), "{} ms", ahead(after, T + forward));
    }
}

/// Far ahead for long enough to be believed, and then corrected by more than `max_rollback`: an error that says so.
#[test]
fn a_long_wrong_clock_that_is_corrected_is_an_error_with_the_distance() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    clock.set(T + 86_400_000);
    let before = ids.generate(room()).unwrap();
    clock.set(T);
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_rollback());
    assert_eq!(error.retry_after(), Some(ms(86_400_000 - 3_600_000)));
    clock.set(T + 86_400_000 - 3_600_000);
    assert!(before < ids.generate(room()).unwrap(), "absorbed from exactly `max_rollback` on");
}

/// The reading decides only how fast the time goes on after the floor, and not where it is.
#[test]
fn a_floor_with_one_wild_reading_beside_it_moves_the_time_no_further() {
    for behind in [3_000_000, 7_200_000, 86_400_000, T] {
        for at in 0..6 {
            for seed in 1..20 {
                let clock = WildOnce { time: ManualClock::new(T), left: u32::MAX.into(), wild: T - behind };
                let ids = host(seed).clock(&clock).build().unwrap();
                ids.generate(room()).unwrap();
                clock.time.advance(ms(3_000));
                clock.left.set(at);
                ids.raise_floor(MessageId::first_at(T + 2_998).unwrap());
                clock.left.set(u32::MAX);
                let id = ids.generate(room()).unwrap();
                assert!(ahead(id, T + 3_000) <= 21, "{} ms ahead: reading {at}, seed {seed}", ahead(id, T + 3_000));
            }
        }
    }
}

/// Calls are refused until the clock is right. Then only the floor counts.
#[test]
fn a_floor_while_the_clock_is_wrong_moves_the_time_no_further_than_the_floor() {
    for behind in [7_200_000, 86_400_000, T] {
        let clock = ManualClock::new(T - behind);
        let floor = MessageId::first_at(T + 1_000).unwrap();
        let ids = host(1).floor(floor).clock(&clock).build().unwrap();
        assert!(ids.generate(room()).unwrap_err().is_rollback());
        ids.raise_floor(floor);
        clock.set(T);
        let id = ids.generate(room()).unwrap();
        assert!(id > floor && ahead(id, T) <= 1_021, "{} ms ahead", ahead(id, T));
    }
}
