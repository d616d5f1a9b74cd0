//! The Snowflake generator under all interleavings of two threads that loom explores. `ci/loom.sh` runs these tests.
//!
//! These tests fail if the `compare_exchange` in `Generator::generate` or `Generator::exchange` is replaced by a store. The
//! later ones also fail if `close` or `raise_floor_ms` only stores a flag beside the word, or if the ceiling of a node is asked
//! for before the word is loaded. Loom gives each exchange the latest value of the word, so no test here can show why
//! `raise_ceiling_ms` releases and `advance` acquires: the comments there are the argument.
#![cfg(loom)]

#[path = "../support/time.rs"]
mod time;

use imid::clock::ManualClock;
use imid_snowflake::{GenerateError, Generator, Layout, NodeQueue, NodeSource, Preset, Snowflake, SpareNode};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use self::time::T;

/// A layout with four sequence numbers per tick.
const LAYOUT: Layout = match Layout::builder().tick_bits(42).node_bits(20).sequence_bits(2).build() {
    Ok(layout) => layout,
    Err(_) => panic!("64 bits"),
};

type Ids = Generator<ManualClock, NodeQueue>;

/// Returns the results of two threads that each call `generate` twice.
fn minted_by_two(ids: &Arc<Ids>) -> Vec<Result<Snowflake, GenerateError>> {
    let twice = |ids: &Ids| [ids.generate(), ids.generate()];
    let other = thread::spawn({
        let ids = Arc::clone(ids);
        move || twice(&ids)
    });
    let mut minted = twice(ids).to_vec();
    minted.extend(other.join().unwrap());
    minted
}

fn generator(spares: &[u32]) -> Arc<Ids> {
    let ids = Generator::builder(Preset::new(LAYOUT)).node(3).spares(spares.iter().copied().collect());
    let ids = Arc::new(ids.clock(ManualClock::new(T)).build().unwrap());
    // Uses each word before other threads do, and takes the first sequence number.
    ids.generate().unwrap();
    ids
}

#[test]
fn two_threads_share_the_numbers_of_a_tick() {
    loom::model(|| {
        let minted = minted_by_two(&generator(&[]));
        let mut numbers: Vec<_> = minted.iter().filter_map(|id| id.ok()).map(Snowflake::sequence).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 3]);
        assert!(minted.iter().filter_map(|id| id.err()).all(GenerateError::is_overload));
    });
}

#[test]
fn two_threads_behind_the_last_id_swap_the_node_once() {
    loom::model(|| {
        let ids = generator(&[100, 101]);
        ids.clock().set(T - 1);
        let mut minted: Vec<_> = minted_by_two(&ids).into_iter().map(Result::unwrap).collect();
        minted.sort_unstable();
        assert!(minted.iter().map(|id| (id.node(), id.sequence())).eq((0..4).map(|number| (minted[0].node(), number))));
        assert_eq!(ids.node(), minted[0].node());
    });
}

/// Nodes that are granted until a ceiling: one spare node, and the ceilings of two nodes.
struct Grants {
    spare: Mutex<Option<SpareNode>>,
    ceilings: [AtomicU64; 2],
}

impl Grants {
    /// Node 1 is spare. `ceilings` are those of the nodes 0 and 1.
    fn new(ceilings: [u64; 2]) -> Self {
        let spare = SpareNode { node: 1, used_until_ms: 0 };
        Self { spare: Mutex::new(Some(spare)), ceilings: ceilings.map(AtomicU64::new) }
    }
}

impl NodeSource for Grants {
    fn take(&self, now_ms: u64) -> Option<SpareNode> {
        let mut spare = self.spare.lock().unwrap();
        spare.take_if(|spare| now_ms < self.ceilings[spare.node as usize].load(Ordering::Acquire))
    }

    /// The node is released at its end. What remains of its grant is another process's.
    fn put(&self, spare: SpareNode) {
        self.ceilings[spare.node as usize].store(spare.used_until_ms + 1, Ordering::Release);
    }

