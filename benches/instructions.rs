//! Counts the instructions of a call: `cargo bench --bench instructions`. It needs valgrind on Linux.
//!
//! Times of a few nanoseconds change with the machine, its load and the place of a function in memory. Instructions do not:
//! the count is the same in each run, so it shows what a change of the code costs. It does not show how long they take.
//!
//! `benches/callgrind.rs` says how it counts. The clocks stand until they are told otherwise: in valgrind the system clock is a
//! system call. The package imid-snowflake has such a program, too.

mod callgrind;

use std::hint::black_box;
use std::time::Duration;

use imid::clock::ManualClock;
use imid::generator::Builder;
use imid::{Generator, MessageId, SessionTag};

use callgrind::{Case, repeat};

const BATCH: usize = 64;
const TAG: SessionTag = match SessionTag::from_u32((1 << 26) - 1) {
    Ok(tag) => tag,
    Err(_) => unreachable!(),
};

const CASES: [Case; 5] = [
    ("generate", |calls| {
        let ids = unlimited().clock(clock()).build().expect("settings that fit");
        repeat(calls, || ids.generate(black_box(TAG)));
    }),
    ("generate, each in a new millisecond", |calls| {
        let clock = clock();
        let ids = unlimited().clock(&clock).build().expect("settings that fit");
        repeat(calls, || {
            clock.advance(Duration::from_millis(1));
            ids.generate(black_box(TAG))
        });
    }),
    ("generate_after an ID of the past", |calls| {
        let ids = unlimited().clock(clock()).build().expect("settings that fit");
        repeat(calls, || ids.generate_after(black_box(Some(MessageId::MIN)), black_box(TAG)));
    }),
    ("generate_after an ID that is ahead, each time", |calls| {
        let ids = unlimited().max_skew(Duration::MAX).clock(clock()).build().expect("settings that fit");
        let mut last = None;
        repeat(calls, || {
            let next = ids.generate_after(black_box(last), black_box(TAG)).expect("an ID");
            last = MessageId::from_u128(next.to_u128() + (1 << 26)).ok();
            next
        });
    }),
    ("fill of 64 IDs", |calls| {
        let ids = unlimited().clock(clock()).build().expect("settings that fit");
        let mut batch = [MessageId::MIN; BATCH];
        repeat(calls, || ids.fill(black_box(TAG), black_box(&mut batch)));
    }),
];

fn unlimited() -> Builder {
    Generator::builder().max_lead(Duration::MAX)
}

fn clock() -> ManualClock {
    ManualClock::new(1_763_665_800_000)
}

fn main() {
    callgrind::main(&CASES);
}
