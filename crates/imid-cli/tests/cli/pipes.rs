//! Pipes: readers that close early, slow writers, endless input.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use crate::{imid, skip};

fn start(args: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_imid"))
        .args(args.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("imid starts")
}

#[test]
fn a_reader_that_closes_early_ends_the_run_without_an_error() {
    let mut child = start("new -n 100000000");
    let mut first = [0; 20];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn the_result_of_each_line_is_written_before_the_next_line_is_read() {
    for (args, line) in [("tag --session-field s", "{\"s\":1}\n"), ("inspect --json", "2222-2222-2222-2222\n")] {
        let mut child = start(args);
        let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        for _ in 0..3 {
            input.write_all(line.as_bytes()).unwrap();
            let mut answer = String::new();
            output.read_line(&mut answer).unwrap();
            assert!(answer.ends_with("}\n"), "{args}: {answer}");
        }
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

/// Returns a file that cannot be written, if the system has one.
fn full(test: &str) -> Option<File> {
    File::options()
        .write(true)
        .open("/dev/full")
        .inspect_err(|error| skip(test, format_args!("/dev/full: {error}")))
        .ok()
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let Some(full) = full("output_that_cannot_be_written_is_an_error") else { return };
    let ended = Command::new(env!("CARGO_BIN_EXE_imid")).arg("new").stdout(full).output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(err.starts_with("error: cannot write to standard output: "), "{err}");
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let Some(full) = full("help_that_cannot_be_written_is_an_error") else { return };
    for args in ["--help", "tag --help", "--version"] {
        let full = full.try_clone().unwrap();
        let ended = Command::new(env!("CARGO_BIN_EXE_imid")).args(args.split(' ')).stdout(full).output().unwrap();
        assert_eq!(ended.status.code(), Some(1), "{args}");
        assert!(ended.stderr.starts_with(b"error: cannot write to standard output: "), "{args}");
    }
}

#[test]
fn errors_that_cannot_be_written_still_set_the_exit_status() {
    let Some(full) = full("errors_that_cannot_be_written_still_set_the_exit_status") else { return };
    let status = Command::new(env!("CARGO_BIN_EXE_imid")).args(["inspect", "x"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_line_that_is_too_long_is_one_bad_line() {
    let long = [vec![b'x'; (1 << 26) + 5], b"\n{\"s\":1}\n".to_vec()].concat();
    let run = imid("tag --session-field s --keep-going", long);
    assert_eq!((run.status, run.out.lines().count()), (1, 1));
    assert_eq!(run.err, "error: line 1: expected a line of at most 67108864 bytes, found a longer one\n");
}

/// Returns the peak memory of a run in KiB, after it has read so many lines, and after it has read all of them.
#[cfg(target_os = "linux")]
fn peak_memory(args: &str, line: &str, lines: [usize; 2]) -> [u64; 2] {
    let mut child = start(args);
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()).unwrap());
    let block = format!("{line}\n").repeat(1_000);
    let peaks = [lines[0], lines[1] - lines[0]].map(|lines| {
        for _ in 0..lines / 1_000 {
            input.write_all(block.as_bytes()).unwrap();
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    });
    drop(input);
    child.wait().unwrap();
    reader.join().unwrap();
    peaks
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_input() {
    let message = r#"{"s":"a name","text":"a message of ordinary length","t":1763640000000}"#;
    for (args, line) in [
        ("tag --session-field s --time-field t", message),
        ("check --id-field s", message),
        ("check", "2222-2222-2222-2222"),
        ("stats", "2222-2222-2222-2222"),
        ("inspect --json", "2222-2222-2222-2222"),
    ] {
        let [few, many] = peak_memory(args, line, [20_000, 80_000]);
        // An ID alone has 10 bytes: 60,000 of them are 586 KiB.
        assert!(many < few + 512, "{args}: {few} KiB for 20,000 lines, {many} KiB for 80,000");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn too_little_memory_is_one_line_and_status_1() {
    // A line of 50 MB does not fit into 60 MB together with the tool, because its buffer has a power of two bytes.
    let long_line = vec![b' '; 50_000_000];
    // Each line grows by the name of the field.
    let growing = format!("tag --session-field s --id-field {}", "x".repeat(100_000));
    for (args, input) in [
        ("tag --session-field s", &long_line),
        ("check", &long_line),
        ("stats", &long_line),
        ("inspect", &long_line),
        (&growing, &b"{\"s\":1}\n".repeat(10_000)),
    ] {
        let limited = format!("ulimit -v 60000; exec {} {args}", env!("CARGO_BIN_EXE_imid"));
        // The tool may end before it has read all of its input.
        let ran = assert_cmd::Command::new("sh").args(["-c", &limited]).write_stdin(input.as_slice()).output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr);
        assert_eq!((ran.status.code(), err.as_ref()), (Some(1), "error: out of memory\n"), "{args:.40}");
    }
}

#[test]
fn a_line_of_a_longer_text_is_read_as_in_an_argument() {
    let words = [
        "\"fefefefefefefefe\",",
        "0xfefefefefefefefe",
        "APPLETVSIMULATOR",
        "\"EUNCQ8QJ22GHT3DD\"",
        "66a8ab1ad0001cfc856b",
        "1169786042799259000",
        "476098943286636231558507",
        "EUNC-Q8QJ-22GH-T3DD",
        "\\x66a8ab1ad0001cfc856b",
        "<Buffer 66 a8 ab 1a d0 00 1c fc 85 6b>",
        "b'f\\xa8\\xab\\x1a\\xd0\\x00\\x1c\\xfc\\x85k'",
        "b\"SELECT 1\\r\\n\"",
    ];
    let shown = |ran: &crate::Ran| ran.out.lines().filter(|line| line.starts_with("UTC ")).count();
    for word in words {
        let text = format!("The customer says:\n{word}\nand no more.\n");
        let piped = imid("inspect", text.as_str());
        let argument = crate::imid_args(&["inspect", &text], "");
        assert_eq!((piped.status, shown(&piped)), (argument.status, shown(&argument)), "{word}: {}", piped.err);
    }
    // A list of IDs can have a header.
    for id in ["EUNCQ8QJ22GHT3DD", "66a8ab1ad0001cfc856b", "476098943286636231558507"] {
        for header in ["id", "| id |", "Message IDs:"] {
            assert_eq!(shown(&imid("inspect", format!("{header}\n{id}\n"))), 1, "{header} {id}");
        }
    }
}
