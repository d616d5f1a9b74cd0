//! Schedules by hand: registers that were restored, lost or recovered while processes look for lanes.

use std::time::Duration;

use super::operator::{HalfWay, draw};
use super::rules::Rules;
use super::store::Store;
use super::world::{Fault, HORIZON_MS, LEAD_MS, SKEW_MS, World};
use imid_lease_protocol::admin::{self, AdminError, Recovery};
use imid_lease_protocol::engine::{Action, Outcome, POLL_MS, Phase, Reply, Stopped};
use imid_lease_protocol::record::{LaneState, MetaRecord, Space};
use imid_lease_protocol::register::{Promise, Register, RegisterError};

const RECOVERY: Recovery = Recovery::new(Duration::from_millis(HORIZON_MS), Duration::from_millis(SKEW_MS));

impl World {
    /// An operator creates the space.
    pub(super) fn create(&mut self, bits: u32) -> Result<MetaRecord, AdminError> {
        admin::create_at(&mut self.store, "lanes", admin::LANES_LAYOUT, bits, RECOVERY, self.now_ms, &mut draw)
    }
}

/// A process has listed the lanes of a restored register, and loses the race for one of them. Before it tries the other one, which
/// has no record, the register is recovered, or the recovery gets as far as the description. Returns `None` if it has tried that one first.
#[expect(clippy::option_option, reason = "a run that does not count, or its fault, or none")]
fn a_recovery_meets_an_old_list(seed: u64, writes: u32) -> Option<Option<Fault>> {
    let mut world = World::new(seed, Rules::default());
    let first = world.add("first", 1);
    let backup = world.store.clone();
    world.run(first);
    world.mint(first, 190);
    let used = world.lane(first);
    world.crash(first);
    world.store = backup;
    let second = world.add("second", 1);
    world.work(second);
    world.settle();
    world.work(second);
    let key = format!("lanes/1/{used:05}");
    let lost = world.flights.iter().any(|flight| format!("{:?}", flight.call).contains(&key));
    if lost {
        return None;
    }
    // Somebody else takes it.
    let other = format!("lanes/1/{:05}", 1 - used);
    let record = "imid-lease/1 lane version=1 token=0000000000000001 holder=other horizon=1000 ceiling=1 held";
    assert!(world.store.compare_and_set(&other, None, record).unwrap());
    world.settle();
    let mut register = HalfWay { store: &mut world.store, writes };
    let is_recovered = admin::recover_at(&mut register, "lanes", RECOVERY, world.now_ms, &mut draw).is_ok();
    assert_eq!(is_recovered, writes > 1);
    world.run(second);
    world.mint_one(second);
    world.calm_for(4 * HORIZON_MS);
    let has_minted = world.mint_one(second);
    world.expect(has_minted, Fault::Stuck);
    Some(world.fault)
}

#[test]
fn a_lane_without_a_record_is_not_taken_from_a_list_that_is_older_than_a_recovery() {
    for writes in [u32::MAX, 1] {
        let faults: Vec<_> = (0..40).filter_map(|seed| a_recovery_meets_an_old_list(seed, writes)).collect();
        assert!(faults.len() > 5, "{}", faults.len());
        for fault in faults {
            assert_eq!(fault, None);
        }
    }
}

/// A register is restored, and a process connects to it and sends its first write of a lane that has no record. The register is recovered
/// before the write arrives. In between, the dead holder of the lane had minted.
#[test]
fn a_first_write_that_is_under_way_does_not_meet_a_recovered_register() {
    let mut world = World::new(47, Rules::default());
    let first = world.add("first", 0);
    let backup = world.store.clone();
    world.run(first);
    assert!(world.mint(first, 190));
    world.crash(first);
    world.store = backup;
    let second = world.add("second", 0);
    world.work(second);
    world.settle();
    world.work(second);
    assert!(matches!(&world.flights[..], [flight] if matches!(&flight.call, Action::Write { seen: None, .. })));
    admin::recover_at(&mut world.store, "lanes", RECOVERY, world.now_ms, &mut draw).unwrap();
    world.settle();
    world.run(second);
    world.mint_one(second);
    world.calm_for(2 * HORIZON_MS);
    let has_minted = world.mint_one(second);
    world.expect(has_minted, Fault::Stuck);
    assert_eq!(world.fault, None);
}

