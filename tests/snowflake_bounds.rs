//! The bounds of a Snowflake generator: floor, ceiling and end, of the generator and of nodes that are granted for a
//! time.
#![cfg(feature = "std")]

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, ClockError, ManualClock};
use imid::snowflake::{
    Builder, GenerateError, Generator, Layout, NoSpareNodes, NodeQueue, NodeSource, Preset, Snowflake, SpareNode,
};

/// 2025-11-20T19:10:00Z.
const T: u64 = 1_763_665_800_000;
const HOUR: u64 = 3_600_000;

/// The presets of the originals, and layouts with ticks of 10 ms (Sonyflake), 1 s (uid-generator) and 300 ns, with an
/// epoch inside of a millisecond.
fn presets() -> Vec<Preset> {
    let built = |builder: imid::snowflake::LayoutBuilder| Preset::new(builder.build().unwrap());
    let sonyflake = Layout::builder().tick_bits(39).sequence_bits(8).node_bits(16);
    let sonyflake = sonyflake.epoch(Duration::from_hours(391_536)).tick(Duration::from_millis(10));
    let uid = Layout::builder().tick_bits(28).node_bits(22).sequence_bits(13);
    let uid = uid.epoch(Duration::from_secs(1_600_000_000)).tick(Duration::from_secs(1));
    let short = Layout::builder().tick_bits(48).node_bits(10).sequence_bits(5);
    let short = short.epoch(Duration::new(1_763_660_000, 999_999_999)).tick(Duration::from_nanos(300));
    let mut presets = Preset::ALL.to_vec();
    presets.extend([built(sonyflake), built(uid), built(short)]);
    presets
}

fn builder(preset: Preset, clock: &ManualClock) -> Builder<&ManualClock, NoSpareNodes> {
    Generator::builder(preset).node(3).clock(clock)
}

/// A time in the last tick of a layout, or `None` if no millisecond begins in it.
fn last_ms(layout: Layout) -> Option<u64> {
    let at_end =
        |ms: &u64| Generator::builder(Preset::new(layout)).node(3).clock(ManualClock::new(*ms)).build().unwrap();
    let last = |ms: &u64| at_end(ms).generate().is_ok_and(|id| id.tick() == (1 << layout.tick_bits()) - 1);
    (layout.last_ms()..=layout.last_ms() + 1).find(last)
}

/// The first time at which the tick of an ID has ended, in nanoseconds since 1970.
fn end_ns(id: Snowflake) -> u128 {
    (id.since_epoch() + id.layout().tick()).as_nanos()
}

/// Mints all IDs that there are before `until`, millisecond by millisecond. Returns them and the last error.
fn drain<S: NodeSource>(ids: &Generator<&ManualClock, S>, until: u64) -> (Vec<Snowflake>, GenerateError) {
    let mut minted = Vec::new();
    loop {
        match ids.generate() {
            Ok(id) => minted.push(id),
            Err(error) if ids.clock().now_ms().unwrap() >= until => return (minted, error),
            Err(_) => ids.clock().advance(Duration::from_millis(1)),
        }
    }
}

#[test]
fn ids_are_in_whole_ticks_between_floor_and_ceiling() {
    for preset in presets() {
        let layout = preset.layout();
        let tick_ms = layout.tick().as_nanos().div_ceil(1_000_000) as u64;
        for offset in [0, 1, tick_ms / 2, tick_ms - 1] {
            let (floor, ceiling) = (T + 5 + offset, T + 5 + offset + 2 * tick_ms);
            let clock = ManualClock::new(T);
            let ids = builder(preset, &clock).floor(floor).ceiling(ceiling).build().unwrap();
            let (minted, error) = drain(&ids, ceiling + tick_ms);
            assert!(error.is_ceiling() && error.retry_after().is_none(), "{error}, {layout:?}");
            let (first, last) = (minted[0], minted[minted.len() - 1]);
            assert!(first.since_epoch().as_millis() as u64 >= floor, "{layout:?}");
            assert!(end_ns(last) <= u128::from(ceiling) * 1_000_000, "{layout:?}");
            // Nothing more is excluded: the ticks before and after are not whole. (Time stands still in a millisecond, so
            // short ticks are not all used.)
            let length = layout.tick().as_nanos();
            let reading = length.max(1_000_000);
            assert!(first.since_epoch().as_nanos() < u128::from(floor) * 1_000_000 + reading, "{layout:?}");
            assert!(end_ns(last) + reading > u128::from(ceiling) * 1_000_000, "{layout:?}");
        }
    }
}

