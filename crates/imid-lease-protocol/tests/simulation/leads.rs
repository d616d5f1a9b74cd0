//! How far ahead of true time the lanes get, with crashes and with clocks that are off by the skew.
//!
//! The law: no ceiling is further ahead than the longest horizon and the skew, however many crashes there are. When they end and the clocks
//! are right, the lead ends as well: after it has passed, no process has more than its horizon.

use super::holder::Holder;
use super::random::seeds;
use super::rules::Rules;
use super::world::{Fault, HORIZON_MS, LEAD_MS, Random, SKEW_MS, STEP_MS, World};
use imid_lease_protocol::engine::Phase;

/// What passes while a write is under way.
const FEW_MS: u64 = 10;

/// Plays one schedule of crashes, of steps of clocks within the skew, and of runs. There are as many lanes as processes, or more.
fn play(seed: u64, rules: Rules) -> World {
    let mut world = World::new(seed, rules);
    let bits = world.random.below(3) as u32;
    let holders = if world.random.one_in(2) { 1 << bits } else { 1 << bits.saturating_sub(1) };
    let mut longest_ms = HORIZON_MS;
    for index in 0..holders {
        let index = world.add(&format!("holder-{index}"), bits);
        world.holders[index].wall_offset_ms = offset(&mut world.random);
        world.holders[index].known.store = Some(0);
        if world.random.one_in(4) {
            world.holders[index].config.horizon_ms = 4 * HORIZON_MS;
            world.holders[index].restart();
            longest_ms = 4 * HORIZON_MS;
        }
    }
    world.max_lead_ms = longest_ms + SKEW_MS + FEW_MS;
    world.calm_for(2 * longest_ms);
    for _ in 0..60 {
        if world.fault.is_some() {
            break;
        }
        let index = world.random.below(world.holders.len() as u64) as usize;
        match world.random.below(8) {
            0 => world.kill(index),
            1 => (0..world.holders.len()).for_each(|index| world.kill(index)),
            2 => world.holders[index].wall_offset_ms = offset(&mut world.random),
            _ => {}
        }
        let most_ms = [20, 20, 20, 20, 300, 2 * HORIZON_MS][world.random.below(6) as usize];
        let passed_ms = 10 + world.random.below(most_ms);
        world.calm_for(passed_ms);
        for _ in 0..3 {
            let (index, ahead_ms) = (world.random.below(world.holders.len() as u64), world.random.below(LEAD_MS));
            world.mint(index as usize, ahead_ms);
        }
    }
    world.let_leads_pass(longest_ms);
    world
}

/// An error of a clock: the skew at most, to either side.
fn offset(random: &mut Random) -> i64 {
    random.below(2 * SKEW_MS + 1).cast_signed() - STEP_MS
}

impl World {
    /// A process crashes, and starts again immediately.
    fn kill(&mut self, index: usize) {
        self.holders[index].restart();
        self.flights.retain(|flight| flight.holder != index);
    }

    /// All is well until the greatest lead has passed, and for some renewals more.
    fn let_leads_pass(&mut self, longest_ms: u64) {
        self.holders.iter_mut().for_each(|holder| holder.wall_offset_ms = 0);
        self.is_healthy = true;
        // It takes a lane whose holder is silent.
        let bits = self.holders[0].config.space.bits();
        self.add("another", bits);
        self.calm_for(self.max_lead_ms + longest_ms);
        for Holder { config, engine, .. } in &self.holders {
            let grant = engine.grant().filter(|_| engine.phase() == Phase::Holding);
            let ahead_ms = grant.map_or(0, |grant| grant.ceiling_ms.saturating_sub(self.now_ms));
            if ahead_ms > config.horizon_ms + FEW_MS {
                return self.fail(Fault::Lead { ms: ahead_ms });
            }
        }
    }
}

#[test]
fn a_lead_is_at_most_a_horizon_and_the_skew_and_passes() {
    let (seeds, mut minted) = (seeds(500), 0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let world = play(Random(seed).next(), Rules::default());
        assert_eq!(world.fault, None, "seed {seed}");
        minted += world.minted;
    }
    println!("{count} schedules with crashes, {minted} stamps");
    assert!(minted > 20 * count, "{minted}");
}
