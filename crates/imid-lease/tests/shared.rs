//! A register that several holders share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

    fn creates_missing_spaces(&self) -> bool {
        true
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
        assert!(error.is_permanent());
        assert_eq!(error.to_string(), "Waiting: an earlier call has panicked");
    }
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
        assert!(time_ms.abs_diff(before_ms + took_ms / 2) < 600, "{} of {took_ms} ms", time_ms - before_ms);
    });
}

/// A register in memory that counts, and whose first list waits for a word. A process that has crashed does not reach it anymore.
struct Counted {
    register: MemoryRegister,
    may_list: Option<Receiver<()>>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    lists: AtomicUsize,
    conflicts: AtomicUsize,
    times: AtomicUsize,
    has_crashed: AtomicBool,
}

impl Counted {
    fn reached(&mut self) -> Result<&mut MemoryRegister, RegisterError> {
        let has_crashed = self.counts.has_crashed.load(Ordering::SeqCst);
        if has_crashed { Err(RegisterError::new("it has crashed")) } else { Ok(&mut self.register) }
    }
}

impl Register for Counted {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.reached()?.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        if let Some(may_list) = self.may_list.take() {
            may_list.recv_timeout(LONG).expect("all are open");
        }
        self.counts.lists.fetch_add(1, Ordering::SeqCst);
        self.reached()?.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        let is_written = self.reached()?.compare_and_set(key, seen, value)?;
        self.counts.conflicts.fetch_add(usize::from(!is_written), Ordering::SeqCst);
        Ok(is_written)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.counts.times.fetch_add(1, Ordering::SeqCst);
        Ok(Some(SystemClock.now_ms().unwrap()))
    }

    fn promise(&self) -> Promise {
        self.register.promise()
    }
}

/// Opens leases that share a register, and waits until all have a lane. Returns what their calls were, and when the first one began.
fn open_together(register: &MemoryRegister, count: usize) -> (Vec<LeasedGenerator>, Arc<Counts>, Instant) {
    let (open, may_list) = channel();
    let counts = Arc::<Counts>::default();
    imid_lease::admin::create_missing(&mut register.clone(), "lanes", imid_lease::admin::LANES_LAYOUT, 8).unwrap();
    let counted = Counted { register: register.clone(), may_list: Some(may_list), counts: Arc::clone(&counts) };
    let shared = SharedRegister::new(counted);
    let options = || LaneOptions::new().lane_bits(8).horizon(Duration::from_secs(4)).max_skew(Duration::from_secs(1));
    let leases: Vec<_> = (0..count).map(|_| LeasedGenerator::open(shared.clone(), options()).unwrap()).collect();
    let begun = Instant::now();
    open.send(()).unwrap();
    for lease in &leases {
        lease.wait_until_open(LONG).unwrap();
    }
    (leases, counts, begun)
}

/// How many threads of this process keep leases. Other tests may keep some at the same time.
#[cfg(target_os = "linux")]
fn keeper_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name == "imid-lease\n").count()
}

#[test]
fn leases_that_start_together_share_a_thread_and_lists_and_never_race() {
    let register = MemoryRegister::new();
    let (leases, counts, begun) = open_together(&register, 200);
    // The thread can also begin before all are open, and a list serves for a second.
    let lists = counts.lists.load(Ordering::SeqCst);
    let took = begun.elapsed();
    assert!((1..=3 + usize::try_from(took.as_secs()).unwrap()).contains(&lists), "{lists} lists in {took:?}");
    assert_eq!(counts.conflicts.load(Ordering::SeqCst), 0);
    #[cfg(target_os = "linux")]
    assert!(keeper_threads() < 50, "{} threads", keeper_threads());
    counts.has_crashed.store(true, Ordering::SeqCst);
    // Their lanes are not given back.
    drop(leases);
    let (leases, counts, begun) = open_together(&register, 200);
    assert_eq!(counts.conflicts.load(Ordering::SeqCst), 0);
    let (lists, times) = (counts.lists.load(Ordering::SeqCst), counts.times.load(Ordering::SeqCst));
    let took = begun.elapsed();
    assert!(took >= Duration::from_secs(4), "{took:?}, before the horizon");
    let seconds = usize::try_from(took.as_secs()).unwrap() + 1;
    // Alone, each of them would list ten times.
    assert!(lists <= 2 + 20 * seconds, "{lists} lists in {took:?}");
    assert!(times <= seconds, "{times} readings of the time in {took:?}");
    let mut lanes: Vec<_> = leases.iter().map(|lease| lease.status().lane.unwrap()).collect();
    lanes.sort_unstable();
    lanes.dedup();
    assert_eq!(lanes.len(), 200);
}
