//! The Snowflake generator under all interleavings of two threads that loom explores. `ci/loom.sh` runs these tests.
//!
//! These tests fail if the `compare_exchange` in `Generator::exchange` is replaced by a load, a compare and a store.
#![cfg(loom)]

use imid::clock::ManualClock;
use imid::snowflake::{GenerateError, Generator, Layout, NodeQueue, Preset, Snowflake};
use loom::sync::Arc;
use loom::thread;

const T: u64 = 1_763_665_800_000;

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
