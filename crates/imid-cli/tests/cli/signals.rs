//! SIGINT and SIGTERM.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use imid::MessageId;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The tool with the signals' default actions. A shell starts background jobs with SIGINT ignored, and this test may be one.
fn tool(args: &str) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_imid")]);
    command.args(args.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

#[test]
fn a_signal_while_the_tool_waits_for_input_ends_it_and_names_the_last_id() {
    for (sent, name) in [(Signal::SIGINT, "SIGINT"), (Signal::SIGTERM, "SIGTERM"), (Signal::SIGHUP, "SIGHUP")] {
        let mut child = tool("tag --session-field s").spawn().unwrap();
        // Stays open, so that the tool waits for more.
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"{\"s\":1}\n\n{\"s\":2}\n").unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let last = output.by_ref().map(Result::unwrap).nth(2).unwrap();
        signal(&child, sent);
        let ended = child.wait_with_output().unwrap();
        drop(input);
        assert_eq!(ended.status.signal(), Some(sent as i32));
        let id = &last[last.len() - MessageId::TEXT_LEN - 2..last.len() - 2];
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(err, format!("ended by {name} after line 3; the last ID is {id}\n"));
    }
}

#[test]
fn a_signal_at_the_first_line_is_handled() {
    // Each run has one chance to write a line before the signals are handled.
    for _ in 0..100 {
        let mut child = tool("tag --session-field s").spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"{\"s\":1}\n").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        signal(&child, Signal::SIGTERM);
        let ended = child.wait_with_output().unwrap();
        drop(input);
        assert!(ended.stdout.ends_with(b"\"}\n"));
        let err = String::from_utf8(ended.stderr).unwrap();
        assert!(err.starts_with("ended by SIGTERM after line 1; the last ID is "), "{err}");
    }
}

/// Sends SIGTERM as soon as the output file has some lines. Returns the file's content and the messages.
fn ended_while_writing(args: &str, line: &[u8]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    let mut child = tool(args).stdout(File::create(&path).unwrap()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines = line.repeat(1_000);
    let writer = thread::spawn(move || while !lines.is_empty() && input.write_all(&lines).is_ok() {});
    let start = Instant::now();
    while fs::metadata(&path).unwrap().len() < 100_000 {
        assert!(start.elapsed() < Duration::from_secs(60), "{args}: no output");
        thread::sleep(Duration::from_millis(1));
    }
    signal(&child, Signal::SIGTERM);
    let ended = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(ended.status.signal(), Some(Signal::SIGTERM as i32), "{args}");
    (fs::read_to_string(&path).unwrap(), String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn a_signal_during_a_run_leaves_whole_lines_in_the_file() {
    for _ in 0..5 {
        // 37 bytes: no block of the output ends with a line by chance.
        let (written, err) = ended_while_writing(
            "tag --session-field s --any-time --time-field t",
            b"{\"s\":1,\"text\":\"0123456789\",\"t\":12345}\n",
        );
        assert!(written.ends_with("\"}\n"));
        let last = &written[written.len() - MessageId::TEXT_LEN - 3..written.len() - 3];
        let expected = format!("ended by SIGTERM after line {}; the last ID is {last}\n", written.lines().count());
        assert_eq!(err, expected);

        // The integer is written in pieces.
        let (written, _) =
            ended_while_writing("tag --session-field s --id-form int", b"{\"s\":1,\"text\":\"0123456789\"}\n");
        assert!(written.ends_with("\"}\n"));

        // A record has several lines.
        let (written, err) = ended_while_writing(
            "tag --session-field s --id-form int --in csv",
            b"s,text\n1,\"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\"\n",
        );
        // Each line of the text is short, so a line end is seldom the end of a record.
        assert!(written.ends_with('\n') && !written.ends_with("j\"\n"));
        let mut records = csv::Reader::from_reader(written.as_bytes());
        assert!(records.records().all(|record| record.is_ok_and(|record| record.len() == 3)), "{err}");

        let (written, err) = ended_while_writing("inspect --json", b"2222-2222-2222-2222\n");
        assert_eq!((written.ends_with("}\n"), err.as_str()), (true, "ended by SIGTERM\n"));
        let (written, _) = ended_while_writing("new -n 1000000000", b"");
        assert!(written.ends_with('\n') && written.lines().all(|line| line.len() == MessageId::TEXT_LEN));
    }
}

#[test]
fn a_signal_that_the_parent_ignores_does_not_end_the_tool() {
    let script = format!(
        "trap '' INT; (sleep 0.3; echo '{{\"s\":1}}') | {} tag --session-field s & sleep 0.1; kill -INT $!; wait $!",
        env!("CARGO_BIN_EXE_imid")
    );
    let ran = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(ran.stdout.starts_with(b"{\"s\":1,\"id\":\""));
}
