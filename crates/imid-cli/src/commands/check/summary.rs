//! The result of a check.

use std::io::Write;

use serde::Serialize;

use crate::commands::stored::Counts;
use crate::report::Stop;

/// The result, in the order of the output.
#[derive(Serialize)]
pub(super) struct Summary {
    #[serde(flatten)]
    pub(super) counts: Counts,
    /// Number of IDs that are equal to the ID before them.
    pub(super) equal: u64,
    /// Number of IDs that are lower than the ID before them.
    pub(super) lower: u64,
    pub(super) sorted: bool,
    /// Number of IDs that repeat another one; `None` if it is not known.
    pub(super) duplicates: Option<u64>,
    pub(super) first_time: Option<String>,
    pub(super) last_time: Option<String>,
}

impl Summary {
    pub(super) fn write(&self, out: &mut impl Write) -> Result<(), Stop> {
        let none = || "none".to_owned();
        let duplicates = self
            .duplicates
            .map_or_else(|| "unknown: the input is not sorted (use --unsorted)".into(), |count| count.to_string());
        let rows = [
            ("equal", self.equal.to_string()),
            ("lower", self.lower.to_string()),
            ("duplicates", duplicates),
            ("first time", self.first_time.clone().unwrap_or_else(none)),
            ("last time", self.last_time.clone().unwrap_or_else(none)),
        ];
        for (name, value) in self.counts.rows().into_iter().chain(rows) {
            writeln!(out, "{name:<12}{value}")?;
        }
        Ok(())
    }
}