/// A process has listed the lanes, and sends its first write of one that has no record. Another one takes it first, mints, and dies with
/// the register. An operator creates the space again before the write arrives, which would find what it expects if the lanes had no
/// records.
#[test]
fn a_first_write_that_is_under_way_does_not_meet_a_space_that_was_created_again() {
    let mut world = World::new(51, Rules::default());
    let first = world.add("first", 0);
    let second = world.add("second", 0);
    world.work(second);
    world.settle();
    world.work(second);
    assert!(matches!(&world.flights[..], [flight] if matches!(&flight.call, Action::Write { seen: None, .. })));
    let under_way = world.flights.remove(0);
    world.run(first);
    assert!(world.mint(first, 190));
    world.crash(first);
    world.store.records.clear();
    world.create(0).unwrap();
    world.flights.push(under_way);
    world.settle();
    world.run(second);
    world.mint_one(second);
    world.calm_for(2 * HORIZON_MS);
    assert_eq!(world.fault, None);
}

/// A register is restored, and its recovery gets no further than the description. The lane was given back before the backup, and its last
/// holder has minted after it.
#[test]
fn a_lane_does_not_begin_below_a_recovery_that_did_not_come_to_it() {
    let mut world = World::new(52, Rules::default());
    let first = world.start("first", 0);
    world.holders[first].engine.close();
    world.run(first);
    let backup = world.store.clone();
    let second = world.start("second", 0);
    assert!(world.mint(second, 190));
    world.crash(second);
    world.store = backup;
    let mut register = HalfWay { store: &mut world.store, writes: 1 };
    admin::recover_at(&mut register, "lanes", RECOVERY, world.now_ms, &mut draw).unwrap_err();
    let third = world.start("third", 0);
    world.mint_one(third);
    world.calm_for(2 * HORIZON_MS);
    let has_minted = world.mint_one(third);
    world.expect(has_minted, Fault::Stuck);
    assert_eq!(world.fault, None);
}

/// The lane is taken before the operator comes to it, by a process that then lives beside the recovery.
#[test]
fn a_recovery_beside_a_process_is_an_error() {
    let mut world = World::new(48, Rules::default());
    world.describe(1);
    let mut store = Interrupted { store: &mut world.store, key: "lanes/1/00001" };
    let recovered = admin::recover_at(&mut store, "lanes", RECOVERY, world.now_ms, &mut draw);
    let error = recovered.err().map(|error| error.to_string());
    let expected = "the record lanes/1/00001 is being written by another process";
    world.expect(error.as_deref() == Some(expected), Fault::Unnoticed);
    assert_eq!(world.fault, None);
    admin::recover_at(&mut world.store, "lanes", RECOVERY, world.now_ms, &mut draw).unwrap();
    let free = world.store.lanes().filter(|(_, lane)| lane.state == LaneState::Free);
    assert_eq!(free.count(), 2);
}

/// A register in which another process takes a lane after it was read.
struct Interrupted<'a> {
    store: &'a mut Store,
    key: &'static str,
}

impl Register for Interrupted<'_> {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        let found = self.store.read(key);
        if key == self.key {
            let record = "imid-lease/1 lane version=1 token=0000000000000001 holder=other horizon=1000 ceiling=1 held";
            assert!(self.store.compare_and_set(key, None, record)?);
        }
        found
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.store.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.store.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.store.now_ms()
    }

    fn promise(&self) -> Promise {
        self.store.promise()
    }
}

/// A process that was paused loses its lane to another one, which mints. The register is then restored to a state in which the lane was free,
/// and no one recovers it. The first process knows better.
#[test]
fn a_process_that_knows_of_a_lost_write_does_not_take_the_lane() {
    let mut world = World::new(46, Rules::default());
    let first = world.add("first", 0);
    let backup = world.store.clone();
    world.run(first);
    assert_eq!(world.lane(first), 0);
    let second = world.start("second", 0);
    world.wait(HORIZON_MS);
    world.run(second);
    world.run(first);
    assert_eq!(world.holders[first].engine.phase(), Phase::Lost);
    assert!(world.mint(second, 190));
    world.crash(second);
    world.store = backup;
    world.wait(POLL_MS);
    world.run(first);
    world.mint_one(first);
    assert_eq!(world.fault, None);
    let stopped = world.holders[first].engine.stopped().cloned();
    assert_eq!(stopped, Some(Stopped::Reverted { key: "lanes/1/00000".into() }));
}

