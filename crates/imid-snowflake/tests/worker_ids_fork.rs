//! Worker IDs in a forked child, which are the parent's. The file has one test, because a fork copies only one thread.
#![cfg(unix)]

use imid_lease::Phase;
use imid_lease::register::MemoryRegister;
use imid_snowflake::worker_ids::{WorkerIds, WorkerOptions};
use imid_snowflake::{NodeSource, Preset};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

#[test]
#[expect(unsafe_code, reason = "the test needs a fork")]
fn a_forked_child_has_no_worker_ids() {
    let register = MemoryRegister::new();
    let workers = WorkerIds::open(|| Ok(register.clone()), WorkerOptions::new(Preset::LEAF)).unwrap();
    workers.wait_until_open(std::time::Duration::from_secs(60)).unwrap();
    let ids = workers.generator().unwrap();
    let unused = workers.clone();
    // SAFETY: the child uses only atomics and the process ID, and ends with `_exit`.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            let is_refused = ids.generate().is_err_and(imid_snowflake::GenerateError::is_forked)
                && unused.take(u64::MAX).is_none()
                && unused.status().iter().all(|status| status.phase == Phase::Stopped)
                && unused.generator().is_err_and(imid_lease::LeaseError::is_forked);
            ids.close();
            unused.close();
            // SAFETY: any exit code is valid, and this process has nothing left to do.
            unsafe { nix::libc::_exit(i32::from(is_refused)) }
        }
        ForkResult::Parent { child } => {
            assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 1));
            assert!(ids.generate().is_ok());
        }
    }
}
