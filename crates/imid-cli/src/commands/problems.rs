//! The problems that a command finds in its input, and their places.

use crate::report::Report;

/// Prints the first problems, and notes that there were problems.
pub(super) struct Problems<'a> {
    report: &'a mut Report,
    found: u64,
    /// The files that were read, each with the number of lines before it. Empty if there is only one.
    files: Vec<(String, u64)>,
}

impl<'a> Problems<'a> {
    const MAX_PRINTED: u64 = 10;

    pub(super) fn new(report: &'a mut Report) -> Self {
        Self { report, found: 0, files: Vec::new() }
    }

    /// Notes that the next lines are in this file.
    pub(super) fn begin_file(&mut self, name: &str, lines_before: u64) {
        self.files.push((name.to_owned(), lines_before));
    }

    /// Returns the file and the line of a line, which has this number among the lines of all files.
    pub(super) fn place(&self, number: u64) -> String {
        match self.files.iter().rfind(|(_, before)| *before < number) {
            Some((name, before)) => format!("{name}:{}", number - before),
            None => format!("line {number}"),
        }
    }

    /// Returns the places of several lines.
    pub(super) fn places(&self, numbers: &[u64]) -> String {
        let is_one_file = self.files.is_empty();
        let place = |number: &u64| if is_one_file { number.to_string() } else { self.place(*number) };
        let places: Vec<_> = numbers.iter().map(place).collect();
        format!("{}{}", if is_one_file { "lines " } else { "" }, places.join(", "))
    }

    /// Shows a person who waits how many lines are done, and the time of the last ID.
    pub(super) fn progress(&mut self, lines: u64, last_ms: Option<u64>) {
        self.report.progress(|| (lines, last_ms));
    }

    pub(super) fn add(&mut self, message: impl FnOnce() -> String) {
        self.report.set_failed();
        self.found += 1;
        if self.found <= Self::MAX_PRINTED {
            self.report.error(message());
        } else if self.found == Self::MAX_PRINTED + 1 {
            self.report.note("only the first 10 problems are shown; the summary counts all of them");
        }
    }
}
