//! A register in the memory of a test, with the faults of a store. It says that it keeps its promises.
#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use imid_lease::{Promise, Register, RegisterError};

/// A register that can lose replies, delay them, stand still, and go back to an earlier state. Clones share their
/// records.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultyRegister(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    records: BTreeMap<String, String>,
    now_ms: Option<u64>,
    /// How many of the next writes are made without a reply.
    lost_replies: u32,
    is_down: bool,
    panics: bool,
    delay: Duration,
    writes: u64,
}

/// The records of a [`FaultyRegister`] at one time.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot(BTreeMap<String, String>);

impl FaultyRegister {
    /// Returns an empty register.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Makes the next `count` writes, and answers none of them.
    pub(crate) fn lose_replies(&self, count: u32) {
        self.state().lost_replies = count;
    }

    /// Answers no call and does nothing, or answers again.
    pub(crate) fn set_down(&self, is_down: bool) {
        self.state().is_down = is_down;
    }

    /// Panics at the next write.
    pub(crate) fn panic(&self) {
        self.state().panics = true;
    }

    /// Answers each call after this time.
    pub(crate) fn set_delay(&self, delay: Duration) {
        self.state().delay = delay;
    }

    /// Sets the store's own time, in Unix milliseconds. By default it has none.
    pub(crate) fn set_now_ms(&self, now_ms: Option<u64>) {
        self.state().now_ms = now_ms;
    }

    /// Returns a copy of all records.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot(self.state().records.clone())
    }

    /// Goes back to an earlier state, as a restored backup does.
    pub(crate) fn restore(&self, snapshot: &Snapshot) {
        self.state().records.clone_from(&snapshot.0);
    }

    /// Overwrites or deletes a record, whatever it is.
    pub(crate) fn set(&self, key: &str, value: Option<&str>) {
        let mut state = self.state();
        match value {
            Some(value) => state.records.insert(key.into(), value.into()),
            None => state.records.remove(key),
        };
    }

    /// Returns how many compare-and-sets were made, those that found another record included.
    pub(crate) fn writes(&self) -> u64 {
        self.state().writes
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Returns the state, after the delay, if the register answers.
    fn answering(&self) -> Result<MutexGuard<'_, State>, RegisterError> {
        let delay = self.state().delay;
        if !delay.is_zero() {
            thread::sleep(delay);
        }
        let state = self.state();
        if state.is_down {
            return Err(RegisterError::new("the faulty register is set down"));
        }
        Ok(state)
    }
}

impl Register for FaultyRegister {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        let state = self.answering()?;
        Ok(state.records.get(key).cloned())
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        let state = self.answering()?;
        let from = state.records.range(prefix.to_owned()..);
        let records = from.take_while(|(key, _)| key.starts_with(prefix));
        Ok(records.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        let mut state = self.answering()?;
        state.writes += 1;
        if state.panics {
            drop(state);
            panic!("on purpose");
        }
        let is_expected = state.records.get(key).map(String::as_str) == seen;
        if is_expected {
            state.records.insert(key.into(), value.into());
        }
        if state.lost_replies > 0 {
            state.lost_replies -= 1;
            return Err(RegisterError::new("the faulty register was told to lose this reply"));
        }
        Ok(is_expected)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(self.answering()?.now_ms)
    }

    fn creates_missing_spaces(&self) -> bool {
        true
    }

    fn promise(&self) -> Promise {
        let panics = self.state().panics;
        assert!(!panics, "on purpose");
        Promise::Strong
    }
}