/// The next holder of a node starts where the one before it had to end.
#[test]
fn a_floor_at_the_ceiling_of_the_generator_before_leaves_no_id_to_both() {
    for preset in presets() {
        let tick_ms = preset.layout().tick().as_nanos().div_ceil(1_000_000) as u64;
        for offset in [0, 1, tick_ms / 2, tick_ms - 1] {
            let bound = T + tick_ms + offset;
            let clock = ManualClock::new(T);
            let before = builder(preset, &clock).ceiling(bound).build().unwrap();
            let mut minted = drain(&before, bound + tick_ms).0;
            clock.set(T);
            let after = builder(preset, &clock).floor(bound).build().unwrap();
            minted.extend(drain(&after, bound + tick_ms).0);
            assert!(minted.is_sorted_by(|a, b| a < b), "{:?}, {offset}", preset.layout());
            assert!(!minted.is_empty());
        }
    }
}

#[test]
fn a_ceiling_only_grows() {
    for preset in [Preset::DISCORD, Preset::TWITTER] {
        let clock = ManualClock::new(T);
        let ids = builder(preset, &clock).ceiling(T + 5).build().unwrap();
        for lower in [0, T, T + 4] {
            ids.raise_ceiling(lower);
        }
        clock.set(T + 4);
        assert_eq!(ids.generate().unwrap().timestamp_ms(), T + 4);
        clock.set(T + 5);
        let error = ids.generate_within(Duration::from_secs(1)).unwrap_err();
        assert!(error.is_ceiling() && !error.is_closed() && !error.is_exhausted());
        assert_eq!(error.to_string(), "next ID is past the ceiling of the generator");
        ids.raise_ceiling(T + 6);
        assert_eq!(ids.generate().unwrap().timestamp_ms(), T + 5);
        // Past the last tick it is as good as none.
        ids.raise_ceiling(u64::MAX);
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
            let ids = builder(preset, &clock).ceiling(ceiling).build().unwrap();
            assert!(ids.generate().unwrap_err().is_ceiling(), "{layout:?}");
            clock.set(T);
            assert!(ids.generate().unwrap_err().is_ceiling(), "{layout:?}");
            assert_eq!(ids.close(), None);
        }
    }
}

#[test]
fn a_floor_counts_as_the_time_of_the_last_id() {
    let clock = ManualClock::new(T);
    // The preset waits for up to 5 ms, twice as long as it has to.
    let ids = builder(Preset::LEAF, &clock).floor(T + 6).build().unwrap();
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
            let built = builder(preset, &clock).floor(floor).build().unwrap();
            let raised = builder(preset, &clock).build().unwrap();
            raised.raise_floor(floor);
            for at in 0..3_000 {
                clock.set(T + at);
                let (one, other) = (built.generate(), raised.generate());
                assert_eq!(one, other, "{:?}", preset.layout());
                assert!(one.is_err() || one.unwrap().since_epoch().as_millis() as u64 >= floor || floor <= 1);
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
            ids.raise_floor(floor);
        }
        assert_eq!(ids.generate(), twin.generate());
        // The present tick is in use, and a floor at its start leaves it so.
        ids.raise_floor(T + at);
        assert_eq!(ids.generate(), twin.generate());
    }
}

