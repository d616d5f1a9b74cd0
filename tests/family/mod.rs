//! Child processes that hand back what they minted.

use std::io::{PipeReader, Read, Write, pipe};
use std::panic::{AssertUnwindSafe, catch_unwind};

use imid::MessageId;
use nix::libc;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};

/// A forked child at work.
#[must_use]
pub(super) struct Child {
    pid: Pid,
    bytes: PipeReader,
}

impl Child {
    /// Forks. The child mints, writes its IDs and ends.
    pub(super) fn fork(work: impl FnOnce() -> Vec<MessageId>) -> Self {
        #[expect(unsafe_code, reason = "fork")]
        // SAFETY: no thread of this process holds a lock that the child could need. There is the main one, and in some tests
        // the thread of a `TickClock`, which only sleeps, reads the time and stores it.
        Self::begin(|| unsafe { fork() }.unwrap(), work)
    }

    /// The same for a process that `split` makes.
    #[expect(unsafe_code, reason = "the only exit that runs no handler of the parent's")]
    pub(super) fn begin(split: impl FnOnce() -> ForkResult, work: impl FnOnce() -> Vec<MessageId>) -> Self {
        let (bytes, mut back) = pipe().unwrap();
        match split() {
            ForkResult::Parent { child } => Self { pid: child, bytes },
            ForkResult::Child => {
                drop(bytes);
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

    /// Waits for the child, which must not have failed, and returns what it minted.
    pub(super) fn ids(mut self) -> Vec<MessageId> {
        let mut bytes = Vec::new();
        self.bytes.read_to_end(&mut bytes).unwrap();
        assert_eq!(waitpid(self.pid, None), Ok(WaitStatus::Exited(self.pid, 0)), "the child failed");
        bytes.as_chunks().0.iter().map(|bytes| MessageId::from_bytes(*bytes)).collect()
    }
}
