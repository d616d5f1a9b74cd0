//! A register that several holders share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, SystemClock};
use imid_lease::register::{MemoryRegister, SharedRegister};
use imid_lease::{LaneOptions, LeasedGenerator, Promise, Register, RegisterError};

const LONG: Duration = Duration::from_secs(60);

/// A register in memory that remembers what was read and listed, and who was named.
#[derive(Default)]
struct Watched {
    register: MemoryRegister,
    /// How long each read takes.
    read_takes: Duration,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Register for Watched {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.seen.lock().unwrap().push(key.to_owned());
        thread::sleep(self.read_takes);
        self.register.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.seen.lock().unwrap().push(prefix.to_owned());
        self.register.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.register.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(Some(SystemClock.now_ms().unwrap()))
    }

    fn promise(&self) -> Promise {
        self.register.promise()
    }

    fn set_holder(&mut self, holder: &str) {
        self.seen.lock().unwrap().push(format!("holder {holder}"));
    }
}

/// A register whose reads wait for a word, and whose promise changes with the first one.
struct Waiting {
    begun: Sender<()>,
    ends: Receiver<()>,
    is_read: bool,
}

impl Register for Waiting {
    fn read(&mut self, _: &str) -> Result<Option<String>, RegisterError> {
        self.begun.send(()).unwrap();
        self.ends.recv().expect("on purpose");
        self.is_read = true;
        Ok(None)
    }

    fn list(&mut self, _: &str) -> Result<Vec<(String, String)>, RegisterError> {
        Ok(Vec::new())
    }

    fn compare_and_set(&mut self, _: &str, _: Option<&str>, _: &str) -> Result<bool, RegisterError> {
        Ok(true)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(None)
    }

    fn promise(&self) -> Promise {
        if self.is_read { Promise::Strong } else { Promise::Weak("nothing was read".into()) }
    }
}

fn waiting() -> (SharedRegister, Receiver<()>, Sender<()>) {
    let ((begun, has_begun), (end, ends)) = (channel(), channel());
    (SharedRegister::new(Waiting { begun, ends, is_read: false }), has_begun, end)
}

#[test]
fn nobody_waits_for_a_call_to_learn_the_promise_or_to_open_a_lease() {
    let (shared, has_begun, end) = waiting();
    let mut reading = shared.clone();
    let call = thread::spawn(move || reading.read("a"));
    has_begun.recv_timeout(LONG).unwrap();
    let (sender, receiver) = channel();
    let other = shared.clone();
    thread::spawn(move || {
        let ids = LeasedGenerator::open(other.clone(), LaneOptions::new()).unwrap();
        sender.send((other.promise(), other.name(), ids.status().promise.clone())).unwrap();
        // What the thread of the lease reads later waits for nobody.
        drop(ids);
    });
    let weak = Promise::Weak("nothing was read".into());
    assert_eq!(receiver.recv_timeout(LONG).unwrap(), (weak.clone(), "Waiting", weak));
    end.send(()).unwrap();
    call.join().unwrap().unwrap();
    assert_eq!(shared.promise(), Promise::Strong);
    // For the calls of the lease.
    (0..9).for_each(|_| _ = end.send(()));
}

#[test]
fn after_a_panic_each_call_is_an_error() {
    let (mut shared, has_begun, end) = waiting();
    let mut reading = shared.clone();
    let call = thread::spawn(move || reading.read("a"));
    has_begun.recv_timeout(LONG).unwrap();
    let mut next = shared.clone();
    let next = thread::spawn(move || next.list("a"));
    // The read panics.
    drop(end);
    assert!(call.join().is_err());
    for error in [next.join().unwrap().unwrap_err(), shared.now_ms().unwrap_err()] {
        assert!(error.is_final());
        assert_eq!(error.to_string(), "Waiting: an earlier call has panicked");
    }
}

#[test]
fn the_connection_has_the_name_of_the_first_holder() {
    let seen = Arc::default();
    let shared = SharedRegister::new(Watched { seen: Arc::clone(&seen), ..Watched::default() });
    let ids = LeasedGenerator::open(shared.clone(), LaneOptions::new().holder("chat-3")).unwrap();
    ids.wait_until_open(LONG).unwrap();
    let other = LeasedGenerator::open(shared, LaneOptions::new().space("other").holder("chat-4")).unwrap();
    other.wait_until_open(LONG).unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0], "holder chat-3");
    assert_eq!(seen.iter().filter(|seen| seen.starts_with("holder")).count(), 1, "{seen:?}");
    assert!(seen.iter().any(|key| key.starts_with("other/")), "{seen:?}");
}

/// The caller takes the time for that in the middle of its call.
#[test]
fn the_time_does_not_count_the_wait_for_others() {
    let begun = AtomicBool::new(false);
    let mut shared = SharedRegister::new(Watched { read_takes: Duration::from_secs(2), ..Watched::default() });
    thread::scope(|scope| {
        let (mut reading, begun) = (shared.clone(), &begun);
        scope.spawn(move || {
            begun.store(true, Ordering::SeqCst);
            reading.read("a").unwrap();
        });
        while !begun.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(200));
        let (before_ms, started) = (SystemClock.now_ms().unwrap(), Instant::now());
        let time_ms = shared.now_ms().unwrap().unwrap();
        let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap();
        assert!(took_ms > 1_000, "it did not wait: {took_ms} ms");
        // A reading from after the wait is most of a second later.
        assert!(time_ms.abs_diff(before_ms + took_ms / 2) < 400, "{} of {took_ms} ms", time_ms - before_ms);
    });
}
