//! A leased generator in a forked child, and after its process was killed.
//!
//! Each test forks, so they run one after another in a process with one thread of its own.
#![cfg_attr(not(unix), allow(unused))]

#[cfg(unix)]
#[path = "support/folder.rs"]
mod folder;
#[allow(dead_code, reason = "another test uses the rest")]
#[path = "support/opened.rs"]
mod opened;

fn main() {
    #[cfg(unix)]
    unix::run();
}

#[cfg(unix)]
mod unix {
    use std::io::{Read, Write, pipe};
    use std::process::exit;
    use std::thread;
    use std::time::{Duration, Instant};

    use imid::{MessageId, SessionTag, SessionType};
    use imid_lease::register::{FileRegister, MemoryRegister};
    use imid_lease::{LaneOptions, LeasedGenerator, Phase};
    use libtest_mimic::{Arguments, Trial};
    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::{ForkResult, fork};

    use super::folder::Folder;

    pub(crate) fn run() {
        let mut arguments = Arguments::from_args();
        arguments.test_threads = Some(1);
        let trials = vec![
            Trial::test("a_child_of_a_leased_generator_mints_nothing", || {
                child_mints_nothing(4);
                Ok(())
            }),
            Trial::test("a_child_of_a_generator_with_a_lane_of_no_bits_mints_nothing", || {
                child_mints_nothing(0);
                Ok(())
            }),
            Trial::test("a_child_does_not_keep_the_file_of_its_parent_locked", || {
                child_keeps_no_lock();
                Ok(())
            }),
            Trial::test("no_id_comes_twice_after_a_kill", || {
                nothing_comes_twice_after_a_kill();
                Ok(())
            }),
        ];
        libtest_mimic::run(&arguments, trials).exit();
    }

    fn room() -> SessionTag {
        SessionTag::new(SessionType::GROUP, "room-42")
    }

    /// Runs `work` in a child, and asserts that it returns true.
    fn in_child(work: impl FnOnce() -> bool) {
        // SAFETY: see below; the other threads of this process hold no lock that the child needs, because they sleep.
        #[expect(unsafe_code, reason = "fork is unsafe in a process with threads")]
        let forked = unsafe { fork() }.unwrap();
        match forked {
            ForkResult::Child => exit(i32::from(!work())),
            ForkResult::Parent { child } => {
                assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 0));
            }
        }
    }

    fn child_mints_nothing(bits: u32) {
        let ids = LeasedGenerator::open(MemoryRegister::new(), LaneOptions::new().lane_bits(bits))
            .and_then(crate::opened::opened)
            .unwrap();
        ids.generate(room()).unwrap();
        thread::sleep(Duration::from_millis(50));
        in_child(|| {
            let start = Instant::now();
            let refused = |error: imid_lease::LeaseError| error.is_forked() && error.retry_after().is_none();
            let is_refused = (0..100).all(|_| refused(ids.generate(room()).unwrap_err()))
                && refused(ids.batch(room(), 5).unwrap_err())
                && ids.status().phase == Phase::Stopped
                && refused(ids.generate_within(room(), Duration::from_secs(9)).unwrap_err());
            ids.close();
            drop(ids);
            is_refused && start.elapsed() < Duration::from_secs(5)
        });
    }

    fn child_keeps_no_lock() {
        let folder = Folder::new();
        let path = folder.path("ids");
        let ids = LeasedGenerator::open_file(&path).unwrap();
        let (mut reader, mut writer) = pipe().unwrap();
        thread::sleep(Duration::from_millis(50));
        #[expect(unsafe_code, reason = "fork is unsafe in a process with threads")]
        // SAFETY: the child only reads a pipe.
        let forked = unsafe { fork() }.unwrap();
        match forked {
            ForkResult::Child => {
                drop(writer);
                let _ = reader.read(&mut [0]);
                exit(0);
            }
            ForkResult::Parent { child } => {
                ids.close();
                drop(FileRegister::owned(&path).unwrap());
                writer.write_all(&[0]).unwrap();
                waitpid(child, None).unwrap();
            }
        }
    }

    /// The child mints at full speed and tells its last ID now and then. It is killed at some moment.
    fn nothing_comes_twice_after_a_kill() {
        let folder = Folder::new();
        let path = folder.path("ids");
        let mut last: Option<MessageId> = None;
        for round in 0..12 {
            let (mut reader, mut writer) = pipe().unwrap();
            #[expect(unsafe_code, reason = "fork is unsafe in a process with threads")]
            // SAFETY: no other thread runs here.
            let forked = unsafe { fork() }.unwrap();
            let child = match forked {
                ForkResult::Child => {
                    let ids = LeasedGenerator::open_file(&path).unwrap();
                    loop {
                        let id = ids.generate_within(room(), Duration::from_secs(5)).unwrap();
                        writer.write_all(&id.to_bytes()).unwrap();
                    }
                }
                ForkResult::Parent { child } => child,
            };
            drop(writer);
            let mut found = [0; 10];
            let deadline = Instant::now() + Duration::from_millis(100 + 37 * round);
            while Instant::now() < deadline {
                reader.read_exact(&mut found).unwrap();
                let id = MessageId::from_bytes(found);
                assert!(last < Some(id), "{last:?} {id}");
                last = Some(id);
            }
            kill(child, Signal::SIGKILL).unwrap();
            while reader.read_exact(&mut found).is_ok() {
                let id = MessageId::from_bytes(found);
                assert!(last < Some(id), "{last:?} {id}");
                last = Some(id);
            }
            waitpid(child, None).unwrap();
        }
    }
}