    fn ceiling_ms(&self, node: u32) -> u64 {
        self.ceilings[node as usize].load(Ordering::Acquire)
    }
}

type Granted = Generator<ManualClock, std::sync::Arc<Grants>>;

/// Returns a generator that has minted one ID at T under node 0.
fn granted(ceilings: [u64; 2]) -> (Arc<Granted>, std::sync::Arc<Grants>) {
    let grants = std::sync::Arc::new(Grants::new(ceilings));
    let ids = Generator::builder(Preset::new(LAYOUT)).node(0).spares(std::sync::Arc::clone(&grants));
    let ids = Arc::new(ids.clock(ManualClock::new(T)).build().unwrap());
    ids.generate().unwrap();
    (ids, grants)
}

/// Runs something in another thread.
fn beside<R: 'static>(ids: &Arc<Granted>, act: impl Fn(&Granted) -> R + 'static) -> thread::JoinHandle<R> {
    let ids = Arc::clone(ids);
    thread::spawn(move || act(&ids))
}

#[test]
fn a_call_beside_a_close_mints_before_the_end_or_not_at_all() {
    loom::model(|| {
        let (ids, grants) = granted([T + 9; 2]);
        let minting = beside(&ids, |ids| [ids.generate(), ids.generate()]);
        let end = ids.close().unwrap();
        let ceiling = grants.ceilings[0].load(Ordering::Acquire);
        for minted in minting.join().unwrap() {
            match minted {
                Ok(id) => assert!(id.timestamp_ms() < end && id.timestamp_ms() < ceiling),
                Err(error) => assert!(error.is_closed()),
            }
        }
        assert!(ids.generate().unwrap_err().is_closed());
        assert_eq!(ids.close(), None);
    });
}

#[test]
fn a_swap_beside_a_close_leaves_one_end() {
    loom::model(|| {
        let (ids, _) = granted([T + 9; 2]);
        ids.clock().set(T - 1);
        let minting = beside(&ids, |ids| ids.generate());
        let end = ids.close().unwrap();
        match minting.join().unwrap() {
            Ok(id) => assert_eq!((id.timestamp_ms() + 1, id.node(), ids.node()), (end, 1, 1)),
            Err(error) => {
                assert!(error.is_closed());
                assert_eq!((ids.node(), end), (0, T + 1));
            }
        }
        assert!(ids.generate().unwrap_err().is_closed());
    });
}

#[test]
fn a_paused_call_stays_below_the_ceiling_that_was_raised() {
    loom::model(|| {
        let ids = Generator::builder(Preset::new(LAYOUT)).node(3).ceiling_ms(T + 1);
        let ids = Arc::new(ids.clock(ManualClock::new(T)).build().unwrap());
        ids.generate().unwrap();
        ids.clock().set(T + 1);
        let minting = thread::spawn({
            let ids = Arc::clone(&ids);
            move || ids.generate()
        });
        // What another holder has minted lies between the old ceiling and the floor.
        ids.clock().set(T + 5);
        ids.raise_floor_ms(T + 5);
        ids.raise_ceiling_ms(T + 9);
        match minting.join().unwrap() {
            Ok(id) => assert!(id.timestamp_ms() == T + 5, "{}", id.timestamp_ms()),
            Err(error) => assert!(error.is_ceiling() || error.is_overload() || error.is_rollback()),
        }
    });
}

#[test]
fn a_floor_that_is_raised_beside_a_call_repeats_no_id() {
    loom::model(|| {
        let ids = Generator::builder(Preset::new(LAYOUT)).node(3).clock(ManualClock::new(T)).build().unwrap();
        let ids = Arc::new(ids);
        ids.generate().unwrap();
        ids.clock().set(T + 1);
        let minting = thread::spawn({
            let ids = Arc::clone(&ids);
            move || ids.generate().unwrap()
        });
        ids.raise_floor_ms(T + 1);
        let (one, other) = (ids.generate().unwrap(), minting.join().unwrap());
        assert!(one != other && one.timestamp_ms() == T + 1 && other.timestamp_ms() == T + 1);
    });
}