/// The record that describes a space is deleted while a process mints, and one with another number of lanes starts. Lanes of
/// both sizes cover the same spins.
#[test]
fn lanes_without_a_description_are_never_a_new_space() {
    // It holds the upper one of two lanes: the only lane of the other size covers it, and would have no record.
    let held = (41..).find_map(|seed| {
        let mut world = World::new(seed, Rules::default());
        let first = world.start("first", 1);
        (world.lane(first) == 1).then_some((world, first))
    });
    let (mut world, first) = held.unwrap();
    world.width = 1;
    world.mint(first, 190);
    world.store.records.remove("lanes/meta");
    for bits in [0, 1] {
        let _ = admin::create_missing(&mut world.store, &Space::lanes(bits).unwrap(), &mut draw);
        let next = world.start("next", bits);
        world.mint_one(next);
        assert_eq!(world.fault, None);
        let stopped = world.holders[next].engine.stopped().cloned();
        assert_eq!(stopped, Some(Stopped::Undescribed { key: "lanes/meta".into() }));
    }
    for _ in 0..40 {
        world.calm_for(100);
        assert!(world.mint_one(first), "the holder is not stopped by it");
    }
    // The operator creates the space again, under the holder.
    let meta = world.create(0).unwrap();
    assert!(meta.era == 2 && meta.floor_ms > world.now_ms, "{meta:?}");
    assert!(world.create(0).unwrap_err().is_existing());
    world.now_ms = meta.floor_ms;
    let next = world.start("next", 0);
    for _ in 0..40 {
        world.calm_for(100);
        world.mint_one(first);
        world.mint_one(next);
    }
    assert!(world.holders[next].minted > 0);
    let stopped = world.holders[first].engine.stopped();
    assert!(matches!(stopped, Some(Stopped::Mismatch { .. } | Stopped::Reverted { .. })), "{stopped:?}");
    assert_eq!(world.fault, None);
}

#[test]
fn a_space_that_does_not_exist_is_not_created_and_one_that_was_created_is_used() {
    for is_created in [false, true] {
        let mut world = World::new(42, Rules::default());
        let first = world.add("first", 0);
        world.store.records.clear();
        if is_created {
            world.create(0).unwrap();
        }
        world.run(first);
        let stopped = world.holders[first].engine.stopped().cloned();
        assert_eq!(stopped, (!is_created).then_some(Stopped::NoSpace));
        assert_eq!(world.store.records.is_empty(), !is_created);
    }
}

const HOUR_MS: u64 = 3_600_000;

/// A process had a clock that was an hour ahead, in its only lane. A backup from before that is restored and recovered, by this
/// time or by a later one. Another process mints for longer than an hour.
fn recovered_from_before_a_wild_clock(above_ms: impl Fn(&World) -> Option<u64>) -> Option<Fault> {
    let mut world = World::new(43, Rules::default());
    let first = world.start("first", 0);
    world.calm_for(100);
    let backup = world.store.clone();
    world.holders[first].engine.close();
    world.run(first);
    let wild = world.add("wild", 0);
    world.holders[wild].wall_offset_ms = HOUR_MS.cast_signed();
    world.calm_for(100);
    for _ in 0..10 {
        world.calm_for(100);
        assert!(world.mint_one(wild));
    }
    world.crash(first);
    world.crash(wild);
    world.store = backup;
    let recovery = above_ms(&world).map_or(RECOVERY, |above_ms| RECOVERY.above_ms(above_ms));
    admin::recover_at(&mut world.store, "lanes", recovery, world.now_ms, &mut draw).unwrap();
    let next = world.add("next", 0);
    world.holders[next].config.any_lead = true;
    world.holders[next].restart();
    world.now_ms += HOUR_MS - 5_000;
    for _ in 0..100 {
        world.calm_for(100);
        world.mint_one(next);
    }
    let has_minted = world.holders[next].minted > 0;
    world.expect(has_minted, Fault::Stuck);
    world.fault
}

#[test]
fn a_recovery_starts_above_the_time_that_the_operator_knows_and_else_a_wild_clock_repeats_stamps() {
    assert_eq!(recovered_from_before_a_wild_clock(|world| Some(world.now_ms + HOUR_MS + HORIZON_MS)), None);
    assert!(matches!(recovered_from_before_a_wild_clock(|_| None), Some(Fault::Overlap { .. })));
}

