//! What a case found, and the words for it in the table.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Durations that pass for «at once»: a scheduler's slice, and a libfaketime call or two.
const AT_ONCE: Duration = Duration::from_millis(10);
/// An ID's time may lie this far ahead of the clock before it is worth a word.
const NEAR: Duration = Duration::from_millis(100);

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// IDs minted, in all processes of the case.
    pub minted: usize,
    /// IDs that were minted before: `minted` less the distinct ones.
    pub duplicates: usize,
    /// Whether IDs rose strictly before the fault.
    pub rose_before: bool,
    /// Whether they rose strictly across it, too.
    pub rose: bool,
    /// From the fault to the first ID after it.
    pub outage: Duration,
    /// The longest single call after the fault.
    pub longest_call: Duration,
    /// How far the last ID's time is ahead of the clock.
    pub ahead: Duration,
    /// Over which time the IDs were minted, where the case measures a rate.
    pub measured: Option<Duration>,
    /// Calls that returned an error after the fault.
    pub errors: u64,
    /// How the case ended, if not well.
    pub end: Option<End>,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum End {
    /// The generator panicked, with this message.
    Panic(String),
    /// No ID came within this time.
    Hang(Duration),
    /// The forked child panicked.
    ChildPanic,
    /// The forked child did not finish its IDs within this time.
    ChildHang(Duration),
}

impl Outcome {
    /// Counts the duplicates of `ids` and looks at their order; the fault came before `ids[fault]`.
    pub fn count(&mut self, ids: &[u128], fault: usize) {
        let rises = |ids: &[u128]| ids.is_sorted_by(|a, b| a < b);
        self.minted = ids.len();
        self.duplicates = duplicates(ids);
        self.rose_before = rises(&ids[..fault]);
        self.rose = rises(ids);
    }
}

/// The IDs less the distinct ones.
pub fn duplicates(ids: &[u128]) -> usize {
    ids.len() - ids.iter().collect::<HashSet<_>>().len()
}

/// A cell of the table: what went wrong, the worst first, or that nothing did.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        match &self.end {
            Some(End::Panic(_)) => words.push("panics".to_owned()),
            Some(End::Hang(after)) => words.push(format!("hangs (no ID in {} s)", after.as_secs())),
            Some(End::ChildPanic) => words.push("child panics".to_owned()),
            Some(End::ChildHang(after)) => words.push(format!("child hangs (not done in {} s)", after.as_secs())),
            None => {}
        }
        if self.duplicates > 0 {
            words.push(format!("**{} duplicates**", self.duplicates));
        }
        if self.rose_before && !self.rose {
            words.push("order lost".to_owned());
        }
        if let Some(measured) = self.measured {
            words.push(format!("{:.1} M/s", self.minted as f64 / measured.as_secs_f64() / 1e6));
        }
        if self.errors > 0 && self.outage > AT_ONCE {
            words.push(format!("refuses for {}", Seconds(self.outage)));
        } else if self.errors > 0 {
            words.push("refuses".to_owned());
        } else if self.longest_call > AT_ONCE {
            words.push(format!("blocks {}", Seconds(self.longest_call)));
        }
        if self.ahead > NEAR {
            words.push(format!("time {} ahead", Seconds(self.ahead)));
        }
        match words.as_slice() {
            [] => f.write_str("ok"),
            words => f.write_str(&words.join(", ")),
        }
    }
}

/// A duration in seconds, or in milliseconds below one.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < Duration::from_secs(1) {
            write!(f, "{} ms", self.0.as_millis())
        } else {
            write!(f, "{:.1} s", self.0.as_secs_f64())
        }
    }
}
