//! A generator without the feature `std`: the caller gives clock and seed.
#![cfg(all(not(feature = "std"), target_has_atomic = "64"))]

use imid::clock::{Clock, ManualClock};
use imid::{Generator, SessionTag};

#[test]
fn seeded_starts_without_a_seed_are_an_error() {
    let error = Generator::builder().clock(ManualClock::new(0)).build().unwrap_err();
    assert!(error.is_seed() && !error.is_lane());
    assert_eq!(
        error.to_string(),
        "expected a seed for seeded starts, found none (none is drawn without `std` or on wasm32-unknown-unknown)"
    );
}

#[test]
fn rolling_starts_need_no_seed() {
    assert!(Generator::builder().rolling().clock(ManualClock::new(0)).build().is_ok());
}

#[test]
fn a_given_seed_makes_distinct_ordered_ids() {
    let ids = Generator::builder().seed(7).clock(ManualClock::new(1_763_665_800_000)).build().unwrap();
    let minted: Vec<_> = (0..10_000).map(|_| ids.generate(SessionTag::from_u32(0).unwrap()).unwrap()).collect();
    assert!(minted.is_sorted_by(|a, b| a < b));
}

static CLOCK: ManualClock = ManualClock::new(1_763_665_800_000);
static IDS: Generator<&ManualClock> = match Generator::builder().seed(7).clock(&CLOCK).build_static() {
    Ok(ids) => ids,
    Err(_) => panic!("settings fit"),
};

#[test]
fn a_static_generator_has_a_clock_of_its_own() {
    assert_eq!(IDS.generate(SessionTag::from_u32(0).unwrap()).unwrap().timestamp_ms(), CLOCK.now_ms().unwrap());
}
