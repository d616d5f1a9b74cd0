//! `generate_after`: the next ID of a room whose last one is from elsewhere, ahead of the clock or not.

use std::time::Duration;

use imid::clock::ManualClock;
use imid::generator::Lane;
use imid::{Generator, IdParts, MessageId, SessionTag, SessionType};

use super::lead::exhaust;
use super::{LEAD, Random, SKEW, T, ahead, host, ms, other_room, room};

/// What a stripe that was moved may use beyond that, and a carry of its seeded start.
const FEW: u64 = 5;

fn id_at(timestamp_ms: u64, spin: u16) -> MessageId {
    MessageId::try_from_parts(IdParts { timestamp_ms, spin, session_tag: room() }).unwrap()
}

#[test]
fn a_room_without_a_last_id_and_one_of_the_past_are_minted_as_by_generate() {
    let clock = ManualClock::new(T);
    let (ids, plain) = (host(1).clock(&clock).build().unwrap(), host(1).clock(&clock).build().unwrap());
    for last in [None, Some(MessageId::MIN), Some(id_at(T - 1, 4_095))] {
        assert_eq!(ids.generate_after(last, room()).unwrap(), plain.generate(room()).unwrap());
    }
    let own = ids.generate(room()).unwrap();
    assert_eq!(ids.generate_after(Some(own), room()).unwrap().to_u128() >> 26, (own.to_u128() >> 26) + 1);
}

/// Another host can mint the next stamp of a millisecond, unless lanes keep the two apart.
#[test]
fn a_host_without_a_lane_goes_to_the_next_millisecond_and_one_with_a_lane_to_its_next_stamp() {
    let clock = ManualClock::new(T);
    for spin in [0, 1_023, 1_024, 2_047, 2_048, 4_095] {
        let last = id_at(T + 40, spin);
        let next = host(1).clock(&clock).build().unwrap().generate_after(Some(last), room()).unwrap();
        assert_eq!(next.timestamp_ms(), T + 41);
        let ids = host(1).lane(Lane { index: 1, bits: 2 }).clock(&clock).build().unwrap();
        let next = ids.generate_after(Some(last), room()).unwrap();
        assert!(last < next && (1_024..2_048).contains(&next.spin()), "{last:?} {next:?}");
        assert_eq!(next.timestamp_ms(), if spin < 2_047 { T + 40 } else { T + 41 }, "{spin}");
    }
}

/// Another stripe, and the time reached, stay where they are. The stripe's other rooms go with it, and its lead is gone when the
/// clock has passed the ID.
#[test]
fn only_the_stripe_of_the_room_is_moved() {
    let clock = ManualClock::new(T);
    let ids = host(7).stripes::<64>().clock(&clock).build().unwrap();
    let tag = |hash| SessionTag::from_u32(hash).unwrap();
    let (near, stripe_mate, elsewhere) = (tag(5), tag(69), tag(6));
    let last = MessageId::last_at(T + SKEW).unwrap();
    let next = ids.generate_after(Some(last), near).unwrap();
    assert!(last < next);
    assert!(ids.generate(stripe_mate).unwrap() > next);
    assert!(ahead(ids.generate(elsewhere).unwrap(), T) <= 1);
    assert_eq!(ids.stats().behind, Duration::ZERO);
    assert!(ids.stats().lead >= ms(SKEW));
    clock.set(T + SKEW + 3);
    assert!(ahead(ids.generate(near).unwrap(), T + SKEW + 3) <= 1);
}

#[test]
fn an_id_past_the_skew_is_refused_until_the_clock_is_near_enough_and_changes_nothing() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    let last = MessageId::last_at(T + SKEW + 7).unwrap();
    let error = ids.generate_after(Some(last), room()).unwrap_err();
    assert!(error.is_skew() && !error.is_overload());
    assert_eq!(error.retry_after(), Some(ms(7)));
    assert_eq!(error.to_string(), "expected a last ID at most 5000 ms ahead of the clock, found 5007 ms");
    assert!(ahead(ids.generate(room()).unwrap(), T) <= 1);
    // The clock is 100 ms behind its latest reading: it must come back to it first.
    clock.set(T - 100);
    assert_eq!(ids.generate_after(Some(last), room()).unwrap_err().retry_after(), Some(ms(107)));
    assert_eq!(ids.observe(last).unwrap_err().retry_after(), Some(ms(107)));
    clock.set(T + 6);
    assert!(ids.generate_after(Some(last), room()).unwrap_err().is_skew());
    clock.set(T + 7);
    assert!(last < ids.generate_after(Some(last), room()).unwrap());
    assert_eq!(ids.stats().refused, 3);
}

#[test]
fn a_ceiling_the_end_of_time_and_a_close_refuse_it() {
    let clock = ManualClock::new(T);
    let ids = host(1).ceiling_ms(T + 10).clock(&clock).build().unwrap();
    assert!(ids.generate_after(Some(id_at(T + 9, 4_095)), room()).unwrap_err().is_ceiling());
    assert!(ahead(ids.generate(room()).unwrap(), T) <= 1, "it has not moved");
    ids.raise_ceiling_ms(T + 11);
    assert_eq!(ids.generate_after(Some(id_at(T + 9, 4_095)), room()).unwrap().timestamp_ms(), T + 10);
    ids.close();
    assert!(ids.generate_after(Some(MessageId::MIN), room()).unwrap_err().is_closed());
    assert!(ids.generate_after(Some(id_at(T + 9, 0)), room()).unwrap_err().is_closed());
    let ids = host(1).max_skew(Duration::MAX).clock(&clock).build().unwrap();
    assert!(ids.generate_after(Some(MessageId::MAX), room()).unwrap_err().is_exhausted());
}

