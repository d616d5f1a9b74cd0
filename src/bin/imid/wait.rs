//! Waiting for a generator that is ahead of its clock.

use std::thread;
use std::time::Duration;

use imid::error::GenerateError;

/// The longest single wait: longer than overload ever asks for, shorter than a person watches a clock that was set back.
const LONGEST: Duration = Duration::from_mins(1);

/// Calls until there is a result, sleeping as long as each refusal asks for.
pub(crate) fn patiently<T>(mut mint: impl FnMut() -> Result<T, GenerateError>) -> Result<T, GenerateError> {
    loop {
        let error = match mint() {
            Ok(minted) => return Ok(minted),
            Err(error) => error,
        };
        match error.retry_after() {
            Some(wait) if wait <= LONGEST => thread::sleep(wait),
            _ => return Err(error),
        }
    }
}
