//! Schedules by hand: while a process looks for a lane, the description of its space goes back, or becomes that of another space. The
//! process must stop, because the lanes that it finds begin below what others were granted.

use std::time::Duration;

use super::operator::draw;
use super::rules::Rules;
use super::store::Store;
use super::world::{Fault, HORIZON_MS, SKEW_MS, World};
use imid_lease_protocol::admin::{self, Recovery};
use imid_lease_protocol::engine::{Phase, Stopped};

const RECOVERY: Recovery = Recovery::new(Duration::from_millis(HORIZON_MS), Duration::from_millis(SKEW_MS));

/// What the register loses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lost {
    /// Everything. Somebody creates a space.
    Space,
    /// A recovery. The register is restored from before it, and not recovered again.
    Recovery,
    /// Two changes of the number of lanes. The register is restored from before them, and recovered until its version is greater.
    Resizes,
}

impl World {
    fn recover(&mut self) {
        admin::recover_at(&mut self.store, "lanes", RECOVERY, self.now_ms, &mut draw).unwrap();
    }
}

/// `first` looks for a lane while the register goes back. `second` takes the lane that `first` had before. Nobody has told the
/// operator that `paused`, which has the other lane, has a horizon that is four times as long. Returns `None` if `second` has taken the
/// other lane.
#[expect(clippy::option_option, reason = "a run that does not count, or its fault, or none")]
fn a_description_goes_back(seed: u64, what: Lost) -> Option<Option<Fault>> {
    let mut world = World::new(seed, Rules::default());
    world.width = 1;
    world.describe(1);
    let backup = world.store.clone();
    match what {
        Lost::Space => {}
        Lost::Recovery => world.recover(),
        Lost::Resizes => {
            for bits in [0, 1] {
                admin::resize(&mut world.store, "lanes", bits, &mut draw).unwrap();
            }
        }
    }
    world.wait(HORIZON_MS + SKEW_MS);
    let paused = world.add("paused", 1);
    world.holders[paused].config.horizon_ms = 4 * HORIZON_MS;
    world.holders[paused].restart();
    world.run(paused);
    world.holders[paused].paused_until_ms = u64::MAX;
    let first = world.start("first", 1);
    let (first_lane, paused_lane) = (world.lane(first), world.lane(paused));
    // It loses its lane, and there is no other one.
    world.wait(HORIZON_MS / 4);
    world.free(first_lane);
    let other = world.start("other", 1);
    assert_eq!(world.lane(other), first_lane);
    world.crash(other);
    world.run(first);
    assert_eq!(world.holders[first].engine.phase(), Phase::Lost);
    world.holders[first].paused_until_ms = u64::MAX;
    world.wait(HORIZON_MS + SKEW_MS);
    world.store = if what == Lost::Space { Store::default() } else { backup };
    if what == Lost::Resizes {
        for _ in 0..3 {
            world.recover();
        }
    }
    let second = world.start("second", 1);
    world.calm_for(HORIZON_MS * 3 / 2);
    if world.lane(second) == paused_lane {
        return None;
    }
    world.holders[first].paused_until_ms = 0;
    world.calm_for(HORIZON_MS / 4);
    world.mint_one(first);
    world.holders[paused].paused_until_ms = 0;
    assert!(world.mint_one(paused), "below the ceiling that it was granted");
    let stopped = world.holders[first].engine.stopped().cloned();
    world.expect(stopped == Some(Stopped::Reverted { key: "lanes/meta".into() }), Fault::Stuck);
    Some(world.fault)
}

fn nothing_is_granted_twice_after(what: Lost) {
    let faults: Vec<_> = (0..20).filter_map(|seed| a_description_goes_back(seed, what)).collect();
    assert!(faults.len() > 4, "{}", faults.len());
    for fault in faults {
        assert_eq!(fault, None);
    }
}

#[test]
fn a_process_stops_where_its_space_is_another_one() {
    nothing_is_granted_twice_after(Lost::Space);
}

#[test]
fn a_process_stops_where_its_space_has_lost_a_recovery() {
    nothing_is_granted_twice_after(Lost::Recovery);
}

#[test]
fn a_process_stops_where_its_space_has_the_number_of_lanes_of_before() {
    nothing_is_granted_twice_after(Lost::Resizes);
}
