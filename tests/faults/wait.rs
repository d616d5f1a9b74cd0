//! `generate_within` comes back as soon as it can.

use std::thread;
use std::time::{Duration, Instant};

use imid::clock::ManualClock;

use super::{T, host, ms, room};

const HOUR: u64 = 3_600_000;

/// The clock is wrong by more than it may be, the wait would be 20 s, and after 0.2 s the clock is corrected.
///
/// The bound is half of the wait: a machine that holds this thread up for 10 s would hold up any test.
#[test]
fn a_corrected_clock_ends_a_wait_that_has_begun() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    let before = ids.generate(room()).unwrap();
    clock.set(T - HOUR - 20_000);
    assert_eq!(ids.generate(room()).unwrap_err().retry_after(), Some(ms(20_000)));
    thread::scope(|scope| {
        // Before the other thread begins to sleep, so that the wait is no shorter than the sleep.
        let began = Instant::now();
        scope.spawn(|| {
            thread::sleep(ms(200));
            clock.set(T + 1);
        });
        let id = ids.generate_within(room(), Duration::from_secs(60)).unwrap();
        let waited = began.elapsed();
        assert!(before < id);
        assert!(ms(150) < waited && waited < ms(10_000), "waited {waited:?}");
    });
}

/// A wait that is longer than the time-out is not begun, and one that does not end keeps to its time-out.
#[test]
fn a_wait_never_takes_longer_than_its_time_out() {
    let clock = ManualClock::new(T);
    let ids = host(1).max_lead(ms(2)).clock(&clock).build().unwrap();
    while ids.generate(room()).is_ok() {}
    // The clock stands, so each wait of a millisecond ends in another.
    let began = Instant::now();
    assert!(ids.generate_within(room(), ms(300)).unwrap_err().is_overload());
    let waited = began.elapsed();
    assert!(ms(200) < waited && waited < ms(5_000), "waited {waited:?}");

    clock.set(T - 2 * HOUR);
    let began = Instant::now();
    assert!(ids.generate_within(room(), ms(300)).unwrap_err().is_rollback());
    assert!(began.elapsed() < ms(5_000), "the wait of an hour was begun");
}