/// The word is loaded before the clock is read. If it were loaded after it, a time that another thread has minted at in between
/// would look like a step back.
#[test]
fn a_clock_that_goes_on_beside_a_call_is_not_a_step_back() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let ids = generator(&[]);
        let going_on = thread::spawn({
            let ids = Arc::clone(&ids);
            move || {
                for ms in 1..=2 {
                    ids.clock().set(T + ms);
                    ids.generate().unwrap();
                }
            }
        });
        ids.generate().unwrap();
        going_on.join().unwrap();
    });
}

/// The floor holds, also if the other thread mints between its load and its exchange of the word.
#[test]
fn a_floor_that_loses_a_race_is_raised_all_the_same() {
    loom::model(|| {
        let ids = generator(&[]);
        let minting = thread::spawn({
            let ids = Arc::clone(&ids);
            move || ids.generate()
        });
        ids.raise_floor_ms(T + 5);
        match minting.join().unwrap() {
            Ok(id) => assert_eq!(id.timestamp_ms(), T),
            Err(error) => assert!(error.is_rollback() || error.is_overload()),
        }
        assert!(ids.generate().unwrap_err().is_rollback());
        ids.clock().set(T + 5);
        assert_eq!(ids.generate().unwrap().timestamp_ms(), T + 5);
    });
}

/// A thread that was paused before the swap does not mint under the old node, because what remains of its grant is
/// another process's by then.
#[test]
fn a_paused_call_stays_below_the_ceiling_of_a_node_that_was_swapped_out() {
    loom::model(|| {
        let (ids, grants) = granted([T + 9; 2]);
        let minting = beside(&ids, |ids| ids.generate());
        ids.clock().set(T - 1);
        let swapped = ids.generate();
        let released = grants.ceilings[0].load(Ordering::Acquire);
        for id in [minting.join().unwrap(), swapped].into_iter().flatten() {
            assert!(id.node() == 1 || released == T + 9 || id.timestamp_ms() < released, "{released}");
        }
    });
}

/// The spare node was granted for less time than the first one. A thread that was paused before the swap asks for the ceiling of the
/// node that it finds in the word.
#[test]
fn a_paused_call_stays_below_the_ceiling_of_the_node_that_was_swapped_in() {
    loom::model(|| {
        let (ids, _) = granted([T + 9, T]);
        let minting = beside(&ids, |ids| ids.generate());
        ids.clock().set(T - 1);
        let swapped = ids.generate();
        ids.clock().set(T + 1);
        for id in [minting.join().unwrap(), swapped].into_iter().flatten() {
            assert!(id.timestamp_ms() < [T + 9, T][id.node() as usize], "{id:?}");
        }
    });
}

#[test]
fn a_swap_at_the_ceiling_stays_below_the_ceiling_of_the_new_node() {
    loom::model(|| {
        let (ids, _) = granted([T + 1, T + 2]);
        ids.clock().set(T + 1);
        let minting = beside(&ids, |ids| ids.generate());
        let minted = [ids.generate(), minting.join().unwrap()];
        ids.clock().set(T + 2);
        assert!(ids.generate().unwrap_err().is_ceiling());
        // A call is refused if the other one has taken the only spare node and not yet swapped.
        assert!(minted.iter().filter_map(|id| id.err()).all(GenerateError::is_ceiling));
        let mut minted: Vec<_> = minted.into_iter().flatten().collect();
        minted.sort_unstable();
        assert!(minted.iter().all(|id| (id.node(), id.timestamp_ms()) == (1, T + 1)));
        assert!(minted.iter().map(|id| id.sequence()).eq(0..minted.len() as u32) && !minted.is_empty());
    });
}
