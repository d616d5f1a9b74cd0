//! Noticing that this process is a forked child.
//!
//! `fork` copies a generator with its state: parent and child would go on with the same stamps. An at-fork handler
//! raises a process-wide counter in every child, and a generator compares it with the value that it started under. Not
//! seen are a raw `clone` system call and a restored snapshot of a virtual machine, which run no handlers, and a fork that
//! is under way in one thread while another makes the process's very first ID, which registers the handler.

#[cfg(all(unix, feature = "std"))]
pub(crate) use handler::{epoch, watch};

#[cfg(not(all(unix, feature = "std")))]
mod unforked {
    /// No fork can be seen here: always 1.
    pub(crate) const fn epoch() -> u64 {
        1
    }

    /// The same.
    pub(crate) const fn watch() -> u64 {
        1
    }
}

#[cfg(not(all(unix, feature = "std")))]
pub(crate) use unforked::{epoch, watch};

#[cfg(all(unix, feature = "std"))]
mod handler {
    use core::ffi::c_int;

    use crate::sync::{Ordering, ProcessWord};

    /// 1 in the process that began, one more in each generation of children.
    static EPOCH: ProcessWord = ProcessWord::new(1);

    /// The present epoch, never 0.
    #[inline]
    pub(crate) fn epoch() -> u64 {
        // ORDERING: a child starts with one thread, and what that thread starts later sees its writes.
        EPOCH.load(Ordering::Relaxed)
    }

    /// 1 once the handler is registered.
    static WATCHED: ProcessWord = ProcessWord::new(0);

    /// Starts the watch, if it has not started yet, and returns the present epoch.
    ///
    /// No `Once`: a child that is forked while another thread is inside it would wait for that thread for ever. Threads
    /// that arrive together register twice, and a fork then counts twice, which is all the same to those who compare
    /// epochs.
    pub(crate) fn watch() -> u64 {
        // ORDERING: nothing is published with it.
        if WATCHED.load(Ordering::Relaxed) == 0 && register(raise) {
            WATCHED.store(1, Ordering::Relaxed);
        }
        epoch()
    }

    extern "C" fn raise() {
        // Nothing but an atomic: a handler may call only what is safe in a signal handler.
        EPOCH.fetch_add(1, Ordering::Relaxed);
    }

    /// Has the C library call `child` in every forked child. It can fail for want of memory; the next generator that
    /// wakes tries again.
    #[expect(
        unsafe_code,
        reason = "std has no way to learn of a fork, and asking for the process ID costs a system call"
    )]
    fn register(child: extern "C" fn()) -> bool {
        unsafe extern "C" {
            /// POSIX.1-2001.
            fn pthread_atfork(
                prepare: Option<extern "C" fn()>,
                parent: Option<extern "C" fn()>,
                child: Option<extern "C" fn()>,
            ) -> c_int;
        }
        // SAFETY: the signature is POSIX's, and the handler only touches an atomic and lives as long as the process; or
        // as long as the dynamic library that it is in: glibc drops a library's handlers with it and musl unloads none,
        // while elsewhere a library that has minted must stay loaded.
        let error = unsafe { pthread_atfork(None, None, Some(child)) };
        error == 0
    }
}
