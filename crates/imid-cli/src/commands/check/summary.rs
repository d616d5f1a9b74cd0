//! The result of a check.

use std::io::Write;

use serde::Serialize;

use crate::report::Stop;

/// Numbers of lines. `lines` is the sum of `valid`, `invalid` and `blank`.
#[derive(Default, Serialize)]
pub(super) struct Counts {
    pub(super) lines: u64,
    pub(super) valid: u64,
    pub(super) invalid: u64,
    pub(super) blank: u64,
    /// Lines with the same ID as the line before.
    pub(super) equal: u64,
    /// Lines with a lower ID than the line before.
    pub(super) lower: u64,
}

/// The result, in the order of the output.
#[derive(Serialize)]
pub(super) struct Summary {
    #[serde(flatten)]
    pub(super) counts: Counts,
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
            ("lines", self.counts.lines.to_string()),
            ("valid", self.counts.valid.to_string()),
            ("invalid", self.counts.invalid.to_string()),
            ("blank", self.counts.blank.to_string()),
            ("equal", self.counts.equal.to_string()),
            ("lower", self.counts.lower.to_string()),
            ("duplicates", duplicates),
            ("first time", self.first_time.clone().unwrap_or_else(none)),
            ("last time", self.last_time.clone().unwrap_or_else(none)),
        ];
        for (name, value) in rows {
            writeln!(out, "{name:<12}{value}")?;
        }
        Ok(())
    }
}
