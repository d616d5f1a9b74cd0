//! Hosts whose clocks disagree, and that hand each other their IDs through `observe`.
#![cfg(target_has_atomic = "64")]

mod support;

use core::time::Duration;

use imid::clock::{Clock, ManualClock};
use imid::generator::GenerateError;
use imid::generator::{Builder, Lane};
use imid::{Generator, IdParts, MessageId};

use self::support::{T, ms, session};

/// The default `max_skew`.
const SKEW: u64 = 5_000;
/// How far hosts that one event sends to the same place may spread.
const SPREAD: u64 = 16;
/// The lead that an ID from elsewhere grants.
const FEW: u64 = 4;

fn host(seed: u64) -> Builder<imid::clock::SystemClock, 1> {
    Generator::builder().seed(seed)
}

/// A host answers: it observes the question, and its next ID must sort after it.
fn answer<C: Clock, const STRIPES: usize>(ids: &Generator<C, STRIPES>, question: MessageId, hash: u32) -> MessageId {
    ids.observe(question).unwrap();
    let reply = ids.generate(session(hash)).unwrap();
    assert!(question < reply, "{question} was answered by {reply}");
    reply
}

#[test]
fn every_reply_sorts_after_its_question_with_clocks_3_s_apart() {
    let (slow, fast) = (ManualClock::new(T), ManualClock::new(T + 3_000));
    let (a, b) = (host(1).clock(&slow).build().unwrap(), host(2).clock(&fast).build().unwrap());
    let mut last = a.generate(session(0)).unwrap();
    // Replies of any session, at about one in 3 ms.
    for round in 0..2_000 {
        last = answer(&b, last, round % 5);
        last = answer(&a, last, round % 7);
        slow.advance(ms(6));
        fast.advance(ms(6));
    }
    // The slow host is where the fast one is, and no further.
    let ahead = last.timestamp_ms() - slow.now_ms().unwrap();
    assert!(ahead <= 3_000, "{ahead}");
}

#[test]
fn replies_of_striped_hosts_and_of_lanes_sort_after_their_questions() {
    let (slow, fast) = (ManualClock::new(T), ManualClock::new(T + 3_000));
    // Whichever lane is the higher: both directions of the exchange are taken.
    let a = Generator::builder().seed(1).lane(Lane { index: 5, bits: 3 }).stripes::<8>().clock(&slow).build().unwrap();
    let b = Generator::builder().seed(2).lane(Lane { index: 2, bits: 3 }).stripes::<3>().clock(&fast).build().unwrap();
    let mut last = b.generate(session(0)).unwrap();
    for round in 0..2_000 {
        last = answer(&a, last, round % 11);
        last = answer(&b, last, round % 13);
        slow.advance(ms(2));
        fast.advance(ms(2));
    }
}

#[test]
fn an_id_past_the_skew_is_refused_and_changes_nothing() {
    let clock = ManualClock::new(T);
    let (ids, twin) = (host(1).clock(&clock).build().unwrap(), host(1).clock(&clock).build().unwrap());
    for _ in 0..100 {
        assert_eq!(ids.generate(session(0)), twin.generate(session(0)));
        let now = clock.now_ms().unwrap();
        for forged in [now + SKEW + 1, now + 3_600_000, MessageId::TIMESTAMP_MAX] {
            let error = ids.observe(MessageId::first_at(forged).unwrap()).unwrap_err();
            assert!(error.is_skew());
            assert_eq!(error.ahead(), Some(ms(forged - now)));
            assert_eq!(ids.stats(), twin.stats());
        }
        clock.advance(ms(1));
    }
}

/// What is allowed counts from the clock: else a chain of forged IDs would lead it away step by step.
#[test]
fn an_observed_lead_opens_no_further_one() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    answer(&ids, MessageId::last_at(T + SKEW).unwrap(), 0);
    for ahead in [SKEW + 1, 2 * SKEW] {
        let error = ids.observe(MessageId::first_at(T + ahead).unwrap()).unwrap_err();
        assert_eq!(error.ahead(), Some(ms(ahead)));
    }
    clock.advance(ms(1));
    answer(&ids, MessageId::first_at(T + SKEW + 1).unwrap(), 0);
}

