//! All schedules of a tiny configuration: two processes, one lane, and a number of steps. Each step is one of all things that
//! can happen then.

use super::rules::{Rule, Rules};
use super::world::{Fault, HORIZON_MS, PATIENCE_MS, World};
use imid_lease_protocol::engine::POLL_MS;

/// What can happen in one step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A process works until its next call or its next sleep.
    Work(usize),
    /// A process mints, at the clock or ahead of it.
    Mint(usize, u64),
    PauseThread(usize),
    ResumeThreads(usize),
    Close(usize),
    /// A process is killed and started again.
    Restart(usize),
    /// The oldest call gets on: the store makes it, or the answer arrives.
    Advance,
    /// The oldest call gets on and is made before the ones before it.
    AdvanceLast,
    /// The oldest call, or its answer, is lost.
    Lose,
    /// Time passes: a little, so that calls are given up, or so that lanes can be taken over.
    Wait(u64),
}

pub(super) const STEPS: [Step; 17] = [
    Step::Work(0),
    Step::Work(1),
    Step::Mint(0, 0),
    Step::Mint(1, 0),
    Step::Mint(0, 150),
    Step::Mint(1, 150),
    Step::PauseThread(0),
    Step::ResumeThreads(0),
    Step::Close(0),
    Step::Restart(0),
    Step::Restart(1),
    Step::Advance,
    Step::AdvanceLast,
    Step::Lose,
    Step::Wait(1),
    Step::Wait(PATIENCE_MS + HORIZON_MS / 4),
    Step::Wait(HORIZON_MS + 1),
];

/// Does a step; `false` if it is not possible, or changes nothing.
pub(super) fn take(world: &mut World, step: Step) -> bool {
    match step {
        Step::Work(index) => {
            let before = world.flights.len();
            let was_done = world.holders[index].is_done;
            world.work(index);
            world.flights.len() != before || world.holders[index].is_done != was_done
        }
        Step::Mint(index, ahead_ms) => world.mint(index, ahead_ms),
        Step::PauseThread(index) => {
            let before = world.holders[index].threads.len();
            world.pause_thread(index);
            world.holders[index].threads.len() != before
        }
        Step::ResumeThreads(index) => {
            let any = !world.holders[index].threads.is_empty();
            world.resume_threads(index);
            any
        }
        Step::Close(index) => {
            world.holders[index].engine.close();
            world.work(index)
        }
        Step::Restart(index) => {
            world.holders[index].restart();
            true
        }
        Step::Advance if !world.flights.is_empty() => {
            world.advance(0);
            true
        }
        Step::AdvanceLast if world.flights.len() > 1 => {
            world.advance(world.flights.len() - 1);
            true
        }
        Step::Lose if !world.flights.is_empty() => {
            // Its process gives up waiting.
            let mut flight = world.flights.remove(0);
            flight.deadline_ms = 0;
            world.flights.push(flight);
            world.time_out();
            world.flights.pop();
            true
        }
        Step::Advance | Step::AdvanceLast | Step::Lose => false,
        Step::Wait(ms) => {
            world.now_ms += ms;
            world.time_out();
            true
        }
    }
}

/// Plays all schedules of `depth` more steps; returns their number, or the first fault.
fn explore(world: &World, depth: u32, path: &mut Vec<Step>) -> Result<u64, (Fault, Vec<Step>)> {
    if depth == 0 {
        return Ok(1);
    }
    let mut count = 0;
    for step in STEPS {
        // Two waits are one longer one, which is there too or changes nothing.
        if matches!((step, path.last()), (Step::Wait(_), Some(Step::Wait(_)))) {
            continue;
        }
        let mut next = world.clone();
        if !take(&mut next, step) {
            continue;
        }
        path.push(step);
        if let Some(fault) = next.fault {
            return Err((fault, path.clone()));
        }
        count += explore(&next, depth - 1, path)?;
        path.pop();
    }
    Ok(count)
}

/// The first process has a lane and has minted; the second has seen it.
pub(super) fn start(rules: Rules) -> World {
    let mut world = World::new(1, rules);
    for name in ["first", "second"] {
        let index = world.add(name, 0);
        while world.work(index) {
            world.settle();
        }
    }
    world.mint(0, 0);
    world
}

#[test]
fn all_short_schedules_of_two_processes_have_no_fault() {
    let depth = std::env::var("IMID_LEASE_DEPTH").map_or(4, |depth| depth.parse().expect("a number of steps"));
    let count = explore(&start(Rules::default()), depth, &mut Vec::new()).unwrap();
    println!("{count} schedules of {depth} steps, 0 faults");
    assert!(count > 1_000, "{count}");
}

/// The same search finds the fault of a missing rule: a thread is paused, its process gives the lane back, another one takes
/// it.
#[test]
fn all_short_schedules_find_a_missing_rule() {
    for rules in [Rules::default(), Rules::without(Rule::SealBeforeRelease)] {
        let mut world = start(rules);
        world.now_ms += 10;
        world.pause_thread(0);
        world.holders[0].engine.close();
        for index in [0, 1] {
            world.holders[index].sleeps_until_ms = 0;
            world.now_ms += POLL_MS * index as u64;
            while world.work(index) {
                world.settle();
            }
        }
        world.now_ms -= POLL_MS;
        let found = explore(&world, 3, &mut Vec::new());
        let is_overlap = matches!(found, Err((Fault::Overlap { .. }, _)));
        assert_eq!(is_overlap, !rules.keep(Rule::SealBeforeRelease), "{found:?}");
    }
}
