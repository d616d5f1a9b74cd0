//! Schedules by hand: registers that were restored, lost or recovered while processes look for lanes.

use std::time::Duration;

use super::rules::Rules;
use super::world::{Fault, HORIZON_MS, SKEW_MS, World};
use crate::admin::{self, Recovery};
use crate::register::Register;

const RECOVERY: Recovery =
    Recovery { horizon: Duration::from_millis(HORIZON_MS), max_skew: Duration::from_millis(SKEW_MS) };

/// A process has listed the lanes of a restored register, and loses the race for one of them. Before it tries the other one, which
/// has no record, the register is recovered. Returns `None` if it has tried that one first.
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
