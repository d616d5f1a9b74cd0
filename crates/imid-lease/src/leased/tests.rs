//! What a lease asks of a generator, with a clock that stands still.

use imid::clock::ManualClock;
use imid::{SessionTag, SessionType};

use super::*;
use crate::clock::SCRIPTED_MS;
use crate::engine::{Config, Phase, Stopped};
use crate::handle::Side;
use crate::record::Name;
use crate::register::{MemoryRegister, Promise};
use crate::status::{Start, State};
use imid_lease_protocol::record::Space;

const T: u64 = 1_795_204_812_345;
const CEILING_MS: u64 = T + 60_000;

type Standing = Arc<ManualClock>;

fn room() -> SessionTag {
    SessionTag::new(SessionType::GROUP, "room-42")
}

fn grant(lane: u16, floor_ms: u64) -> Grant {
    Grant { lane, floor_ms, ceiling_ms: CEILING_MS }
}

/// A generator without a lane, at the time `T`.
fn minter() -> (LaneMinter<Standing, 1>, Standing) {
    SCRIPTED_MS.set(Some(1_000));
    let (manual, settings) = (Arc::new(ManualClock::new(T)), LaneOptions::new().lane_bits(4).settings);
    let clock = BelievedClock::new(Arc::clone(&manual), millis(settings.max_skew), settings.trusted);
    let inner = Inner {
        before: build(&clock, &settings, Grant { ceiling_ms: 0, ..grant(0, 0) }).unwrap(),
        first: OnceLock::new(),
        is_closed: AtomicBool::new(false),
        refused: AtomicU64::new(0),
        clock,
        settings,
    };
    (LaneMinter(Arc::new(inner)), manual)
}

fn last(minter: &LaneMinter<Standing, 1>) -> &Generator<BelievedClock<Standing>, 1> {
    &minter.0.last().unwrap().generator
}

#[test]
fn the_generator_of_the_last_lane_mints_however_many_were_lost() {
    let (mut minter, manual) = minter();
    let mut former = Vec::new();
    for lane in (0..1_000).map(|number| number % 16) {
        manual.advance(Duration::from_millis(1));
        minter.seal();
        minter.start(grant(lane, 0));
        let id = last(&minter).generate(room()).unwrap();
        assert_eq!((id.spin() >> 8, id.timestamp_ms() > T), (lane, true));
        assert!(former.last().is_none_or(|former| *former < id));
        former.push(id);
    }
    let (inner, first) = (&minter.0, minter.0.first.get().unwrap());
    assert!(!inner.is_last(&inner.before) && !inner.is_last(first) && !inner.is_last(first.next.get().unwrap()));
    assert!(inner.is_last(inner.last().unwrap()));
}

#[test]
fn a_long_list_of_lost_lanes_is_dropped_without_a_deep_stack() {
    let (minter, _) = minter();
    let inner = &minter.0;
    let granted = || build(&inner.clock, &inner.settings, grant(0, 0)).unwrap();
    inner.add(granted());
    let mut last = inner.first.get().unwrap();
    for _ in 0..50_000 {
        last = last.next.get_or_init(|| Box::new(granted()));
    }
    let dropped = std::thread::Builder::new().stack_size(256 * 1_024).spawn(move || drop(minter)).unwrap();
    dropped.join().unwrap();
}

#[test]
fn the_end_of_the_stamps_is_known_while_they_are_ahead_of_the_clock() {
    let (mut minter, _) = minter();
    assert_eq!(minter.used_until_ms(), 0);
    minter.start(grant(1, 0));
    assert_eq!(minter.used_until_ms(), 0);
    last(&minter).generate(room()).unwrap();
    assert_eq!(minter.used_until_ms(), 0, "the clock says it");
    last(&minter).raise_floor_ms(T + 20_000);
    let next = last(&minter).generate(room()).unwrap().timestamp_ms();
    assert!((T + 20_000..T + 20_020).contains(&next) && minter.used_until_ms() == next + 1, "{next}");
}

#[test]
fn the_end_of_a_sealed_generator_is_after_its_last_stamp() {
    let (mut minter, _) = minter();
    assert_eq!(minter.seal(), 0);
    minter.start(grant(1, 0));
    last(&minter).generate(room()).unwrap();
    for _ in 0..2 {
        assert_eq!(minter.seal(), T + 1);
    }
    assert!(last(&minter).generate(room()).unwrap_err().is_closed());
}

