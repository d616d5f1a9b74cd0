//! The result of a case, and its text in the table.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A shorter delay is not shown. It can come from the scheduler or from libfaketime.
const AT_ONCE: Duration = Duration::from_millis(10);
/// A shorter lead of the last ID over the clock is not shown.
const NEAR: Duration = Duration::from_millis(100);

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Number of IDs, in all processes of the case.
    pub minted: usize,
    /// Number of IDs that repeat an earlier one.
    pub duplicates: usize,
    /// The fewest duplicates of several runs. `duplicates` is the most.
    pub at_least: usize,
    /// One of this many IDs was kept, if a case has too many to keep all. The bits of an ID decide whether it is kept, so equal
    /// IDs are treated alike. 0 and 1 mean that all were kept.
    pub sample: usize,
    /// Whether the library has no function for the case.
    pub unavailable: bool,
    /// Why the library did not take over another host's ID.
    pub not_taken: Option<String>,
    /// Number of IDs that should sort after another host's last ID, and do not.
    pub below: usize,
    /// Whether an ID was not greater than the one before it, although the library promises that.
    pub order_lost: bool,
    /// The time from the fault to the first ID after it.
    pub outage: Duration,
    /// The longest single call after the fault.
    pub longest_call: Duration,
    /// How far the last ID's time is ahead of the clock.
    pub ahead: Duration,
    /// How long the IDs took, if the case measures a rate.
    pub measured: Option<Duration>,
    /// Number of calls that returned an error after the fault.
    pub errors: u64,
    /// How the case ended, if the peer panicked or hung.
    pub end: Option<End>,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum End {
    /// The generator panicked, with this message.
    Panic(String),
    /// There was no ID in this time.
    Hang(Duration),
    /// The forked child panicked.
    ChildPanic,
    /// The forked child did not mint all of its IDs in this time.
    ChildHang(Duration),
}

impl Outcome {
    /// Counts the duplicates of `ids`. Checks their order if the library promises it.
    pub fn count(&mut self, ids: &[u128], is_ordered: bool) {
        self.minted = ids.len();
        self.duplicates = duplicates(ids);
        self.at_least = self.duplicates;
        self.order_lost = is_ordered && !ids.is_sorted_by(|a, b| a < b);
    }

    /// Returns the outcome of the run with the most duplicates, and the fewest duplicates of all runs.
    pub fn worst(runs: impl IntoIterator<Item = Self>) -> Self {
        let worst = |a: Self, b: Self| {
            let at_least = a.at_least.min(b.at_least);
            Self { at_least, ..if b.duplicates > a.duplicates { b } else { a } }
        };
        runs.into_iter().reduce(worst).expect("one run or more")
    }
}

/// Returns the number of IDs that repeat an earlier one.
pub fn duplicates(ids: &[u128]) -> usize {
    ids.len() - ids.iter().collect::<HashSet<_>>().len()
}

/// Writes a cell of the table: the problems, the worst one first, or `ok`.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unavailable {
            return f.write_str("—");
        }
        let mut words = Vec::new();
        match &self.end {
            Some(End::Panic(_)) => words.push("panics".to_owned()),
            Some(End::Hang(after)) => words.push(format!("hangs (no ID in {} s)", after.as_secs())),
            Some(End::ChildPanic) => words.push("child panics".to_owned()),
            Some(End::ChildHang(after)) => words.push(format!("child hangs (not done in {} s)", after.as_secs())),
            None => {}
        }
        if self.at_least < self.duplicates {
            words.push(format!("**{} to {} duplicates**", self.at_least, self.duplicates));
        } else if self.duplicates > 0 && self.sample > 1 {
            let [duplicates, minted] = [self.duplicates, self.minted].map(|kept| (kept * self.sample) as f64 / 1e6);
            words.push(format!("**about {duplicates:.1} of {minted:.1} M duplicates**"));
        } else if self.duplicates > 0 {
            words.push(format!("**{} duplicates**", self.duplicates));
        }
        if self.not_taken.is_some() {
            words.push("refuses the other host's ID".to_owned());
        }
        if self.below > 0 {
            words.push(format!("**{} sort below**", self.below));
        }
        if self.order_lost {
            words.push("order lost".to_owned());
        }
        if let Some(measured) = self.measured {
            words.push(format!("{:.2} M/s", self.minted as f64 / measured.as_secs_f64() / 1e6));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_and_a_fall_are_counted() {
        let mut outcome = Outcome::default();
        outcome.count(&[1, 2, 3, 2, 3], true);
        assert_eq!((outcome.minted, outcome.duplicates, outcome.order_lost), (5, 2, true));
        assert_eq!(outcome.to_string(), "**2 duplicates**, order lost");
        outcome.count(&[2, 1], false);
        assert_eq!(outcome.to_string(), "ok");
    }

    #[test]
    fn an_equal_neighbour_is_a_fall() {
        let mut outcome = Outcome::default();
        outcome.count(&[1, 1], true);
        assert!(outcome.order_lost);
    }

    #[test]
    fn the_worst_of_several_runs_keeps_the_fewest_duplicates() {
        let runs = [3, 0, 7].map(|duplicates| Outcome { duplicates, at_least: duplicates, ..Outcome::default() });
        assert_eq!(Outcome::worst(runs).to_string(), "**0 to 7 duplicates**");
    }

    #[test]
    fn a_sample_stands_for_all() {
        let mut outcome = Outcome { sample: 16, ..Outcome::default() };
        outcome.count(&vec![7; 62_501], false);
        assert_eq!(outcome.to_string(), "**about 1.0 of 1.0 M duplicates**");
    }

    #[test]
    fn a_case_that_the_library_has_no_call_for_is_a_dash() {
        assert_eq!(Outcome { unavailable: true, minted: 5, ..Outcome::default() }.to_string(), "—");
        let refused = Outcome { not_taken: Some(String::new()), below: 3, ..Outcome::default() };
        assert_eq!(refused.to_string(), "refuses the other host's ID, **3 sort below**");
    }

    #[test]
    fn a_cell_names_the_end_the_wait_and_the_lead() {
        let outcome = Outcome {
            outage: Duration::from_millis(29_980),
            longest_call: Duration::from_millis(19),
            ahead: Duration::from_millis(250),
            ..Outcome::default()
        };
        assert_eq!(outcome.to_string(), "blocks 19 ms, time 250 ms ahead");
        assert_eq!(Outcome { errors: 1, ..outcome }.to_string(), "refuses for 30.0 s, time 250 ms ahead");
        let hung = Outcome { end: Some(End::Hang(Duration::from_mins(1))), ..Outcome::default() };
        assert_eq!(hung.to_string(), "hangs (no ID in 60 s)");
    }
}
