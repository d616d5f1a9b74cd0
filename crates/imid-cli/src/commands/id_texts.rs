//! IDs that are given as arguments, or as lines of standard input.

use std::fmt;

use crate::Out;
use crate::input::{Input, trim_line_end, utf8};
use crate::report::Stop;

/// The arguments that are IDs.
#[derive(clap::Args)]
pub(super) struct IdTexts {
    /// IDs; without IDs, or with -, standard input is read, one ID per line
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,
}

impl IdTexts {
    /// Returns whether there is one ID, which is an argument.
    pub(super) fn is_one(&self) -> bool {
        self.ids.len() == 1 && !self.is_stdin()
    }

    /// Returns whether no ID is given as an argument.
    pub(super) fn are_none(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns whether the texts are lines of standard input.
    pub(super) fn are_lines(&self) -> bool {
        self.is_stdin()
    }

    fn is_stdin(&self) -> bool {
        self.ids.is_empty() || self.ids == ["-"]
    }

    /// Passes each text to `each`, or the error for a line that has no text. Blank lines are skipped.
    ///
    /// Flushes the output before it waits for more input. A `-` among other arguments is an error, because it can only stand
    /// for all IDs.
    pub(super) fn each(
        &self,
        out: &mut Out,
        mut each: impl FnMut(&mut Out, Place, Result<&str, String>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if !self.is_stdin() {
            if self.ids.iter().any(|text| text == "-") {
                let problem = "expected no other IDs with it, because it stands for standard input";
                return Err(Stop::Usage(format!("-: {problem}")));
            }
            let mut texts = (1..).zip(&self.ids);
            return texts.try_for_each(|(number, text)| each(out, Place { noun: "argument", number }, Ok(text)));
        }
        Input::open(None, "IDs, one per line,")?.without_mark().each_line(out, |out, number, line| {
            if line.as_ref().is_ok_and(|line| line.trim_ascii().is_empty()) {
                return Ok(());
            }
            each(out, Place { noun: "line", number }, line.and_then(|line| utf8(trim_line_end(line))))
        })
    }
}

/// The place of an ID, for messages.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// "line" or "argument".
    pub(super) noun: &'static str,
    /// Counts from 1.
    pub(super) number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.noun, self.number)
    }
}
