//! Schedules of two processes and an operator, each step of which is a byte. A fuzz target makes them, and those that it has kept are
//! played here.

use super::exhaustive::{STEPS, start, take};
use super::random::{Weather, end};
use super::rules::Rules;
use super::world::{Fault, SKEW_MS, World};

/// The clock of the second process stays within the skew that is allowed: a clock that is further off and jumps back has no lane for as
/// long as it was off.
fn shift_clock(world: &mut World, by_ms: i64) {
    let (offset_ms, most_ms) = (&mut world.holders[1].wall_offset_ms, SKEW_MS.cast_signed());
    *offset_ms = (*offset_ms + by_ms).clamp(-most_ms, most_ms);
}

/// What the operator does, and the clocks, after the steps of the processes.
fn operate(world: &mut World, step: usize) {
    match step {
        0 => world.free_one(),
        1..=5 => world.resize(step as u32 - 1),
        6 => world.lose_softly(),
        7 => shift_clock(world, -100),
        8 => shift_clock(world, 100),
        9 => world.pause_thread(1),
        10 => world.resume_threads(1),
        11 => world.holders[1].engine.close(),
        _ => world.now_ms += 40,
    }
}

/// Plays a schedule of at most 200 steps, and its end. Returns the fault that it shows.
fn play(bytes: &[u8], rules: Rules) -> Option<Fault> {
    let mut world = start(rules);
    for byte in bytes.iter().take(200) {
        let step = usize::from(*byte) % (STEPS.len() + 13);
        match STEPS.get(step) {
            Some(step) => _ = take(&mut world, *step),
            None => operate(&mut world, step - STEPS.len()),
        }
        if world.fault.is_some() {
            return world.fault;
        }
    }
    for holder in &mut world.holders {
        holder.wall_offset_ms = 0;
    }
    end(&mut world, Weather::Operated);
    world.fault
}

/// Plays the schedule of these bytes. Panics if it shows a fault.
pub(crate) fn play_bytes(bytes: &[u8]) {
    assert_eq!(play(bytes, Rules::default()), None);
}

#[cfg(test)]
mod tests {
    use super::super::rules::Rule;
    use super::super::world::Random;
    use super::*;

    /// A thread is paused, its process gives the lane back, and the other process, whose clock is behind, takes it.
    const RELEASED: [u8; 30] =
        [14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 6, 8, 11, 11, 29, 29, 24, 1, 11, 11, 1, 11, 11, 1, 11, 11, 1, 5, 7, 7];

    #[test]
    fn schedules_of_bytes_have_no_fault_and_show_a_missing_rule() {
        for seed in 0..500 {
            let mut random = Random(seed);
            let bytes: Vec<_> = (0..200).map(|_| random.next() as u8).collect();
            play_bytes(&bytes);
        }
        assert_eq!(play(&RELEASED, Rules::default()), None);
        let fault = play(&RELEASED, Rules::without(Rule::SealBeforeRelease));
        assert!(matches!(fault, Some(Fault::Overlap { .. })), "{fault:?}");
    }

    /// Those of fuzz/corpus.
    #[test]
    fn schedules_that_were_kept_have_no_fault() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/schedules");
        // A package does not have them.
        let Ok(files) = std::fs::read_dir(folder) else { return };
        for file in files {
            let path = file.unwrap().path();
            println!("{}", path.display());
            play_bytes(&std::fs::read(&path).unwrap());
        }
    }
}
