//! What holds while nothing is broken.

use std::collections::HashSet;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use imid::clock::{Clock as _, ManualClock, SystemClock};
use imid::{SessionTag, SessionType};
use imid_lease::admin::{self, Recovery};
use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url_read_only};
use imid_lease::{LaneOptions, LeasedGenerator};

use crate::chain::chain;
use crate::store::{LONG, Store, fresh_key};

pub(crate) fn a_record_is_absent_until_it_is_written(store: &Store) {
    let (mut a, mut b, key) = (store.open(), store.open(), fresh_key());
    assert_eq!(a.read(&key).unwrap(), None);
    assert!(!a.compare_and_set(&key, Some("x"), "y").unwrap(), "there is no record to replace");
    assert_eq!(b.read(&key).unwrap(), None, "a refused write must leave nothing");
    assert!(a.compare_and_set(&key, None, "x").unwrap());
    assert_eq!(b.read(&key).unwrap().as_deref(), Some("x"), "another connection must see the write");
    assert!(!b.compare_and_set(&key, None, "y").unwrap(), "there is a record");
    assert_eq!(a.read(&key).unwrap().as_deref(), Some("x"));
}

pub(crate) fn a_write_needs_the_value_that_is_there(store: &Store) {
    let (mut a, mut b, key) = (store.open(), store.open(), fresh_key());
    assert!(a.compare_and_set(&key, None, "1").unwrap());
    assert!(b.compare_and_set(&key, Some("1"), "2").unwrap());
    assert!(!a.compare_and_set(&key, Some("1"), "3").unwrap(), "the value has changed");
    assert_eq!(a.read(&key).unwrap().as_deref(), Some("2"));
    assert!(a.compare_and_set(&key, Some("2"), "2").unwrap(), "an equal value must count as written");
    assert!(a.compare_and_set(&key, Some("2"), "1").unwrap());
    assert_eq!(b.read(&key).unwrap().as_deref(), Some("1"));
}

