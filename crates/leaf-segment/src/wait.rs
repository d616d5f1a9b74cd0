//! A state that a thread changes, and how threads and tasks wait for a change.

use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use imid::fork::Process;

/// A state, and all who wait for it.
#[derive(Debug)]
pub(crate) struct Shared<S> {
    state: Mutex<S>,
    changed: Condvar,
    /// The tasks that wait. A task adds its waker before it looks, so no change is missed.
    wakers: Mutex<Vec<Waker>>,
    process: Process,
}

impl<S> Shared<S> {
    pub(crate) fn new(state: S) -> Self {
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            wakers: Mutex::new(Vec::new()),
            process: Process::current(),
        }
    }

    /// Returns the state; `None` in a forked child, where another thread may have held the lock.
    #[inline]
    pub(crate) fn state(&self) -> Option<MutexGuard<'_, S>> {
        self.process.is_current().then(|| lock(&self.state))
    }

    /// Wakes the threads and tasks that wait. A waker is foreign code: it is called outside of every lock, and may panic.
    pub(crate) fn announce(&self) {
        if !self.process.is_current() {
            return;
        }
        self.changed.notify_all();
        for waker in mem::take(&mut *lock(&self.wakers)) {
            // Not dropped, because that can also panic.
            _ = catch_unwind(AssertUnwindSafe(|| waker.wake())).map_err(mem::forget);
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

    /// Looks after each change, in a task.
    pub(crate) async fn wait_async<T>(&self, mut check: impl FnMut() -> Option<T>) -> T {
        poll_fn(|context| {
            if self.process.is_current() {
                let waker = context.waker().clone();
                let mut wakers = lock(&self.wakers);
                let is_known = wakers.iter().any(|known| known.will_wake(&waker));
                if is_known {
                    drop(wakers);
                } else {
                    wakers.push(waker);
                }
            }
            check().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// Locks a state that each change leaves consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
