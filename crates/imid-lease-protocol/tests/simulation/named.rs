//! Schedules by hand: those that are hard to meet at random, and those that a person wants to see.

use std::time::Duration;

use super::operator::draw;
use super::rules::Rules;
use super::world::{Fault, HORIZON_MS, PATIENCE_MS, SKEW_MS, START_MS, STEP_MS, World};
use imid_lease_protocol::admin::{self, Recovery};
use imid_lease_protocol::engine::Phase;
use imid_lease_protocol::engine::clock_judgement::LASTING_MS;
use imid_lease_protocol::engine::{Action, Stopped};

/// A schedule: returns the fault that it shows.
pub(super) type Schedule = fn(Rules) -> Option<Fault>;

const HOUR_MS: i64 = 3_600_000;

impl World {
    /// A process works, and all calls are answered immediately.
    pub(super) fn run(&mut self, index: usize) {
        for _ in 0..20 {
            if !self.work(index) {
                return;
            }
            self.settle();
        }
    }

    /// A new process that has a lane.
    pub(super) fn start(&mut self, name: &str, bits: u32) -> usize {
        let index = self.add(name, bits);
        self.run(index);
        index
    }

    /// Time passes, and nothing else.
    pub(super) fn wait(&mut self, ms: u64) {
        self.now_ms += ms;
    }

    pub(super) fn mint_one(&mut self, index: usize) -> bool {
        self.mint(index, 0)
    }

    pub(super) fn lane(&self, index: usize) -> u16 {
        self.holders[index].engine.grant().expect("a lane").lane
    }

    /// An operator frees a lane by force.
    pub(super) fn free(&mut self, lane: u16) {
        admin::free(&mut self.store, "lanes", lane, &mut draw).unwrap();
    }

    /// The clock of a process steps by so little that the step is believed.
    fn step(&mut self, index: usize, by_ms: i64) {
        self.holders[index].wall_offset_ms += by_ms;
        let now_ms = self.now_ms;
        self.holders[index].now_ms(now_ms);
    }

    pub(super) fn crash(&mut self, index: usize) {
        self.holders[index].is_alive = false;
    }

    pub(super) fn expect(&mut self, is_right: bool, fault: Fault) {
        if !is_right {
            self.fail(fault);
        }
    }
}

/// A thread is paused between the check of the ceiling and its addition; the lane is released, and another process has
/// it.
pub(super) fn a_paused_thread_wakes_after_the_release(rules: Rules) -> Option<Fault> {
    let mut world = World::new(1, rules);
    let first = world.start("first", 0);
    world.mint_one(first);
    world.wait(10);
    world.pause_thread(first);
    world.holders[first].engine.close();
    world.run(first);
    let second = world.start("second", 0);
    assert!(world.mint_one(second));
    world.resume_threads(first);
    world.fault
}

/// A thread is paused; others use all that is left below the ceiling; the lane is taken over; the thread wakes.
pub(super) fn a_paused_thread_wakes_at_the_ceiling(rules: Rules) -> Option<Fault> {
    let mut world = World::new(2, rules);
    let first = world.start("first", 0);
    let second = world.add("second", 0);
    world.run(second);
    world.pause_thread(first);
    let ceiling_ms = world.holders[first].engine.grant().unwrap().ceiling_ms;
    world.now_ms = ceiling_ms - 1;
    for _ in 0..16 {
        assert!(world.mint_one(first));
    }
    assert!(!world.mint_one(first));
    world.resume_threads(first);
    world.crash(first);
    // Its clock is a little behind, so it mints at its floor.
    world.holders[second].wall_offset_ms = -200;
    world.wait(10);
    world.run(second);
    assert!(world.mint_one(second), "{:?}", world.holders[second].engine);
    world.fault
}

/// The last stamp of a released lane is in a millisecond that is not full.
pub(super) fn a_lane_changes_hands_within_a_millisecond(rules: Rules) -> Option<Fault> {
    let mut world = World::new(3, rules);
    for name in ["first", "second", "third"] {
        let index = world.start(name, 0);
        world.mint_one(index);
        world.holders[index].engine.close();
        world.run(index);
    }
    world.fault
}

