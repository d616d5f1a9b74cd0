//! The register in memory, for tests in which no process ends.

use imid_lease::register::MemoryRegister;
use imid_lease::{Promise, Register, RegisterError};

/// A register in memory that says that it keeps its promises.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strong(pub(crate) MemoryRegister);

impl Register for Strong {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.0.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.0.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.0.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.0.now_ms()
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}
