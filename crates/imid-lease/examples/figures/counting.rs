//! Counts the calls of registers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

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
    /// Of these, the ones that took long: the store may have worked for them in vain.
    in_vain: AtomicU64,
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
        let [lists, records, reads, times, writes, conflicts, failed, in_vain] = [
            &self.lists,
            &self.records,
            &self.reads,
            &self.times,
            &self.writes,
            &self.conflicts,
            &self.failed,
            &self.in_vain,
        ]
        .map(|count| count.load(Ordering::Relaxed));
        write!(
            f,
            "{lists} lists of {records} records, {writes} writes ({conflicts} conflicts), {reads} reads, {times} times, \
             {failed} failed, {in_vain} of them in vain"
        )
    }
}

/// A refusal is faster.
const LONG: Duration = Duration::from_secs(1);

/// A register whose calls are counted.
pub(crate) struct Counting {
    pub(crate) register: Box<dyn Register>,
    pub(crate) counts: Arc<Counts>,
}

fn add(count: &AtomicU64, number: usize) {
    count.fetch_add(number as u64, Ordering::Relaxed);
}

impl Counting {
    fn note<T>(
        &mut self,
        call: impl FnOnce(&mut dyn Register) -> Result<T, RegisterError>,
    ) -> Result<T, RegisterError> {
        let begun = Instant::now();
        let result = call(&mut *self.register);
        if result.is_err() {
            add(&self.counts.failed, 1);
            add(&self.counts.in_vain, usize::from(begun.elapsed() >= LONG));
        }
        result
    }
}

impl Register for Counting {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        add(&self.counts.reads, 1);
        self.note(|register| register.read(key))
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        add(&self.counts.lists, 1);
        let result = self.note(|register| register.list(prefix));
        add(&self.counts.records, result.as_ref().map_or(0, Vec::len));
        result
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        add(&self.counts.writes, 1);
        let result = self.note(|register| register.compare_and_set(key, seen, value));
        add(&self.counts.conflicts, usize::from(matches!(result, Ok(false))));
        result
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        add(&self.counts.times, 1);
        self.note(|register| register.now_ms())
    }

    fn promise(&self) -> Promise {
        self.register.promise()
    }

    fn name(&self) -> &'static str {
        self.register.name()
    }
}