/// The reply of a release is lost.
pub(super) fn a_release_is_not_answered(rules: Rules) -> Option<Fault> {
    let mut world = World::new(4, rules);
    let first = world.start("first", 0);
    world.mint_one(first);
    world.holders[first].engine.close();
    assert!(world.work(first));
    world.advance(0);
    world.wait(PATIENCE_MS);
    world.time_out();
    world.flights.clear();
    world.run(first);
    let second = world.start("second", 0);
    assert!(world.mint_one(second));
    world.mint_one(first);
    world.fault
}

/// A release is late, and meets the record of the next holder.
pub(super) fn a_release_meets_another_record(rules: Rules) -> Option<Fault> {
    let mut world = World::new(5, rules);
    let first = world.start("first", 0);
    world.mint_one(first);
    world.holders[first].engine.close();
    assert!(world.work(first));
    world.free(0);
    let release = world.flights.pop().unwrap();
    world.wait(10);
    let second = world.start("second", 0);
    world.flights.push(release);
    world.settle();
    world.run(first);
    world.now_ms = START_MS + HORIZON_MS;
    let third = world.start("third", 0);
    assert!(world.mint_one(second));
    world.mint_one(third);
    world.fault
}

/// A record is deleted at the release, and the next clock is behind.
pub(super) fn a_released_lane_remembers_its_end(rules: Rules) -> Option<Fault> {
    let mut world = World::new(6, rules);
    let first = world.start("first", 0);
    world.mint(first, 100);
    world.holders[first].engine.close();
    world.run(first);
    world.flights.clear();
    let second = world.start("second", 0);
    world.mint(second, 100);
    world.fault
}

/// A process mints before its write is acknowledged, and the write fails.
pub(super) fn a_take_is_not_answered(rules: Rules) -> Option<Fault> {
    let mut world = World::new(7, rules);
    let (first, second) = (world.add("first", 0), world.add("second", 0));
    for index in [first, second] {
        while !matches!(world.flights.last(), Some(flight) if is_take(&flight.call)) {
            world.settle();
            assert!(world.work(index));
        }
        // The call is lost.
        world.flights.pop();
        world.wait(0);
    }
    for index in [first, second] {
        world.holders[index].is_waiting = false;
        let at = {
            let now = world.now_ms;
            world.holders[index].moment(now)
        };
        let reply = imid_lease_protocol::engine::Reply::Written {
            attempt: attempts(&world, index),
            outcome: imid_lease_protocol::engine::Outcome::Unknown,
        };
        world.holders[index].engine.reply(at, reply);
        world.work(index);
    }
    world.mint_one(first);
    world.mint_one(second);
    world.fault
}

fn is_take(call: &Action) -> bool {
    matches!(call, Action::Write { key, .. } if !key.ends_with("meta"))
}

fn attempts(world: &World, index: usize) -> u64 {
    world.holders[index].engine.attempts()
}

/// An operator frees the lane by force, twice; the process continues in another lane within the same millisecond. The
/// grant in between is not used.
pub(super) fn a_lane_is_switched_within_a_millisecond(rules: Rules) -> Option<Fault> {
    let mut world = World::new(8, rules);
    let index = world.start("first", 2);
    world.mint(index, 150);
    for _ in 0..2 {
        let lane = world.lane(index);
        world.free(lane);
        world.wait(HORIZON_MS / 4);
        // All calls at the same moment, so time stands still.
        world.run(index);
        assert_eq!(world.holders[index].engine.phase(), Phase::Holding);
        world.mint_by_former(index);
    }
    world.mint(index, 150);
    world.mint_by_former(index);
    world.mint_one(index);
    world.fault
}

/// The same, far ahead of the clock.
pub(super) fn stamps_ahead_of_the_clock_are_not_repeated_in_another_lane(rules: Rules) -> Option<Fault> {
    let mut world = World::new(9, rules);
    let index = world.start("first", 1);
    let lane = world.lane(index);
    world.wait(HORIZON_MS / 4);
    world.mint(index, 190);
    world.free(lane);
    world.run(index);
    assert_ne!(world.holders[index].engine.counts().0, 0);
    world.mint_one(index);
    world.fault
}

/// A machine is cloned. Both copies continue; one loses the lane.
pub(super) fn a_machine_is_cloned(rules: Rules) -> Option<Fault> {
    let mut world = World::new(10, rules);
    let first = world.start("first", 1);
    let second = world.clone_machine(first);
    for _ in 0..400 {
        world.calm(10);
        world.mint_one(first);
        world.mint_one(second);
    }
    let lanes = [first, second].map(|index| world.lane(index));
    world.expect(lanes[0] != lanes[1] && world.minted > 500, Fault::Stuck);
    world.fault
}

