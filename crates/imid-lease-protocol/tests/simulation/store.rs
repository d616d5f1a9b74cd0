//! The register of the model, and the calls that are under way to it.

use std::collections::BTreeMap;

use super::rules::{Rule, Rules};
use super::steps::Steps;
use imid_lease_protocol::engine::{Action, Outcome, Reply};
use imid_lease_protocol::record::{LaneRecord, MetaRecord};
use imid_lease_protocol::register::{Promise, Register, RegisterError};

/// A register: linearizable and durable, until it is restored.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    pub(super) records: BTreeMap<String, String>,
    /// What was written since the last acknowledgement that has arrived: key, old value, new value. Each value is unique.
    unsynced: Vec<(String, Option<String>, String)>,
    /// What has happened, to it and to the processes.
    pub(super) steps: Steps,
}

/// A call that a process has made.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    /// Of all calls.
    pub(super) number: u64,
    /// The process, and its start.
    pub(super) holder: usize,
    pub(super) incarnation: u64,
    pub(super) call: Action,
    /// The process gives up waiting at this true time.
    pub(super) deadline_ms: u64,
    /// The reply, once the store has made the call.
    pub(super) reply: Option<Reply>,
    /// The process was told that there is no answer.
    pub(super) is_given_up: bool,
}

impl Store {
    /// Makes a call.
    pub(super) fn make(&mut self, call: &Action, rules: Rules) -> Reply {
        match call {
            Action::List => {
                let records = self.records.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
                Reply::Listed(Ok(records))
            }
            Action::Read { key } => Reply::Read(Ok(self.records.get(key).cloned())),
            Action::Write { attempt, key, seen, value } => {
                let found = self.records.get(key);
                let is_expected = if rules.keep(Rule::CompareToken) {
                    found == seen.as_ref()
                } else {
                    found.map(|text| version(text)) == seen.as_ref().map(|text| version(text))
                };
                if is_expected {
                    let old = self.records.insert(key.clone(), value.clone());
                    self.unsynced.push((key.clone(), old, value.clone()));
                }
                let outcome = if is_expected { Outcome::Acknowledged } else { Outcome::Conflict };
                Reply::Written { attempt: *attempt, outcome }
            }
            other => panic!("{other:?} is not a call of the register"),
        }
    }

    /// The write of this value was acknowledged: it and the writes before it stay.
    pub(super) fn sync(&mut self, value: &str) {
        if let Some(at) = self.unsynced.iter().position(|(_, _, written)| written == value) {
            self.unsynced.drain(..=at);
        }
    }

    /// Takes back the writes that were not acknowledged, and returns their values.
    pub(super) fn lose(&mut self) -> Vec<String> {
        let lost = std::mem::take(&mut self.unsynced);
        for (key, old, _) in lost.iter().rev() {
            match old {
                Some(old) => self.records.insert(key.clone(), old.clone()),
                None => self.records.remove(key),
            };
        }
        for (_, _, value) in lost.iter().rev() {
            self.steps.note(|| format!("\tlose\t{value}"));
        }
        lost.into_iter().map(|(_, _, value)| value).collect()
    }

    /// The greatest ceiling of all lanes.
    pub(super) fn greatest_ceiling_ms(&self) -> u64 {
        self.lanes().map(|(_, lane)| lane.ceiling_ms).max().unwrap_or(0)
    }

    pub(super) fn lanes(&self) -> impl Iterator<Item = (&String, LaneRecord)> {
        self.records.iter().filter_map(|(key, text)| Some((key, LaneRecord::parse(text).ok()?)))
    }
}

fn version(text: &str) -> u64 {
    LaneRecord::parse(text)
        .map(|lane| lane.version)
        .or_else(|_| MetaRecord::parse(text).map(|meta| meta.version))
        .unwrap()
}

/// For the operator's functions, which are answered immediately.
impl Register for Store {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        Ok(self.records.get(key).cloned())
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        let records = self.records.iter().filter(|(key, _)| key.starts_with(prefix));
        Ok(records.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        let is_expected = self.records.get(key).map(String::as_str) == seen;
        if is_expected {
            self.records.insert(key.into(), value.into());
            self.steps.note(|| format!("\toperate\t{key}\t{value}"));
            // It is acknowledged: it and the writes before it stay.
            self.unsynced.clear();
        }
        Ok(is_expected)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(None)
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}
