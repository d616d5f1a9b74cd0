//! The command-line tool, run as a user runs it.

mod bounds;
mod check;
#[cfg(unix)]
mod console;
mod dialect;
mod doctor;
mod documents;
mod exports;
mod fidelity;
mod fields;
mod forms;
mod grep;
mod help;
mod inspect;
mod lane;
mod new;
mod order;
mod pipes;
mod postgres;
mod quotes;
#[path = "../../../../tests/support/random.rs"]
mod random;
mod real;
mod resume;
mod risk;
mod shell;
#[cfg(unix)]
mod signals;
mod stats;
mod tag;
mod zones;

use std::fmt::Display;
use std::io::{self, Write};

use assert_cmd::Command;
use imid::MessageId;

/// The result of a run: exit status, standard output and standard error.
struct Ran {
    status: i32,
    out: String,
    err: String,
}

/// Runs `imid` with arguments (separated by spaces) and input.
fn imid(args: &str, input: impl Into<Vec<u8>>) -> Ran {
    imid_args(&args.split_whitespace().collect::<Vec<_>>(), input)
}

fn imid_args(args: &[&str], input: impl Into<Vec<u8>>) -> Ran {
    let output = command().args(args).write_stdin(input).output().expect("imid starts");
    let text = |bytes| String::from_utf8(bytes).expect("imid prints UTF-8");
    Ran {
        status: output.status.code().expect("imid ends by itself"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Returns the tool in an environment that does not change its output.
fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_imid"));
    command
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("TERM")
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("CLICOLOR");
    command
}

/// Returns the commands of the tool, and those inside of them, as `--help` lists them.
fn commands() -> Vec<String> {
    commands_of("")
}

/// Returns the commands inside of one, each with the commands inside of it.
fn commands_of(command_line: &str) -> Vec<String> {
    let ran = command().args(command_line.split_whitespace()).arg("--help").env("COLUMNS", "200").output();
    let help = String::from_utf8(ran.expect("imid starts").stdout).expect("imid prints UTF-8");
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let names = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let names = names.filter(|name| *name != "help").map(|name| format!("{command_line} {name}").trim().to_owned());
    names.flat_map(|name| [vec![name.clone()], commands_of(&name)].concat()).collect()
}

impl Ran {
    /// Returns the output of a run without an error.
    fn ok(self) -> String {
        assert_eq!((self.status, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// Returns the first line of standard error.
    fn error_line(&self) -> &str {
        self.err.lines().next().unwrap_or_default()
    }

    /// Returns the error of a run without output.
    fn error(self, status: i32) -> String {
        assert_eq!((self.status, self.out.as_str()), (status, ""), "{}", self.err);
        let error = self.err.strip_prefix("error: ").expect("an error starts with `error: `");
        error.lines().next().unwrap_or_default().to_owned()
    }
}

/// Reports that a test cannot run on this machine. `ci/tests.sh` collects these lines. libtest would capture `eprintln!`.
fn skip(test: &str, reason: impl Display) {
    // One write, so that no other process splits the line.
    let line = format!("skipped: {test}: {reason}\n");
    io::stderr().write_all(line.as_bytes()).expect("standard error can be written");
}

fn ids(text: &str) -> Vec<MessageId> {
    text.lines().map(|line| line.parse().expect("a line is an ID")).collect()
}

#[test]
fn a_whole_number_can_have_an_exponent_or_a_unit() {
    for (number, count) in [("1e3", 1_000), ("2k", 2_000), ("1.5K", 1_500), ("7", 7), ("0e9", 0)] {
        assert_eq!(imid(&format!("new -n {number}"), "").ok().lines().count(), count, "{number}");
    }
    let risk = |rate: &str, rooms: &str| imid(&format!("risk --hosts 8 --rate {rate} --rooms {rooms}"), "").ok();
    assert_eq!(risk("100k", "1M"), risk("1e5", "1000000"));
    for wrong in ["1.5", "1e-3", "1e20", "k", "1kk", "1e3k", "1_000"] {
        let error = imid(&format!("new -n {wrong}"), "").error(2);
        assert!(error.starts_with("-n: expected a whole number from 0 to "), "{error}");
    }
}

#[test]
fn a_wrong_value_of_an_argument_is_an_error_of_one_line() {
    for args in [
        "new -n x",
        "new -n -1",
        "new -n 18446744073709551616",
        "new --dialect leaf",
        "tag --session-field s --seed -1",
        "tag --session-field s --type x",
        "tag --session-field s --after x",
        "range --from x --to 5",
        "risk --hosts 0 --rate 1",
        "risk --hosts 2 --rate 0",
        "risk --hosts 2 --rate inf",
        "risk --hosts 2 --rate 1 --rooms 1.5",
        "risk --hosts 2 --rate 1 --zipf -1",
        "risk --hosts 2 --rate 1 --busiest 1,x",
        "inspect --shards 0",
        "check --in xml",
        "new --format xml",
        "new --dialect",
    ] {
        let run = imid(args, "");
        assert_eq!((run.status, run.out.as_str(), run.err.lines().count()), (2, "", 1), "{args}: {}", run.err);
        assert!(run.err.starts_with("error: -") && run.err.contains(": "), "{args}: {}", run.err);
    }
}
