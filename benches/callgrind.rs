//! Counts the instructions of calls: the program runs itself in callgrind, once with N calls and once with 2 N. The difference
//! belongs to N calls, and contains the loop.

use std::env;
use std::hint::black_box;
use std::process::Command;

const CALLS: u64 = 100_000;

/// What is called, and a loop of that many calls.
pub(crate) type Case = (&'static str, fn(u64));

/// Calls something this often.
pub(crate) fn repeat<T>(calls: u64, mut call: impl FnMut() -> T) {
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

/// Prints the instructions of a call of each case.
pub(crate) fn main(cases: &[Case]) {
    // Cargo gives it other arguments.
    let arguments: Vec<String> = env::args().collect();
    if let [_, case, calls] = &arguments[..]
        && let (Ok(case), Ok(calls)) = (case.parse::<usize>(), calls.parse())
    {
        return cases[case].1(calls);
    }
    for (case, (what, _)) in cases.iter().enumerate() {
        match (count(case, CALLS), count(case, 2 * CALLS)) {
            (Some(once), Some(twice)) => println!("{:>6}  {what}", (twice - once + CALLS / 2) / CALLS),
            _ => return println!("not measured: valgrind cannot be started"),
        }
    }
}
