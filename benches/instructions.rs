//! Counts the instructions of a call: `cargo bench --bench instructions`. It needs valgrind on Linux.
//!
//! Times of a few nanoseconds change with the machine, its load and the place of a function in memory. Instructions do not:
//! the count is the same in each run, so it shows what a change of the code costs. It does not show how long they take.
//!
//! The program runs itself in callgrind, once with N calls and once with 2 N. The difference belongs to N calls, and contains
//! the loop. The clocks stand until they are told otherwise: in valgrind the system clock is a system call.

use std::env;
use std::hint::black_box;
use std::process::Command;
use std::time::Duration;

use imid::clock::ManualClock;
use imid::generator::Builder;
use imid::snowflake::{self, Layout, Preset};
use imid::{Generator, SessionTag};

const CALLS: u64 = 100_000;
const BATCH: usize = 64;
const TAG: SessionTag = match SessionTag::from_u32((1 << 26) - 1) {
    Ok(tag) => tag,
    Err(_) => unreachable!(),
};

/// What is called, and a loop of that many calls.
type Case = (&'static str, fn(u64));

const CASES: [Case; 4] = [
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
    ("fill of 64 IDs", |calls| {
        let ids = unlimited().clock(clock()).build().expect("settings that fit");
        let mut batch = [imid::MessageId::MIN; BATCH];
        repeat(calls, || ids.fill(black_box(TAG), black_box(&mut batch)));
    }),
    ("Snowflake", |calls| {
        let ids = snowflake::Generator::builder(wide()).node(1).clock(clock()).build().expect("a node of 1 bit");
        repeat(calls, || ids.generate());
    }),
];

fn unlimited() -> Builder {
    Generator::builder().max_lead(Duration::MAX)
}

fn clock() -> ManualClock {
    ManualClock::new(1_763_665_800_000)
}

/// A layout whose ticks have more sequence numbers than there are calls.
fn wide() -> Preset {
    let layout = Layout::builder().tick_bits(41).node_bits(1).sequence_bits(22).build();
    Preset::new(layout.expect("64 bits"))
}

fn repeat<T>(calls: u64, mut call: impl FnMut() -> T) {
    for _ in 0..calls {
        black_box(call());
    }
}

/// Runs a case in callgrind, and returns the instructions of the whole process.
fn count(case: usize, calls: u64) -> Option<u64> {
    let program = env::current_exe().expect("this program");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    let output = command.args([case.to_string(), calls.to_string()]).output().ok()?;
    let log = String::from_utf8_lossy(&output.stderr);
    let (_, collected) = log.split_once("Collected : ").unwrap_or_else(|| panic!("no count in {log}"));
    collected.split_whitespace().next()?.parse().ok()
}

fn main() {
    // Cargo gives it other arguments.
    let arguments: Vec<String> = env::args().collect();
    if let [_, case, calls] = &arguments[..]
        && let (Ok(case), Ok(calls)) = (case.parse::<usize>(), calls.parse())
    {
        return CASES[case].1(calls);
    }
    for (case, (what, _)) in CASES.iter().enumerate() {
        match (count(case, CALLS), count(case, 2 * CALLS)) {
            (Some(once), Some(twice)) => println!("{:>6}  {what}", (twice - once + CALLS / 2) / CALLS),
            _ => return println!("not measured: valgrind cannot be started"),
        }
    }
}
