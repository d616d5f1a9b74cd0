//! The tool on a terminal: what it waits for.

use std::fs::File;
use std::io::{Read, Write};
use std::iter;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use nix::pty::{Winsize, openpty};

/// A terminal of 80 columns, and what is shown on it.
struct Screen {
    keys: File,
    shown: Receiver<Vec<u8>>,
    text: String,
}

impl Screen {
    /// Runs a command with standard error on a terminal, and standard input too if no other is given.
    fn run(args: &[&str], stdin: Option<Stdio>, stdout: Stdio) -> (Self, Child) {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let slave = || Stdio::from(pty.slave.try_clone().unwrap());
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", "TERM=xterm", "LC_ALL=C.UTF-8", env!("CARGO_BIN_EXE_imid")]).args(args);
        let child = command.stdin(stdin.unwrap_or_else(slave)).stdout(stdout).stderr(slave()).spawn().unwrap();
        let mut master = File::from(pty.master);
        let keys = master.try_clone().unwrap();
        let (sender, shown) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 1 << 12];
            // The end is an error on Linux.
            while let Ok(read @ 1..) = master.read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        (Self { keys, shown, text: String::new() }, child)
    }

    /// Takes what the terminal shows until it has shown nothing for so long.
    fn read_for(&mut self, time: Duration) {
        while let Ok(more) = self.shown.recv_timeout(time) {
            self.text += &String::from_utf8_lossy(&more);
        }
    }

    /// Waits until the terminal has shown a text.
    fn wait_for(&mut self, text: &str) {
        while !self.text.contains(text) {
            let more = self.shown.recv_timeout(Duration::from_secs(60));
            let more = more.unwrap_or_else(|_| panic!("{text:?} is not in {:?}", self.text));
            self.text += &String::from_utf8_lossy(&more);
        }
    }

    /// Returns all that was shown.
    fn end(mut self) -> String {
        // The other side is closed when the command has ended.
        self.read_for(Duration::from_millis(300));
        self.text
    }
}

#[test]
fn a_command_that_waits_for_a_person_says_for_what() {
    const ID: &str = "2222-2222-2222-2222";
    for (args, what, typed) in [
        ("inspect", "IDs, one per line,", ID),
        ("grep --dialect standard", "text", ID),
        ("check", "IDs or JSON objects, one per line,", ID),
        ("stats", "IDs or JSON objects, one per line,", ID),
        ("tag --session-field s", "messages as JSON lines", "{\"s\":1}"),
        ("tag --session-field s --in csv", "a table with a header", "s\n1"),
    ] {
        let (mut screen, mut child) = Screen::run(&args.split(' ').collect::<Vec<_>>(), None, Stdio::null());
        screen.wait_for(&format!("note: waiting for {what} on standard input; Ctrl-D ends it"));
        screen.keys.write_all(format!("{typed}\n\x04").as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{args}: {}", screen.end());
    }
    // A file is not waited for.
    let (screen, mut child) = Screen::run(&["inspect", ID], None, Stdio::null());
    assert!(child.wait().unwrap().success());
    assert_eq!(screen.end(), "");
}

#[test]
fn a_person_who_waits_sees_what_is_done() {
    let line = "{\"room\":\"a\",\"at\":1763640000000}\n";
    // Both wait at once.
    thread::scope(|scope| {
        for (args, line) in [("tag --session-field room --time-field at", line), ("check", "EUN6-KDW2-5J2G-DUMH\n")] {
            scope.spawn(move || {
                let args: Vec<_> = args.split(' ').collect();
                let (mut screen, mut child) = Screen::run(&args, Some(Stdio::piped()), Stdio::null());
                let mut input = child.stdin.take().unwrap();
                // The ten seconds begin when the first line is read, which is late on a busy machine.
                let waits = [0, 10_100].into_iter().chain(iter::repeat(500));
                for (written, wait) in waits.take(120).enumerate() {
                    thread::sleep(Duration::from_millis(wait));
                    input.write_all(line.as_bytes()).unwrap();
                    screen.read_for(Duration::from_millis(100));
                    if let Some((lines, _)) = screen.text.split_once(" lines, 2025-11-20 12:00") {
                        let lines = lines.split_whitespace().next_back().unwrap();
                        assert!((2..=written + 1).contains(&lines.parse().unwrap()), "{:?}", screen.text);
                        break;
                    }
                }
                assert!(screen.text.contains(" lines, 2025-11-20 12:00"), "{:?}", screen.text);
                drop(input);
                child.wait().unwrap();
            });
        }
    });
}
