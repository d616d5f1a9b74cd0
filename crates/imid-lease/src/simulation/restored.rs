//! Schedules by hand: registers that were restored, lost or recovered while processes look for lanes.

use std::time::Duration;

use super::rules::Rules;
use super::world::{Fault, HORIZON_MS, SKEW_MS, World};
use crate::admin::{self, AdminError, Recovery};
use crate::engine::{Action, Outcome, POLL_MS, Phase, Reply, Stopped};
use crate::record::MetaRecord;
use crate::register::Register;

const RECOVERY: Recovery =
    Recovery { horizon: Duration::from_millis(HORIZON_MS), max_skew: Duration::from_millis(SKEW_MS), above_ms: None };

impl World {
    /// An operator creates the space.
    pub(super) fn create(&mut self, bits: u32) -> Result<MetaRecord, AdminError> {
        admin::create_at(&mut self.store, "lanes", admin::LANES_LAYOUT, bits, RECOVERY, self.now_ms)
    }
}

/// A process has listed the lanes of a restored register, and loses the race for one of them. Before it tries the other one, which
/// has no record, the register is recovered. Returns `None` if it has tried that one first.
#[expect(clippy::option_option, reason = "a run that does not count, or its fault, or none")]
fn a_recovery_meets_an_old_list(seed: u64) -> Option<Option<Fault>> {
    let mut world = World::new(seed, Rules::default());
    let first = world.add("first", 1);
    // The list, the description, and the list again.
    for _ in 0..3 {
        world.work(first);
        world.settle();
    }
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
    admin::recover_at(&mut world.store, "lanes", RECOVERY, world.now_ms).unwrap();
    world.run(second);
    world.mint_one(second);
    world.calm_for(4 * HORIZON_MS);
    let has_minted = world.mint_one(second);
    world.expect(has_minted, Fault::Stuck);
    Some(world.fault)
}

#[test]
fn a_lane_without_a_record_is_not_taken_from_a_list_that_is_older_than_a_recovery() {
    let faults: Vec<_> = (0..40).filter_map(a_recovery_meets_an_old_list).collect();
    assert!(faults.len() > 5, "{}", faults.len());
    for fault in faults {
        assert_eq!(fault, None);
    }
}

/// A process that was paused loses its lane to another one, which mints. The register is then restored to a state in which nobody has had the lane,
/// and nobody recovers it. The first process knows better.
#[test]
fn a_process_that_knows_of_a_lost_write_does_not_take_the_lane() {
    let mut world = World::new(46, Rules::default());
    let first = world.add("first", 0);
    // The list, the description, and the list again.
    for _ in 0..3 {
        world.work(first);
        world.settle();
    }
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
    let mut world = World::new(41, Rules::default());
    world.width = 1;
    let first = world.start("first", 1);
    world.mint(first, 190);
    world.store.records.remove("lanes/meta");
    for bits in [0, 1] {
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
fn a_space_that_must_exist_is_not_created_and_one_that_was_created_is_used() {
    for is_created in [false, true] {
        let mut world = World::new(42, Rules::default());
        if is_created {
            world.create(0).unwrap();
        }
        let first = world.add("first", 0);
        world.holders[first].config.must_exist = true;
        world.holders[first].restart();
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
    let recovery = Recovery { above_ms: above_ms(&world), ..RECOVERY };
    admin::recover_at(&mut world.store, "lanes", recovery, world.now_ms).unwrap();
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

#[test]
fn a_recovery_refuses_a_time_below_a_ceiling_of_the_backup() {
    let mut world = World::new(44, Rules::default());
    let wild = world.add("wild", 0);
    world.holders[wild].wall_offset_ms = HOUR_MS.cast_signed();
    world.run(wild);
    let ceiling_ms = world.store.greatest_ceiling_ms();
    for (above_ms, is_refused) in [(None, true), (Some(ceiling_ms - 1), true), (Some(ceiling_ms), false)] {
        let mut store = world.store.clone();
        let recovered = admin::recover_at(&mut store, "lanes", Recovery { above_ms, ..RECOVERY }, world.now_ms);
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
    assert_eq!(world.holders[first].engine.stopped(), Some(&Stopped::Closed));
    assert!(!world.holders[first].engine.is_given_back());
}
