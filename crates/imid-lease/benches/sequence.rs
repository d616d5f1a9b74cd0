//! Numbers of a sequence: `cargo bench -p imid-lease --bench sequence`.
//!
//! The register is memory, so the figures are those of the minting threads. `writes` counts what a store would see.
//! `one-session` finds all it needs in the processor's first caches. `million-sessions` asks for the sessions in a random
//! order, so most look-ups go to memory that is not in them.

#[path = "../tests/strong/mod.rs"]
mod strong;

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use imid::{Session, SessionType};
use imid_lease::Sequence;
use imid_lease::sequence::{Conversation, SequenceOptions};
use strong::Strong;

const SESSIONS: u64 = 1_000_000;

/// Mints `count` numbers, one for each conversation in turn.
fn mint(sequence: &Sequence, conversations: &[Conversation], count: u64) {
    let mut conversations = conversations.iter().cycle();
    for _ in 0..count {
        let conversation = *conversations.next().expect("there are conversations");
        while let Err(error) = sequence.next(black_box(conversation)).map(black_box) {
            assert!(error.retry_after().is_some(), "{error}");
            std::thread::yield_now();
        }
    }
}

/// Mints on several threads, and returns how long it took.
fn mint_on(threads: usize, sequence: &Sequence, conversations: &[Conversation], count: u64) -> Duration {
    let barrier = Barrier::new(threads + 1);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (barrier, at) = (&barrier, conversations.len() / threads * thread);
            scope.spawn(move || {
                let (first, second) = conversations.split_at(at);
                let (second_count, first_count) = (second.len() as u64, first.len() as u64);
                barrier.wait();
                let mut left = count / threads as u64;
                while left > 0 {
                    let now = left.min(second_count);
                    mint(sequence, second, now);
                    left -= now;
                    let now = left.min(first_count);
                    mint(sequence, first, now);
                    left -= now;
                }
                barrier.wait();
            });
        }
        barrier.wait();
        let start = Instant::now();
        barrier.wait();
        start.elapsed()
    })
}

fn sequences(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sequence");
    group.throughput(Throughput::Elements(1));
    let options = SequenceOptions::new("bench").sessions_per_section(1 << 22);
    let sequence = Sequence::open(Strong::default(), options).unwrap();
    let mut conversations: Vec<_> = (0..SESSIONS)
        .map(|number| sequence.conversation(Session::new(SessionType::GROUP, &number.to_string()), number))
        .collect();
    // In an order that the processor cannot guess.
    let mut state = 1_u64;
    for at in (1..conversations.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        conversations.swap(at, ((u128::from(state) * (at as u128 + 1)) >> 64) as usize);
    }
    mint(&sequence, &conversations, SESSIONS);
    let before = sequence.status();
    println!("{} bytes for {} sessions: {} each", before.bytes, before.sessions, before.bytes / before.sessions);
    let mut minted = 0;
    for (name, conversations) in [("one-session", &conversations[..1]), ("million-sessions", &conversations[..])] {
        for threads in [1, 2] {
            group.bench_function(BenchmarkId::new(name, format!("{threads}-threads")), |bencher| {
                bencher.iter_custom(|count| {
                    minted += count;
                    mint_on(threads, &sequence, conversations, count)
                });
            });
        }
        let status = sequence.status();
        println!("{name}: {minted} numbers, {} writes", status.writes - before.writes);
        minted = 0;
    }
    group.finish();
}

criterion::criterion_group!(benches, sequences);
criterion::criterion_main!(benches);
