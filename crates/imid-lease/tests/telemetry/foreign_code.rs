//! Code of others that runs in the thread of a lease: a subscriber, a recorder and a register may call, and may panic.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use imid::SessionTag;
use imid::clock::{Clock, ClockError, SystemClock};
use imid_lease::admin::{self, FreeIf};
use imid_lease::register::MemoryRegister;
use imid_lease::{LaneOptions, LeasedGenerator, Phase, Promise, Register, RegisterError};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

#[allow(dead_code, reason = "another test uses the rest")]
#[path = "../support/opened.rs"]
mod opened;

use opened::opened;

const MS: Duration = Duration::from_millis(1);

/// The generator of which the subscriber and the recorder mint, and whose status they read.
static IDS: OnceLock<LeasedGenerator> = OnceLock::new();
static MINTED: AtomicU64 = AtomicU64::new(0);

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// The value of `imid_lease_held` of each space.
static HELD: Mutex<Vec<(String, f64)>> = Mutex::new(Vec::new());

/// The space, and the name of the register, for which the recorder panics: at each gauge, and at each third call of the register.
const FAULTY: &str = "faulty";
static FAULTY_CALLS: AtomicU64 = AtomicU64::new(0);

fn call() {
    if let Some(ids) = IDS.get() {
        if ids.generate(SessionTag::from_u32(0).unwrap()).is_ok() {
            MINTED.fetch_add(1, Ordering::Relaxed);
        }
        ids.status();
    }
}

struct Caller;

struct Words<'a>(&'a mut String);

impl Visit for Words<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        use fmt::Write;
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }
}

impl<S: Subscriber> Layer<S> for Caller {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        call();
        let mut words = String::new();
        event.record(&mut Words(&mut words));
        MESSAGES.lock().unwrap().push(words);
    }

    fn on_new_span(&self, _: &tracing::span::Attributes<'_>, _: &tracing::span::Id, _: Context<'_, S>) {
        call();
    }
}

struct Held(String);

impl metrics::GaugeFn for Held {
    fn increment(&self, _: f64) {}
    fn decrement(&self, _: f64) {}
    fn set(&self, value: f64) {
        HELD.lock().unwrap().push((self.0.clone(), value));
    }
}

impl Recorder for Caller {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        // A refused call counts itself: it must not call again.
        if key.name() != "imid_lease_refusals_total" {
            call();
        }
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        call();
        assert!(key.labels().all(|label| label.value() != FAULTY), "a recorder has a fault");
        if key.name() != "imid_lease_held" {
            return Gauge::noop();
        }
        Gauge::from_arc(Arc::new(Held(key.labels().next().unwrap().value().to_owned())))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        call();
        let is_faulty = key.labels().any(|label| label.value() == FAULTY);
        let is_third = is_faulty && FAULTY_CALLS.fetch_add(1, Ordering::Relaxed) % 3 == 2;
        assert!(!is_third, "a recorder has a fault");
        Histogram::noop()
    }
}

fn install() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Caller)).unwrap();
        metrics::set_global_recorder(Caller).unwrap();
    });
}

/// Settings with a renewal each 250 ms.
fn options(space: &str) -> LaneOptions {
    let options = LaneOptions::new().space(space).holder("web-3").lane_bits(1).horizon(1_000 * MS);
    options.max_skew(500 * MS).max_lead(200 * MS)
}

/// Waits in another thread, because a look may never return.
fn wait_until(what: &str, is_so: impl Fn() -> bool + Send + 'static) {
    let (sender, so) = channel();
    thread::spawn(move || {
        let start = Instant::now();
        while !is_so() && start.elapsed() < Duration::from_secs(20) {
            thread::sleep(MS);
        }
        _ = sender.send(is_so());
    });
    assert_eq!(so.recv_timeout(Duration::from_secs(30)), Ok(true), "{what}");
}

