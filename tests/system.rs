//! The system's clock and the seed that it gives. It starts no threads, so it runs on WASI, too.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use imid::clock::{Clock, ManualClock, SystemClock};
use imid::{Generator, SessionTag, SessionType};

const T: u64 = 1_763_665_800_000;

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
            ids.generate(SessionTag::default()).unwrap().spin()
        })
    };
    assert_ne!(first_spins(), first_spins());
}
