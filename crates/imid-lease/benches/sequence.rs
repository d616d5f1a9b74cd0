//! Measures what a number of a sequence takes: `cargo bench -p imid-lease --bench sequence`.
//!
//! The register is memory, so the figures are those of the minting threads. `writes` counts what a store would see. The
//! sessions are asked for in these ways:
//!
//! - `one session`: all that a number needs is in the processor's first caches.
//! - `zipf`: a session is drawn as in the traffic of a chat. The second one is half as busy as the first one, the third one has
//!   a third, and so on.
//! - `shuffled`: each of a million sessions in turn, in an order that the processor cannot guess. Each number comes from a
//!   cache line that was last used a million numbers ago. No real traffic is worse.
//!
//! `floor` is the least that a number can take: a lock, and one addition at a random place in as many bytes as the
//! sessions take. It is measured in the same run.
//!
//! Each measurement is the median of the faster half of many short ones, because programs beside this one make some of
//! them slow. With `IMID_SEQUENCE_BAR` set, it ends with status 1 if `next` takes more than 30 ns for the shuffled
//! sessions and more than the floor, or if there is more than one write for 10,000 numbers.
#![allow(missing_docs, reason = "a bench")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the numbers are small")]

#[path = "../tests/strong/mod.rs"]
mod strong;

use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::time::Instant;

use imid::{SessionTag, SessionType};
use imid_lease::Sequence;
use imid_lease::sequence::{Conversation, SequenceError, SequenceOptions};
use strong::Strong;

const SESSIONS: usize = 1_000_000;

/// Numbers in one short measurement.
const SHORT: usize = 8_000;

/// Numbers of each thread in one measurement.
const LONG: usize = 4 * SESSIONS;

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0) * limit as u128) >> 64) as usize
    }
}

/// Returns as many places as there are sessions. Place n comes with a probability that is proportional to 1 / (n + 1).
fn zipf(random: &mut Random) -> Vec<usize> {
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=SESSIONS)
        .map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        })
        .collect();
    let mut draw = || random.below(1 << 52) as f64 / (1_u64 << 52) as f64 * sum;
    (0..SESSIONS)
        .map(|_| {
            let drawn = draw();
            sums.partition_point(|sum| *sum <= drawn).min(SESSIONS - 1)
        })
        .collect()
}

/// Runs `mint` on several threads, each from another place of the items on, and returns the nanoseconds of an item in a
/// thread.
fn measure<T: Sync>(threads: usize, items: &[T], mint: impl Fn(&[T]) + Sync) -> f64 {
    let barrier = Barrier::new(threads);
    let run = |thread: usize| {
        let (end, start) = items.split_at(items.len() / threads * thread);
        let around: Vec<&[T]> = start.chunks(SHORT).chain(end.chunks(SHORT)).collect();
        barrier.wait();
        let mut times = Vec::new();
        for chunk in around.iter().cycle().take(LONG / around[0].len()) {
            let begun = Instant::now();
            mint(chunk);
            times.push(begun.elapsed().as_secs_f64() * 1e9 / chunk.len() as f64);
        }
        // The first turn fills the caches.
        times.drain(..times.len() / 4);
        times.sort_by(f64::total_cmp);
        times[times.len() / 4]
    };
    let run = &run;
    let times: Vec<f64> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("it measures")).collect()
    });
    times.iter().sum::<f64>() / threads as f64
}

fn next(sequence: &Sequence, conversation: Conversation) {
    while let Err(error) = sequence.next(black_box(conversation)).map(black_box) {
        wait(&error);
    }
}

/// Lets the keeper's thread run.
fn wait(error: &SequenceError) {
    assert!(error.retry_after().is_some(), "{error}");
    std::thread::yield_now();
}

/// One section of the floor: the least that a lock can guard.
#[repr(align(128))]
struct Guarded(Mutex<Vec<u64>>);

fn main() {
    let sequence = Sequence::open(Strong::default(), SequenceOptions::new("bench")).expect("a register in memory");
    let sessions: Vec<_> = (0..SESSIONS as u64)
        .map(|number| sequence.conversation(SessionTag::new(SessionType::GROUP, &number.to_string()), number))
        .collect();
    let mut random = Random(1);
    let mut shuffled = sessions.clone();
    for at in (1..shuffled.len()).rev() {
        shuffled.swap(at, random.below(at + 1));
    }
    let drawn: Vec<_> = zipf(&mut random).into_iter().map(|place| sessions[place]).collect();
    let one = vec![sessions[0]; SESSIONS];
    drop(sessions);
    for conversation in &shuffled {
        next(&sequence, *conversation);
    }
    let bytes = sequence.status().bytes;
    println!("{SESSIONS} sessions take {bytes} bytes, {:.1} each", bytes as f64 / SESSIONS as f64);
    assert!(bytes <= 32 * SESSIONS);

    let sections = 64;
    let floor: Vec<_> = (0..sections).map(|_| Guarded(Mutex::new(vec![0; bytes / sections / 8]))).collect();
    let places: Vec<[u32; 2]> =
        (0..SESSIONS).map(|_| [random.below(sections) as u32, random.below(bytes / sections / 8) as u32]).collect();
    let mut worst: f64 = 0.0;
    for threads in [1, 2] {
        let least = measure(threads, &places, |places| {
            for [section, place] in places {
                let mut words = floor[*section as usize].0.lock().expect("nobody panics");
                words[*place as usize] += 1;
            }
        });
        println!("{threads} threads: floor {least:.1} ns in {bytes} bytes");
        for (name, order) in [("one session", &one), ("zipf", &drawn), ("shuffled", &shuffled)] {
            let before = sequence.status().writes;
            let each =
                measure(threads, order, |order| order.iter().for_each(|conversation| next(&sequence, *conversation)));
            let writes = sequence.status().writes - before;
            let numbers = threads * LONG;
            println!(
                "{threads} threads, {name}: {each:.1} ns a number in each thread; {numbers} numbers, {writes} writes"
            );
            assert!(writes <= numbers as u64 / 10_000);
            if name == "shuffled" {
                worst = worst.max(each / least.max(30.0));
            }
        }
    }
    assert!(std::env::var_os("IMID_SEQUENCE_BAR").is_none() || worst <= 1.0, "{worst:.2} of the bar");
}
