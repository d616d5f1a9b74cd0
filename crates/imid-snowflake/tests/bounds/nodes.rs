//! Nodes that are granted for a time.

use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use imid::clock::ManualClock;
use imid_snowflake::{Generator, NodeQueue, NodeSource, Preset, SpareNode};

use super::{HOUR, ROLLBACK, T, builder, drain, presets};

/// Nodes that are granted until a ceiling. The ceiling of a node in use can be moved up.
#[derive(Default)]
pub(super) struct Grants {
    pub(super) spare: Mutex<VecDeque<(SpareNode, u64)>>,
    used: Mutex<Vec<(u32, u64)>>,
    pub(super) put: Mutex<Vec<SpareNode>>,
}

impl Grants {
    pub(super) fn new(spares: &[(u32, u64, u64)]) -> Self {
        let grants = Self::default();
        for &(node, used_until_ms, ceiling) in spares {
            grants.spare.lock().unwrap().push_back((SpareNode { node, used_until_ms }, ceiling));
        }
        grants
    }

    pub(super) fn grant(&self, node: u32, ceiling_ms: u64) {
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
            let own = builder(preset, &clock).ceiling_ms(ceiling).build().unwrap();
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
            let ids =
                Generator::builder(preset).node(3).spares(&queue).floor_ms(T + HOUR).clock(&clock).build().unwrap();
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
            assert!(id.since_unix_epoch().as_nanos() > u128::from(used_until_ms) * 1_000_000, "{layout:?}");
            let late = id.since_unix_epoch().as_millis() as u64 - used_until_ms;
            assert!(late <= tick_ms + 1, "{layout:?}: {late}");
            let back = queue.take(u64::MAX).unwrap();
            assert_eq!(back.node, 3);
            assert!(back.used_until_ms >= T + HOUR - 1, "{layout:?}: {}", back.used_until_ms);
        }
    }
}

/// Threads mint under granted nodes while the grants are renewed, run out and change, and the clock steps back.
#[test]
fn threads_share_granted_nodes_without_a_duplicate_and_below_every_ceiling() {
    const STEPS: u64 = if cfg!(debug_assertions) { 2_000 } else { 20_000 };

    let clock = ManualClock::new(T);
    let grants = Grants::default();
    grants.grant(0, T + 30);
    let ids = Generator::builder(ROLLBACK).node(0).spares(&grants).clock(&clock).build().unwrap();
    let done = AtomicBool::new(false);
    // The greatest ceiling that each node was ever granted, written down before the grant.
    let written: Vec<_> = (0..=STEPS).map(|_| AtomicU64::new(0)).collect();
    written[0].store(T + 30, Ordering::SeqCst);
    let calls = AtomicU64::new(0);
    let mint = || {
        let mut minted = Vec::new();
        while !done.load(Ordering::Relaxed) {
            calls.fetch_add(1, Ordering::Relaxed);
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
            // On a busy machine, too, the threads get a turn before the clock steps back and after it.
            let before = calls.load(Ordering::Relaxed);
            while matches!(step % 50, 49 | 0) && calls.load(Ordering::Relaxed) < before + 3 {
                thread::yield_now();
            }
        }
        done.store(true, Ordering::Relaxed);
        threads.map(|thread| thread.join().unwrap()).concat()
    });
    let distinct: HashSet<_> = minted.iter().collect();
    assert_eq!(distinct.len(), minted.len());
    assert!(grants.put.lock().unwrap().len() > 10, "the node was swapped");
}