/// A machine is cloned, and both copies renew the lease at the same time.
pub(super) fn two_copies_renew_at_once(rules: Rules) -> Option<Fault> {
    let mut world = World::new(25, rules);
    let first = world.start("first", 1);
    let second = world.clone_machine(first);
    world.wait(HORIZON_MS / 4);
    world.run(first);
    world.run(second);
    world.wait(110);
    world.run(second);
    // Past what both share.
    world.now_ms = START_MS + HORIZON_MS + 100;
    world.mint_one(first);
    world.mint_one(second);
    world.fault
}

/// The acknowledgement of a renewal of lane A arrives when the process is on lane B, whose ceiling is lower.
pub(super) fn an_acknowledgement_of_another_lane_is_late(rules: Rules) -> Option<Fault> {
    let mut world = World::new(11, rules);
    let (other, first) = (world.start("other", 1), world.start("first", 1));
    let (lane_a, lane_b) = (world.lane(first), world.lane(other));
    world.wait(HORIZON_MS / 4);
    assert!(world.work(first));
    // It is written, and the answer is under way when the process gives up waiting.
    world.advance(0);
    world.wait(PATIENCE_MS);
    world.time_out();
    let late = world.flights.pop().unwrap();
    world.free(lane_a);
    world.start("third", 1);
    world.holders[other].engine.close();
    world.run(other);
    // Its clock goes back in steps that are believed, so that the new ceiling is lower.
    for _ in 0..3 {
        world.step(first, -STEP_MS);
    }
    world.wait(HORIZON_MS / 4);
    world.run(first);
    assert_eq!(world.lane(first), lane_b);
    world.flights.push(late);
    world.settle();
    world.work(first);
    for _ in 0..3 {
        world.step(first, STEP_MS);
    }
    // The last millisecond below the late ceiling. It mints there if it thinks that it may, and is gone.
    world.now_ms = START_MS + HORIZON_MS / 4 + HORIZON_MS - 1;
    world.mint_one(first);
    world.crash(first);
    world.free(lane_b);
    let fourth = world.add("fourth", 1);
    world.holders[fourth].wall_offset_ms = -100;
    world.run(fourth);
    assert_eq!(world.lane(fourth), lane_b);
    assert!(world.mint(fourth, 150));
    world.fault
}

/// A thousand crashes and restarts, 7 ms apart, and two processes of one name.
pub(super) fn a_thousand_restarts(rules: Rules) -> Option<Fault> {
    let mut world = World::new(12, rules);
    world.max_lead_ms = HORIZON_MS;
    for _ in 0..1_000 {
        for _ in 0..2 {
            let index = world.start("same", 1);
            world.mint_one(index);
            if world.holders.len() > 2 {
                world.holders.remove(0);
            }
        }
        world.wait(7);
    }
    world.fault
}

/// The clock steps back by an hour while lanes change.
pub(super) fn the_clock_steps_back_while_lanes_change(rules: Rules) -> Option<Fault> {
    let mut world = World::new(13, rules);
    world.max_lead_ms = HORIZON_MS + SKEW_MS;
    let index = world.start("first", 2);
    for round in 0..20 {
        world.mint_one(index);
        if round % 4 == 1 {
            world.holders[index].wall_offset_ms = if round % 8 == 1 { -HOUR_MS } else { 0 };
        }
        if round % 3 == 0 {
            let lane = world.lane(index);
            world.free(lane);
        }
        world.calm_for(HORIZON_MS / 3);
        let is_minted = world.mint_one(index);
        world.expect(is_minted, Fault::Stuck);
    }
    world.fault
}

/// The clock jumps back by an hour, and stays there for longer than a jump forward takes to be believed. The store has no time.
pub(super) fn the_clock_jumps_back_and_stays_there(rules: Rules) -> Option<Fault> {
    let mut world = World::new(51, rules);
    let index = world.start("first", 1);
    world.holders[index].wall_offset_ms = -HOUR_MS;
    let end_ms = world.now_ms + 2 * LASTING_MS;
    while world.now_ms < end_ms && world.fault.is_none() {
        world.calm_for(100);
        let is_minted = world.mint_one(index);
        world.expect(is_minted, Fault::Stuck);
        let last_ms = world.holders[index].last.map_or(0, |last| last.ms);
        let is_near = last_ms.abs_diff(world.now_ms) <= SKEW_MS;
        world.expect(is_near, Fault::Behind);
    }
    world.fault
}

