//! The cases in which hosts hear of each other. One process has them all: they share nothing but the clock.

use std::thread;
use std::time::{Duration, Instant};

use crate::cases::ahead;
use crate::outcome::Outcome;
use crate::peers::{Host, Peer};

const HOSTS: usize = 50;
/// IDs per host and second.
const RATE: u32 = 20;
const TIME: Duration = Duration::from_secs(20);
/// How far ahead the message is that all answer.
const MESSAGE_AHEAD: Duration = Duration::from_secs(1);
/// How far ahead the last ID is of the host that gives its sessions away.
const OWNER_AHEAD: Duration = Duration::from_secs(10);
const TAKEN_OVER: usize = 200_000;
/// How long those may take.
const TAKE_OVER_LIMIT: Duration = Duration::from_secs(30);

/// Fifty hosts observe one message, answer it, and go on in the same room.
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
    // One host after another mints, in an order that is a different one in each round.
    let (start, spacing) = (Instant::now(), Duration::from_secs(1) / (RATE * HOSTS as u32));
    let mut state = 1_u64;
    let mut due = start;
    while start.elapsed() < TIME {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        match hosts[(state >> 33) as usize % HOSTS].mint() {
            Ok(id) => minted.push(id),
            Err(_) => outcome.errors += 1,
        }
        // What the scheduler held up is not made up for: a burst would be another case.
        due = (due + spacing).max(Instant::now());
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    outcome.ahead = minted.last().map_or(Duration::ZERO, |id| ahead(peer, *id));
    outcome.count(&minted, false);
    outcome
}

/// A host that is running takes over the sessions of one whose last ID is ahead; its IDs are to sort after that.
pub fn take_over(peer: &Peer) -> Outcome {
    let mut outcome = Outcome::default();
    let mut host = (peer.make)(Host::default());
    for _ in 0..1_000 {
        host.mint().expect("a generator that works before the fault");
    }
    // What it did not take over is the same ID all the same.
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
    outcome.count(&minted, peer.rises);
    // Past the message by time where it is known by nothing else.
    outcome.below = match last {
        Some(last) => minted.iter().filter(|id| **id <= last).count(),
        None => minted.len(),
    };
    outcome.ahead = minted.last().map_or(Duration::ZERO, |id| ahead(peer, *id));
    outcome
}
