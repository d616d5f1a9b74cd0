//! A ceiling: the time at which the last tick with IDs must have ended.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use imid::clock::ManualClock;
use imid_snowflake::{Generator, NodeQueue, Preset, Snowflake};

use super::{ROLLBACK, T, builder, drain, presets};

/// The first time at which the tick of an ID has ended, in nanoseconds since 1970.
fn end_ns(id: Snowflake) -> u128 {
    (id.since_unix_epoch() + id.layout().tick()).as_nanos()
}

#[test]
fn ids_are_in_whole_ticks_between_floor_and_ceiling() {
    for preset in presets() {
        let layout = preset.layout();
        let tick_ms = layout.tick().as_nanos().div_ceil(1_000_000) as u64;
        for offset in [0, 1, tick_ms / 2, tick_ms - 1] {
            let (floor, ceiling) = (T + 5 + offset, T + 5 + offset + 2 * tick_ms);
            let clock = ManualClock::new(T);
            let ids = builder(preset, &clock).floor_ms(floor).ceiling_ms(ceiling).build().unwrap();
            let (minted, error) = drain(&ids, ceiling + tick_ms);
            assert!(error.is_ceiling() && error.retry_after().is_none(), "{error}, {layout:?}");
            let (first, last) = (minted[0], minted[minted.len() - 1]);
            assert!(first.since_unix_epoch().as_millis() as u64 >= floor, "{layout:?}");
            assert!(end_ns(last) <= u128::from(ceiling) * 1_000_000, "{layout:?}");
            // Nothing more is excluded: the ticks before and after are not whole. (Time stands still in a millisecond, so
            // short ticks are not all used.)
            let length = layout.tick().as_nanos();
            let reading = length.max(1_000_000);
            assert!(first.since_unix_epoch().as_nanos() < u128::from(floor) * 1_000_000 + reading, "{layout:?}");
            assert!(end_ns(last) + reading > u128::from(ceiling) * 1_000_000, "{layout:?}");
        }
    }
}

#[test]
fn a_ceiling_only_grows() {
    for preset in [Preset::DISCORD, Preset::TWITTER] {
        let clock = ManualClock::new(T);
        let ids = builder(preset, &clock).ceiling_ms(T + 5).build().unwrap();
        for lower in [0, T, T + 4] {
            ids.raise_ceiling_ms(lower);
        }
        clock.set(T + 4);
        assert_eq!(ids.generate().unwrap().timestamp_ms(), T + 4);
        clock.set(T + 5);
        let error = ids.generate_within(Duration::from_secs(1)).unwrap_err();
        assert!(error.is_ceiling() && !error.is_closed() && !error.is_exhausted());
        assert_eq!(error.to_string(), "next ID is past the ceiling of the generator");
        ids.raise_ceiling_ms(T + 6);
        assert_eq!(ids.generate().unwrap().timestamp_ms(), T + 5);
        // Past the last tick it is as good as none.
        ids.raise_ceiling_ms(u64::MAX);
        clock.set(preset.layout().last_ms());
        ids.generate().unwrap();
        clock.set(preset.layout().last_ms() + 1);
        assert!(ids.generate().unwrap_err().is_exhausted());
    }
}

#[test]
fn a_ceiling_before_the_first_tick_allows_nothing() {
    for preset in presets() {
        let layout = preset.layout();
        for ceiling in [0, 1, layout.first_ms()] {
            let clock = ManualClock::new(layout.first_ms());
            let ids = builder(preset, &clock).ceiling_ms(ceiling).build().unwrap();
            assert!(ids.generate().unwrap_err().is_ceiling(), "{layout:?}");
            clock.set(T);
            assert!(ids.generate().unwrap_err().is_ceiling(), "{layout:?}");
            assert_eq!(ids.close(), None);
        }
    }
}

/// A thread raises a ceiling bit by bit, and writes down first to where; others mint as fast as they can. Every ID is
/// below what had been written down when its call returned.
#[test]
fn no_id_is_at_the_ceiling_while_it_is_raised_and_the_clock_runs_wild() {
    const RAISES: u64 = if cfg!(debug_assertions) { 500 } else { 5_000 };

    for preset in [Preset::TWITTER, Preset::NSQ, ROLLBACK] {
        let clock = ManualClock::new(T);
        let queue: NodeQueue = (100..104).collect();
        let ids = Generator::builder(preset).node(3).spares(&queue).ceiling_ms(T).clock(&clock).build().unwrap();
        let (granted, done) = (AtomicU64::new(T), AtomicBool::new(false));
        let minted = AtomicU64::new(0);
        let mint = || {
            while !done.load(Ordering::Relaxed) {
                match ids.generate() {
                    Ok(id) => {
                        let ceiling = granted.load(Ordering::SeqCst);
                        assert!(end_ns(id) <= u128::from(ceiling) * 1_000_000, "{id:?} at {ceiling}");
                        minted.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(_) => thread::yield_now(),
                }
            }
        };
        thread::scope(|scope| {
            scope.spawn(mint);
            scope.spawn(mint);
            for raise in 1..=RAISES {
                clock.set(T + raise * 3 - raise % 13 * 2);
                granted.store(T + raise * 2, Ordering::SeqCst);
                ids.raise_ceiling_ms(T + raise * 2);
                thread::yield_now();
                // The clock is still 12 ms below the ceiling. On a busy machine the threads may not have run yet.
                while raise == 12 && minted.load(Ordering::Relaxed) == 0 {
                    thread::yield_now();
                }
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
