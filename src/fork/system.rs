//! The two calls of the C library by which forks are noticed.
#![expect(unsafe_code, reason = "std has no way to learn of a fork, and asking for the process ID costs a system call")]

use core::ffi::c_int;
#[cfg(target_os = "linux")]
use core::ffi::c_void;

/// Gives the kernel an advice on the pages of a static, and returns whether it accepted it.
///
/// The advice must be one that leaves the memory of this process alone: [`WIPE_ON_FORK`](super::marks) or one that
/// the kernel does not know.
#[cfg(target_os = "linux")]
pub(super) fn advise<T>(pages: &'static T, advice: c_int) -> bool {
    unsafe extern "C" {
        /// Linux.
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    let address = core::ptr::from_ref(pages).cast_mut().cast();
    // SAFETY: the signature is that of the C library, and the range is one live static. The callers' advice changes
    // nothing in this process. In a child it replaces the static by zeros, which is a value of each of its atomics.
    let error = unsafe { madvise(address, size_of::<T>(), advice) };
    error == 0
}

/// Accepts no advice: other systems have none that wipes a page, and some have no `madvise`.
#[cfg(not(target_os = "linux"))]
pub(super) const fn advise<T>(_: &'static T, _: c_int) -> bool {
    false
}

/// Has the C library call `child` in every child of `fork`. It can fail if there is no memory.
pub(super) fn at_fork(child: extern "C" fn()) -> bool {
    unsafe extern "C" {
        /// POSIX.1-2001.
        fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> c_int;
    }
    // SAFETY: the signature is POSIX's, and the handler only touches atomics and lives as long as the process; or as long
    // as the dynamic library that it is in: glibc drops a library's handlers with it and musl unloads none, while
    // elsewhere a library that has minted must stay loaded.
    let error = unsafe { pthread_atfork(None, None, Some(child)) };
    error == 0
}
