//! Locks whose values are never left half changed.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Locks a mutex. No code panics with half of a change done, so the value of a poisoned mutex is good.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until the value is as wanted, or until the time is over.
pub(crate) fn wait<'a, T>(
    changed: &Condvar,
    value: MutexGuard<'a, T>,
    time: Duration,
    is_wanted: impl Fn(&T) -> bool,
) -> MutexGuard<'a, T> {
    changed.wait_timeout_while(value, time, |value| !is_wanted(value)).unwrap_or_else(PoisonError::into_inner).0
}
