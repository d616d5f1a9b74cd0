//! A floor: the time at which the first tick with IDs begins at the earliest.

use std::time::Duration;

use imid::clock::ManualClock;
use imid_snowflake::Preset;

use super::{HOUR, T, builder, drain, last_ms, presets};

/// The next holder of a node starts where the one before it had to end.
#[test]
fn a_floor_at_the_ceiling_of_the_generator_before_leaves_no_id_to_both() {
    for preset in presets() {
        let tick_ms = preset.layout().tick().as_nanos().div_ceil(1_000_000) as u64;
        for offset in [0, 1, tick_ms / 2, tick_ms - 1] {
            let bound = T + tick_ms + offset;
            let clock = ManualClock::new(T);
            let before = builder(preset, &clock).ceiling_ms(bound).build().unwrap();
            let mut minted = drain(&before, bound + tick_ms).0;
            clock.set(T);
            let after = builder(preset, &clock).floor_ms(bound).build().unwrap();
            minted.extend(drain(&after, bound + tick_ms).0);
            assert!(minted.is_sorted_by(|a, b| a < b), "{:?}, {offset}", preset.layout());
            assert!(!minted.is_empty());
        }
    }
}

#[test]
fn a_floor_counts_as_the_time_of_the_last_id() {
    let clock = ManualClock::new(T);
    // The preset waits for up to 5 ms, twice as long as it has to.
    let ids = builder(Preset::LEAF, &clock).floor_ms(T + 6).build().unwrap();
    let error = ids.generate().unwrap_err();
    assert!(error.is_rollback());
    assert_eq!(error.retry_after(), Some(Duration::from_millis(10)));
    assert_eq!(error.to_string(), "clock is 5 ms behind the last ID or the floor");
    clock.set(T + 5);
    let error = ids.generate().unwrap_err();
    assert_eq!((error.is_overload(), error.retry_after()), (true, Some(Duration::from_millis(1))));
    clock.set(T + 6);
    assert_eq!(ids.generate().unwrap().timestamp_ms(), T + 6);
}

#[test]
fn a_raised_floor_is_the_builders_floor() {
    for preset in presets() {
        for floor in [0, 1, T - 1, T, T + 1, T + 7, T + 1_500] {
            let clock = ManualClock::new(T);
            let built = builder(preset, &clock).floor_ms(floor).build().unwrap();
            let raised = builder(preset, &clock).build().unwrap();
            raised.raise_floor_ms(floor);
            for at in 0..3_000 {
                clock.set(T + at);
                let (one, other) = (built.generate(), raised.generate());
                assert_eq!(one, other, "{:?}", preset.layout());
                assert!(one.is_err() || one.unwrap().since_unix_epoch().as_millis() as u64 >= floor || floor <= 1);
            }
        }
    }
}

#[test]
fn a_floor_that_the_time_has_passed_changes_nothing() {
    let clock = ManualClock::new(T);
    let (ids, twin) = (builder(Preset::LEAF, &clock).build().unwrap(), builder(Preset::LEAF, &clock).build().unwrap());
    for at in 0..100 {
        clock.set(T + at);
        for floor in [0, T - 1, T + at] {
            ids.raise_floor_ms(floor);
        }
        assert_eq!(ids.generate(), twin.generate());
        // The present tick is in use, and a floor at its start leaves it so.
        ids.raise_floor_ms(T + at);
        assert_eq!(ids.generate(), twin.generate());
    }
}

#[test]
fn a_floor_past_the_last_tick_leaves_nothing_and_does_not_close() {
    for preset in presets() {
        for floor in [preset.layout().last_ms() + HOUR, u64::MAX] {
            let Some(last_ms) = last_ms(preset.layout()) else { continue };
            let clock = ManualClock::new(last_ms);
            let ids = builder(preset, &clock).floor_ms(floor).build().unwrap();
            let error = ids.generate().unwrap_err();
            assert!(error.is_exhausted() && !error.is_closed(), "{error}");
            clock.set(T);
            assert!(ids.generate().unwrap_err().is_rollback());
            ids.raise_floor_ms(u64::MAX);
            assert!(ids.generate().unwrap_err().is_rollback());
        }
    }
}
