//! Locks whose values are never left half changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. No code panics with half of a change done, so the value of a poisoned mutex is good.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
