//! A generator that continues after a closed one, stripe by stripe.

mod support;

use std::time::Duration;

use imid::clock::ManualClock;
use imid::generator::Lane;
use imid::{Generator, MessageId, SessionTag};

use self::support::T;

type Striped = Generator<ManualClock, 2>;

fn generator(index: u16, clock: ManualClock) -> Striped {
    let lane = Lane { index, bits: 1 };
    Generator::builder().seed(1).stripes().clock(clock).lane(lane).max_lead(Duration::from_millis(50)).build().unwrap()
}

/// The session of a stripe.
fn tag(stripe: u32) -> SessionTag {
    SessionTag::from_u32(stripe).unwrap()
}

fn next(before: &Striped, clock: ManualClock) -> Striped {
    before.close();
    let after = generator(1, clock);
    after.continue_after(before);
    after
}

fn at(ids: &Striped, stripe: u32) -> u64 {
    ids.generate(tag(stripe)).unwrap().timestamp_ms()
}

/// Mints until it is refused, and returns the last millisecond.
fn last_at(ids: &Striped, stripe: u32) -> u64 {
    std::iter::from_fn(|| ids.generate(tag(stripe)).ok()).last().unwrap().timestamp_ms()
}

#[test]
fn a_stripe_that_was_moved_stays_ahead_and_the_others_do_not_follow() {
    let before = generator(0, ManualClock::new(T));
    let last = before.generate_after(Some(MessageId::last_at(T + 2_000).unwrap()), tag(1)).unwrap();
    let after = next(&before, ManualClock::new(T));
    let first = after.generate(tag(1)).unwrap();
    assert_eq!((first > last, first.timestamp_ms()), (true, last.timestamp_ms() + 1));
    assert_eq!(at(&after, 0), T);
    assert_eq!(last_at(&after, 1), first.timestamp_ms() + 4, "the limit of a move");
    assert_eq!(last_at(&after, 0), T + 50, "the limit of all others");
    // At half the clock's speed, until the clock has caught up.
    after.clock().set(T + 1_000);
    assert_eq!(last_at(&after, 1), first.timestamp_ms() + 4 + 500);
}

#[test]
fn a_stripe_that_was_not_used_begins_at_the_clock() {
    let after = next(&generator(0, ManualClock::new(T)), ManualClock::new(T + 7));
    assert_eq!([at(&after, 0), at(&after, 1)], [T + 7; 2]);
}

#[test]
fn a_lead_by_load_is_kept_and_gets_a_few_milliseconds_more_at_most() {
    let before = generator(0, ManualClock::new(T));
    assert_eq!(last_at(&before, 0), T + 50);
    let after = next(&before, ManualClock::new(T));
    assert_eq!(at(&after, 0), T + 51);
    assert_eq!(last_at(&after, 0), T + 55);
    assert_eq!(at(&after, 1), T);
}

/// The generator before has read a later time, and what its stripe may mint is measured from there.
#[test]
fn a_clock_that_has_stepped_back_or_fails_grants_no_lead() {
    for clock in [ManualClock::new(T - 1_000), ManualClock::new(u64::MAX)] {
        let before = generator(0, ManualClock::new(T));
        let last = before.generate_after(Some(MessageId::last_at(T + 2_000).unwrap()), tag(1)).unwrap();
        let after = next(&before, clock);
        after.clock().set(T - 1_000);
        assert!(after.generate(tag(1)).is_err(), "before the lead has shrunk");
        after.clock().set(T);
        assert_eq!(last_at(&after, 1), last.timestamp_ms() + 5);
    }
}
