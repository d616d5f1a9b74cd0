//! A leased generator in a forked child, and after its process was killed.
//!
//! Each test forks, so they run one after another in a process with one thread of its own.
#![cfg_attr(not(unix), allow(unused))]

#[cfg(unix)]
mod folder;
#[allow(dead_code, reason = "another test uses the rest")]
mod opened;
#[cfg(all(unix, feature = "worker-ids"))]
mod skip;

fn main() {
    #[cfg(unix)]
    unix::run();
}

#[cfg(unix)]
mod unix {
    #[cfg(feature = "worker-ids")]
    use std::collections::BTreeSet;
    use std::io::{Read, Write, pipe};
    #[cfg(feature = "worker-ids")]
    use std::process::Command;
    use std::process::exit;
    use std::thread;
    use std::time::{Duration, Instant};

    use imid::{MessageId, SessionTag, SessionType};
    use imid_lease::register::{FileRegister, MemoryRegister};
    #[cfg(feature = "worker-ids")]
    use imid_lease::worker_ids::{WorkerIds, WorkerOptions};
    use imid_lease::{LaneOptions, LeasedGenerator, Phase};
    #[cfg(feature = "worker-ids")]
    use imid_snowflake::Preset;
    use libtest_mimic::{Arguments, Trial};
    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::{ForkResult, fork};

    use super::folder::Folder;
    #[cfg(feature = "worker-ids")]
    use super::skip;

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
            #[cfg(feature = "worker-ids")]
            Trial::test("holders_have_a_connection_to_postgresql_each_in_each_process", || {
                holders_have_a_connection_each();
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

    #[cfg(feature = "worker-ids")]
    const LONG: Duration = Duration::from_secs(60);

    /// Opens a lease and worker IDs, each with a connection.
    #[cfg(feature = "worker-ids")]
    fn open_all(url: &str, space: &str, holder: &str) -> (LeasedGenerator, WorkerIds) {
        let register = || imid_lease::register::open_url(url, LONG);
        let options = LaneOptions::new().create_missing().space(format!("{space}-lanes")).holder(holder);
        let ids = LeasedGenerator::open(register().unwrap(), options).unwrap();
        ids.wait_until_open(LONG).unwrap();
        let options = WorkerOptions::new(Preset::TWITTER).space(format!("{space}-workers")).holder(holder).spares(1);
        let workers = WorkerIds::open(register, options).unwrap();
        while workers.status().iter().any(|worker| worker.phase != Phase::Holding) {
            thread::sleep(Duration::from_millis(5));
        }
        (ids, workers)
    }

    #[cfg(feature = "worker-ids")]
    fn holders_have_a_connection_each() {
        const NAME: &str = "fork::holders_have_a_connection_to_postgresql_each_in_each_process";
        let Ok(url) = std::env::var("IMID_POSTGRES_URL") else {
            return skip::skip(NAME, "expected IMID_POSTGRES_URL, found none (see ci/services.sh)");
        };
        if let Err(error) = imid_lease::register::open_url(&url, LONG) {
            return skip::skip(NAME, error);
        }
        let name = format!("one-{}", std::process::id());
        // The process of the server and the name of each connection.
        let connections = || {
            let query = format!(
                "SELECT pid, application_name FROM pg_stat_activity WHERE application_name LIKE 'imid-lease/{name}%' \
                 ORDER BY 2"
            );
            let output = Command::new("psql").args(["-X", "-A", "-t", &url, "-c", &query]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines()
                .map(|line| line.split_once('|').map(|(pid, name)| (pid.to_owned(), name.to_owned())).unwrap())
                .collect::<Vec<_>>()
        };
        let (ids, workers) = open_all(&url, &name, &name);
        let alone = connections();
        let names = |found: &[(String, String)]| found.iter().map(|(_, name)| name.clone()).collect::<BTreeSet<_>>();
        let expected = |name: &str| ["", ".0", ".1"].map(|lease| format!("imid-lease/{name}{lease}"));
        assert_eq!((names(&alone), alone.len()), (expected(&name).into(), 3));

        let ((mut has_opened, mut opened), (mut ends, mut end)) = (pipe().unwrap(), pipe().unwrap());
        // SAFETY: the other threads of this process sleep, or wait for an answer of the server. The child uses nothing of theirs.
        #[expect(unsafe_code, reason = "fork is unsafe in a process with threads")]
        let forked = unsafe { fork() }.unwrap();
        match forked {
            ForkResult::Child => {
                let is_refused = ids.generate(room()).is_err();
                let (own, _workers) = open_all(&url, &name, &format!("{name}-child"));
                let mints = own.generate(room()).is_ok();
                opened.write_all(&[u8::from(is_refused && mints)]).unwrap();
                ends.read_exact(&mut [0]).unwrap();
                exit(0)
            }
            ForkResult::Parent { child } => {
                let mut is_right = [0];
                has_opened.read_exact(&mut is_right).unwrap();
                assert_eq!(is_right, [1]);
                let all = expected(&name).into_iter().chain(expected(&format!("{name}-child"))).collect();
                assert_eq!(names(&connections()), all);
                end.write_all(&[1]).unwrap();
                assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 0));
            }
        }
        let started = Instant::now();
        while connections() != alone {
            assert!(started.elapsed() < LONG, "the connection of the child stays: {:?}", connections());
            thread::sleep(Duration::from_millis(20));
        }
        ids.generate(room()).unwrap();
        assert!(ids.close_within(LONG));
        let rest = [".0", ".1"].map(|lease| format!("imid-lease/{name}{lease}"));
        assert_eq!(names(&connections()), rest.into(), "the worker IDs have their own");
        workers.close();
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
