//! Finds standard input or output that was closed when the tool was started (`<&-` and `>&-` in a shell).
//!
//! The standard library opens `/dev/null` in place of a closed descriptor before `main`, so that a file does not get its
//! number. Without the check in this file, reading would find no input and writing would lose the output, both without an
//! error.

use std::io;

#[cfg(unix)]
mod closed {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static STDIN: AtomicBool = AtomicBool::new(false);
    pub(super) static STDOUT: AtomicBool = AtomicBool::new(false);

    // Runs before the standard library opens `/dev/null`. It makes system calls and nothing else.
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
