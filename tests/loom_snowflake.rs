//! The Snowflake generator under every interleaving of two threads. Run by `ci/loom.sh`.
//!
//! That these tests can fail was seen by a load, a compare and a store for the `compare_exchange` of
//! `Generator::exchange`.
#![cfg(loom)]

use core::time::Duration;

use imid::clock::ManualClock;
use imid::snowflake::GenerateError;
use imid::snowflake::{Generator, Layout, Preset, Snowflake, WorkerQueue};
use loom::sync::Arc;
use loom::thread;

const T: u64 = 1_763_665_800_000;

/// Four numbers a tick.
const LAYOUT: Layout = match Layout::new("narrow", 42, 20, 2, 0, Duration::from_millis(1)) {
    Ok(layout) => layout,
    Err(_) => panic!("64 bits"),
};

type Ids = Generator<ManualClock, WorkerQueue>;

/// What two threads get that each ask twice.
fn minted_by_two(ids: &Arc<Ids>) -> Vec<Result<Snowflake, MintError>> {
    let twice = |ids: &Ids| [ids.generate(), ids.generate()];
    let other = thread::spawn({
        let ids = Arc::clone(ids);
        move || twice(&ids)
    });
    let mut minted = twice(ids).to_vec();
    minted.extend(other.join().unwrap());
    minted
}

fn generator(workers: &[u32]) -> Arc<Ids> {
    let ids = Generator::new(Preset::new(&LAYOUT), 3).unwrap().with_clock(ManualClock::new(T));
    let ids = Arc::new(ids.with_workers(workers.iter().copied().collect()));
    // Touches every word before other threads do, and takes the first number.
    ids.generate().unwrap();
    ids
}

#[test]
fn two_threads_share_the_numbers_of_a_tick() {
    loom::model(|| {
        let minted = minted_by_two(&generator(&[]));
        let mut seqs: Vec<_> = minted.iter().filter_map(|id| id.ok()).map(Snowflake::seq).collect();
        seqs.sort_unstable();
        assert_eq!(seqs, [1, 2, 3]);
        assert!(minted.iter().filter_map(|id| id.err()).all(MintError::is_full));
    });
}

#[test]
fn two_threads_behind_the_last_id_swap_once() {
    loom::model(|| {
        let ids = generator(&[100, 101]);
        ids.clock().set(T - 1);
        let mut minted: Vec<_> = minted_by_two(&ids).into_iter().map(Result::unwrap).collect();
        minted.sort_unstable();
        assert!(minted.iter().map(|id| (id.node(), id.seq())).eq((0..4).map(|seq| (minted[0].node(), seq))));
        assert_eq!(ids.node(), minted[0].node());
    });
}
