//! A process that uses a register in a file is killed before and after each of its system calls.
//!
//! The process is this test's own program with an argument. It is traced, so that it stops at each system call.
#![cfg_attr(not(target_os = "linux"), allow(unused))]

#[cfg(target_os = "linux")]
#[path = "support/folder.rs"]
mod folder;
#[cfg(target_os = "linux")]
#[path = "support/skip.rs"]
mod skip;

fn main() {
    #[cfg(target_os = "linux")]
    linux::run();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::env;
    use std::fmt::Write as _;
    use std::io::{Read, Write, stdout};
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use imid::{SessionTag, SessionType};
    use imid_lease::register::FileRegister;
    use imid_lease::{LeasedGenerator, Register};
    use libtest_mimic::{Arguments, Trial};
    use nix::errno::Errno;
    use nix::sys::ptrace;
    use nix::sys::signal::{Signal, kill, raise};
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::Pid;

    use super::folder::Folder;
    use super::skip;

    const KEY: &str = "lanes/1/00000";

    pub(crate) fn run() {
        if let Ok(path) = env::var("IMID_CRASH_PATH") {
            return victim(path.as_ref(), &env::var("IMID_CRASH_WORK").expect("the kind of work"));
        }
        let mut arguments = Arguments::from_args();
        // `waitpid` is for all children.
        arguments.test_threads = Some(1);
        let trials = vec![
            Trial::test("a_crash_at_each_system_call_of_a_register_loses_and_repeats_nothing", || {
                crash_everywhere("register", 1);
                Ok(())
            }),
            Trial::test("a_crash_at_a_system_call_of_a_generator_repeats_no_id", || {
                crash_everywhere("generator", 3);
                Ok(())
            }),
        ];
        libtest_mimic::run(&arguments, trials).exit();
    }

    /// The traced process. It prints each value once nobody else may use it.
    fn victim(path: &Path, work: &str) {
        if ptrace::traceme().is_err() {
            return println!("untraced");
        }
        raise(Signal::SIGSTOP).expect("a process can stop itself");
        if work == "register" { count(path) } else { mint(path) }
    }

    /// A record counts. Whoever has raised it to N may use N.
    fn count(path: &Path) {
        let mut register = FileRegister::owned(path).expect("the file is whole");
        for _ in 0..2 {
            let seen = register.read(KEY).expect("the file is whole");
            let next = seen.as_deref().map_or(1, |seen| seen.parse::<u128>().expect("a number") + 1);
            assert!(register.compare_and_set(KEY, seen.as_deref(), &next.to_string()).expect("it can be written"));
            print_values(&[next]);
        }
    }

    fn mint(path: &Path) {
        let ids = LeasedGenerator::open_file(path).expect("the file is whole");
        let room = SessionTag::new(SessionType::GROUP, "room-42");
        let mint = || ids.generate_within(room, Duration::from_secs(5)).expect("there is room").to_u128();
        for _ in 0..3 {
            print_values(&[mint(), mint(), mint()]);
        }
        ids.close();
    }

    /// Prints in one system call.
    fn print_values(values: &[u128]) {
        let mut lines = String::new();
        for value in values {
            writeln!(lines, "{value}").expect("a text has room");
        }
        stdout().write_all(lines.as_bytes()).and_then(|()| stdout().flush()).expect("the parent reads");
    }

    /// Kills a process at its first stop, the next one at a later stop, and so on until one ends by itself. All use one file.
    fn crash_everywhere(work: &str, step: usize) {
        let folder = Folder::new();
        let path = folder.path("ids");
        let mut last = None;
        let (mut processes, mut values) = (0, 0);
        for stops in (0..).step_by(step) {
            let Some((printed, is_killed)) = run_victim(&path, work, stops) else {
                skip::skip("crash", "a process of this machine cannot trace another");
                return;
            };
            processes += 1;
            for line in printed.lines() {
                let value: u128 = line.parse().unwrap_or_else(|_| panic!("after {stops} stops: {printed}"));
                assert!(last < Some(value), "after {stops} stops: {value} comes after {last:?}");
                last = Some(value);
                values += 1;
            }
            if work == "register" {
                let found =
                    FileRegister::shared(&path).expect("the file is whole").read(KEY).expect("the file is whole");
                let found = found.map(|text| text.parse::<u128>().expect("a number"));
                // The last write may have come through without an answer.
                assert!(found == last || found == last.map_or(Some(1), |last| Some(last + 1)), "{found:?} {last:?}");
                last = found;
            }
            if !is_killed {
                println!("{work}: {processes} processes, the last one after {stops} stops, {values} values, 0 repeats");
                assert!(processes > 40 && values > 40, "too little happened");
                return;
            }
        }
    }

    /// Runs a process until this many stops; returns what it printed, and whether it was killed. `None` if it cannot be traced.
    fn run_victim(path: &Path, work: &str, stops: usize) -> Option<(String, bool)> {
        let mut child = Command::new(env::current_exe().expect("this test is a file"))
            .env("IMID_CRASH_PATH", path)
            .env("IMID_CRASH_WORK", work)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let pid = Pid::from_raw(child.id().cast_signed());
        let any = || waitpid(None, Some(WaitPidFlag::__WALL));
        // It stops itself, unless it cannot be traced.
        if !matches!(any(), Ok(WaitStatus::Stopped(..))) {
            let _ = child.wait();
            return None;
        }
        let options = ptrace::Options::PTRACE_O_TRACESYSGOOD | ptrace::Options::PTRACE_O_TRACECLONE;
        ptrace::setoptions(pid, options).expect("it is traced");
        let (mut left, mut stopped, mut is_killed) = (stops, pid, false);
        loop {
            if left == 0 && !is_killed {
                kill(pid, Signal::SIGKILL).expect("it is there");
                is_killed = true;
            }
            // A thread can be gone with its killed process.
            let _ = ptrace::syscall(stopped, None);
            match any() {
                // Before a system call, or after it.
                Ok(WaitStatus::PtraceSyscall(thread)) => {
                    left = left.saturating_sub(1);
                    stopped = thread;
                }
                // A new thread, and the thread that started it.
                Ok(WaitStatus::Stopped(thread, _) | WaitStatus::PtraceEvent(thread, ..)) => stopped = thread,
                Ok(WaitStatus::Exited(ended, status)) if ended == pid => {
                    assert_eq!(status, 0, "the process failed");
                    break;
                }
                Ok(WaitStatus::Signaled(ended, ..)) if ended == pid => break,
                Err(Errno::ECHILD) => break,
                // A thread has ended. Nobody else is stopped.
                Ok(WaitStatus::Exited(ended, _) | WaitStatus::Signaled(ended, ..)) => stopped = ended,
                other => panic!("expected a stop or an end, found {other:?}"),
            }
        }
        // It has ended.
        let _ = child.wait();
        let mut printed = String::new();
        child.stdout.take().expect("the output is piped").read_to_string(&mut printed).expect("the output is text");
        Some((printed, is_killed))
    }
}