/// A process starts again with a clock that is an hour behind; its only lane is ahead of that clock.
pub(super) fn the_only_lane_is_ahead_of_the_clock(rules: Rules) -> Option<Fault> {
    let mut world = World::new(14, rules);
    let index = world.start("first", 0);
    world.mint_one(index);
    world.holders[index].wall_offset_ms = -HOUR_MS;
    world.holders[index].config.any_lead = true;
    world.holders[index].restart();
    let mut minted = 0;
    for _ in 0..40 {
        world.calm_for(100);
        minted += usize::from(world.mint_one(index));
    }
    world.expect(minted > 30, Fault::Stuck);
    world.fault
}

/// A process with a clock that is an hour ahead mints for two seconds. The next one has the right time: it must not mint an
/// hour ahead unless it is told to, and gets on when the hour is over.
pub(super) fn a_clock_was_ahead_for_two_seconds(rules: Rules) -> Option<Fault> {
    let mut world = World::new(27, rules);
    let index = world.add("first", 0);
    world.holders[index].wall_offset_ms = HOUR_MS;
    world.calm_for(2_000);
    assert!(world.mint_one(index));
    world.holders[index].engine.close();
    world.calm_for(100);
    world.holders[index].wall_offset_ms = 0;
    world.holders[index].restart();
    for _ in 0..10 {
        world.calm_for(100);
        let is_minted = world.mint_one(index);
        world.expect(!is_minted && world.holders[index].engine.view().far_ahead.is_some(), Fault::FarAhead);
    }
    world.wait(HOUR_MS as u64);
    world.calm_for(100);
    let is_minted = world.mint_one(index);
    world.expect(is_minted, Fault::Stuck);
    world.fault
}

/// A process lists a description that an operator has written. The store then loses it: no one has been told that it was written.
pub(super) fn a_description_that_was_read_is_lost(rules: Rules) -> Option<Fault> {
    let mut world = World::new(28, rules);
    let index = world.add("holder", 0);
    let key = "lanes/meta".to_owned();
    let seen = world.store.records[&key].clone();
    let value = seen.replace("version=1", "version=2");
    world.store.make(&Action::Write { attempt: 0, key, seen: Some(seen), value }, rules);
    world.work(index);
    world.settle();
    world.lose_softly();
    for _ in 0..20 {
        world.calm_for(100);
        world.mint_one(index);
    }
    world.expect(world.holders[index].minted > 0, Fault::Stuck);
    world.fault
}

/// A process is paused before its first write of a lane without a record. The description is lost, and an operator creates the space again:
/// the lanes with records are closed, and the write arrives in the one that is left.
pub(super) fn a_first_write_arrives_beside_a_space_that_was_created_again(rules: Rules) -> Option<Fault> {
    let (mut world, first) = (0..).find_map(|seed| {
        let mut world = World::new(seed, rules);
        world.width = 1;
        let before = world.start("before", 1);
        world.holders[before].engine.close();
        world.run(before);
        let first = world.add("first", 1);
        world.work(first);
        world.settle();
        world.work(first);
        matches!(world.flights.last()?.call, Action::Write { seen: None, .. }).then_some((world, first))
    })?;
    let late = world.flights.pop().unwrap();
    world.store.records.remove("lanes/meta");
    world.create(1).unwrap();
    world.flights.push(late);
    world.settle();
    let others = ["second", "third"].map(|name| world.add(name, 1));
    for _ in 0..60 {
        world.calm_for(100);
        for index in [first, others[0], others[1]] {
            world.mint(index, 100);
        }
    }
    world.expect(others.iter().any(|other| world.holders[*other].minted > 0), Fault::Stuck);
    world.fault
}

