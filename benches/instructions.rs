//! Counts the instructions of a call: `cargo bench --bench instructions`. It needs valgrind on Linux.
//!
//! Times of a few nanoseconds change with the machine, its load and the place of a function in memory. Instructions do not:
//! the count is the same in each run, so it shows what a change of the code costs. It does not show how long they take.
//!
//! `benches/callgrind.rs` says how it counts. The clocks stand until they are told otherwise: in valgrind the system clock is a
//! system call. The package imid-snowflake has such a program, too.

mod callgrind;

use std::fmt::{self, Write};
use std::hint::black_box;
use std::time::Duration;

use imid::clock::ManualClock;
use imid::generator::Builder;
use imid::{AfterOptions, Generator, MessageId, SessionTag};

use callgrind::{Case, repeat};

const BATCH: usize = 64;
const TAG: SessionTag = match SessionTag::from_u32((1 << 26) - 1) {
    Ok(tag) => tag,
    Err(_) => unreachable!(),
};

const CASES: [Case; 7] = [
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
    ("MessageId::after_with", |calls| {
        let options = AfterOptions { random: 7, limit: AfterOptions::LIMIT };
        repeat(calls, || MessageId::after_with(black_box(Some(MessageId::MIN)), black_box(TAG), 1, black_box(options)));
    }),
    ("fill of 64 IDs", |calls| {
        let ids = unlimited().clock(clock()).build().expect("settings that fit");
        let mut batch = [MessageId::MIN; BATCH];
        repeat(calls, || ids.fill(black_box(TAG), black_box(&mut batch)));
    }),
    ("to_hex", |calls| repeat(calls, || black_box(MessageId::MAX).to_hex())),
    ("{:x}", |calls| print(calls, |text| write!(text, "{:x}", black_box(MessageId::MAX)))),
    ("{:*>40}", |calls| print(calls, |text| write!(text, "{:*>40}", black_box(MessageId::MAX)))),
];

/// Formats an ID into a `String` that has the room.
fn print(calls: u64, write: impl Fn(&mut String) -> fmt::Result) {
    let mut text = String::with_capacity(64);
    repeat(calls, || {
        text.clear();
        write(&mut text)
    });
}

fn unlimited() -> Builder {
    Generator::builder().max_lead(Duration::MAX)
}

fn clock() -> ManualClock {
    ManualClock::new(1_763_665_800_000)
}

fn main() {
    callgrind::main(&CASES);
}
