//! The cases in which hosts get messages from each other. All hosts are in one process, and share only the clock.

use std::thread;
use std::time::{Duration, Instant};

use crate::outcome::Outcome;
use crate::peers::{Host, Peer};

const HOSTS: usize = 50;
/// IDs per host and second.
const RATE: u32 = 20;
const TIME: Duration = Duration::from_secs(20);
/// How far the message that all hosts answer is ahead of the clock.
const MESSAGE_AHEAD: Duration = Duration::from_secs(1);
/// How far the last ID of the earlier owner of the sessions is ahead of the clock.
const OWNER_AHEAD: Duration = Duration::from_secs(10);
/// Number of IDs that are minted after the take-over.
const TAKEN_OVER: usize = 200_000;
/// How long these IDs may take.
const TAKE_OVER_LIMIT: Duration = Duration::from_secs(30);

/// Fifty hosts observe one message, answer it, and continue in the same room.
pub fn answers(peer: &Peer) -> Outcome {
    let mut outcome = Outcome::default();
    let host = |index| Host { index, room_every: Some(1), floor: None };
    let mut hosts: Vec<_> = (0..HOSTS as u16).map(|index| (peer.make)(host(index))).collect();
    let mut minted = Vec::new();
    for host in &mut hosts {
        match host.observe(MESSAGE_AHEAD) {
            None => return Outcome { unavailable: true, ..outcome },
            Some(Err(error)) => outcome.not_taken = Some(error),
            Some(Ok(message)) => {
                let answer = host.mint().expect("a host that has heard a message");
                outcome.below += usize::from(answer <= message);
                minted.push(answer);
            }
        }
    }
    // A random host mints the next ID.
    let (start, spacing) = (Instant::now(), Duration::from_secs(1) / (RATE * HOSTS as u32));
    let mut state = 1_u64;
    let mut due = start;
    while start.elapsed() < TIME {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        match hosts[(state >> 33) as usize % HOSTS].mint() {
            Ok(id) => minted.push(id),
            Err(_) => outcome.errors += 1,
        }
        // After a delay of the scheduler, the hosts continue at their pace, without a burst.
        due = (due + spacing).max(Instant::now());
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    outcome.ahead = minted.last().map_or(Duration::ZERO, |id| peer.ahead(*id));
    outcome.count(&minted, false);
    outcome
}

/// A running host takes over the sessions of a host whose last ID is ahead of the clock. Its IDs should sort after that ID.
pub fn take_over(peer: &Peer) -> Outcome {
    let mut outcome = Outcome::default();
    let mut host = (peer.make)(Host::default());
    for _ in 0..1_000 {
        host.mint().expect("a generator that works before the fault");
    }
    // If the peer refuses the ID, it mints nevertheless.
    let last = match host.take_over(OWNER_AHEAD) {
        None => return Outcome { unavailable: true, ..outcome },
        Some(Ok(last)) => Some(last),
        Some(Err(error)) => {
            outcome.not_taken = Some(error);
            None
        }
    };
    let start = Instant::now();
    let mut minted = Vec::new();
    while minted.len() < TAKEN_OVER && start.elapsed() < TAKE_OVER_LIMIT {
        let call = Instant::now();
        match host.mint() {
            Ok(id) => minted.push(id),
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
        outcome.longest_call = outcome.longest_call.max(call.elapsed());
    }
    outcome.count(&minted, peer.is_ordered);
    // If the peer refused the ID, all of its IDs sort before it.
    outcome.below = match last {
        Some(last) => minted.iter().filter(|id| **id <= last).count(),
        None => minted.len(),
    };
    outcome.ahead = minted.last().map_or(Duration::ZERO, |id| peer.ahead(*id));
    outcome
}