/// The clock steps back a little, and the lane is taken over.
pub(super) fn a_small_step_back_does_not_lower_the_ceiling(rules: Rules) -> Option<Fault> {
    let mut world = World::new(23, rules);
    let first = world.start("first", 0);
    world.step(first, -STEP_MS);
    world.wait(HORIZON_MS / 4);
    world.run(first);
    world.step(first, STEP_MS);
    world.now_ms = START_MS + HORIZON_MS - 1;
    assert!(world.mint_one(first));
    world.crash(first);
    world.free(0);
    let second = world.start("second", 0);
    world.mint_one(second);
    world.fault
}

/// There is little room, because the lane is far ahead of the clock, and it is used up again and again.
pub(super) fn room_is_used_up_all_the_time(rules: Rules) -> Option<Fault> {
    let mut world = World::new(24, rules);
    let index = world.start("first", 0);
    world.holders[index].wall_offset_ms = -HOUR_MS;
    world.holders[index].config.any_lead = true;
    world.holders[index].restart();
    for _ in 0..200 {
        world.calm(10);
        for _ in 0..200 {
            world.mint_one(index);
        }
    }
    world.expect(world.holders[index].minted > 10, Fault::Stuck);
    world.fault
}

/// The store's clock, or the wall clock, is off by an hour; a machine is suspended for an hour and resumed.
pub(super) fn clocks_are_wrong_by_an_hour(rules: Rules) -> Option<Fault> {
    for hours in [-1, 1] {
        for what in 0..3 {
            let mut world = World::new(15, rules);
            world.max_lead_ms = HORIZON_MS + SKEW_MS;
            let index = world.start("first", 1);
            world.holders[index].known.store = Some(0);
            world.calm_for(HORIZON_MS);
            match what {
                0 => world.holders[index].known.store = Some(hours * HOUR_MS),
                1 => world.holders[index].wall_offset_ms = hours * HOUR_MS,
                _ => {
                    world.holders[index].paused_until_ms = world.now_ms + 3_600_000;
                    world.wait(3_600_000);
                }
            }
            for round in 0..30 {
                world.calm_for(100);
                let is_minted = world.mint_one(index);
                world.expect(is_minted || round == 0, Fault::Stuck);
            }
            if world.fault.is_some() {
                return world.fault;
            }
        }
    }
    None
}

/// A process with a wild clock has left a lane an hour ahead. Another one, whose clock is right, waits for a near lane.
pub(super) fn a_lane_is_far_ahead(rules: Rules) -> Option<Fault> {
    let mut world = World::new(16, rules);
    let wild = world.add("wild", 1);
    world.holders[wild].wall_offset_ms = HOUR_MS;
    world.run(wild);
    world.mint_one(wild);
    world.holders[wild].engine.close();
    world.run(wild);
    let near = world.start("near", 1);
    let waiting = world.start("waiting", 1);
    for _ in 0..50 {
        world.calm_for(50);
        world.mint_one(near);
        world.mint_one(waiting);
    }
    let is_far = world.holders[waiting].last.is_some();
    world.expect(!is_far, Fault::FarAhead);
    world.holders[near].engine.close();
    world.calm_for(200);
    let is_minted = world.mint_one(waiting);
    world.expect(is_minted || is_far, Fault::Stuck);
    world.fault
}

/// An older state of the register is restored while two processes use it. They stop.
pub(super) fn the_register_is_restored_under_live_holders(rules: Rules) -> Option<Fault> {
    let mut world = World::new(17, rules);
    let first = world.start("first", 1);
    let old = world.store.clone();
    let second = world.start("second", 1);
    for _ in 0..10 {
        world.calm_for(100);
        world.mint_one(first);
        world.mint_one(second);
    }
    world.store = old;
    for _ in 0..30 {
        world.wait(50);
        world.mint(second, 150);
        for index in [first, second] {
            world.run(index);
            world.mint_one(index);
        }
    }
    for index in [first, second] {
        let is_stopped = matches!(world.holders[index].engine.stopped(), Some(Stopped::Reverted { .. }));
        world.expect(is_stopped, Fault::Stuck);
    }
    world.fault
}

/// A write that others could see, and that a process has taken over, is lost by the store.
pub(super) fn a_visible_write_vanishes(rules: Rules) -> Option<Fault> {
    let mut world = World::new(18, rules);
    let first = world.start("first", 0);
    let old = world.store.clone();
    world.wait(HORIZON_MS / 4);
    assert!(world.work(first));
    world.advance(0);
    world.crash(first);
    world.free(0);
    world.wait(10);
    let second = world.start("second", 0);
    assert!(world.mint_one(second));
    world.store = old;
    world.calm_for(HORIZON_MS / 2);
    world.mint_one(second);
    let is_stopped = matches!(world.holders[second].engine.stopped(), Some(Stopped::Reverted { .. }));
    world.expect(is_stopped, Fault::Stuck);
    world.fault
}

