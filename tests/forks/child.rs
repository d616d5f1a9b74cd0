//! Child processes that hand back what they minted.

use core::ffi::c_int;
use std::io::{PipeReader, Read, Write, pipe};
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(target_os = "linux")]
use std::sync::LazyLock;

use imid::MessageId;
use nix::libc;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};

/// A child that hangs is ended by a signal after this time, and has failed then.
const LONGEST_S: u32 = 60;

/// A way to copy this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// `fork`, which runs the handlers.
    Fork,
    /// `_Fork` of POSIX 2024, safe in signal handlers: it runs no handler.
    PlainFork,
    /// The system call, past the C library.
    #[cfg(target_os = "linux")]
    Clone,
}

/// Every way that is noticed on this system: without a page that is wiped, only the one that the handler sees.
pub(super) fn ways() -> Vec<Way> {
    let mut ways = vec![Way::Fork];
    if !wipes_a_page() {
        return ways;
    }
    if plain_fork().is_some() {
        ways.push(Way::PlainFork);
    }
    // On other processors the flags are not the first argument.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    ways.push(Way::Clone);
    ways
}

/// Whether this system replaces a page by zeros in a child, after `MADV_WIPEONFORK`. A child looks, because emulators and some
/// sandboxes accept the advice and do not follow it.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "mmap, madvise and fork")]
pub(super) fn wipes_a_page() -> bool {
    const LENGTH: usize = 65_536;
    static WIPES: LazyLock<bool> = LazyLock::new(|| {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory at an address of the kernel's choice.
        let page = unsafe { libc::mmap(core::ptr::null_mut(), LENGTH, access, kind, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        let byte = page.cast::<u8>();
        // SAFETY: the memory is this function's own.
        unsafe { byte.write_volatile(1) };
        // SAFETY: as above. In this process the advice changes nothing.
        if unsafe { libc::madvise(page, LENGTH, libc::MADV_WIPEONFORK) } != 0 {
            return false;
        }
        // SAFETY: the child reads a byte and ends.
        match unsafe { fork() }.unwrap() {
            ForkResult::Child => {
                // SAFETY: the child has a copy of the memory, or zeros.
                let value = unsafe { byte.read_volatile() };
                // SAFETY: it runs nothing of the parent's.
                unsafe { libc::_exit(value.into()) }
            }
            ForkResult::Parent { child } => waitpid(child, None) == Ok(WaitStatus::Exited(child, 0)),
        }
    });
    *WIPES
}

/// No other system is asked to.
#[cfg(not(target_os = "linux"))]
pub(super) const fn wipes_a_page() -> bool {
    false
}

/// `_Fork`, where the C library has it.
#[expect(unsafe_code, reason = "older libraries have no such symbol to link with")]
fn plain_fork() -> Option<extern "C" fn() -> c_int> {
    // SAFETY: the name ends in a zero.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_Fork".as_ptr()) };
    // SAFETY: a null pointer is `None`; anything else has the signature of POSIX.
    unsafe { core::mem::transmute::<*mut libc::c_void, Option<extern "C" fn() -> c_int>>(symbol) }
}

#[expect(unsafe_code, reason = "fork")]
fn split(way: Way) -> ForkResult {
    let pid = match way {
        // SAFETY: no thread of this process holds a lock that the child could need. There is the main one, and in some tests
        // the thread of a `TickClock`, which only sleeps, reads the time and stores it.
        Way::Fork => return unsafe { fork() }.unwrap(),
        Way::PlainFork => plain_fork().unwrap()(),
        #[cfg(target_os = "linux")]
        Way::Clone => {
            let (flags, zero) = (core::ffi::c_long::from(libc::SIGCHLD), 0 as core::ffi::c_long);
            // SAFETY: as above. Without flags nothing is shared. The C library of the child keeps the parent's idea of its own
            // thread, which none of these tests asks for.
            let pid = unsafe { libc::syscall(libc::SYS_clone, flags, zero, zero, zero, zero) };
            c_int::try_from(pid).unwrap()
        }
    };
    assert!(pid >= 0, "{way:?} failed");
    if pid == 0 { ForkResult::Child } else { ForkResult::Parent { child: Pid::from_raw(pid) } }
}

/// A child at work.
#[must_use]
pub(super) struct Child {
    pid: Pid,
    bytes: PipeReader,
}

impl Way {
    /// Copies this process. The child mints, writes its IDs and ends.
    #[expect(unsafe_code, reason = "the only exit that runs no handler of the parent's, and alarm")]
    pub(super) fn copy(self, work: impl FnOnce() -> Vec<MessageId>) -> Child {
        let (bytes, mut back) = pipe().unwrap();
        match split(self) {
            ForkResult::Parent { child } => Child { pid: child, bytes },
            ForkResult::Child => {
                drop(bytes);
                // SAFETY: it sets a timer of this process.
                unsafe { libc::alarm(LONGEST_S) };
                let done = catch_unwind(AssertUnwindSafe(|| {
                    let ids = work();
                    back.write_all(ids.iter().flat_map(|id| id.to_bytes()).collect::<Vec<_>>().as_slice()).unwrap();
                }));
                drop(back);
                // SAFETY: it ends the process at once, and runs nothing of the parent's: no buffers, no handlers, no tests.
                unsafe { libc::_exit(i32::from(done.is_err())) }
            }
        }
    }
}

impl Child {
    /// Waits for the child, which must not have failed, and returns what it minted.
    pub(super) fn ids(mut self) -> Vec<MessageId> {
        let mut bytes = Vec::new();
        self.bytes.read_to_end(&mut bytes).unwrap();
        assert_eq!(waitpid(self.pid, None), Ok(WaitStatus::Exited(self.pid, 0)), "the child failed");
        bytes.as_chunks().0.iter().map(|bytes| MessageId::from_bytes(*bytes)).collect()
    }
}
