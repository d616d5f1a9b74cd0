//! A section as one process knows it, and the records that it writes for it.

use super::messages::{Config, LastStored};
use super::{FIRST, MAX_BOUND};
use crate::sequence::numbers::Wish;
use crate::sequence::record::{Jump, SectionRecord};

/// A section as this process knows it.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub(super) claimed: bool,
    pub(super) state: State,
    pub(super) wish: Option<Wish>,
    pub(super) step: u64,
    /// When the last raise was acknowledged.
    pub(super) raised_ms: u64,
    /// The greatest version whose write was acknowledged to this process.
    pub(super) acknowledged: u64,
    /// The last jump that is known to be in the history. Its epoch alone would not do: a record that a reader saw can
    /// vanish, and then another record has the same epoch.
    pub(super) kept: Option<Jump>,
    /// No record that follows from what this process knows has a bound below this one.
    pub(super) least_bound: u64,
    /// The token that was read last.
    pub(super) token: u64,
    /// The name of the last holder that was read.
    pub(super) holder: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum State {
    /// Not held.
    Idle,
    Taking(Taking),
    Held(Lease),
    /// Sealed. The record still says that this process holds the section.
    Releasing(Lease, u64),
    /// The register lost an acknowledged write.
    Reverted,
}

/// A section that is being taken.
#[derive(Debug, Clone)]
pub(super) struct Taking {
    /// The record to compare with.
    pub(super) seen: Option<SectionRecord>,
    pub(super) floor: Option<LastStored>,
    /// Tokens of the attempts so far.
    pub(super) attempts: Vec<u64>,
    pub(super) in_doubt: bool,
}

/// A section that is held.
#[derive(Debug, Clone)]
pub(super) struct Lease {
    /// The last record that was acknowledged.
    pub(super) acknowledged: SectionRecord,
    /// The record to compare with: the acknowledged one, or one that an attempt without an answer wrote.
    pub(super) seen: SectionRecord,
    /// Tokens of the attempts since the last acknowledgement.
    pub(super) attempts: Vec<u64>,
    pub(super) in_doubt: bool,
}

impl Section {
    pub(super) const fn is_held(&self) -> bool {
        matches!(self.state, State::Held(_))
    }

    pub(super) const fn is_in_doubt(&self) -> bool {
        match &self.state {
            State::Taking(taking) => taking.in_doubt,
            State::Held(lease) | State::Releasing(lease, _) => lease.in_doubt,
            State::Idle | State::Reverted => false,
        }
    }

    /// Returns the record that the next write overwrites with a new epoch.
    pub(super) fn ended_epoch(&self) -> Option<&SectionRecord> {
        match &self.state {
            State::Taking(taking) if !taking.is_ours() => taking.seen.as_ref(),
            State::Held(lease) if lease.begins_epoch(self.wish) => Some(&lease.seen),
            _ => None,
        }
    }

    /// Returns whether the register has lost a write that it acknowledged to this process.
    pub(super) fn is_ahead_of(&self, read: Option<&SectionRecord>) -> bool {
        let (version, bound) = read.map_or((0, 0), |record| (record.version, record.bound));
        version < self.acknowledged || bound < self.least_bound
    }
}

impl Taking {
    /// Returns whether one of this process's attempts is already in the register. Then its epoch has begun, and only
    /// the acknowledgement is missing.
    pub(super) fn is_ours(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| self.attempts.contains(&seen.token))
    }

    /// Returns the record that takes the section.
    pub(super) fn record(&self, config: &Config, step: u64, token: u64) -> SectionRecord {
        let floor = self.floor.unwrap_or_default();
        let (version, epoch, from, start) = match &self.seen {
            Some(seen) if self.is_ours() => (seen.version, seen.epoch, seen.from, seen.start),
            Some(seen) => (seen.version, seen.epoch.max(floor.epoch) + 1, seen.start, seen.bound.max(floor.number + 1)),
            None => (0, floor.epoch + 1, FIRST, FIRST.max(floor.number + 1)),
        };
        let least = self.seen.as_ref().map_or(0, |seen| seen.bound);
        SectionRecord {
            version: version + 1,
            token,
            epoch,
            from,
            start,
            bound: start.saturating_add(step).max(least).min(MAX_BOUND),
            held: true,
            owner: config.owner,
            time_out_ms: config.time_out_ms,
            name: config.name.clone(),
        }
    }
}

impl Lease {
    /// Returns whether the next write begins a new epoch.
    pub(super) fn begins_epoch(&self, wish: Option<Wish>) -> bool {
        wish == Some(Wish::NewEpoch) && self.seen.epoch == self.acknowledged.epoch
    }

    /// Returns the record that raises the bound, begins a new epoch, or only shows that the owner is alive.
    pub(super) fn record(&self, wish: Option<Wish>, step: u64, token: u64) -> SectionRecord {
        let seen = self.seen.clone();
        let mut record = SectionRecord { version: seen.version + 1, token, ..seen.clone() };
        if self.begins_epoch(wish) {
            (record.epoch, record.from, record.start) = (seen.epoch + 1, seen.start, seen.bound);
            record.bound = record.start.saturating_add(step).min(MAX_BOUND);
        } else if wish.is_some() {
            record.bound = seen.bound.max(self.acknowledged.bound.saturating_add(step)).min(MAX_BOUND);
        }
        record
    }
}
