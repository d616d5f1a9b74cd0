//! The tool on a terminal: what it waits for, and its progress bar.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

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
        while let Ok(more) = self.shown.recv_timeout(Duration::from_millis(300)) {
            self.text += &String::from_utf8_lossy(&more);
        }
        self.text
    }
}

#[test]
fn a_command_that_waits_for_a_person_says_for_what() {
    const ID: &str = "2222-2222-2222-2222";
    for (args, what, typed) in [
        ("inspect", "IDs, one per line,", ID),
        ("shard -n 8", "IDs, one per line,", ID),
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

/// Returns the parts of a text between control sequences and line ends.
fn pieces(shown: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut characters = shown.chars();
    while let Some(character) = characters.next() {
        match character {
            '\x1b' => {
                let _ = characters.by_ref().find(char::is_ascii_alphabetic);
                pieces.push(String::new());
            }
            '\r' | '\n' => pieces.push(String::new()),
            character => pieces.last_mut().unwrap().push(character),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[test]
fn the_progress_bar_fits_the_terminal_and_is_gone_after_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in");
    let line = "{\"s\":1,\"t\":1763640000000,\"id\":\"EUNC-Q8QJ-22GH-T3DD\"}\n";
    fs::write(&path, line.repeat(200_000)).unwrap();
    let path = path.to_str().unwrap();
    // The time that is left comes later.
    let is_bar = |piece: &String| piece.contains(" of ") && piece.contains("MiB");
    for args in [
        &["tag", "--session-field", "s", "--overwrite", path][..],
        &["check", "--unsorted", "--json", path],
        &["stats", "--json", path],
        &["check", "--json", path, path],
    ] {
        for is_stopped in [false, true] {
            let (mut screen, mut child) = Screen::run(args, None, Stdio::null());
            screen.wait_for(" of ");
            if is_stopped {
                kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
            }
            let status = child.wait().unwrap();
            let shown = screen.end();
            assert_eq!(status.signal(), is_stopped.then_some(Signal::SIGINT as i32), "{args:?}: {shown:?}");
            let pieces = pieces(&shown);
            let bars = pieces.iter().filter(|piece| is_bar(piece));
            let longest = bars.map(|piece| piece.chars().count()).max();
            assert!(longest.is_some_and(|longest| (60..=80).contains(&longest)), "{args:?}: {pieces:?}");
            // What comes after the bar is not the bar.
            let last_bar = pieces.iter().rposition(is_bar).unwrap();
            if is_stopped {
                assert_eq!(last_bar, pieces.len() - 2, "{args:?}: {pieces:?}");
                assert!(pieces[last_bar + 1].starts_with("ended by SIGINT"), "{args:?}: {pieces:?}");
            }
            let after = &shown[shown.rfind("MiB").unwrap()..];
            assert!(after.contains("\x1b[2K"), "{args:?}: the bar is not removed: {after:?}");
        }
    }
}
