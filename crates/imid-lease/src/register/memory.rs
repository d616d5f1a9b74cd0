//! A register in memory, for tests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Promise, Register, RegisterError};

/// A register in the memory of one process. Clones share their records.
///
/// It is for tests: it can lose replies, delay them, stand still, and go back to an earlier state.
///
/// ```
/// use imid_lease::Register;
/// use imid_lease::register::MemoryRegister;
///
/// let mut register = MemoryRegister::new();
/// assert!(register.compare_and_set("a", None, "1")?);
/// assert_eq!(register.clone().read("a")?.as_deref(), Some("1"));
/// # Ok::<(), imid_lease::RegisterError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryRegister(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    records: BTreeMap<String, String>,
    now_ms: Option<u64>,
    /// How many of the next writes are made without a reply.
    lost_replies: u32,
    is_down: bool,
    delay: Duration,
    writes: u64,
    reads: u64,
}

/// The records of a [`MemoryRegister`] at one time.
#[derive(Clone, Debug)]
pub struct MemorySnapshot(BTreeMap<String, String>);

impl MemoryRegister {
    /// Returns an empty register.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the next `count` writes, and answers none of them.
    pub fn lose_replies(&self, count: u32) {
        self.state().lost_replies = count;
    }

    /// Answers no call and does nothing, or answers again.
    pub fn set_down(&self, is_down: bool) {
        self.state().is_down = is_down;
    }

    /// Answers each call after this time.
    pub fn set_delay(&self, delay: Duration) {
        self.state().delay = delay;
    }

    /// Sets the store's own time, in unix milliseconds. By default it has none.
    pub fn set_now_ms(&self, now_ms: Option<u64>) {
        self.state().now_ms = now_ms;
    }

    /// Returns a copy of all records.
    pub fn snapshot(&self) -> MemorySnapshot {
        MemorySnapshot(self.state().records.clone())
    }

    /// Goes back to an earlier state, as a restored backup does.
    pub fn restore(&self, snapshot: &MemorySnapshot) {
        self.state().records.clone_from(&snapshot.0);
    }

    /// Overwrites or deletes a record, whatever it is.
    pub fn set(&self, key: &str, value: Option<&str>) {
        let mut state = self.state();
        match value {
            Some(value) => state.records.insert(key.into(), value.into()),
            None => state.records.remove(key),
        };
    }

    /// Returns how many compare-and-sets were made, those that found another record included.
    pub fn writes(&self) -> u64 {
        self.state().writes
    }

    /// Returns how many reads and lists were made.
    pub fn reads(&self) -> u64 {
        self.state().reads
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each operation is one change, so the records are intact after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state, after the delay, if the register answers.
    fn answering(&self) -> Result<MutexGuard<'_, State>, RegisterError> {
        let delay = self.state().delay;
        if !delay.is_zero() {
            thread::sleep(delay);
        }
        let state = self.state();
        if state.is_down {
            return Err(RegisterError::new("the register in memory is set down"));
        }
        Ok(state)
    }
}

impl Register for MemoryRegister {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        let mut state = self.answering()?;
        state.reads += 1;
        Ok(state.records.get(key).cloned())
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        let mut state = self.answering()?;
        state.reads += 1;
        let from = state.records.range(prefix.to_owned()..);
        let records = from.take_while(|(key, _)| key.starts_with(prefix));
        Ok(records.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        let mut state = self.answering()?;
        state.writes += 1;
        let is_expected = state.records.get(key).map(String::as_str) == seen;
        if is_expected {
            state.records.insert(key.into(), value.into());
        }
        if state.lost_replies > 0 {
            state.lost_replies -= 1;
            return Err(RegisterError::new("the register in memory was told to lose this reply"));
        }
        Ok(is_expected)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(self.answering()?.now_ms)
    }

    /// Strong between the threads of this process; it ends with it.
    fn promise(&self) -> Promise {
        Promise::Weak("it is in the memory of this process".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_reply_is_an_error_of_a_write_that_was_made() {
        let mut register = MemoryRegister::new();
        register.lose_replies(1);
        let error = register.compare_and_set("a", None, "1").unwrap_err();
        assert_eq!(error.to_string(), "the register in memory was told to lose this reply");
        assert_eq!(register.read("a").unwrap().as_deref(), Some("1"));
    }
}