#[test]
fn a_floor_past_the_last_tick_leaves_nothing_and_does_not_close() {
    for preset in presets() {
        for floor in [preset.layout().last_ms() + HOUR, u64::MAX] {
            let Some(last_ms) = last_ms(preset.layout()) else { continue };
            let clock = ManualClock::new(last_ms);
            let ids = builder(preset, &clock).floor(floor).build().unwrap();
            let error = ids.generate().unwrap_err();
            assert!(error.is_exhausted() && !error.is_closed(), "{error}");
            clock.set(T);
            assert!(ids.generate().unwrap_err().is_rollback());
            ids.raise_floor(u64::MAX);
            assert!(ids.generate().unwrap_err().is_rollback());
        }
    }
}

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
            ids.raise_ceiling(u64::MAX);
            ids.raise_floor(T + HOUR);
            ids.raise_floor(u64::MAX);
            assert_eq!(ids.close(), None);
        }
    }
}

#[test]
fn close_returns_the_last_id_and_is_final() {
    for preset in presets() {
        for count in [0, 1, 20] {
            let clock = ManualClock::new(T);
            let ids = builder(preset, &clock).build().unwrap();
            let last = (0..count).map(|_| ids.generate().unwrap()).last();
            assert_eq!(ids.close(), last, "{:?}", preset.layout());
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
        assert_eq!(ids.close(), Some(last));
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
    ids.raise_floor(T + 10);
    let end = ids.close().unwrap();
    assert_eq!((end.timestamp_ms(), end.sequence(), end.node()), (T + 9, 4_095, 3));
    let next = builder(Preset::TWITTER, &clock).floor(end.timestamp_ms() + 1).build().unwrap();
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
        let ids = Generator::builder(Preset::ROLLBACK_38_15_10).node(3).spares(&queue).clock(&clock).build().unwrap();
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
        let of_end = minted.iter().filter(|id| end.is_some_and(|end| end.node() == id.node()));
        assert_eq!(of_end.max().copied(), end.filter(|_| !minted.is_empty()), "round {round}");
        assert_closed(&ids);
        // Each node is back, once.
        let nodes: Vec<_> = std::iter::from_fn(|| queue.take(u64::MAX)).map(|spare| spare.node).collect();
        assert_eq!(nodes.iter().copied().collect::<HashSet<_>>(), HashSet::from([3, 100, 101, 102, 103]));
        assert_eq!(nodes.len(), 5);
    }
}

/// A thread raises a ceiling bit by bit, and writes down first to where; others mint as fast as they can. Every ID is
/// below what had been written down when its call returned.
#[test]
fn no_id_is_at_the_ceiling_while_it_is_raised_and_the_clock_runs_wild() {
    const RAISES: u64 = if cfg!(debug_assertions) { 500 } else { 5_000 };

    for preset in [Preset::TWITTER, Preset::NSQ, Preset::ROLLBACK_38_15_10] {
        let clock = ManualClock::new(T);
        let queue: NodeQueue = (100..104).collect();
        let ids = Generator::builder(preset).node(3).spares(&queue).ceiling(T).clock(&clock).build().unwrap();
        let (granted, done) = (AtomicU64::new(T), AtomicBool::new(false));
        let mint = || {
            let mut minted = 0;
            while !done.load(Ordering::Relaxed) {
                match ids.generate() {
                    Ok(id) => {
                        let ceiling = granted.load(Ordering::SeqCst);
                        assert!(end_ns(id) <= u128::from(ceiling) * 1_000_000, "{id:?} at {ceiling}");
                        minted += 1;
                    }
                    Err(_) => thread::yield_now(),
                }
            }
            minted
        };
        let minted: u64 = thread::scope(|scope| {
            let threads = [scope.spawn(mint), scope.spawn(mint)];
            for raise in 1..=RAISES {
                clock.set(T + raise * 3 - raise % 13 * 2);
                granted.store(T + raise * 2, Ordering::SeqCst);
                ids.raise_ceiling(T + raise * 2);
                thread::yield_now();
            }
            done.store(true, Ordering::Relaxed);
            threads.map(|thread| thread.join().unwrap()).iter().sum()
        });
        assert!(minted > 0);
    }
}

/// Nodes that are granted until a ceiling. The ceiling of a node in use can be moved up.
#[derive(Default)]
struct Grants {
    spare: Mutex<VecDeque<(SpareNode, u64)>>,
    used: Mutex<Vec<(u32, u64)>>,
    put: Mutex<Vec<SpareNode>>,
}

impl Grants {
    fn new(spares: &[(u32, u64, u64)]) -> Self {
        let grants = Self::default();
        for &(node, used_until_ms, ceiling) in spares {
            grants.spare.lock().unwrap().push_back((SpareNode { node, used_until_ms }, ceiling));
        }
        grants
    }

    fn grant(&self, node: u32, ceiling_ms: u64) {
        let mut used = self.used.lock().unwrap();
        used.retain(|(other, _)| *other != node);
        used.push((node, ceiling_ms));
    }
}

impl NodeSource for Grants {
    fn take(&self, now_ms: u64) -> Option<SpareNode> {
        let mut spares = self.spare.lock().unwrap();
        let at = spares.iter().position(|(spare, ceiling)| spare.used_until_ms < now_ms && now_ms < *ceiling)?;
        let (spare, ceiling) = spares.remove(at)?;
        self.grant(spare.node, ceiling);
        Some(spare)
    }

    fn put(&self, spare: SpareNode) {
        self.put.lock().unwrap().push(spare);
    }

    fn ceiling_ms(&self, node: u32) -> u64 {
        self.used.lock().unwrap().iter().find(|(other, _)| *other == node).map_or(0, |(_, ceiling)| *ceiling)
    }
}

/// The ceiling of a node holds in whole ticks, as the generator's does.
#[test]
fn a_node_is_not_used_at_or_past_its_ceiling() {
    for preset in presets() {
        let tick_ms = preset.layout().tick().as_nanos().div_ceil(1_000_000) as u64;
        for offset in [0, 1, tick_ms / 2, tick_ms - 1] {
            let ceiling = T + 5 + offset + 2 * tick_ms;
            let clock = ManualClock::new(T);
            let own = builder(preset, &clock).ceiling(ceiling).build().unwrap();
            let expected = drain(&own, ceiling + tick_ms).0;
            clock.set(T);
            let grants = Grants::default();
            grants.grant(3, ceiling);
            let ids = Generator::builder(preset).node(3).spares(&grants).clock(&clock).build().unwrap();
            let (minted, error) = drain(&ids, ceiling + tick_ms);
            assert_eq!(minted, expected, "{:?}", preset.layout());
            assert!(error.is_ceiling());
            assert_eq!(error.to_string(), "next ID is past the ceiling of node 3");
            // A renewal goes on under the same node.
            grants.grant(3, ceiling + HOUR);
            assert_eq!(ids.generate().unwrap().node(), 3);
            assert!(grants.put.lock().unwrap().is_empty());
        }
    }
}

#[test]
fn at_the_ceiling_of_its_node_a_generator_takes_another() {
    let clock = ManualClock::new(T);
    let grants = Grants::new(&[(7, 0, T), (8, T + 100, T + HOUR), (9, T, T + 20)]);
    grants.grant(3, T + 10);
    // Twitter's preset has no use for spare nodes but this.
    let ids = Generator::builder(Preset::TWITTER).node(3).spares(&grants).clock(&clock).build().unwrap();
    let (minted, error) = drain(&ids, T + 50);
    assert!(minted.is_sorted_by(|a, b| a < b));
    assert!(minted.iter().all(|id| id.node() == if id.timestamp_ms() < T + 10 { 3 } else { 9 }));
    assert_eq!(minted[minted.len() - 1].timestamp_ms(), T + 19);
    assert!(error.is_ceiling());
    assert_eq!(error.to_string(), "next ID is past the ceiling of node 9");
    assert_eq!(*grants.put.lock().unwrap(), [SpareNode { node: 3, used_until_ms: T + 9 }]);
    clock.set(T + 101);
    assert_eq!(ids.generate().unwrap().node(), 8);
}

/// A source that breaks its word does no harm: the node goes back, and nothing is minted.
#[test]
fn a_spare_node_outside_of_its_own_bounds_is_not_used() {
    struct Careless(Grants);
    impl NodeSource for Careless {
        fn take(&self, _: u64) -> Option<SpareNode> {
            let (spare, ceiling) = self.0.spare.lock().unwrap().pop_front()?;
            self.0.grant(spare.node, ceiling);
            Some(spare)
        }
        fn put(&self, spare: SpareNode) {
            self.0.put(spare);
        }
        fn ceiling_ms(&self, node: u32) -> u64 {
            self.0.ceiling_ms(node)
        }
    }
    let clock = ManualClock::new(T);
    let careless = Careless(Grants::new(&[(7, 0, T), (8, T, T + 1), (9, T - 1, T + 1)]));
    careless.0.grant(3, T);
    let ids = Generator::builder(Preset::TWITTER).node(3).spares(&careless).clock(&clock).build().unwrap();
    assert_eq!(ids.generate().unwrap_err().to_string(), "next ID is past the ceiling of node 7");
    assert!(ids.generate().unwrap_err().is_overload());
    assert_eq!(ids.node(), 3);
    let id = ids.generate().unwrap();
    assert_eq!((id.node(), id.timestamp_ms(), id.sequence()), (9, T, 0));
    let put = [(7, 0), (8, T), (3, 0)].map(|(node, used_until_ms)| (node, used_until_ms));
    let was_put: Vec<_> =
        careless.0.put.lock().unwrap().iter().map(|spare| (spare.node, spare.used_until_ms)).collect();
    assert_eq!(was_put[..2], put[..2]);
    assert_eq!(was_put[2].0, 3);
}

/// A swap takes the floor of the new node with it, in whole ticks, and not that of the old one.
#[test]
fn a_swapped_node_has_its_own_floor() {
    for preset in presets() {
        let layout = preset.layout();
        let tick_ms = layout.tick().as_nanos().div_ceil(1_000_000) as u64;
        for offset in [0, 1, tick_ms / 2, tick_ms - 1] {
            let used_until_ms = T - 10 * tick_ms - 100 + offset;
            let clock = ManualClock::new(T);
            let queue = NodeQueue::new();
            queue.put(SpareNode { node: 8, used_until_ms });
            let ids = Generator::builder(preset).node(3).spares(&queue).floor(T + HOUR).clock(&clock).build().unwrap();
            // Node 3 is not usable for an hour.
            clock.set(used_until_ms);
            assert!(ids.generate().unwrap_err().is_rollback());
            let mut id = Err(());
            while id.is_err() {
                clock.advance(Duration::from_millis(1));
                id = ids.generate().map_err(|_| ());
            }
            let id = id.unwrap();
            assert_eq!(id.node(), 8);
            assert!(id.since_epoch().as_nanos() > u128::from(used_until_ms) * 1_000_000, "{layout:?}");
            let late = id.since_epoch().as_millis() as u64 - used_until_ms;
            assert!(late <= tick_ms + 1, "{layout:?}: {late}");
            let back = queue.take(u64::MAX).unwrap();
            assert_eq!(back.node, 3);
            assert!(back.used_until_ms >= T + HOUR - 1, "{layout:?}: {}", back.used_until_ms);
        }
    }
}

/// A thread is paused anywhere between two steps of a call; another thread does the rest. The clock is read between the
/// load of the word and the exchange.
mod paused {
    use super::*;

    type Act = Box<dyn Fn() + Send>;

    /// Runs something at one reading, as if the thread were paused there.
    struct Hooked {
        ms: AtomicU64,
        readings: AtomicU64,
        hook: Mutex<Option<(u64, Act)>>,
    }

    impl Clock for Hooked {
        fn now_ms(&self) -> Result<u64, ClockError> {
            let now = self.ms.load(Ordering::Relaxed);
            let reading = self.readings.fetch_add(1, Ordering::Relaxed);
            let mut hook = self.hook.lock().unwrap();
            if hook.as_ref().is_some_and(|(at, _)| *at == reading) {
                let (_, act) = hook.take().unwrap();
                drop(hook);
                act();
            }
            Ok(now)
        }
    }

    type Ids = Generator<Hooked, &'static Grants>;

    /// Calls `generate` once for each reading at which it can be paused, in a generator of its own each time. Returns
    /// what the paused calls returned.
    fn each(preset: Preset, clock_at: u64, act: fn(&Ids, &Grants)) -> Vec<Result<Snowflake, GenerateError>> {
        (0..3)
            .map(|reading| {
                let grants: &'static Grants = Box::leak(Box::new(Grants::new(&[(8, 0, T + HOUR)])));
                grants.grant(3, T + 10);
                let hooked = Hooked { ms: AtomicU64::new(T), readings: AtomicU64::new(0), hook: Mutex::new(None) };
                let ids = Generator::builder(preset).node(3).spares(grants).ceiling(T + HOUR);
                let ids: &'static Ids = Box::leak(Box::new(ids.clock(hooked).build().unwrap()));
                ids.generate().unwrap();
                ids.clock().ms.store(clock_at, Ordering::Relaxed);
                let at = ids.clock().readings.load(Ordering::Relaxed) + reading;
                *ids.clock().hook.lock().unwrap() = Some((at, Box::new(move || act(ids, grants))));
                ids.generate()
            })
            .collect()
    }

    #[test]
    fn a_paused_call_does_not_mint_after_the_close() {
        let minted = each(Preset::TWITTER, T, |ids, _| {
            let end = ids.close().unwrap();
            assert_eq!((end.timestamp_ms(), end.sequence()), (T, 0));
        });
        assert!(minted[0].unwrap_err().is_closed());
        // The later readings are not reached: the call has returned.
        assert!(minted[1..].iter().all(Result::is_ok));
    }

    #[test]
    fn a_paused_swap_does_not_mint_after_the_close() {
        let minted = each(Preset::TWITTER, T - 50, |ids, grants| {
            ids.close().unwrap();
            // The node that the paused call may take is spare again, as it was.
            assert_eq!(grants.put.lock().unwrap()[0].node, 3);
        });
        assert!(minted[0].unwrap_err().is_closed());
        assert!(minted[1].unwrap_err().is_closed());
    }

    #[test]
    fn a_paused_call_does_not_mint_below_a_raised_floor() {
        let minted = each(Preset::TWITTER, T + 1, |ids, _| ids.raise_floor(T + 2));
        assert!(minted[0].unwrap_err().is_overload());
    }

    /// The node comes back with another grant, which begins later.
    #[test]
    fn a_paused_call_does_not_mint_under_a_node_that_was_away() {
        let minted = each(Preset::TWITTER, T + 1, |ids, grants| {
            let clock = ids.clock();
            let step = |at| clock.ms.store(at, Ordering::Relaxed);
            step(T - 100);
            assert_eq!(ids.generate().unwrap().node(), 8);
            // Somebody else has used node 3 until T + 5.
            let back = (SpareNode { node: 3, used_until_ms: T + 5 }, T + HOUR);
            grants.spare.lock().unwrap().push_back(back);
            grants.grant(8, 0);
            step(T + 6);
            assert_eq!(ids.generate().unwrap().node(), 3);
            step(T + 7);
        });
        // The paused call had read T + 1. It looks again.
        let id = minted[0].unwrap();
        assert_eq!((id.node(), id.timestamp_ms()), (3, T + 7));
    }

    /// The ceiling of the node was asked for before the pause.
    #[test]
    fn a_paused_call_does_not_mint_past_the_ceiling_of_a_later_grant() {
        struct Pausing(Mutex<Option<Act>>, AtomicU64);
        impl NodeSource for Pausing {
            fn take(&self, _: u64) -> Option<SpareNode> {
                Some(SpareNode { node: 8, used_until_ms: 0 })
            }
            fn put(&self, _: SpareNode) {}
            fn ceiling_ms(&self, node: u32) -> u64 {
                let act = self.0.lock().unwrap().take();
                let answer = if node == 3 { self.1.load(Ordering::Acquire) } else { u64::MAX };
                if let Some(act) = act {
                    act();
                }
                answer
            }
        }
        let source: &'static Pausing = Box::leak(Box::new(Pausing(Mutex::new(None), AtomicU64::new(T + HOUR))));
        let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::new(T)));
        let ids = Generator::builder(Preset::TWITTER).node(3).spares(source).clock(clock).build().unwrap();
        let ids: &'static Generator<_, _> = Box::leak(Box::new(ids));
        ids.generate().unwrap();
        *source.0.lock().unwrap() = Some(Box::new(|| {
            // Node 3 goes, is released at its end, and ends there for good.
            clock.set(T - 1);
            assert_eq!(ids.generate().unwrap().node(), 8);
            source.1.store(0, Ordering::Release);
            clock.set(T);
        }));
        assert_eq!(ids.generate().unwrap().node(), 8);
    }
}

