//! The connections of leases and worker IDs, in a process and in its forked child. The file has one test, because a fork copies only one
//! thread.
#![cfg(unix)]

#[path = "../../imid-lease/tests/support/skip.rs"]
mod skip;

use std::collections::BTreeSet;
use std::io::{Read, Write, pipe};
use std::process::{Command, exit};
use std::thread;
use std::time::{Duration, Instant};

use imid::{SessionTag, SessionType};
use imid_lease::{LaneOptions, LeasedGenerator, Phase};
use imid_snowflake::Preset;
use imid_snowflake::worker_ids::{WorkerIds, WorkerOptions};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

const LONG: Duration = Duration::from_secs(60);

fn room() -> SessionTag {
    SessionTag::new(SessionType::GROUP, "room-42")
}

/// Opens a lease and worker IDs, each with a connection.
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

#[test]
fn holders_have_a_connection_to_postgresql_each_in_each_process() {
    const NAME: &str = "worker_ids_connections::holders_have_a_connection_to_postgresql_each_in_each_process";
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
