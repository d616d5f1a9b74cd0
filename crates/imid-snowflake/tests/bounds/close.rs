//! `close` ends a generator, and returns the floor of the next one.

use std::collections::HashSet;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use imid::clock::{Clock, ClockError, ManualClock};
use imid_snowflake::{Generator, NodeQueue, NodeSource, Preset, SpareNode};

use super::{HOUR, ROLLBACK, T, builder, last_ms, presets};

/// Every call is refused, now and later, whatever the clock does and whatever is raised.
fn assert_closed<S: NodeSource>(ids: &Generator<&ManualClock, S>) {
    let layout = ids.preset().layout();
    for at in [T, T - HOUR, T + HOUR, layout.first_ms(), layout.last_ms(), layout.last_ms() + HOUR, 0] {
        ids.clock().set(at);
        for _ in 0..2 {
            let error = ids.generate().unwrap_err();
            assert!(error.is_closed() && error.retry_after().is_none(), "{error}, at {at}");
            assert!(!error.is_ceiling() && !error.is_exhausted() && !error.is_rollback());
            assert_eq!(error.to_string(), "generator is closed");
            assert!(ids.generate_within(Duration::from_millis(50)).unwrap_err().is_closed());
            ids.raise_ceiling_ms(u64::MAX);
            ids.raise_floor_ms(T + HOUR);
            ids.raise_floor_ms(u64::MAX);
            assert_eq!(ids.close(), None);
        }
    }
}

#[test]
fn close_returns_the_floor_of_the_next_generator_and_is_final() {
    for preset in presets() {
        for count in [0, 1, 20] {
            let clock = ManualClock::new(T);
            let ids = builder(preset, &clock).build().unwrap();
            let last = (0..count).map(|_| ids.generate().unwrap()).last();
            let end = ids.close();
            assert_eq!(end.is_some(), last.is_some());
            if let (Some(end), Some(last)) = (end, last) {
                // The first whole millisecond after the tick.
                let after = last.since_unix_epoch() + preset.layout().tick();
                assert_eq!(u128::from(end), after.as_nanos().div_ceil(1_000_000), "{:?}", preset.layout());
                let next = builder(preset, &clock).floor_ms(end).build().unwrap();
                // A floor inside of a tick excludes the whole tick.
                clock.set(end + 2 * preset.layout().tick().as_millis() as u64 + 1);
                assert!(next.generate().unwrap() > last);
            }
            assert_eq!(ids.node(), 3);
            assert_closed(&ids);
        }
    }
}

/// The layouts fill 63 and 64 bits, and the node has all bits set.
#[test]
fn the_greatest_node_can_be_closed_at_the_end_of_time() {
    for preset in presets() {
        let layout = preset.layout();
        let Some(last_ms) = last_ms(layout) else { continue };
        let clock = ManualClock::new(last_ms);
        let ids = Generator::builder(preset).node(layout.node_max()).clock(&clock).build().unwrap();
        let mut last = None;
        while let Ok(id) = ids.generate() {
            last = Some(id);
        }
        assert!(ids.generate().unwrap_err().is_exhausted());
        let last = last.unwrap();
        assert_eq!((last.node(), last.sequence() + 1), (layout.node_max(), layout.sequence_max()), "{layout:?}");
        assert!(ids.close().unwrap() > last.timestamp_ms());
        assert_eq!(ids.node(), layout.node_max());
        assert_closed(&ids);
    }
}

/// What the next holder's floor must follow.
#[test]
fn a_floor_after_the_last_id_is_the_end() {
    let clock = ManualClock::new(T);
    let ids = builder(Preset::TWITTER, &clock).build().unwrap();
    ids.generate().unwrap();
    ids.raise_floor_ms(T + 10);
    let end = ids.close().unwrap();
    assert_eq!(end, T + 10);
    let next = builder(Preset::TWITTER, &clock).floor_ms(end).build().unwrap();
    clock.set(T + 10);
    assert_eq!(next.generate().unwrap().timestamp_ms(), T + 10);
}

#[test]
fn close_needs_no_clock() {
    struct Broken;
    impl Clock for Broken {
        fn now_ms(&self) -> Result<u64, ClockError> {
            Err(ClockError::unavailable())
        }
    }
    let ids = Generator::builder(Preset::LEAF).node(3).clock(Broken).build().unwrap();
    assert!(ids.generate().unwrap_err().is_clock());
    assert_eq!(ids.close(), None);
    assert!(ids.generate().unwrap_err().is_closed());
}

#[test]
fn a_closed_generator_puts_its_node_back_once() {
    let clock = ManualClock::new(T);
    let queue = NodeQueue::new();
    let ids = Generator::builder(Preset::LEAF).node(3).spares(&queue).clock(&clock).build().unwrap();
    ids.generate().unwrap();
    assert!(ids.close().is_some());
    assert_eq!(ids.close(), None);
    assert!(ids.generate().unwrap_err().is_closed());
    assert_eq!(queue.take(T), None);
    assert_eq!(queue.take(T + 1), Some(SpareNode { node: 3, used_until_ms: T }));
    assert_eq!(queue.take(u64::MAX), None);
}

/// Round after round, so that the close falls into every part of a call.
#[test]
fn what_was_minted_while_it_closed_is_at_or_before_the_end() {
    const ROUNDS: u64 = if cfg!(debug_assertions) { 300 } else { 3_000 };

    for round in 0..ROUNDS {
        let clock = ManualClock::new(T);
        let queue: NodeQueue = (100..104).collect();
        let ids = Generator::builder(ROLLBACK).node(3).spares(&queue).clock(&clock).build().unwrap();
        let start = Barrier::new(3);
        let mint = || {
            let mut minted = Vec::new();
            start.wait();
            loop {
                match ids.generate() {
                    Ok(id) => minted.push(id),
                    Err(error) if error.is_closed() => break minted,
                    Err(_) => clock.advance(Duration::from_millis(1)),
                }
            }
        };
        let (minted, end) = thread::scope(|scope| {
            let threads = [scope.spawn(mint), scope.spawn(mint)];
            start.wait();
            for spin in 0..round % 50 * 40 {
                std::hint::spin_loop();
                if spin == 500 {
                    // Past the limit: the node is swapped.
                    clock.set(T - 20 - round);
                }
            }
            let end = ids.close();
            assert!(ids.generate().unwrap_err().is_closed());
            (threads.map(|thread| thread.join().unwrap()).concat(), end)
        });
        let of_end = minted.iter().filter(|id| ids.node() == id.node()).map(|id| id.timestamp_ms() + 1);
        assert!(of_end.max() <= end, "round {round}");
        assert_closed(&ids);
        // Each node is back, once.
        let nodes: Vec<_> = std::iter::from_fn(|| queue.take(u64::MAX)).map(|spare| spare.node).collect();
        assert_eq!(nodes.iter().copied().collect::<HashSet<_>>(), HashSet::from([3, 100, 101, 102, 103]));
        assert_eq!(nodes.len(), 5);
    }
}