/// Threads mint under granted nodes while the grants are renewed, run out and change, and the clock steps back.
#[test]
fn threads_share_granted_nodes_without_a_duplicate_and_below_every_ceiling() {
    const STEPS: u64 = if cfg!(debug_assertions) { 2_000 } else { 20_000 };

    let started = Instant::now();
    let clock = ManualClock::new(T);
    let grants = Grants::default();
    grants.grant(0, T + 30);
    let ids = Generator::builder(Preset::ROLLBACK_38_15_10).node(0).spares(&grants).clock(&clock).build().unwrap();
    let done = AtomicBool::new(false);
    // The greatest ceiling that each node was ever granted, written down before the grant.
    let written: Vec<_> = (0..=STEPS).map(|_| AtomicU64::new(0)).collect();
    written[0].store(T + 30, Ordering::SeqCst);
    let mint = || {
        let mut minted = Vec::new();
        while !done.load(Ordering::Relaxed) {
            match ids.generate() {
                Ok(id) => {
                    assert!(id.timestamp_ms() < written[id.node() as usize].load(Ordering::SeqCst), "{id:?}");
                    minted.push(id.to_u64());
                }
                Err(_) => thread::yield_now(),
            }
        }
        minted
    };
    let minted = thread::scope(|scope| {
        let threads = [scope.spawn(mint), scope.spawn(mint)];
        let mut now = T;
        for step in 1..=STEPS {
            now = if step % 50 == 0 { now - 40 } else { now + 1 };
            clock.set(now);
            if step % 7 == 0 {
                // A renewal of a few milliseconds, or none if the node has gone.
                let node = ids.node();
                let ceiling = grants.ceiling_ms(node).max(now + 5);
                written[node as usize].fetch_max(ceiling, Ordering::SeqCst);
                grants.grant(node, ceiling);
            }
            if step % 9 == 0 {
                let ceiling = now + 20;
                written[step as usize].store(ceiling, Ordering::SeqCst);
                let spare = SpareNode { node: step as u32, used_until_ms: now - 50 };
                grants.spare.lock().unwrap().push_back((spare, ceiling));
            }
            thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
        threads.map(|thread| thread.join().unwrap()).concat()
    });
    let distinct: HashSet<_> = minted.iter().collect();
    assert_eq!(distinct.len(), minted.len());
    assert!(grants.put.lock().unwrap().len() > 10, "the node was swapped");
    assert!(started.elapsed() < Duration::from_mins(1));
}
