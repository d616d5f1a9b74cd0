//! A host is killed and starts again, with the floor that its store knows: nothing repeats, nothing creeps, and hosts
//! that start together do not pile up.

use imid::clock::ManualClock;
use imid::{Generator, MessageId};

use super::{FEW, LEAD, MANY_HOSTS, SKEW, SPREAD, T, ahead, assert_spread, host, ms, room};

/// Mints until it is refused, and returns the last ID.
fn exhaust(ids: &Generator<&ManualClock>) -> Option<MessageId> {
    let mut last = None;
    for run in [65_536, 1_024, 16, 1] {
        while let Ok(mut batch) = ids.batch(room(), run) {
            last = batch.next_back();
        }
    }
    last
}

/// Kills under overload, `every` ms apart. A floor that granted `max_lead` anew would add it at every start.
fn restarts_under_overload(every: u64, restarts: u64) {
    let clock = ManualClock::new(T);
    let mut stored: Option<MessageId> = None;
    for restart in 0..restarts {
        clock.advance(ms(every));
        let now = T + (restart + 1) * every;
        let builder = host(restart);
        let builder = if let Some(id) = stored { builder.floor(id) } else { builder };
        let ids = builder.clock(&clock).build().unwrap();
        let first = ids.generate(room()).unwrap_or_else(|error| panic!("{error}, after {restart} restarts"));
        assert!(stored.is_none_or(|stored| stored < first));
        stored = exhaust(&ids).or(Some(first));
        let lead = ahead(stored.unwrap(), now);
        assert!(lead <= (LEAD + SPREAD + FEW).cast_signed(), "{lead} ms ahead after {} restarts", restart + 1);
    }
}

#[test]
fn a_thousand_restarts_under_overload_do_not_creep() {
    restarts_under_overload(50, 1_000);
}

#[test]
fn restarts_under_overload_every_20_ms_do_not_creep() {
    restarts_under_overload(20, 500);
}

#[test]
fn twelve_restarts_under_overload_a_second_apart_end_a_second_ahead() {
    restarts_under_overload(1_000, 12);
}

/// A host that hears IDs at the full skew, stores its own and is restarted: each start could add the skew again.
#[test]
fn observe_and_floor_in_turn_do_not_creep() {
    let clock = ManualClock::new(T);
    let mut stored = MessageId::MIN;
    for restart in 0..200 {
        clock.advance(ms(50));
        let now = T + (restart + 1) * 50;
        let ids = host(restart).floor(stored).clock(&clock).build().unwrap();
        // The furthest ID that it takes.
        let mut heard = (SKEW..3 * SKEW).rev().step_by(99).map(|skew| MessageId::last_at(now + skew).unwrap());
        heard.find(|id| ids.observe(*id).is_ok());
        let id = ids.generate(room()).unwrap();
        assert!(stored < id);
        stored = id;
        let lead = ahead(id, now);
        assert!(lead <= (SKEW + SPREAD + FEW).cast_signed(), "{lead} ms ahead after {} restarts", restart + 1);
    }
}

/// What counts as ahead is measured from the clock: a floor does not carry the limit of `observe` with it.
#[test]
fn a_floor_does_not_widen_what_observe_believes() {
    let clock = ManualClock::new(T);
    let ids = host(1).floor(MessageId::last_at(T + SKEW).unwrap()).clock(&clock).build().unwrap();
    for _ in 0..3 {
        let error = ids.observe(MessageId::first_at(T + SKEW + 1_000).unwrap()).unwrap_err();
        assert_eq!(error.ahead(), Some(ms(SKEW + 1_000)));
        ids.generate(room()).unwrap();
    }
}

/// A store's greatest ID is the floor of all hosts that start. Each begins a seeded distance after it.
#[test]
fn restarted_hosts_with_one_floor_spread() {
    for jump in [64, 1_000, 30_000] {
        let clock = ManualClock::new(T);
        let floor = MessageId::last_at(T + jump).unwrap();
        let first = (0..MANY_HOSTS).map(|seed| {
            let ids = host(seed).floor(floor).clock(&clock).build().unwrap();
            ids.generate(room()).unwrap()
        });
        assert_spread(&first.collect::<Vec<_>>(), T + jump, SPREAD);
    }
}

/// A floor ahead of the clock is slewed like a step back: IDs go on at half speed, and the lead ends at zero.
#[test]
fn the_lead_of_a_floor_shrinks_and_ends_at_zero() {
    const FLOOR: u64 = 10_000;

    let clock = ManualClock::new(T);
    let ids = host(1).floor(MessageId::last_at(T + FLOOR).unwrap()).clock(&clock).build().unwrap();
    let mut minted = Vec::new();
    for at in 0..3 * FLOOR {
        clock.set(T + at);
        let id = ids.generate(room()).unwrap();
        let most = if at < 2 * FLOOR { FLOOR - at / 2 + SPREAD + 2 } else { SPREAD };
        assert!(ahead(id, T + at) <= most.cast_signed(), "{} ms ahead after {at} ms", ahead(id, T + at));
        minted.push(id);
    }
    assert!(minted.is_sorted_by(|a, b| a < b));
    assert!(super::most_in_one_ms(&minted) <= 4);
    assert!(ahead(minted[minted.len() - 1], T + 3 * FLOOR) <= 0);
}
