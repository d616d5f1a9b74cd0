//! Turns panics of the Apache Arrow crates into errors. Their readers panic on some kinds of damaged data.
//!
//! If the length of a compressed Arrow buffer is damaged, the process can still end with "memory allocation of N bytes
//! failed": the reader reserves this much memory, and a failed allocation does not unwind.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is in a call of [`guard`].
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function that reads data. A panic becomes an error, and is not printed. After an error, the state of the
/// function must not be used any more.
pub(super) fn guard<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    static SILENCE: Once = Once::new();
    SILENCE.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                print(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(false);
    result.map_err(|panic| format!("the data is damaged: {}", message(&*panic)))
}

/// Returns the first line of a panic's message.
fn message(panic: &(dyn Any + Send)) -> &str {
    let formatted = panic.downcast_ref::<String>().map(String::as_str);
    let message = formatted.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    message.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_one_line() {
        assert_eq!(guard(|| 5), Ok(5));
        let (low, high) = (1, 2);
        let error = |panic: fn()| guard(panic).unwrap_err();
        assert_eq!(error(|| panic!("no\nyes")), "the data is damaged: no");
        assert_eq!(guard(|| assert!(low > high, "{low} and {high}")).unwrap_err(), "the data is damaged: 1 and 2");
        assert_eq!(error(|| panic::panic_any(5)), "the data is damaged: ");
        assert!(!IS_GUARDED.get());
    }
}
