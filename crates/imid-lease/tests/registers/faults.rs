//! What holds while connections and servers break.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use imid_lease::register::{DEFAULT_TIME_LIMIT, Register, open_url};

use crate::chain::chain;
use crate::proxy::Proxy;
use crate::store::{Store, TIME_LIMIT_AND_ROOM, fresh_key};

pub(crate) fn a_cut_connection_is_an_error_and_the_next_call_connects_again(store: &Store) {
    let (proxy, key) = (Proxy::new(store.address()), fresh_key());
    let mut register = open_url(&store.url_at(&proxy.address), Duration::from_secs(60)).unwrap();
    for round in 0..5_u32 {
        let seen = register.read(&key).unwrap();
        assert!(register.compare_and_set(&key, seen.as_deref(), &round.to_string()).unwrap());
        proxy.cut();
        if let Err(error) = register.read(&key) {
            check_message(&chain(&error), &proxy.address);
        }
        // A client that can reconnect within a call may do so. The call after the error must work in any case.
        assert_eq!(register.read(&key).unwrap(), Some(round.to_string()));
    }
}

pub(crate) fn a_lost_reply_is_an_error_and_the_value_may_be_there(store: &Store) {
    let (proxy, key) = (Proxy::new(store.address()), fresh_key());
    let mut register = open_url(&store.url_at(&proxy.address), DEFAULT_TIME_LIMIT).unwrap();
    let mut direct = store.open();
    assert!(register.compare_and_set(&key, None, "0").unwrap());
    // Some clients prepare a statement before its first use.
    assert!(register.compare_and_set(&key, Some("0"), "1").unwrap());
    proxy.lose_replies(true);
    let start = Instant::now();
    let error = chain(&register.compare_and_set(&key, Some("1"), "2").expect_err("the reply is lost"));
    assert!(start.elapsed() < TIME_LIMIT_AND_ROOM, "the call took {:?}", start.elapsed());
    check_message(&error, &proxy.address);
    proxy.lose_replies(false);
    proxy.cut();
    let value = direct.read(&key).unwrap().unwrap();
    if store.sends_each_write_at_once() {
        assert_eq!(value, "2", "the write reached the server");
    }
    assert_eq!(register.read(&key).unwrap(), Some(value));
}

/// One after another, the records would take twice the time limit.
pub(crate) fn many_records_are_listed_within_the_time_limit_of_a_distant_server(store: &Store) {
    const COUNT: usize = 200;
    let (prefix, mut direct) = (format!("{}/", fresh_key()), store.open());
    for number in 0..COUNT {
        assert!(direct.compare_and_set(&format!("{prefix}{number}"), None, "1").unwrap());
    }
    let proxy = Proxy::new(store.address());
    let mut register = open_url(&store.url_at(&proxy.address), DEFAULT_TIME_LIMIT).unwrap();
    register.read("a").unwrap();
    proxy.delay_replies(20);
    assert_eq!(register.list(&prefix).unwrap().len(), COUNT);
}

pub(crate) fn a_frozen_server_is_an_error_within_the_time_limit(store: &Store) {
    let (mut open, mut new, key) = (store.open_with_default_limit(), store.open_with_default_limit(), fresh_key());
    assert!(open.compare_and_set(&key, None, "1").unwrap());
    store.server("pause");
    // Both a server that freezes under a connection, and one that does not answer a new connection.
    let mut errors = Vec::new();
    for register in [&mut open, &mut new] {
        let start = Instant::now();
        let error = register.compare_and_set(&key, Some("1"), "2").expect_err("the server is frozen");
        assert!(start.elapsed() < TIME_LIMIT_AND_ROOM, "the call took {:?}", start.elapsed());
        errors.push(chain(&error));
    }
    store.server("resume");
    for error in errors {
        check_message(&error, store.address());
    }
    let value = after_restart(&mut *open, &key).unwrap();
    assert!(["1", "2"].contains(&value.as_str()), "{value}");
    assert!(after_restart(&mut *new, &key).is_some());
}

pub(crate) fn a_stopped_server_is_an_error_until_it_starts_again(store: &Store) {
    let (mut open, key) = (store.open_with_default_limit(), fresh_key());
    assert!(open.compare_and_set(&key, None, "1").unwrap());
    store.server("stop");
    for register in [&mut open, &mut store.open_with_default_limit()] {
        let start = Instant::now();
        let error = chain(&register.read(&key).expect_err("the server is stopped"));
        assert!(start.elapsed() < TIME_LIMIT_AND_ROOM, "the call took {:?}", start.elapsed());
        check_message(&error, store.address());
    }
    store.server("start");
    assert_eq!(after_restart(&mut *open, &key).as_deref(), Some("1"));
    assert!(open.compare_and_set(&key, Some("1"), "2").unwrap());
}

pub(crate) fn an_acknowledged_write_survives_a_killed_server(store: &Store) {
    let key = fresh_key();
    assert!(store.open().compare_and_set(&key, None, "0").unwrap());
    for round in 0..3 {
        let (acknowledged, stop) = (AtomicU32::new(0), AtomicBool::new(false));
        let mut register = store.open();
        let mut seen = after_restart(&mut *register, &key).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let next = seen.parse::<u32>().unwrap() + 1;
                    match register.compare_and_set(&key, Some(&seen), &next.to_string()) {
                        Ok(true) => acknowledged.store(next, Ordering::SeqCst),
                        Ok(false) => panic!("nobody else writes"),
                        Err(_) => break,
                    }
                    seen = next.to_string();
                }
            });
            let start = Instant::now();
            while acknowledged.load(Ordering::SeqCst) == 0 && start.elapsed() < Duration::from_secs(10) {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(100 + 100 * round));
            store.server("kill");
            stop.store(true, Ordering::SeqCst);
        });
        assert!(store.open_with_default_limit().read(&key).is_err(), "the server is not killed");
        store.server("start");
        let acknowledged = acknowledged.into_inner();
        let kept: u32 = after_restart(&mut *store.open(), &key).unwrap().parse().unwrap();
        assert!(acknowledged > 0, "the writer wrote nothing");
        assert!(
            kept == acknowledged || kept == acknowledged + 1,
            "{acknowledged} was acknowledged, and the record has {kept}"
        );
    }
}

/// Reads a record once the server answers.
fn after_restart(register: &mut dyn Register, key: &str) -> Option<String> {
    let start = Instant::now();
    loop {
        match register.read(key) {
            Ok(value) => return value,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(20), "after 20 s: {error}"),
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// An error names the host and port, and never the password.
fn check_message(error: &str, address: &str) {
    assert!(error.contains(address), "expected {address} in: {error}");
    assert!(!error.contains("secret"), "the password is in: {error}");
}
