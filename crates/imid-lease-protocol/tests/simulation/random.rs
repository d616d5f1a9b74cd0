//! Random schedules.

use std::time::Duration;

use super::operator::draw;
use super::rules::{Rule, Rules};
use super::store::Store;
use super::world::{Fault, HORIZON_MS, PATIENCE_MS, Random, SKEW_MS, World};
use imid_lease_protocol::admin::{self, Recovery};
use imid_lease_protocol::engine::Stopped;

const HOUR_MS: i64 = 3_600_000;

/// What can happen in a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weather {
    /// Nothing goes wrong. No lane is lost, and no call is refused.
    Fair,
    /// Pauses, crashes, restarts, releases, lost and late calls and replies.
    Rough,
    /// The same, and machines that are cloned. A clone may repeat what its original may still mint, but no more.
    Cloned,
    /// The same, and clocks that jump by an hour. The store has the right time.
    Jumps,
    /// The same as rough, but all processes die, an older state of the register is restored and recovered, and they
    /// start again. Calls of the dead may still arrive.
    Restored,
    /// The same as rough, and the store loses writes that it has acknowledged to no one and that others may have read.
    Soft,
    /// The same as rough, and an operator frees lanes by force and changes the number of lanes, sometimes only half-way at first.
    Operated,
}

pub(super) const ALL: [Weather; 7] = [
    Weather::Fair,
    Weather::Rough,
    Weather::Cloned,
    Weather::Jumps,
    Weather::Restored,
    Weather::Soft,
    Weather::Operated,
];

/// Plays one schedule.
pub(super) fn play(seed: u64, weather: Weather, rules: Rules) -> World {
    play_in(World::new(seed, rules), weather)
}

/// Plays one schedule in a new world.
pub(super) fn play_in(mut world: World, weather: Weather) -> World {
    let bits = world.random.below(2) as u32;
    let holders = 1 + world.random.below(3);
    for index in 0..holders {
        // Two processes of one name, now and then.
        let name = if weather != Weather::Fair && world.random.one_in(4) { 0 } else { index };
        let index = world.add(&format!("holder-{name}"), bits);
        if world.random.one_in(3) {
            world.holders[index].config.horizon_ms = 4 * HORIZON_MS;
            world.holders[index].restart();
        }
    }
    if weather == Weather::Jumps {
        for holder in &mut world.holders {
            holder.known.store = Some(0);
        }
    }
    let longest_ms = world.holders.iter().map(|holder| holder.config.horizon_ms).max().unwrap();
    world.is_healthy = weather == Weather::Fair;
    world.max_lead_ms = longest_ms
        + match weather {
            Weather::Jumps => SKEW_MS,
            // The first grant after a resize, if it is not too far ahead.
            Weather::Operated => longest_ms / 4 + 4 * SKEW_MS,
            _ => 0,
        };
    let steps = 40 + world.random.below(80);
    match weather {
        Weather::Restored => {
            go(&mut world, steps / 3, weather);
            let old = world.store.clone();
            go(&mut world, steps / 3, weather);
            restore(&mut world, old);
            world.max_lead_ms += longest_ms + SKEW_MS;
            go(&mut world, steps, weather);
        }
        _ => go(&mut world, steps, weather),
    }
    end(&mut world, weather);
    world
}

/// Lets things happen.
fn go(world: &mut World, steps: u64, weather: Weather) {
    let holders = world.holders.len() as u64;
    for step in 0..steps {
        if world.fault.is_some() {
            return;
        }
        if weather == Weather::Soft && step < 20 && world.random.one_in(3) {
            world.lose_softly();
        }
        let most_ms = match world.random.below(if weather == Weather::Fair { 8 } else { 12 }) {
            0..6 => 20,
            6..10 => 100,
            _ => 2 * HORIZON_MS,
        };
        let passed_ms = world.random.below(most_ms.min(if weather == Weather::Fair { 40 } else { u64::MAX }));
        world.now_ms += passed_ms;
        world.time_out();
        for index in 0..world.holders.len() {
            let is_due = world.holders[index].sleeps_until_ms <= world.now_ms;
            if is_due || world.random.one_in(4) {
                world.work(index);
            }
        }
        fly(world, weather);
        for _ in 0..2 {
            let index = world.random.below(world.holders.len() as u64) as usize;
            let ahead_ms = if world.random.one_in(4) { world.random.below(300) } else { 0 };
            world.mint(index, ahead_ms);
        }
        let index = world.random.below(holders) as usize;
        happen(world, index, weather);
    }
}