#[test]
fn a_subscriber_and_a_recorder_may_mint_and_read_the_status() {
    install();
    let register = MemoryRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options("minting")).and_then(opened).unwrap();
    let lane = ids.status().lane.unwrap();
    let ids = IDS.get_or_init(|| ids);
    wait_until("renewals", move || ids.status().renewals > 3);
    admin::free(&mut register.clone(), "minting", lane, FreeIf::Forced).unwrap();
    // Another process has the freed lane, so that this one must take the other lane.
    let other = LeasedGenerator::open(register, options("minting").holder("web-4")).and_then(opened).unwrap();
    wait_until("another lane", move || ids.status().lost == 1 && ids.status().phase == Phase::Holding);
    assert_ne!(ids.status().lane, other.status().lane);
    let is_told = |message: &str| MESSAGES.lock().unwrap().iter().any(|words| words.contains(message));
    wait_until("the seal is told", move || is_told("generator sealed"));
    assert!(MINTED.load(Ordering::Relaxed) > 0);
    assert!(ids.generate(SessionTag::from_u32(0).unwrap()).is_ok());
}

/// A register with a name, which panics where it says what it promises after some writes. A call that panics is one without an answer.
struct Faulty {
    memory: MemoryRegister,
    name: &'static str,
    writes_left: u64,
}

impl Faulty {
    fn new(name: &'static str, writes_left: u64) -> Self {
        Self { memory: MemoryRegister::new(), name, writes_left }
    }
}

impl Register for Faulty {
    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.memory.list(prefix)
    }

    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.memory.read(key)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.writes_left = self.writes_left.saturating_sub(1);
        self.memory.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(None)
    }

    fn creates_missing_spaces(&self) -> bool {
        true
    }

    fn promise(&self) -> Promise {
        assert!(self.writes_left > 0, "the client has a fault");
        Promise::Strong
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

#[test]
fn a_recorder_that_panics_costs_a_call_its_answer_and_no_lease() {
    install();
    let ids = LeasedGenerator::open(Faulty::new(FAULTY, u64::MAX), options(FAULTY)).unwrap();
    ids.wait_until_open(Duration::from_secs(20)).unwrap();
    let ids = Arc::new(ids);
    let seen = Arc::clone(&ids);
    wait_until("renewals", move || seen.status().renewals > 5);
    assert!(FAULTY_CALLS.load(Ordering::Relaxed) > 6, "some of them have panicked");
    assert_eq!((ids.status().phase, ids.status().lost), (Phase::Holding, 0));
    assert!(ids.generate_within(SessionTag::from_u32(0).unwrap(), Duration::from_secs(20)).is_ok());
}

/// The generator whose status its own clock reads.
static CLOCKED: OnceLock<LeasedGenerator<Reads>> = OnceLock::new();

/// A clock that reads the status of the lease at each call.
#[derive(Clone, Copy)]
struct Reads;

thread_local! {
    /// A status asks the clock in turn.
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

impl Clock for Reads {
    fn now_ms(&self) -> Result<u64, ClockError> {
        if let Some(ids) = CLOCKED.get()
            && !IS_READING.replace(true)
        {
            ids.status();
            IS_READING.set(false);
        }
        SystemClock.now_ms()
    }
}

#[test]
fn a_panic_of_the_thread_is_told_and_gives_nothing_back() {
    install();
    let ids = LeasedGenerator::open(Faulty::new("panics", 4), options("panics").clock(Reads)).and_then(opened).unwrap();
    let ids = CLOCKED.get_or_init(|| ids);
    wait_until("the end", || ids.status().phase == Phase::Stopped);
    wait_until("the gauge", || {
        HELD.lock().unwrap().iter().rfind(|(space, _)| space == "panics").is_some_and(|(_, held)| *held < 0.5)
    });
    wait_until("the event", || {
        let messages = MESSAGES.lock().unwrap();
        messages.iter().any(|words| words.contains("lease panicked") && words.contains("the client has a fault"))
    });
    assert!(!ids.close_within(Duration::from_secs(20)), "the record is still held");
}
