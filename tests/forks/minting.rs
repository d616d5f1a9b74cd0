//! What parents and children mint, and what their IDs have in common.

use core::time::Duration;
use std::collections::HashSet;

use imid::clock::{Clock, ManualClock};
use imid::{Generator, MessageId, SessionTag, SessionType};

pub(super) use super::time::T;

pub(super) fn room(name: &str) -> SessionTag {
    SessionTag::new(SessionType::GROUP, name)
}

/// The room that all processes write to.
pub(super) fn hot() -> SessionTag {
    room("hot")
}

/// This many IDs, waiting where the limits say so.
pub(super) fn mint<C: Clock>(ids: &Generator<C>, session: SessionTag, count: usize) -> Vec<MessageId> {
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

/// In how many milliseconds two increasing lists have an ID in common, and in how many they would by chance, times 4,096: m and n
/// consecutive IDs of a millisecond overlap for m + n - 1 distances of their starts.
pub(super) fn meetings(a: &[MessageId], b: &[MessageId]) -> (u64, u64) {
    let (mut met, mut chances) = (0, 0);
    for of_a in a.chunk_by(|one, next| one.timestamp_ms() == next.timestamp_ms()) {
        let ms = of_a[0].timestamp_ms();
        let of_b = &b[b.partition_point(|id| id.timestamp_ms() < ms)..b.partition_point(|id| id.timestamp_ms() <= ms)];
        if !of_b.is_empty() {
            met += u64::from(common(of_a, of_b) > 0);
            chances += (of_a.len() + of_b.len() - 1) as u64;
        }
    }
    (met, chances)
}