/// The register is restored and recovered; a write of a dead process arrives, whose version fits the record of the next holder.
pub(super) fn a_late_write_meets_a_restored_record(rules: Rules) -> Option<Fault> {
    let mut world = World::new(19, rules);
    let first = world.start("first", 0);
    let old = world.store.clone();
    for _ in 0..2 {
        world.wait(HORIZON_MS / 4);
        world.run(first);
    }
    world.wait(HORIZON_MS / 4);
    assert!(world.work(first));
    let late = world.flights.pop().unwrap();
    world.crash(first);
    world.store = old;
    let recovery = Recovery::new(Duration::from_millis(HORIZON_MS), Duration::from_millis(SKEW_MS));
    admin::recover_at(&mut world.store, "lanes", recovery, world.now_ms, &mut draw).unwrap();
    let second = world.add("second", 0);
    while world.holders[second].engine.grant().is_none() {
        world.wait(10);
        world.run(second);
    }
    assert!(world.mint_one(second));
    world.flights.push(late);
    world.advance(0);
    world.flights.clear();
    world.crash(second);
    // Freed by hand, because it looks held.
    world.free(0);
    let third = world.add("third", 0);
    world.holders[third].wall_offset_ms = -4_000;
    world.run(third);
    for _ in 0..40 {
        world.calm_for(100);
        world.mint(third, 100);
    }
    world.expect(world.holders[third].last.is_some(), Fault::Stuck);
    world.fault
}

/// The register is lost, and an operator creates the space again; the write by which a dead process took the lane for the first time
/// arrives. The lane then has a ceiling below the floor of the new space.
pub(super) fn a_late_first_write_meets_a_new_space(rules: Rules) -> Option<Fault> {
    let mut world = World::new(28, rules);
    let first = world.start("first", 0);
    let mut old = world.store.clone();
    old.records.retain(|key, _| key.ends_with("/meta"));
    let newer = std::mem::replace(&mut world.store, old.clone());
    let dead = world.add("dead", 0);
    while !matches!(world.flights.last(), Some(flight) if is_take(&flight.call)) {
        world.settle();
        assert!(world.work(dead));
    }
    let late = world.flights.pop().unwrap();
    world.crash(dead);
    world.store = newer;
    for _ in 0..40 {
        world.calm_for(100);
        world.mint(first, 100);
    }
    world.crash(first);
    world.store.records.clear();
    world.create(0).unwrap();
    world.flights.push(late);
    world.advance(0);
    world.flights.clear();
    let third = world.add("third", 0);
    world.holders[third].wall_offset_ms = -4_000;
    let _ = admin::free(&mut world.store, "lanes", 0, &mut draw);
    world.run(third);
    for _ in 0..40 {
        world.calm_for(100);
        world.mint(third, 100);
    }
    world.expect(world.holders[third].last.is_some(), Fault::Stuck);
    world.fault
}

/// Recovered first, a restored register grants nothing twice.
pub(super) fn a_restored_register_is_recovered_first(rules: Rules) -> Option<Fault> {
    let mut world = World::new(20, rules);
    let first = world.start("first", 0);
    let old = world.store.clone();
    for _ in 0..40 {
        world.calm_for(100);
        world.mint(first, 100);
    }
    world.crash(first);
    world.store = old;
    let recovery = Recovery::new(Duration::from_millis(HORIZON_MS), Duration::from_millis(SKEW_MS));
    admin::recover_at(&mut world.store, "lanes", recovery, world.now_ms, &mut draw).unwrap();
    let second = world.start("second", 0);
    for _ in 0..40 {
        world.calm_for(100);
        world.mint(second, 100);
    }
    world.expect(world.holders[second].last.is_some(), Fault::Stuck);
    world.fault
}