pub(crate) fn exactly_one_of_16_connections_creates_a_record(store: &Store) {
    const ROUNDS: usize = 20;
    let keys: Vec<_> = (0..ROUNDS).map(|_| fresh_key()).collect();
    let barrier = Barrier::new(16);
    // A thread that panicked before the barrier would leave the others there.
    let winners: Vec<Vec<Result<bool, _>>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|name| {
                let (mut register, keys, barrier) = (store.open(), &keys, &barrier);
                scope.spawn(move || {
                    keys.iter()
                        .map(|key| {
                            barrier.wait();
                            register.compare_and_set(key, None, &format!("holder {name}"))
                        })
                        .collect()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut register = store.open();
    for (round, key) in keys.iter().enumerate() {
        let won: Vec<_> = (0..16).filter(|&name| *winners[name][round].as_ref().unwrap()).collect();
        assert_eq!(won.len(), 1, "round {round}: {won:?} created the record");
        assert_eq!(register.read(key).unwrap(), Some(format!("holder {}", won[0])));
    }
}

pub(crate) fn increments_by_16_connections_are_all_counted(store: &Store) {
    const EACH: u32 = 10;
    let key = fresh_key();
    store.open().compare_and_set(&key, None, "0").unwrap();
    thread::scope(|scope| {
        for _ in 0..16 {
            let (mut register, key) = (store.open(), &key);
            scope.spawn(move || {
                for _ in 0..EACH {
                    loop {
                        let seen = register.read(key).unwrap().unwrap();
                        let next = (seen.parse::<u32>().unwrap() + 1).to_string();
                        if register.compare_and_set(key, Some(&seen), &next).unwrap() {
                            break;
                        }
                    }
                }
            });
        }
    });
    assert_eq!(store.open().read(&key).unwrap(), Some((16 * EACH).to_string()));
}

pub(crate) fn a_list_has_the_keys_with_the_prefix_and_no_others(store: &Store) {
    let (mut register, root) = (store.open(), fresh_key());
    // `_` and `.` stand for any character in the patterns of some stores, and `/` separates nodes.
    for (name, value) in
        [("a_b", "1"), ("a.b", "2"), ("axb", "3"), ("a_b/2", "4"), ("a_b/10", "5"), ("a_", "6"), ("b", "7")]
    {
        assert!(register.compare_and_set(&format!("{root}/{name}"), None, value).unwrap());
    }
    let mut listed = |prefix: &str| -> Vec<(String, String)> {
        let records = register.list(&format!("{root}/{prefix}")).unwrap();
        records.into_iter().map(|(key, value)| (key[root.len() + 1..].to_owned(), value)).collect()
    };
    let records =
        |expected: &[(&str, &str)]| -> Vec<_> { expected.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect() };
    assert_eq!(listed("a_b"), records(&[("a_b", "1"), ("a_b/10", "5"), ("a_b/2", "4")]));
    assert_eq!(listed("a_b/"), records(&[("a_b/10", "5"), ("a_b/2", "4")]));
    assert_eq!(listed("a."), records(&[("a.b", "2")]));
    assert_eq!(listed("b"), records(&[("b", "7")]));
    assert_eq!(listed("c"), []);
    assert_eq!(listed("").len(), 7);
    let all = register.list("").unwrap();
    assert!(all.iter().any(|(key, _)| *key == format!("{root}/axb")), "an empty prefix must list all records");
    assert!(all.is_sorted());
}

pub(crate) fn a_list_shows_what_was_written_after_the_list_before(store: &Store) {
    let (mut a, mut b, root) = (store.open(), store.open(), fresh_key());
    let key = |name: &str| format!("{root}/{name}");
    assert!(a.compare_and_set(&key("1"), None, "x").unwrap() && b.compare_and_set(&key("3"), None, "x").unwrap());
    let record = |name: &str, value: &str| (key(name), value.to_owned());
    assert_eq!(a.list(&key("")).unwrap(), [record("1", "x"), record("3", "x")]);
    assert!(b.compare_and_set(&key("2"), None, "x").unwrap() && b.compare_and_set(&key("3"), Some("x"), "y").unwrap());
    assert!(!a.compare_and_set(&key("3"), Some("x"), "z").unwrap(), "it was listed before it was written");
    assert!(a.compare_and_set(&key("1"), Some("x"), "y").unwrap());
    let all = [record("1", "y"), record("2", "x"), record("3", "y")];
    assert_eq!(a.list(&key("")).unwrap(), all);
    assert_eq!(a.list(&key("2")).unwrap(), all[1..2], "the list before was of another prefix");
    assert_eq!(a.list(&key("")).unwrap(), all);
    assert_eq!(a.list(&key("")).unwrap(), all);
}

pub(crate) fn keys_of_128_and_values_of_1024_characters_are_kept(store: &Store) {
    let (mut register, mut key) = (store.open(), fresh_key());
    key.extend(std::iter::repeat_n("0123456789abcdefghijklmnopqrstuvwxyz-_.:/", 4));
    key.truncate(128);
    let text: String = (' '..='~').cycle().take(1024).collect();
    let other: String = text.chars().rev().collect();
    assert!(register.compare_and_set(&key, None, &text).unwrap());
    assert_eq!(register.read(&key).unwrap().as_ref(), Some(&text));
    assert!(register.compare_and_set(&key, Some(&text), &other).unwrap());
    assert_eq!(register.list(&key).unwrap(), [(key, other)]);
}

pub(crate) fn values_are_compared_by_their_bytes(store: &Store) {
    let (mut register, key) = (store.open(), fresh_key());
    assert!(register.compare_and_set(&key, None, "Token a").unwrap());
    for other in ["token a", "TOKEN A", "Token a ", " Token a", "Token  a", "Token a%", "Token_a"] {
        assert!(!register.compare_and_set(&key, Some(other), "x").unwrap(), "{other:?} is another value");
    }
    assert!(register.compare_and_set(&key, Some("Token a"), "1e1").unwrap());
    assert!(!register.compare_and_set(&key, Some("10"), "x").unwrap(), "values are not numbers");
    for quoted in ["' OR ''='", "\\", "\"", "--", "$1", "?", "0", "nil", "null"] {
        let seen = register.read(&key).unwrap();
        assert!(register.compare_and_set(&key, seen.as_deref(), quoted).unwrap());
        assert_eq!(register.read(&key).unwrap().as_deref(), Some(quoted));
    }
}

pub(crate) fn keys_and_values_outside_the_contract_are_errors(store: &Store) {
    let mut register = store.open();
    let message = |result: Result<bool, imid_lease::RegisterError>| chain(&result.unwrap_err());
    let long = "k".repeat(129);
    assert_eq!(message(register.compare_and_set("", None, "v")), "expected a key, found an empty text");
    assert_eq!(
        message(register.compare_and_set(&long, None, "v")),
        "expected a key of at most 128 characters, found 129"
    );
    assert_eq!(
        message(register.compare_and_set("a%b", None, "v")),
        "expected A-Z, a-z, 0-9, '-', '_', '.', ':' or '/' in a key, found '%' at 1"
    );
    assert_eq!(message(register.compare_and_set("a", None, "")), "expected a value of 1 to 1024 characters, found 0");
    assert_eq!(
        message(register.compare_and_set("a", None, &"v".repeat(1025))),
        "expected a value of 1 to 1024 characters, found 1025"
    );
    assert_eq!(
        message(register.compare_and_set("a", None, "a\u{e9}")),
        "expected printable ASCII in a value, found '\u{e9}' at 1"
    );
    assert!(register.compare_and_set("a", Some(""), "v").is_err(), "an empty value must not stand for no record");
    assert!(register.read("a b").is_err() && register.list("a b").is_err());
}

pub(crate) fn the_time_is_that_of_the_server(store: &Store) {
    let mut register = store.open();
    let own = || u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let before = own();
    let time = register.now_ms().unwrap().expect("a server has a time");
    let after = own();
    // The servers of the tests run on this machine.
    let step = store.time_step_ms();
    // ZooKeeper's time is taken before its reply arrives, which takes a while on a busy machine.
    let room = if store.name == "zookeeper" { 1000 } else { 0 };
    assert!((before - step - room..=after + step).contains(&time), "{time} is not from {before} to {after}");
}

pub(crate) fn a_register_works_inside_an_async_runtime(store: &Store) {
    let (mut register, key) = (store.open(), fresh_key());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async move {
        assert!(register.compare_and_set(&key, None, "1").unwrap());
        assert_eq!(register.read(&key).unwrap().as_deref(), Some("1"));
        drop(register);
    });
}

pub(crate) fn a_register_that_is_read_only_reads_and_does_not_write(store: &Store) {
    let key = fresh_key();
    store.open().compare_and_set(&key, None, "1").unwrap();
    let mut reader = open_url_read_only(&store.url, DEFAULT_TIME_LIMIT).unwrap();
    assert_eq!(reader.read(&key).unwrap().as_deref(), Some("1"));
    assert_eq!(reader.list(&key).unwrap(), [(key.clone(), "1".to_owned())]);
    let error = reader.compare_and_set(&key, Some("1"), "2").unwrap_err();
    assert!(error.is_permanent(), "{error}");
    assert_eq!(store.open().read(&key).unwrap().as_deref(), Some("1"));
}

pub(crate) fn a_space_is_recovered_once_nobody_renews_its_lanes(store: &Store) {
    let (mut register, space) = (store.open(), fresh_key().replace('/', "-"));
    // The default, which a busy machine can renew in time.
    let horizon = Duration::from_secs(10);
    let options = || LaneOptions::new().create_missing().space(&space).lane_bits(1).horizon(horizon);
    let ids = LeasedGenerator::open(store.open(), options().holder("web-3")).unwrap();
    ids.wait_until_open(LONG).unwrap();
    let recovery = Recovery::new(horizon, Duration::from_secs(5));
    let described = admin::view(&mut register, &space).unwrap().meta;
    let error = admin::recover(&mut register, &space, recovery).unwrap_err();
    assert!(error.is_in_use(), "{error}");
    assert_eq!(error.to_string(), format!("lane {} is in use by web-3", ids.status().lane.unwrap()));
    assert_eq!(admin::view(&mut register, &space).unwrap().meta, described, "nothing was changed");
    let last = ids.generate(SessionTag::new(SessionType::GROUP, "room-42")).unwrap();
    ids.close();
    let floor_ms = admin::recover(&mut register, &space, recovery).unwrap();
    assert!(last.timestamp_ms() < floor_ms);
    let lanes = admin::view(&mut register, &space).unwrap().lanes;
    assert!(lanes.iter().all(|lane| lane.record.clone().unwrap().unwrap().ceiling_ms == floor_ms));
}

/// A register that was emptied, or restored to before the first lease, does not know what was minted. Another space, which stands for it here,
/// does not either, and the holder of the first one lives.
pub(crate) fn only_a_space_that_is_created_as_the_first_one_repeats_ids(store: &Store) {
    // Those of 3 ms. The generators begin in the same millisecond.
    const IDS: usize = 3 * 4096;
    let (mut register, name) = (store.open(), fresh_key().replace('/', "-"));
    let (horizon, max_skew) = (Duration::from_secs(1200), Duration::from_secs(300));
    let recovery = Recovery::new(horizon, max_skew);
    // It is ahead by less than the largest error, and stands still, so that all mint in the same milliseconds.
    let clock = Arc::new(ManualClock::new(SystemClock.now_ms().unwrap() + 200_000));
    let open = |space: &str| {
        let options =
            LaneOptions::new().space(space).lane_bits(0).horizon(horizon).max_skew(max_skew).clock(Arc::clone(&clock));
        let ids = LeasedGenerator::open(store.open(), options).unwrap();
        ids.wait_until_open(LONG).unwrap();
        ids
    };
    let mint = |ids: &LeasedGenerator<Arc<ManualClock>>| -> HashSet<_> {
        let room = SessionTag::new(SessionType::GROUP, "room-42");
        (0..IDS).map(|_| ids.generate(room).unwrap()).collect()
    };
    let spaces = ["lost", "first", "created", "recovered"].map(|space| format!("{name}.{space}"));
    let [lost, first, created, recovered] = &spaces;
    for space in [lost, first, recovered] {
        admin::create_first(&mut register, space, admin::LANES_LAYOUT, 0).unwrap();
    }
    admin::create(&mut register, created, admin::LANES_LAYOUT, 0, recovery).unwrap();
    admin::recover(&mut register, recovered, recovery).unwrap();
    let holder = open(lost);
    let minted = mint(&holder);
    let repeats = |space| mint(&open(space)).intersection(&minted).count();
    assert!(repeats(first) >= 2 * 4096, "nothing repeats IDs here, so the others prove nothing");
    assert_eq!((repeats(created), repeats(recovered)), (0, 0));
}