/// A host whose clock is ahead by all that is allowed sends without end: nothing stops, and nothing creeps.
#[test]
fn a_stream_of_ids_at_exactly_the_skew_neither_stops_minting_nor_creeps() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    for now in T..T + 20_000 {
        clock.set(now);
        for spin in [0, 4_095] {
            let stream =
                MessageId::try_from_parts(IdParts { timestamp_ms: now + SKEW, spin, session_tag: session(9) }).unwrap();
            assert!(answer(&ids, stream, 0).timestamp_ms() <= now + SKEW + 2 + SPREAD);
        }
    }
}

#[test]
fn under_full_load_the_stream_leaves_the_whole_rate_and_a_few_milliseconds() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    for now in T..T + 10_000 {
        clock.set(now);
        ids.observe(MessageId::last_at(now + SKEW).unwrap()).unwrap();
        let last = ids.batch(session(0), 4_096).unwrap().next_back().unwrap();
        assert!(last.timestamp_ms() <= now + SKEW + 1 + SPREAD + FEW);
    }
    // What an observed ID grants is a few milliseconds, not the lead that the clock itself grants.
    let few = 4_096 * usize::try_from(FEW).unwrap();
    assert!(ids.batch(session(0), few + 4_096).is_err_and(GenerateError::is_overload));
}

/// Once the stream ends, the lead is given back at half the clock's pace, so the IDs spread over all the milliseconds.
#[test]
fn the_lead_of_a_stream_that_ended_is_given_back() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    answer(&ids, MessageId::last_at(T + SKEW).unwrap(), 0);
    let mut last = ids.generate(session(0)).unwrap();
    for now in T + 2..T + 2 * (SKEW + SPREAD + 5) {
        clock.set(now);
        let id = ids.generate(session(0)).unwrap();
        let lead = id.timestamp_ms() - now;
        assert!(lead <= (SKEW + SPREAD + 2).saturating_sub((now - T) / 2) + 1, "{lead} after {}", now - T);
        assert!(id.timestamp_ms() - last.timestamp_ms() <= 2, "time stood still or jumped");
        last = id;
    }
    assert_eq!(ids.stats().behind, Duration::ZERO);
    assert!(ids.stats().lead <= ms(1));
}

/// A ring of hosts that all observe each other: the lead that goes around is the fastest clock's.
#[test]
fn a_ring_of_hosts_keeps_to_its_fastest_clock() {
    let clocks = [0, 1_000, 2_000].map(|ahead| ManualClock::new(T + ahead));
    let hosts = [1, 2, 3].map(|at| host(at as u64).clock(&clocks[at - 1]).build().unwrap());
    let mut last = hosts[0].generate(session(0)).unwrap();
    for round in 0..30_000 {
        last = answer(&hosts[round % 3], last, 0);
        for clock in &clocks {
            clock.advance(ms(1));
        }
    }
    let fastest = clocks[2].now_ms().unwrap();
    assert!(last.timestamp_ms() <= fastest + 1 + SPREAD, "{} ms past the fastest clock", last.timestamp_ms() - fastest);
}

/// A reply takes a later millisecond than its question, for within the same one it could take the very stamp that the
/// other host mints next. An exchange of many replies a millisecond so runs ahead of both clocks, up to the skew: what is
/// past it is refused, and minting goes on.
#[test]
fn an_exchange_faster_than_the_clock_runs_ahead_up_to_the_skew() {
    let clock = ManualClock::new(T);
    let hosts = [1, 2].map(|seed| host(seed).clock(&clock).build().unwrap());
    let mut last = hosts[0].generate(session(0)).unwrap();
    let mut refused = 0;
    for now in T..T + 2_000 {
        clock.set(now);
        for round in 0..20 {
            let ids = &hosts[round % 2];
            let heard = ids.observe(last);
            let reply = ids.generate(session(0)).unwrap();
            match heard {
                Ok(()) => assert!(last < reply && reply.timestamp_ms() <= last.timestamp_ms() + 2),
                Err(error) => {
                    assert!(error.is_skew() && last.timestamp_ms() > now + SKEW);
                    refused += 1;
                }
            }
            assert!(reply.timestamp_ms() <= now + SKEW + 2, "{reply:?} at {now}");
            last = reply;
        }
    }
    assert!(refused > 0, "the exchange never came to the skew");
}