#[test]
fn a_lane_starts_at_the_time_or_at_its_floor_and_after_what_was_observed() {
    for (observed_ms, floor_ms, expected) in [
        (None, 0, T..=T),
        (None, T + 400, T + 400..=T + 400),
        (Some(T + 300), 0, T + 301..=T + 50_000),
        (Some(T + 300), T + 50_000, T + 50_000..=T + 50_000),
    ] {
        let (mut minter, manual) = minter();
        if let Some(observed_ms) = observed_ms {
            minter.0.before.generator.observe(MessageId::last_at(observed_ms).unwrap()).unwrap();
        }
        minter.start(grant(1, floor_ms));
        // The first reading of the new generator is an earlier one.
        manual.set(T - 500);
        let minted_ms = last(&minter).generate(room()).unwrap().timestamp_ms();
        assert!(expected.contains(&minted_ms), "{observed_ms:?} {floor_ms}: {minted_ms}");
    }
}

#[test]
fn the_next_lane_starts_after_the_last_id_while_the_time_is_ahead_of_the_clock() {
    // Each generator begins a little later, by chance.
    for _ in 0..200 {
        let (mut minter, _) = minter();
        minter.start(grant(5, 0));
        last(&minter).observe(MessageId::last_at(T + 300).unwrap()).unwrap();
        let before = last(&minter).generate(room()).unwrap();
        let end_ms = minter.seal();
        // A lesser lane sorts before it in the same millisecond.
        minter.start(grant(1, end_ms));
        let after = last(&minter).generate(room()).unwrap();
        assert!(before.timestamp_ms() > T + 300 && before < after, "{before:?} {after:?}");
    }
}

#[test]
fn a_generator_that_is_closed_starts_sealed() {
    let (mut minter, _) = minter();
    minter.0.close();
    minter.start(grant(1, 0));
    assert!(last(&minter).generate(room()).unwrap_err().is_closed());
}

/// A generator whose lease has no thread, with a lane up to [`CEILING_MS`].
fn leased() -> (LeasedGenerator<Standing>, LaneMinter<Standing, 1>, Side) {
    let (mut minter, _) = minter();
    minter.start(grant(1, 0));
    let (space, name) = (Space::lanes(4).unwrap(), Name::parse("a").unwrap());
    let (horizon_ms, max_skew_ms) = (600_000, 1_000);
    let config = Config { space, name, horizon_ms, max_skew_ms, any_lead: false };
    let mut state = State::new(&config, Promise::Strong);
    (state.view.phase, state.start, state.view.grant) = (Phase::Holding, Start::Answered, Some(grant(1, 0)));
    let (lease, side) = Handle::new(state, &Changes::new());
    let inner = Arc::clone(&minter.0);
    (LeasedGenerator { inner, lease }, minter, side)
}

#[test]
fn a_floor_is_after_the_whole_millisecond_of_an_id() {
    // Each generator begins a little later, by chance.
    for _ in 0..200 {
        let (ids, ..) = leased();
        ids.raise_floor(MessageId::last_at(T + 5_000).unwrap());
        assert!(ids.generate(room()).unwrap().timestamp_ms() > T + 5_000);
    }
}

#[test]
fn a_lease_without_room_says_why() {
    let (ids, _, side) = leased();
    assert!(matches!(ids.why_no_room(), LeaseKind::UsedUp { .. }));
    side.state().view.stopped = Some(Stopped::NoSpace);
    assert_eq!(ids.why_no_room(), LeaseKind::from(&Stopped::NoSpace));
    let (ids, ..) = leased();
    // Its thread has not stopped yet.
    ids.inner.close();
    assert_eq!(ids.why_no_room(), LeaseKind::Closed);
}

#[test]
fn why_a_lease_has_stopped_is_known_after_it_has() {
    let ids = LeasedGenerator::open(MemoryRegister::new(), LaneOptions::new()).unwrap();
    assert_eq!(ids.stopped_within(Duration::ZERO), None);
    assert!(ids.close_within(Duration::from_secs(60)));
    assert_eq!(ids.stopped_within(Duration::ZERO), Some(LeaseKind::Closed.into()));
    assert_eq!(ids.why_no_room(), LeaseKind::Closed);
}
