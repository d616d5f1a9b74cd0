//! How often a lease calls its register, and what its first calls tell.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

#[path = "support/faulty.rs"]
mod faulty;
#[path = "support/opened.rs"]
mod opened;

use faulty::FaultyRegister;
use imid::clock::{Clock, SystemClock};
use imid_lease::record::Name;
use imid_lease::{LaneOptions, LeasedGenerator, Promise, Register, RegisterError};
use opened::opened;

const MS: Duration = Duration::from_millis(1);

fn options() -> LaneOptions {
    LaneOptions::new().horizon(1_000 * MS).max_skew(500 * MS).max_lead(200 * MS)
}

/// Counts its lists and how often it is asked for its time.
#[derive(Clone)]
struct Counted {
    register: FaultyRegister,
    lists: Arc<AtomicU32>,
    times: Arc<AtomicU32>,
}

impl Counted {
    fn new() -> Self {
        Self { register: FaultyRegister::new(), lists: Arc::default(), times: Arc::default() }
    }
}

impl Register for Counted {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.register.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.lists.fetch_add(1, Ordering::Relaxed);
        self.register.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.register.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.times.fetch_add(1, Ordering::Relaxed);
        self.register.now_ms()
    }

    fn creates_missing_spaces(&self) -> bool {
        true
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

#[test]
fn a_store_is_asked_for_its_time_once_whether_it_has_one_or_not() {
    for has_time in [false, true] {
        let now_ms = has_time.then(|| SystemClock.now_ms().unwrap());
        let register = Counted::new();
        register.register.set_now_ms(now_ms);
        let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
        let before = ids.status().renewals;
        // It works meanwhile. The time is asked for again after 10 s, if there is one.
        while ids.status().renewals < before + 3 {
            thread::sleep(MS);
        }
        assert_eq!(register.times.load(Ordering::Relaxed), 1, "{now_ms:?}");
    }
}

#[test]
fn a_name_has_1_to_64_characters() {
    for (len, fits) in [(0, false), (1, true), (64, true), (65, false)] {
        assert_eq!(Name::parse(&"a".repeat(len)).is_ok(), fits, "{len}");
    }
}
