//! What ID generators do when the clock steps back, the process forks or is killed, other hosts are ahead, or the load
//! passes the layout's limit.
//!
//! `imid-faults LIBFAKETIME` runs each case on each peer, in a separate process with a time limit, and prints a
//! Markdown table. `run.sh` finds the library and runs this program. A fork is run five times, because its result
//! depends on how far the two processes keep in step. The table has the fewest and the most duplicates. With a second
//! argument, only the peers whose name starts with it are run.

mod cases;
mod clock;
mod hosts;
mod meeting;
mod outcome;
mod peers;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::NamedTempFile;
use wait_timeout::ChildExt;

use cases::Case;
use outcome::{End, Outcome};
use peers::PEERS;

/// The first argument of a process that runs one case. The numbers of the case and of the peer follow it.
const CASE: &str = "--case";

fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [CASE, case, peer] => run_case(case, peer),
        [hosts::HOST, work, peer, index, floor] => hosts::run(work, number(peer), number(index), floor),
        [library] => print_table(Path::new(library), ""),
        [library, prefix] => print_table(Path::new(library), prefix),
        _ => eprintln!("usage: imid-faults LIBFAKETIME [PEER]"),
    }
}

/// An argument of a process that this program has started.
fn number(text: &str) -> usize {
    text.parse().expect("a number from the process that started this one")
}

fn run_case(case: &str, peer: &str) {
    let outcome = Case::ALL[number(case)].0.run(number(peer));
    println!("{}", serde_json::to_string(&outcome).expect("plain fields"));
}

/// Prints the table. Each outcome also goes to standard error in full.
fn print_table(library: &Path, prefix: &str) {
    let titles = Case::ALL.map(|(_, title)| title);
    println!("| | {} |", titles.join(" | "));
    println!("|{}", " --- |".repeat(titles.len() + 1));
    for (number, peer) in PEERS.iter().enumerate().filter(|(_, peer)| peer.name.starts_with(prefix)) {
        print!("| {} |", peer.name);
        for (index, (case, title)) in Case::ALL.into_iter().enumerate() {
            let outcomes = (0..case.runs()).map(|_| {
                let outcome = start_case(library, index, number);
                eprintln!("{}, {title}: {outcome:?}", peer.name);
                outcome
            });
            print!(" {} |", Outcome::worst(outcomes));
            std::io::stdout().flush().expect("an open standard output");
        }
        println!();
    }
}

fn start_case(library: &Path, number: usize, peer: usize) -> Outcome {
    let case = Case::ALL[number].0;
    let mut offset = NamedTempFile::new().expect("a temporary file");
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    command.args([CASE, &number.to_string(), &peer.to_string()]).stdout(Stdio::piped()).stderr(Stdio::null());
    if case.moves_the_clock() {
        offset.write_all(b"+0.000").expect("a file that can be written to");
        clock::under_faketime(&mut command, library, offset.path());
    }
    let mut child = command.spawn().expect("this program can start itself");
    let Some(status) = child.wait_timeout(case.limit()).expect("a child of this process") else {
        child.kill().expect("a child of this process");
        child.wait().expect("a child of this process");
        return Outcome { end: Some(End::Hang(case.limit())), ..Outcome::default() };
    };
    let output = child.wait_with_output().expect("a child of this process");
    assert!(status.success(), "case {number} of {} ended with {status}", PEERS[peer].name);
    serde_json::from_slice(&output.stdout).expect("the outcome of the case")
}
