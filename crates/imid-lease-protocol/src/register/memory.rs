//! A register in memory, for tests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Promise, Register, RegisterError, check_key, check_prefix, check_write};

/// A register in the memory of one process, for tests. Clones share their records.
///
/// ```
/// use imid_lease_protocol::register::{MemoryRegister, Register};
///
/// let mut register = MemoryRegister::new();
/// assert!(register.compare_and_set("a", None, "1")?);
/// assert_eq!(register.clone().read("a")?.as_deref(), Some("1"));
/// # Ok::<(), imid_lease_protocol::register::RegisterError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryRegister(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    records: BTreeMap<String, String>,
    is_down: bool,
}

impl MemoryRegister {
    /// Returns an empty register.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes every call fail, or succeed again, to test what an application does without the store.
    pub fn set_down(&self, is_down: bool) {
        self.state().is_down = is_down;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state, if the register answers.
    fn answering(&self) -> Result<MutexGuard<'_, State>, RegisterError> {
        let state = self.state();
        if state.is_down { Err(RegisterError::new("the register in memory is set down")) } else { Ok(state) }
    }
}

impl Register for MemoryRegister {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        check_key(key)?;
        Ok(self.answering()?.records.get(key).cloned())
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        check_prefix(prefix)?;
        let state = self.answering()?;
        let records = state.records.range(prefix.to_owned()..).take_while(|(key, _)| key.starts_with(prefix));
        Ok(records.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        check_write(false, key, seen, value)?;
        let mut state = self.answering()?;
        let is_expected = state.records.get(key).map(String::as_str) == seen;
        if is_expected {
            state.records.insert(key.into(), value.into());
        }
        Ok(is_expected)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.answering().map(|_| None)
    }

    fn creates_missing_spaces(&self) -> bool {
        true
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
    fn a_register_that_is_down_answers_no_call() {
        let mut register = MemoryRegister::new();
        register.set_down(true);
        let error = register.compare_and_set("a", None, "1").unwrap_err();
        assert_eq!(error.to_string(), "the register in memory is set down");
        register.set_down(false);
        assert_eq!(register.read("a").unwrap(), None, "nothing was written");
    }
}
