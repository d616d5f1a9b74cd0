//! Rooms in the model: each has a last ID, any process posts in any room, and the law is that none of them is closed.
//!
//! The law: for the last ID of a room, whichever process minted it, each process that holds a lane can mint the room's next ID, after it,
//! once the register has answered a list and a renewal; and no ID is further ahead of true time than the longest horizon and three times the
//! skew, however many crashes there are. When the crashes end, the lead does: after it has passed, no process has more than a horizon.

use super::holder::Holder;
use super::random::seeds;
use super::rules::Rules;
use super::world::{Fault, HORIZON_MS, Random, SKEW_MS, STEP_MS, World};
use crate::engine::{Action, FOLLOW_GAP_MS, Phase};

/// How often a post tries: after a renewal that is under way already, after the gap to its own, after a list, and after its own
/// renewal. There are four milliseconds between two tries.
const MOST_TRIES: usize = 3 + FOLLOW_GAP_MS as usize / 4 + 1;

/// What is minted while a write is under way.
const FEW_MS: u64 = 10;

/// Plays one schedule of crashes, steps of clocks within the skew, and posts. There are as many lanes as processes, or more.
pub(super) fn play(seed: u64, rules: Rules) -> World {
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
    world.max_lead_ms = longest_ms + 3 * SKEW_MS + FEW_MS;
    world.calm_for(2 * longest_ms);
    let mut lasts = [0; 2];
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
            let (room, index) = (world.random.below(2), world.random.below(world.holders.len() as u64));
            world.post(index as usize, &mut lasts[room as usize]);
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

    /// A process that holds a lane posts in the room with this last ID.
    fn post(&mut self, index: usize, last_ms: &mut u64) {
        if self.holders[index].engine.phase() != Phase::Holding {
            return;
        }
        for _ in 0..MOST_TRIES {
            if let Some(ms) = self.mint_after(index, *last_ms) {
                *last_ms = ms;
                return;
            }
            // A refused call wakes the keeper. Each call to the register takes a millisecond.
            self.holders[index].sleeps_until_ms = 0;
            for _ in 0..4 {
                self.now_ms += 1;
                self.work(index);
                self.settle();
            }
        }
        let ahead_ms = last_ms.saturating_sub(self.now_ms);
        self.fail(Fault::Closed { ahead_ms });
    }
}

#[test]
fn no_room_is_closed() {
    let (seeds, mut minted) = (seeds(500), 0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let world = play(Random(seed).next(), Rules::default());
        assert_eq!(world.fault, None, "seed {seed}");
        minted += world.minted;
    }
    println!("{count} schedules with rooms, {minted} posts, no room was closed");
    assert!(minted > 20 * count, "{minted}");
}

/// Two rooms have last IDs from further ahead than any lane was granted, and each post in them asks to look at the lanes. A look takes
/// longer than the gap between two. The looks become rare, because they show nothing.
#[test]
fn ids_from_far_ahead_do_not_keep_a_process_from_its_renewals() {
    let mut world = World::new(7, Rules::default());
    let index = world.add("holder", 0);
    world.calm_for(HORIZON_MS);
    let mut lists = 0;
    let began_ms = world.now_ms;
    for turn in 0..HORIZON_MS {
        let far_ms = world.now_ms + 100 * HORIZON_MS + turn % 2;
        let holder = &mut world.holders[index];
        (holder.asked_ms, holder.sleeps_until_ms) = (far_ms, 0);
        world.work(index);
        lists += world.flights.iter().filter(|flight| matches!(flight.call, Action::List)).count() as u64;
        world.now_ms += FOLLOW_GAP_MS + 5;
        world.settle();
        assert!(world.mint(index, 0), "turn {turn}: {:?}", world.holders[index].engine.phase());
    }
    let seconds = (world.now_ms - began_ms) / 1_000;
    assert!((seconds..=2 * seconds + 8).contains(&lists), "{lists} looks in {seconds} s");
}
