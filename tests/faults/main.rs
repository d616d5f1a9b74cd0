//! What must not happen when clocks step, hosts restart, IDs come from elsewhere, limits are set or a generator ends.
//!
//! One file for each kind of fault. All clocks are scripted and all seeds are set, unless a test says otherwise, so a
//! count of duplicates is the same in every run. The bounds of such counts are derived where they stand: they must not
//! depend on one lucky seed.
//!
//! The faults of real processes have files of their own: `tests/forks`, `tests/fault_broken_clock.rs`,
//! `tests/fault_dead_ticker.rs`.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

mod ceiling;
mod close;
mod floor;
mod lead;
mod mixed;
mod observe;
#[cfg(target_os = "linux")]
mod refusal;
mod restart;
mod step;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod ticker;
mod wait;
mod wild_reading;

use std::collections::HashMap;

use imid::clock::{ManualClock, SystemClock};
use imid::generator::Builder;
use imid::{Generator, MessageId, SessionTag, SessionType};

use self::support::{Random, T, ms, room};

/// The default `max_lead`, in milliseconds.
const LEAD: u64 = 1_000;
/// The default `max_skew`, in milliseconds.
const SKEW: u64 = 5_000;
/// What hosts that one event moves are spread over at most, in milliseconds.
const SPREAD: u64 = 16;
/// What a floor or an observed ID grants at most on top of the time that it sets, in milliseconds, and the carry of a
/// seeded start.
const FEW: u64 = 16;

/// Hosts that see one event.
const MANY_HOSTS: u64 = 160;

fn other_room() -> SessionTag {
    SessionTag::new(SessionType::GROUP, "room-43")
}

/// A host with default limits and a seed of its own.
fn host(seed: u64) -> Builder<SystemClock, 1> {
    Generator::builder().seed(seed)
}

/// Hosts with unrelated seeds that share one clock.
fn hosts(count: u64, run: u64, clock: &ManualClock) -> Vec<Generator<&ManualClock>> {
    let host = |at| host(run << 32 | at).clock(clock).build().expect("no lane");
    (0..count).map(host).collect()
}

/// How many IDs are equal to an earlier one.
fn repeats(ids: &[MessageId]) -> usize {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// The most IDs that have one millisecond in common.
fn most_in_one_ms(ids: &[MessageId]) -> usize {
    let mut counts = HashMap::new();
    for id in ids {
        *counts.entry(id.timestamp_ms()).or_insert(0) += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

/// Full load for 100 ms after an event that moved the time `jump` milliseconds ahead of `T`. The event grants a few
/// milliseconds, and not the lead of the clock on top of it.
fn assert_few_are_granted(ids: &Generator<&ManualClock>, jump: u64) {
    let mut last = ids.generate(room()).expect("an ID after the event");
    for now in T..T + 100 {
        ids.clock().set(now);
        while let Ok(mut batch) = ids.batch(room(), 1_024) {
            last = batch.next_back().expect("a run of 1,024");
        }
        let lead = ahead(last, now).cast_unsigned();
        assert!(lead <= LEAD.max(jump + SPREAD + FEW), "{lead} ms ahead at {} after {jump}", now - T);
    }
}

/// The first IDs of [`MANY_HOSTS`] hosts after one event, which is at the time `event`: they are in different milliseconds, at
/// most `spread` apart.
fn assert_spread(first: &[MessageId], event: u64, spread: u64) {
    assert_eq!(first.len() as u64, MANY_HOSTS);
    for id in first {
        let later = ahead(*id, event);
        // One for the next millisecond, one for a carry.
        assert!((1..=spread.cast_signed() + 2).contains(&later), "{later} ms after the event, {spread} allowed");
    }
    if spread == SPREAD {
        // 160 hosts over about 16 milliseconds are 10 in each, with a standard deviation of 3: six of them are 28.
        let most = most_in_one_ms(first);
        assert!(most <= 28, "{most} of {MANY_HOSTS} hosts in one millisecond");
    }
}

/// How far an ID is ahead of a time, in milliseconds; negative if it is behind.
fn ahead(id: MessageId, now: u64) -> i64 {
    id.timestamp_ms().cast_signed() - now.cast_signed()
}
