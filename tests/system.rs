//! The system's clock and the seed that it gives. It starts no threads, so it runs on WASI, too.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

mod support;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use imid::clock::{Clock, ManualClock, SystemClock};
use imid::{Generator, MessageId, SessionTag, SessionType};

use self::support::T;

fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

#[test]
fn the_generator_of_the_process_mints_by_the_systems_clock() {
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let before = now_ms();
    assert!(SystemClock.now_ms().unwrap() >= before);
    let ids: Vec<_> = (0..1_000).map(|_| imid::generate(room).unwrap()).collect();
    assert!(ids.is_sorted_by(|one, next| one < next));
    // Less than a quarter of a millisecond's IDs, so at most the next one is borrowed.
    for id in ids {
        assert!((before..=now_ms() + 1).contains(&id.timestamp_ms()), "{before} {id}");
    }
}

/// The first spins of 8 milliseconds: equal for two seeds once in 2⁹⁶.
#[test]
fn each_generator_draws_a_seed_of_its_own() {
    let first_spins = || {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().clock(&clock).build().unwrap();
        std::array::from_fn::<_, 8, _>(|_| {
            clock.advance(Duration::from_secs(1));
            ids.generate(SessionTag::from_u32(0).unwrap()).unwrap().spin()
        })
    };
    assert_ne!(first_spins(), first_spins());
}

#[test]
fn a_range_of_system_times_has_each_millisecond_that_it_touches() {
    use std::ops::Bound;
    let at = |nanos| UNIX_EPOCH + Duration::from_nanos(nanos);
    let ends = |range: std::ops::RangeInclusive<MessageId>| (range.start().timestamp_ms(), range.end().timestamp_ms());
    assert_eq!(MessageId::range_of(at(3_000_000)..at(5_000_000)), MessageId::range(3..5));
    assert_eq!(ends(MessageId::range_of(at(3_999_999)..at(5_000_001)).unwrap()), (3, 5));
    assert_eq!(ends(MessageId::range_of(at(3_000_001)..=at(5_000_000)).unwrap()), (3, 5));
    let excluded = (Bound::Excluded(at(3_999_999)), Bound::Unbounded);
    assert_eq!(ends(MessageId::range_of(excluded).unwrap()), (4, MessageId::TIMESTAMP_MAX));
    assert_eq!(MessageId::range_of(..), MessageId::range(..));
    let before_1970 = UNIX_EPOCH - Duration::from_secs(1);
    assert_eq!(ends(MessageId::range_of(before_1970..at(1)).unwrap()), (0, 0));
    for empty in
        [MessageId::range_of(..before_1970), MessageId::range_of(..=before_1970), MessageId::range_of(at(7)..at(7))]
    {
        assert!(empty.is_err_and(imid::error::TimeRangeError::is_empty));
    }
    let late = UNIX_EPOCH + Duration::from_millis(1 << 42);
    assert!(MessageId::range_of(..late).is_ok() && MessageId::range_of(..=late).is_err_and(|error| !error.is_empty()));
}