/// A process has raised its ceiling as far as its horizon or its clock goes, and more after the backup, and dies. The operator knows
/// neither. Another process mints when that time comes.
fn recovered_with_a_guess(horizon_ms: u64, ahead_ms: i64) -> Option<Fault> {
    let mut world = World::new(49, Rules::default());
    let first = world.add("first", 0);
    world.holders[first].config.horizon_ms = horizon_ms;
    world.holders[first].wall_offset_ms = ahead_ms;
    world.holders[first].restart();
    world.run(first);
    let backup = world.store.clone();
    world.calm_for(horizon_ms);
    // Its clock was right when it started. It uses up what it has.
    let granted_ms = world.holders[first].engine.grant().unwrap().ceiling_ms;
    for _ in 0..granted_ms.saturating_sub(world.now_ms) / LEAD_MS {
        world.holders[first].wall_offset_ms += LEAD_MS.cast_signed();
        world.mint_one(first);
    }
    world.crash(first);
    world.store = backup;
    if let Err(error) = admin::recover_at(&mut world.store, "lanes", RECOVERY, world.now_ms, &mut draw) {
        assert!(error.is_ahead(), "{error}");
        return world.fault;
    }
    let next = world.start("next", 0);
    while world.now_ms < granted_ms {
        world.calm_for(50);
        world.mint_one(next);
    }
    world.fault
}

#[test]
fn a_recovery_counts_the_horizons_of_the_backup() {
    assert_eq!(recovered_with_a_guess(8 * HORIZON_MS, 0), None);
}

#[test]
fn a_recovery_starts_above_the_ceilings_of_the_backup() {
    assert_eq!(recovered_with_a_guess(HORIZON_MS, 5 * HORIZON_MS.cast_signed()), None);
}

/// An operator's register, in which a process works before the description is replaced.
struct Beside<'a>(&'a mut World, usize);

impl Register for Beside<'_> {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.0.store.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.0.store.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        let Self(world, index) = self;
        if key.ends_with("/meta") {
            world.calm_for(2 * HORIZON_MS);
            world.mint(*index, 190);
        }
        world.store.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.0.store.now_ms()
    }

    fn promise(&self) -> Promise {
        self.0.store.promise()
    }
}

/// A resize has closed all lanes, and has not written the new description yet. A process of the old number of lanes looks for one.
#[test]
fn a_closed_lane_is_taken_by_nobody() {
    let mut world = World::new(50, Rules::default());
    world.width = 1;
    let first = world.start("first", 0);
    assert!(world.mint_one(first));
    admin::resize(&mut Beside(&mut world, first), "lanes", 1, &mut draw).unwrap();
    let new: Vec<_> = (0..2).map(|number| world.start(&format!("new-{number}"), 1)).collect();
    for _ in 0..20 {
        world.calm_for(100);
        for index in &new {
            world.mint(*index, 190);
        }
    }
    for index in new {
        let has_minted = world.holders[index].minted > 0;
        world.expect(has_minted, Fault::Stuck);
    }
    assert_eq!(world.fault, None);
}

#[test]
fn a_recovery_refuses_a_time_below_a_ceiling_of_the_backup() {
    let mut world = World::new(44, Rules::default());
    let wild = world.add("wild", 0);
    world.holders[wild].wall_offset_ms = HOUR_MS.cast_signed();
    world.run(wild);
    let ceiling_ms = world.store.greatest_ceiling_ms();
    for (above_ms, is_refused) in [(None, true), (Some(ceiling_ms - 1), true), (Some(ceiling_ms), false)] {
        let mut store = world.store.clone();
        let recovered = admin::recover_at(
            &mut store,
            "lanes",
            above_ms.map_or(RECOVERY, |above_ms| RECOVERY.above_ms(above_ms)),
            world.now_ms,
            &mut draw,
        );
        assert_eq!(recovered.as_ref().is_err_and(AdminError::is_ahead), is_refused, "{above_ms:?}");
        assert_eq!(store.records == world.store.records, is_refused, "{above_ms:?}");
    }
}

/// As with row security that hides the row from the update, and from nothing else.
#[test]
fn a_release_that_the_store_refuses_ends() {
    let mut world = World::new(45, Rules::default());
    let first = world.start("first", 0);
    assert!(world.mint_one(first));
    world.holders[first].engine.close();
    let mut calls = 0;
    while world.work(first) {
        calls += 1;
        assert!(calls < 20, "it tries again and again");
        let flight = world.flights.last_mut().expect("a call");
        if let Action::Write { attempt, .. } = flight.call {
            flight.reply = Some(Reply::Written { attempt, outcome: Outcome::Conflict });
        }
        world.settle();
    }
    let engine = &world.holders[first].engine;
    assert_eq!((engine.stopped(), engine.is_done()), (Some(&Stopped::Closed), true));
    assert!(!engine.is_given_back());
}