/// Full load on a moved stripe gets a few milliseconds at once, then two milliseconds of the clock for each of IDs, and is refused
/// with the exact wait in between.
#[test]
fn a_moved_stripe_goes_on_at_half_speed_under_full_load() {
    let clock = ManualClock::new(T);
    let ids = host(3).clock(&clock).build().unwrap();
    ids.generate_after(Some(id_at(T + 3_000, 0)), room()).unwrap();
    let mut most = 0;
    for now in T..T + 6_200 {
        let lead = exhaust(&ids, now);
        let granted = LEAD.max((T + 6_002).saturating_sub(now) / 2 + FEW);
        assert!(lead <= granted, "{lead} ms ahead at {}", now - T);
        most = most.max(lead);
        if let Err(error) = ids.generate(room()) {
            assert!(error.is_overload() && error.retry_after().is_some_and(|wait| wait <= ms(3)), "{error}");
        }
    }
    assert!(most <= 3_001 + FEW);
}

/// Steps of the clock, back within a second and forth again, while rooms are ahead: the room's next ID is there each time.
#[test]
fn a_step_of_the_clock_closes_no_room() {
    let mut random = Random(11);
    for round in 0..200 {
        let clock = ManualClock::new(T);
        let ids = host(round).stripes::<8>().clock(&clock).build().unwrap();
        let (mut now, mut lasts, mut greatest) = (T, [Some(ids.generate(room()).unwrap()), None], T);
        for _ in 0..400 {
            now = match random.next() % 8 {
                0 => now - random.next() % 900,
                1 => now + random.next() % 900,
                _ => now + random.next() % 9,
            };
            clock.set(now);
            greatest = greatest.max(now);
            let at = (random.next() % 2) as usize;
            let last = &mut lasts[at];
            if random.once_in(12) {
                // Another host's, as far ahead as it may be.
                *last = (*last).max(Some(id_at(greatest + random.next() % SKEW, (random.next() % 4_096) as u16)));
            }
            let session = [room(), other_room()][at];
            let next = ids.generate_after(*last, session).unwrap_or_else(|error| panic!("round {round}: {error}"));
            assert!(*last < Some(next));
            *last = Some(next);
            assert!(ids.generate(SessionTag::new(SessionType::GROUP, "a third")).is_ok());
        }
    }
}

/// Two hosts whose clocks are 4 s apart post in one room by turns, ten thousand times in ten seconds: the one that is behind follows,
/// neither runs away, and their other rooms stay at their own clocks.
#[test]
fn hosts_that_post_by_turns_do_not_drive_each_other_ahead() {
    let clocks = [ManualClock::new(T), ManualClock::new(T + 4_000)];
    let lane = |index| Lane { index, bits: 4 };
    let ids =
        [0, 1].map(|at| host(at).lane(lane(at as u16)).stripes::<64>().clock(&clocks[at as usize]).build().unwrap());
    let (mut last, mut most) = (None, 0);
    for post in 0..10_000 {
        let next = ids[post % 2].generate_after(last, room()).unwrap();
        assert!(last < Some(next));
        last = Some(next);
        most = most.max(ahead(next, T + 4_000 + post as u64));
        assert!(ahead(ids[0].generate(other_room()).unwrap(), T + post as u64) <= 1);
        for clock in &clocks {
            clock.advance(ms(1));
        }
    }
    assert!(most <= 2, "{most} ms ahead of the clock that is ahead");
}

#[test]
fn a_waiting_call_returns_when_the_clock_is_near_enough() {
    let ids = Generator::builder().max_skew(ms(0)).build().unwrap();
    let now = ids.generate(room()).unwrap().timestamp_ms();
    let last = id_at(now + 30, 0);
    assert!(ids.generate_after(Some(last), room()).unwrap_err().is_skew());
    let next = ids.generate_after_within(Some(last), room(), Duration::from_secs(20)).unwrap();
    assert!(last < next);
    let far = MessageId::last_at(now + 100_000).unwrap();
    assert!(ids.generate_after_within(Some(far), room(), ms(50)).unwrap_err().is_skew());
}

/// Hosts without lanes that follow one ID begin at different places of the next millisecond. At the same place each would mint the ID of
/// the other.
#[test]
fn hosts_that_follow_one_id_begin_at_different_places() {
    let last = MessageId::last_at(T + 2_000).unwrap();
    let next = |seed| {
        let ids = host(seed).clock(ManualClock::new(T)).build().unwrap();
        ids.generate_after(Some(last), room()).unwrap()
    };
    let mut all: Vec<_> = (0..100).map(next).collect();
    assert!(all.iter().all(|id| id.timestamp_ms() == T + 2_001));
    all.sort_unstable();
    all.dedup();
    assert!(all.len() > 80, "{} of 100 are different", all.len());
}

/// What a move grants ends at the ceiling.
#[test]
fn a_moved_stripe_stops_at_the_ceiling() {
    let ids = host(1).ceiling_ms(T + 2_003).clock(ManualClock::new(T)).build().unwrap();
    let mut id = ids.generate_after(Some(id_at(T + 2_000, 0)), room()).unwrap();
    let refused = loop {
        match ids.generate(room()) {
            Ok(next) => id = next,
            Err(error) => break error,
        }
    };
    assert_eq!((id.timestamp_ms(), id.spin(), refused.is_ceiling()), (T + 2_002, 4_095, true));
    assert!(ids.generate_after(Some(id), room()).unwrap_err().is_ceiling());
}
