//! What `resync` risks, and what it must leave alone.
#![cfg(feature = "std")]

use core::time::Duration;
use std::collections::HashSet;

use imid::clock::ManualClock;
use imid::{Generator, MessageId, Session, Start};

const T: u64 = 1_763_665_800_000;

/// A clock that jumped by a minute and was corrected shows each of the jump's milliseconds again. The starts of then and of
/// now are unrelated, so k IDs of each overlap in k²/4096 on average, with a second moment of k(2k² + 1)/3/4096. The bound
/// is five standard deviations.
#[test]
fn the_time_of_a_corrected_jump_meets_itself_once_in_4096_pairs() {
    const MILLISECONDS: u64 = 200_000;
    const RATE: u64 = 8;

    let walk = |ids: &Generator<&ManualClock>| -> Vec<MessageId> {
        let mut minted = Vec::new();
        for now in T + 60_000..T + 60_000 + MILLISECONDS {
            ids.clock().set(now);
            minted.extend((0..RATE).map(|_| ids.generate(Session::default()).unwrap()));
        }
        minted
    };
    let clock = ManualClock::new(T);
    let ids = Generator::builder().clock(&clock).build().unwrap();
    let jumped: HashSet<_> = walk(&ids).into_iter().collect();
    clock.set(T);
    ids.resync().unwrap();
    assert_eq!(ids.generate(Session::default()).unwrap().timestamp_ms(), T);

    let met = walk(&ids).iter().filter(|id| jumped.contains(id)).count() as u64;
    let expected = MILLISECONDS * RATE * RATE / 4096;
    let variance = MILLISECONDS * RATE * (2 * RATE * RATE + 1) / 3 / 4096;
    assert!(met.abs_diff(expected).pow(2) < 25 * variance, "{met} meetings, {expected} expected");
}

/// A lead within `max_lead` is no jump of the clock: there is nothing to correct.
#[test]
fn an_ordinary_burst_is_left_alone() {
    for start in [Start::Zero, Start::Rolling, Start::Seeded] {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().start(start).max_lead(Duration::from_millis(5)).clock(&clock).build().unwrap();
        let burst = ids.batch(Session::default(), 3 * 4_096).unwrap().next_back().unwrap();
        ids.resync().unwrap();
        let next = ids.generate(Session::default()).unwrap();
        assert!(burst < next, "{start:?}: {burst} comes again after {next}");
    }
}
