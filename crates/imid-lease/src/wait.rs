//! Waiting for a call that is refused for now.

use std::thread;
use std::time::{Duration, Instant};

/// The longest single sleep. A clock that is corrected during the wait is noticed within this time.
const SLICE: Duration = Duration::from_millis(10);

/// Repeats a call until it succeeds, fails for good, or would have to wait longer than what is left of `timeout`.
///
/// `retry_after` says how long a failed call has to wait; `None` means that waiting does not help.
pub(crate) fn retry_within<T, E: Copy>(
    timeout: Duration,
    mut call: impl FnMut() -> Result<T, E>,
    retry_after: impl Fn(E) -> Option<Duration>,
) -> Result<T, E> {
    // Most calls do not wait and need no second clock.
    let mut started = None;
    loop {
        let error = match call() {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let left = timeout.saturating_sub(started.get_or_insert_with(Instant::now).elapsed());
        match retry_after(error) {
            Some(wait) if wait <= left => thread::sleep(wait.min(SLICE)),
            _ => return Err(error),
        }
    }
}