/// Calls get on, or get lost.
fn fly(world: &mut World, weather: Weather) {
    let mut index = 0;
    while index < world.flights.len() {
        if weather == Weather::Fair {
            // The store's work and the reply.
            world.advance(index);
            if index < world.flights.len() && world.flights[index].reply.is_some() {
                world.advance(index);
            }
            continue;
        }
        match world.random.below(12) {
            0 => {
                let flight = world.flights.swap_remove(index);
                if !flight.is_given_up {
                    // Its process still waits for an answer.
                    world.flights.push(flight);
                    index += 1;
                }
            }
            1..=6 => {
                world.advance(index);
                index += 1;
            }
            _ => index += 1,
        }
    }
}

/// One thing that goes wrong, or a thread that is paused.
fn happen(world: &mut World, index: usize, weather: Weather) {
    let is_fair = weather == Weather::Fair;
    let what = world.random.below(if is_fair { 40 } else { 26 });
    world.trace(index, || format!("happens: {what}"));
    match what {
        0 | 1 => world.pause_thread(index),
        2..=4 => world.resume_threads(index),
        5 => world.mint_by_former(index),
        6 => world.mint_in_child(index),
        _ if is_fair => {}
        7 | 8 => world.holders[index].paused_until_ms = world.now_ms + world.random.below(3 * HORIZON_MS),
        9 | 10 => world.holders[index].is_alive = false,
        11..=14 if !world.holders[index].is_alive || world.holders[index].is_done => world.holders[index].restart(),
        15 | 16 => world.holders[index].engine.close(),
        17 if world.holders.len() < 4 && weather == Weather::Cloned => {
            world.clone_machine(index);
        }
        18 | 19 if weather == Weather::Jumps => {
            let hours = [-1, 0, 1][world.random.below(3) as usize];
            world.holders[index].wall_offset_ms = hours * HOUR_MS;
        }
        20..=22 if weather == Weather::Soft => world.lose_softly(),
        20..=22 if weather == Weather::Operated => world.free_one(),
        23..=25 if weather == Weather::Operated => {
            let writes = world.random.below(5) as u32;
            world.resize(writes);
        }
        _ => {}
    }
}

/// Everything dies, and the register is restored and recovered.
fn restore(world: &mut World, old: Store) {
    for holder in &mut world.holders {
        holder.is_alive = false;
    }
    world.restore_store(old);
    let horizon_ms = world.holders.iter().map(|holder| holder.config.horizon_ms).max().unwrap();
    let space = world.holders[0].config.space.clone();
    let recovery = Recovery::new(Duration::from_millis(horizon_ms), Duration::from_millis(SKEW_MS));
    admin::recover_at(&mut world.store, space.name().as_str(), recovery, world.now_ms, &mut draw).unwrap();
    for holder in &mut world.holders {
        holder.restart();
    }
}

