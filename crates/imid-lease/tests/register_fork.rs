//! The registers of servers in a forked child: it sends nothing on its parent's connection, and does not close it. The file has
//! one test, because a fork copies only one thread. `ci/services.sh run postgres mysql redis etcd zookeeper -- cargo test ...`
//! starts the servers.
#![cfg(unix)]

#[path = "support/skip.rs"]
mod skip;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use imid_lease::register::{DEFAULT_TIME_LIMIT, Register, open_url, tool::STORES};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

/// Counts what a client sends to a server.
#[derive(Default)]
struct Sent {
    connections: AtomicU64,
    bytes: AtomicU64,
    ends: AtomicU64,
}

/// Starts a proxy to a server, and returns its address.
fn proxy(server: String) -> (String, Arc<Sent>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, sent) = (listener.local_addr().unwrap().to_string(), Arc::new(Sent::default()));
    let counted = Arc::clone(&sent);
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
            sent.connections.fetch_add(1, Ordering::SeqCst);
            let (mut to_client, mut from_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from_server, &mut to_client);
                let _ = to_client.shutdown(Shutdown::Both);
            });
            let sent = Arc::clone(&sent);
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(count @ 1..) = client.read(&mut buffer) {
                    sent.bytes.fetch_add(count as u64, Ordering::SeqCst);
                    let _ = server.write_all(&buffer[..count]);
                }
                sent.ends.fetch_add(1, Ordering::SeqCst);
                let _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    (address, counted)
}

/// Returns a register at a server through a proxy, or says why the store is skipped.
fn open(store: &str) -> Option<(Box<dyn Register>, Arc<Sent>)> {
    let variable = format!("IMID_{}_URL", store.to_uppercase());
    let Ok(url) = std::env::var(&variable) else {
        skip::skip(
            &format!("register_fork::{store}"),
            format_args!("expected {variable}, found none (see ci/services.sh)"),
        );
        return None;
    };
    let rest = url.split_once("://").unwrap().1;
    let address = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest).split('/').next().unwrap();
    let (proxied, sent) = proxy(address.to_owned());
    match open_url(&url.replace(address, &proxied), DEFAULT_TIME_LIMIT) {
        Ok(register) => Some((register, sent)),
        Err(error) => {
            skip::skip(&format!("register_fork::{store}"), error);
            None
        }
    }
}

#[test]
#[expect(unsafe_code, reason = "the test needs a fork")]
fn a_forked_child_does_not_use_its_parents_connection() {
    for store in STORES.iter().filter(|store| store.is_server()).map(|store| store.name) {
        let Some((mut register, sent)) = open(store) else { continue };
        let key = format!("test/fork-{}", std::process::id());
        assert!(register.compare_and_set(&key, None, "1").unwrap());
        let count = |of: &AtomicU64| of.load(Ordering::SeqCst);
        let counts = || [count(&sent.connections), count(&sent.bytes), count(&sent.ends)];
        // A session of ZooKeeper sends a sign of life now and then, also without a fork. HTTP/2 has frames that follow a reply.
        let is_silent = store != "zookeeper";
        let mut before = counts();
        loop {
            thread::sleep(Duration::from_millis(200));
            let now = counts();
            if std::mem::replace(&mut before, now) == now || !is_silent {
                break;
            }
        }
        // SAFETY: the child gets errors before it uses what other threads share, and ends with `_exit`.
        match unsafe { fork() }.unwrap() {
            ForkResult::Child => {
                let is_refused = |error: Option<imid_lease::RegisterError>| {
                    let expected = "the parent process opened this register; a forked child must open its own";
                    error.is_some_and(|error| error.to_string().ends_with(expected))
                };
                let all_refused = is_refused(register.read(&key).err())
                    && is_refused(register.list("test/").err())
                    && is_refused(register.compare_and_set(&key, Some("1"), "2").err())
                    && is_refused(register.now_ms().err());
                // A client that says goodbye when it is dropped would end the parent's connection.
                drop(register);
                // SAFETY: any exit code is valid, and this process has nothing left to do.
                unsafe { nix::libc::_exit(i32::from(all_refused)) }
            }
            ForkResult::Parent { child } => {
                assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 1), "{store}");
                thread::sleep(Duration::from_millis(100));
                let after = counts();
                if store == "zookeeper" {
                    assert_eq!((before[0], before[2]), (after[0], after[2]), "{store}");
                } else {
                    assert_eq!(before, after, "{store}: connections, bytes sent, ends of connections");
                }
                assert!(register.compare_and_set(&key, Some("1"), "2").unwrap(), "{store}");
                assert_eq!(register.read(&key).unwrap().as_deref(), Some("2"), "{store}");
                assert_eq!(count(&sent.connections), before[0], "{store}: the parent uses its connection again");
            }
        }
    }
}
