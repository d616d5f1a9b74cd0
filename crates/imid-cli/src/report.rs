//! What goes wrong, and where it is told: one line on standard error for each.

use std::fmt::Display;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use indicatif::ProgressBar;

/// Why a command ends early.
pub(crate) enum Stop {
    /// Something is wrong in the input, or it cannot be read.
    Error(String),
    /// Arguments that are fine one by one do not go together.
    Usage(String),
    /// Standard output takes no more.
    Output(io::Error),
}

/// Commands write to nothing but standard output; errors of reading are [`Stop::Error`], with the name of the file.
impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Tells errors, and remembers whether there were any.
pub(crate) struct Report {
    keep_going: bool,
    errors: bool,
    /// Stands on standard error too, so that whatever is told has to be told above it.
    bar: ProgressBar,
}

const ERROR: Style = AnsiColor::Red.on_default().bold();

impl Report {
    pub(crate) fn new(keep_going: bool) -> Self {
        Self { keep_going, errors: false, bar: ProgressBar::hidden() }
    }

    /// Tells everything above this bar from now on.
    pub(crate) fn set_bar(&mut self, bar: ProgressBar) {
        self.bar = bar;
    }

    /// What is wrong with one line or ID: ends the command, or is told and passed over.
    pub(crate) fn bad(&mut self, place: impl Display, what: impl Display) -> Result<(), Stop> {
        let message = format!("{place}: {what}");
        if !self.keep_going {
            return Err(Stop::Error(message));
        }
        self.error(message);
        Ok(())
    }

    /// Tells an error; the exit status will say so too.
    pub(crate) fn error(&mut self, message: impl Display) {
        self.errors = true;
        self.note(format_args!("{ERROR}error:{ERROR:#} {message}"));
    }

    /// Lets the exit status say that something is wrong, which the output has told.
    pub(crate) fn fail(&mut self) {
        self.errors = true;
    }

    /// Tells what is no error.
    pub(crate) fn note(&self, message: impl Display) {
        // Where standard error takes nothing, the exit status still tells. `eprintln` would panic.
        let _ = self.bar.suspend(|| writeln!(anstream::stderr(), "{message}"));
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors
    }
}

/// The longest piece of input that an error shows, in characters.
const SHOWN: usize = 60;

/// A piece of input as an error shows it: in quotes, control characters escaped, a long one cut.
pub(crate) fn quote(text: &str) -> String {
    let (shown, rest) = cut(text);
    format!("{shown:?}{rest}")
}

/// A JSON value as an error shows it: as it stands there, but control characters escaped and a long one cut.
pub(crate) fn plain(value: &str) -> String {
    let (shown, rest) = cut(value);
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    shown.chars().map(escaped).chain([rest.to_owned()]).collect()
}

/// The part of a text that is shown, and what stands for the rest.
fn cut(text: &str) -> (&str, &str) {
    text.char_indices().nth(SHOWN).map_or((text, ""), |(end, _)| (&text[..end], "..."))
}