/// The register is lost, and there is no backup. Processes start again with an empty one after this time. Random
/// schedules have found that a lane can then begin below its old ceiling.
fn a_lost_register(rules: Rules, wait_ms: u64) -> Option<Fault> {
    let mut world = World::new(26, rules);
    let first = world.start("first", 0);
    for _ in 0..10 {
        world.calm_for(100);
        world.mint(first, 190);
    }
    world.crash(first);
    world.store.records.clear();
    world.wait(wait_ms);
    let second = world.start("second", 0);
    world.mint_one(second);
    world.expect(world.holders[second].last.is_some(), Fault::Stuck);
    world.fault
}

/// A register that is lost stays out of use until all its ceilings are past.
pub(super) fn a_lost_register_is_replaced_after_its_horizon(rules: Rules) -> Option<Fault> {
    a_lost_register(rules, HORIZON_MS + SKEW_MS)
}

#[test]
fn a_lost_register_that_is_replaced_at_once_grants_stamps_twice() {
    assert!(matches!(a_lost_register(Rules::default(), 0), Some(Fault::Overlap { .. })));
}

/// A process that was started with another number of lanes.
pub(super) fn the_number_of_lanes_is_another(rules: Rules) -> Option<Fault> {
    let mut world = World::new(21, rules);
    world.width = 1;
    let first = world.start("first", 0);
    let second = world.start("second", 1);
    world.mint_one(first);
    world.mint_one(second);
    let is_stopped = matches!(world.holders[second].engine.stopped(), Some(Stopped::Mismatch { bits: 0, .. }));
    world.expect(is_stopped, Fault::Stuck);
    world.fault
}

/// 4 lane bits become 5 while three processes mint. Lanes of both sizes cover the same spins.
pub(super) fn the_number_of_lanes_changes(rules: Rules) -> Option<Fault> {
    let mut world = World::new(22, rules);
    world.width = 5;
    let old: Vec<_> = (0..3).map(|n| world.start(&format!("old-{n}"), 4)).collect();
    for _ in 0..10 {
        world.calm_for(70);
        for index in &old {
            world.mint(*index, 190);
        }
    }
    admin::resize(&mut world.store, "lanes", 5, &mut draw).unwrap();
    let new: Vec<_> = (0..32).map(|n| world.start(&format!("new-{n}"), 5)).collect();
    for _ in 0..30 {
        world.calm_for(70);
        for index in old.iter().chain(&new) {
            world.mint(*index, 190);
        }
    }
    for index in old {
        let is_stopped = matches!(world.holders[index].engine.stopped(), Some(Stopped::Mismatch { bits: 5, .. }));
        world.expect(is_stopped, Fault::Stuck);
    }
    for index in new {
        let is_minted = world.holders[index].minted > 0;
        world.expect(is_minted, Fault::Stuck);
    }
    world.fault
}

macro_rules! schedules {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                assert_eq!(super::$name(Rules::default()), None);
            }
        )*
    };
}

mod without_a_fault {
    use super::Rules;

    schedules! {
        a_paused_thread_wakes_after_the_release,
        a_paused_thread_wakes_at_the_ceiling,
        a_lane_changes_hands_within_a_millisecond,
        a_release_is_not_answered,
        a_release_meets_another_record,
        a_released_lane_remembers_its_end,
        a_take_is_not_answered,
        a_lane_is_switched_within_a_millisecond,
        stamps_ahead_of_the_clock_are_not_repeated_in_another_lane,
        a_machine_is_cloned,
        two_copies_renew_at_once,
        an_acknowledgement_of_another_lane_is_late,
        a_thousand_restarts,
        the_clock_steps_back_while_lanes_change,
        the_clock_jumps_back_and_stays_there,
        the_only_lane_is_ahead_of_the_clock,
        a_clock_was_ahead_for_two_seconds,
        a_description_that_was_read_is_lost,
        a_first_write_arrives_beside_a_space_that_was_created_again,
        a_small_step_back_does_not_lower_the_ceiling,
        room_is_used_up_all_the_time,
        clocks_are_wrong_by_an_hour,
        a_lane_is_far_ahead,
        the_register_is_restored_under_live_holders,
        a_visible_write_vanishes,
        a_late_write_meets_a_restored_record,
        a_late_first_write_meets_a_new_space,
        a_restored_register_is_recovered_first,
        a_lost_register_is_replaced_after_its_horizon,
        the_number_of_lanes_is_another,
        the_number_of_lanes_changes,
    }
}
