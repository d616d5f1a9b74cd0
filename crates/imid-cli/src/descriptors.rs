//! Finds standard input or output that was closed when the tool was started (`<&-` and `>&-` in a shell).
//!
//! Before `main`, the standard library opens `/dev/null` for each closed descriptor, so that no file gets its number. Without
//! the check in this file, the tool would read empty input or lose its output, without an error.

use std::io;

#[cfg(unix)]
mod closed {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static STDIN: AtomicBool = AtomicBool::new(false);
    pub(super) static STDOUT: AtomicBool = AtomicBool::new(false);

    // No safe code can see which descriptors were closed. When `main` starts, the library has replaced them. Its `/dev/null`
    // cannot be told from a `/dev/null` that the parent gave: Python's `subprocess.DEVNULL` and `<>/dev/null` are open for
    // reading and writing too.
    //
    // SAFETY: the loader calls the function once, before `main`, where the standard library is not initialized. The
    // function uses nothing of the library that needs that: it makes system calls and stores to statics that are
    // initialized at compile time. It does not allocate, print, panic, or use threads or thread-locals.
    #[ctor::ctor(unsafe)]
    fn look() {
        let is_closed = |descriptor| rustix::io::fcntl_getfd(descriptor).is_err();
        // ORDERING: this runs before the first thread is started.
        STDIN.store(is_closed(rustix::stdio::stdin()), Ordering::Relaxed);
        STDOUT.store(is_closed(rustix::stdio::stdout()), Ordering::Relaxed);
    }

    pub(super) fn error() -> std::io::Error {
        rustix::io::Errno::BADF.into()
    }
}

/// Returns an error if standard input was closed.
pub(crate) fn check_stdin() -> io::Result<()> {
    #[cfg(unix)]
    if closed::STDIN.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(closed::error());
    }
    Ok(())
}

/// Returns an error if standard output was closed.
pub(crate) fn check_stdout() -> io::Result<()> {
    #[cfg(unix)]
    if closed::STDOUT.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(closed::error());
    }
    Ok(())
}