/// All is well again. Whoever has the right time must get on, as far as there are lanes.
pub(super) fn end(world: &mut World, weather: Weather) {
    if world.fault.is_some() {
        return;
    }
    world.flights.retain(|flight| flight.is_given_up);
    world.finish_resize();
    for index in 0..world.holders.len() {
        world.holders[index].paused_until_ms = 0;
        world.resume_threads(index);
        world.holders[index].is_waiting = false;
        if !world.holders[index].is_alive || world.holders[index].is_done {
            world.holders[index].restart();
        }
    }
    // Whoever waited for a lost answer starts again.
    for holder in &mut world.holders {
        if holder.engine.is_waiting() {
            holder.restart();
        }
        holder.minted = 0;
    }
    let (mut rounds, mut is_created) = (0, false);
    while rounds < 300 && world.fault.is_none() {
        world.calm(40);
        rounds += 1;
        if rounds % 10 == 0 {
            for index in 0..world.holders.len() {
                world.mint(index, 0);
                // If one copy of a machine gives the lane back, the other finds a ceiling below its own, and stops.
                // The store may have lost the description, and then have got the first write of a lane.
                let is_undescribed = matches!(world.holders[index].engine.stopped(), Some(Stopped::Undescribed { .. }));
                if is_undescribed && world.create(world.holders[index].config.space.bits()).is_ok() {
                    is_created = true;
                    world.max_lead_ms += HORIZON_MS + SKEW_MS;
                }
                let may_stop = match world.holders[index].engine.stopped() {
                    Some(Stopped::Closed | Stopped::Undescribed { .. }) => true,
                    Some(Stopped::Mismatch { .. }) => weather == Weather::Operated,
                    Some(Stopped::Reverted { .. }) => world.shared_until_ms > 0 || is_created,
                    _ => false,
                };
                if may_stop && world.holders[index].is_done {
                    world.holders[index].restart();
                }
            }
            if has_recovered(world) {
                return close_all(world);
            }
        }
    }
    if world.fault.is_none() {
        world.fail(Fault::Stuck);
    }
}

/// Everybody is asked to end, and does.
fn close_all(world: &mut World) {
    for holder in &mut world.holders {
        holder.engine.close();
    }
    for _ in 0..50 {
        world.calm(40);
        if world.holders.iter().all(|holder| holder.engine.is_done()) {
            return;
        }
    }
    world.fail(Fault::Stuck);
}

fn has_recovered(world: &World) -> bool {
    let lanes = world.holders[0].config.space.lane_count() as usize;
    let able = world.holders.iter().filter(|holder| holder.minted > 0).count();
    able >= lanes.min(world.holders.len())
}

/// How many schedules of each kind: a few by default, more with `IMID_LEASE_SCHEDULES`. A long run can be done in
/// parts, which begin at `IMID_LEASE_FIRST`.
pub(super) fn seeds(count: u64) -> std::ops::Range<u64> {
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let first = number("IMID_LEASE_FIRST", 0);
    first..first + number("IMID_LEASE_SCHEDULES", count)
}

#[test]
fn random_schedules_have_no_overlap_and_nobody_gets_stuck() {
    let (seeds, threads) = (seeds(1_000), 2);
    let count = seeds.end - seeds.start;
    let minted: u64 = std::thread::scope(|scope| {
        let play_all = |thread: u64| {
            let mut minted = 0;
            for seed in seeds.clone().filter(|seed| seed % threads == thread) {
                for (kind, weather) in ALL.into_iter().enumerate() {
                    let seed = Random(seed * 8 + kind as u64).next();
                    let world = play(seed, weather, Rules::default());
                    assert_eq!(world.fault, None, "seed {seed} {weather:?}");
                    minted += world.minted;
                }
            }
            minted
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || play_all(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("{} schedules, {minted} stamps, 0 overlaps", ALL.len() as u64 * count);
    assert!(minted > count * 100, "{minted}");
}

/// One schedule, to look at: `IMID_LEASE_SEED=7 IMID_LEASE_WEATHER=1 IMID_LEASE_TRACE=1`.
#[test]
fn one_schedule_by_its_seed() {
    let number = |name: &str| std::env::var(name).map_or(0, |text| text.parse().expect("a number"));
    let weather = ALL[number("IMID_LEASE_WEATHER") as usize];
    assert_eq!(play(number("IMID_LEASE_SEED"), weather, Rules::default()).fault, None);
}

/// Whether some random schedule shows that a rule is missing; returns how many were tried, and the fault.
pub(super) fn find_fault(rule: Rule, most: u64) -> Option<(u64, Fault)> {
    (0..most).find_map(|seed| {
        let weather = ALL[seed as usize % ALL.len()];
        play(Random(seed).next(), weather, Rules::without(rule)).fault.map(|fault| (seed, fault))
    })
}

const _: () = assert!(PATIENCE_MS < HORIZON_MS / 4, "a lost reply alone costs no lease");
