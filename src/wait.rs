//! Waiting for a generator that refuses a call for now.

use core::time::Duration;
use std::thread;
use std::time::Instant;

/// The longest single sleep. A clock that is corrected during the wait is noticed within this time.
const SLICE: Duration = Duration::from_millis(10);

/// Repeats a call until it succeeds, fails for good, or would have to wait longer than what is left of `timeout`.
///
/// `retry_after` says how long a failed call has to wait; `None` means that waiting does not help.
// NOTE: imid-lease has the same rule, in a form that tasks can wait with. To share it, it would have to be public here for all
// time, although each type that can wait has `generate_within`.
pub(crate) fn retry_within<T, E: Copy>(
    timeout: Duration,
    mut call: impl FnMut() -> Result<T, E>,
    mut retry_after: impl FnMut(E) -> Option<Duration>,
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_long_wait_ends_soon_after_the_reason_for_it() {
        let mut waits = [100 * SECOND, 99 * SECOND].into_iter();
        let mut calls = 0;
        let call = || {
            calls += 1;
            waits.next().map_or(Ok(()), Err)
        };
        let started = Instant::now();
        assert_eq!(retry_within(1_000 * SECOND, call, Some), Ok(()));
        assert_eq!(calls, 3);
        assert!(started.elapsed() >= 2 * SLICE && started.elapsed() < 50 * SECOND);
    }

    #[test]
    fn a_wait_past_the_timeout_is_not_begun() {
        let started = Instant::now();
        assert_eq!(retry_within::<(), _>(SECOND, || Err(20 * SECOND), Some), Err(20 * SECOND));
        assert!(started.elapsed() < SECOND);
    }

    #[test]
    fn the_timeout_holds_for_all_waits_together() {
        let (started, short) = (Instant::now(), Duration::from_millis(4));
        assert_eq!(retry_within::<(), _>(10 * short, || Err(short), Some), Err(short));
        assert!(started.elapsed() > 9 * short && started.elapsed() < 20 * SECOND);
    }

    #[test]
    fn a_failure_for_good_is_returned_at_once() {
        let mut calls = 0;
        let call = || {
            calls += 1;
            Err::<(), _>(())
        };
        assert_eq!(retry_within(SECOND, call, |()| None), Err(()));
        assert_eq!(calls, 1);
    }
}
