//! Counts the calls of registers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use imid_lease::{Promise, Register, RegisterError};

/// How many calls of each kind were made.
#[derive(Default)]
pub(crate) struct Counts {
    lists: AtomicU64,
    records: AtomicU64,
    reads: AtomicU64,
    times: AtomicU64,
    writes: AtomicU64,
    conflicts: AtomicU64,
    failed: AtomicU64,
}

impl Counts {
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// Returns how many calls were no writes.
    pub(crate) fn reads(&self) -> u64 {
        [&self.lists, &self.reads, &self.times].map(|count| count.load(Ordering::Relaxed)).iter().sum()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lists, records, reads, times, writes, conflicts, failed] =
            [&self.lists, &self.records, &self.reads, &self.times, &self.writes, &self.conflicts, &self.failed]
                .map(|count| count.load(Ordering::Relaxed));
        write!(
            f,
            "{lists} lists of {records} records, {writes} writes ({conflicts} conflicts), {reads} reads, {times} times, \
             {failed} failed"
        )
    }
}

/// A register whose calls are counted.
pub(crate) struct Counting {
    pub(crate) register: Box<dyn Register>,
    pub(crate) counts: Arc<Counts>,
}

fn add(count: &AtomicU64, number: usize) {
    count.fetch_add(number as u64, Ordering::Relaxed);
}

impl Counting {
    fn note<T>(&self, result: Result<T, RegisterError>) -> Result<T, RegisterError> {
        add(&self.counts.failed, usize::from(result.is_err()));
        result
    }
}

impl Register for Counting {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        add(&self.counts.reads, 1);
        let result = self.register.read(key);
        self.note(result)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        add(&self.counts.lists, 1);
        let result = self.register.list(prefix);
        add(&self.counts.records, result.as_ref().map_or(0, Vec::len));
        self.note(result)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        add(&self.counts.writes, 1);
        let result = self.register.compare_and_set(key, seen, value);
        add(&self.counts.conflicts, usize::from(matches!(result, Ok(false))));
        self.note(result)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        add(&self.counts.times, 1);
        let result = self.register.now_ms();
        self.note(result)
    }

    fn promise(&self) -> Promise {
        self.register.promise()
    }

    fn name(&self) -> &'static str {
        self.register.name()
    }
}
