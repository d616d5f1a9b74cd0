//! What parents and children mint, and what their IDs have in common.

use core::time::Duration;
use std::collections::HashSet;

use imid::clock::{Clock, ManualClock};
use imid::{Generator, MessageId, Session, SessionType};

pub(super) const T: u64 = 1_763_665_800_000;

pub(super) fn room(name: &str) -> Session {
    Session::new(SessionType::GROUP, name)
}

/// The room that all processes write to.
pub(super) fn hot() -> Session {
    room("hot")
}

/// This many IDs, waiting where the limits say so.
pub(super) fn mint<C: Clock>(ids: &Generator<C>, session: Session, count: usize) -> Vec<MessageId> {
    (0..count).map(|_| ids.generate_within(session, Duration::from_secs(10)).unwrap()).collect()
}

/// `rate` IDs in each of the next milliseconds of a scripted clock.
pub(super) fn walk<const STRIPES: usize>(
    ids: &Generator<&ManualClock, STRIPES>,
    milliseconds: u64,
    rate: usize,
) -> Vec<MessageId> {
    let mut minted = Vec::new();
    for _ in 0..milliseconds {
        ids.clock().advance(Duration::from_millis(1));
        minted.extend((0..rate).map(|_| ids.generate(hot()).unwrap()));
    }
    minted
}

pub(super) fn assert_distinct(all: &[Vec<MessageId>]) {
    let distinct: HashSet<_> = all.iter().flatten().collect();
    assert_eq!(distinct.len(), all.iter().map(Vec::len).sum::<usize>(), "an ID was minted twice");
}

/// How many IDs two increasing lists have in common.
pub(super) fn common(a: &[MessageId], b: &[MessageId]) -> u64 {
    assert!(a.is_sorted_by(|a, b| a < b) && b.is_sorted_by(|a, b| a < b));
    a.iter().filter(|id| b.binary_search(id).is_ok()).count() as u64
}

/// How many pairs of IDs of two increasing lists share a millisecond.
pub(super) fn pairs(a: &[MessageId], b: &[MessageId]) -> u64 {
    let here = |list: &[MessageId], id: MessageId| {
        let from = list.partition_point(|other| other.timestamp_ms() < id.timestamp_ms());
        list.partition_point(|other| other.timestamp_ms() <= id.timestamp_ms()) - from
    };
    a.iter().map(|id| here(b, *id) as u64).sum()
}
