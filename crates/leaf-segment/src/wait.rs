//! A state that a thread changes, and how threads wait for a change.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use imid::fork::Process;

/// A state, and all who wait for it.
#[derive(Debug)]
pub(crate) struct Shared<S> {
    state: Mutex<S>,
    changed: Condvar,
    process: Process,
}

impl<S> Shared<S> {
    pub(crate) fn new(state: S) -> Self {
        Self { state: Mutex::new(state), changed: Condvar::new(), process: Process::current() }
    }

    /// Returns the state, which each change leaves consistent; `None` in a forked child, where another thread may have held the lock.
    #[inline]
    pub(crate) fn state(&self) -> Option<MutexGuard<'_, S>> {
        self.process.is_current().then(|| self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Wakes the threads that wait.
    pub(crate) fn announce(&self) {
        if self.process.is_current() {
            self.changed.notify_all();
        }
    }

    /// Looks at the state after each change, for at most this time, until `check` has a result. `None` after this time, and in
    /// a forked child.
    pub(crate) fn wait<T>(&self, time: Duration, mut check: impl FnMut(&mut S) -> Option<T>) -> Option<T> {
        let started = Instant::now();
        let mut state = self.state()?;
        loop {
            let left = time.saturating_sub(started.elapsed());
            match check(&mut state) {
                None if !left.is_zero() => {}
                found => return found,
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
