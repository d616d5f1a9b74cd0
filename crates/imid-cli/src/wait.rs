//! Waiting for a generator that is ahead of its clock.

use std::thread;
use std::time::Duration;

/// The longest single wait: more than overload ever asks for, less than a clock that was set back by hours would take.
const LONGEST: Duration = Duration::from_mins(1);

/// Calls until there is a result, sleeping as long as each refusal asks for.
pub(crate) fn patiently<T, E: Copy>(
    mut mint: impl FnMut() -> Result<T, E>,
    retry_after: impl Fn(E) -> Option<Duration>,
) -> Result<T, E> {
    loop {
        let error = match mint() {
            Ok(minted) => return Ok(minted),
            Err(error) => error,
        };
        match retry_after(error) {
            Some(wait) if wait <= LONGEST => thread::sleep(wait),
            _ => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use imid::clock::ManualClock;
    use imid::generator::GenerateError;
    use imid::{Generator, Session};

    use super::*;

    #[test]
    fn a_refused_call_is_repeated_after_the_wait_that_it_asks_for() {
        let clock = ManualClock::new(1_763_640_000_000);
        let ids = Generator::builder().clock(&clock).max_rollback(Duration::ZERO).build().unwrap();
        ids.generate(Session::default()).unwrap();
        clock.set(1_763_640_000_000 - 20);
        let (started, mut calls) = (Instant::now(), 0);
        let id = patiently(
            || {
                calls += 1;
                let minted = ids.generate(Session::default());
                clock.advance(Duration::from_millis(20));
                minted
            },
            GenerateError::retry_after,
        );
        assert!(id.is_ok());
        assert_eq!(calls, 2);
        assert!(started.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn a_wait_of_hours_is_an_error_at_once() {
        let clock = ManualClock::new(1_763_640_000_000);
        let ids = Generator::builder().clock(&clock).max_rollback(Duration::ZERO).build().unwrap();
        ids.generate(Session::default()).unwrap();
        clock.set(1_763_640_000_000 - 61_000);
        assert!(
            patiently(|| ids.generate(Session::default()), GenerateError::retry_after)
                .is_err_and(GenerateError::is_rollback)
        );
    }
}
