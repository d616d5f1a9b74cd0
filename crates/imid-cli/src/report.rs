//! Errors and notes on standard error, one line each.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};

use crate::time::rfc3339;

/// Why a command ends early.
pub(crate) enum Stop {
    /// The input is wrong or cannot be read.
    Error(String),
    /// Each argument is valid, but the arguments cannot be used together.
    Usage(String),
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Stop {
    /// The error if there is not enough memory.
    pub(crate) fn out_of_memory() -> Self {
        Self::Error("out of memory".into())
    }
}

/// Commands write only to standard output. Read errors are [`Stop::Error`], with the name of the file.
impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The argument of commands that read many IDs or lines.
#[derive(clap::Args)]
pub(crate) struct KeepGoing {
    /// After a bad line or ID, report it and continue with the next one; the exit status is still 1
    #[arg(long)]
    pub(crate) keep_going: bool,
}

/// Prints errors, and notes whether there were errors.
#[derive(Default)]
pub(crate) struct Report {
    keep_going: bool,
    /// When the next line of progress is due.
    progress_due: Option<Instant>,
    /// The exit status.
    status: u8,
}

/// The exit status for wrong arguments, and of `grep` for a file that cannot be read.
pub(crate) const USAGE: u8 = 2;

const ERROR: Style = AnsiColor::Red.on_default().bold();

impl Report {
    /// Sets whether the command continues after bad input.
    pub(crate) fn keep_going(&mut self, args: &KeepGoing) {
        self.keep_going = args.keep_going;
    }

    /// Reports one bad line or ID. Without `--keep-going` this ends the command.
    pub(crate) fn bad_input(&mut self, place: impl Display, problem: impl Display) -> Result<(), Stop> {
        let message = format!("{place}: {problem}");
        if !self.keep_going {
            return Err(Stop::Error(message));
        }
        self.error(message);
        Ok(())
    }

    /// Prints an error and sets the exit status to 1.
    pub(crate) fn error(&mut self, message: impl Display) {
        self.set_failed();
        self.print(format_args!("{ERROR}error:{ERROR:#} {message}"));
    }

    /// Prints something that the user should know, but that is not an error.
    pub(crate) fn note(&self, message: impl Display) {
        self.print(format_args!("note: {message}"));
    }

    /// Sets the exit status to 1.
    pub(crate) fn set_failed(&mut self) {
        self.status = self.status.max(1);
    }

    /// Prints a line, such as the result of a run.
    #[expect(clippy::unused_self, reason = "a command that has no report prints no messages")]
    pub(crate) fn print(&self, message: impl Display) {
        // If standard error cannot be written, the exit status still reports the error. `eprintln` would panic.
        let _ = writeln!(anstream::stderr(), "{message}");
    }

    /// Shows a person who waits how many lines are done, and the time of the last ID: a line every ten seconds on a terminal.
    pub(crate) fn progress(&mut self, done: impl FnOnce() -> (u64, Option<u64>)) {
        const EVERY: Duration = Duration::from_secs(10);
        let now = Instant::now();
        let due = *self.progress_due.get_or_insert(now + EVERY);
        if now >= due && io::stderr().is_terminal() {
            self.progress_due = Some(now + EVERY);
            let (lines, time) = done();
            let time = time.map(|ms| format!(", {}", rfc3339(ms)[..16].replace('T', " "))).unwrap_or_default();
            self.print(format_args!("{lines} lines{time}"));
        }
    }

    /// Reports a file that cannot be read. The exit status is 2, as that of other tools which search.
    pub(crate) fn unreadable(&mut self, message: impl Display) {
        self.status = USAGE;
        self.error(message);
    }

    /// Reports how the run ended and returns its exit status. `cannot_write` names the output.
    pub(crate) fn end(&mut self, result: Result<(), Stop>, cannot_write: fn(&io::Error) -> String) -> ExitCode {
        match result {
            Ok(()) => {}
            Err(Stop::Error(message)) => self.error(message),
            Err(Stop::Usage(message)) => {
                self.error(message);
                return ExitCode::from(USAGE);
            }
            Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(Stop::Output(error)) => self.error(cannot_write(&error)),
        }
        ExitCode::from(self.status)
    }
}

/// The longest piece of input that an error shows, in characters.
const MAX_SHOWN: usize = 60;

/// Formats a piece of input for an error: in quotes, with control characters escaped, shortened if it is long.
pub(crate) fn quote(text: &str) -> String {
    let (shown, ellipsis) = shorten(text);
    format!("{shown:?}{ellipsis}")
}

/// Formats the name of a file for an error.
pub(crate) fn quote_path(path: &Path) -> String {
    quote(&path.to_string_lossy())
}

/// Returns the error for a value that is not one of the possible ones.
pub(crate) fn expected_one_of(values: &[impl AsRef<str>], found: Option<&str>) -> String {
    let values: Vec<_> = values.iter().map(AsRef::as_ref).collect();
    format!("expected one of {}, found {}", values.join(", "), found.map_or_else(|| "no value".into(), quote))
}

/// Formats a JSON value for an error: as it is in the line, but with control characters escaped, shortened if it is
/// long.
pub(crate) fn quote_json(value: &str) -> String {
    let (shown, ellipsis) = shorten(value);
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    shown.chars().map(escaped).chain([ellipsis.to_owned()]).collect()
}

/// Returns the part of a text that is shown, and the sign for the rest.
fn shorten(text: &str) -> (&str, &str) {
    text.char_indices().nth(MAX_SHOWN).map_or((text, ""), |(end, _)| (&text[..end], "..."))
}
