//! What a leased generator has in common with a plain one: floors and state.

#[path = "support/faulty.rs"]
mod faulty;
#[allow(dead_code, reason = "another test uses the rest")]
#[path = "support/opened.rs"]
mod opened;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use faulty::FaultyRegister;
use imid::clock::{Clock, ClockError, ManualClock, SystemClock};
use imid::{MessageId, SessionTag, SessionType};
use imid_lease::admin::{self, FreeIf};
use imid_lease::{LaneOptions, LeasedGenerator, Phase};
use opened::opened;

const MS: Duration = Duration::from_millis(1);

fn room() -> SessionTag {
    SessionTag::new(SessionType::GROUP, "room-42")
}

/// A renewal each 250 ms.
fn options() -> LaneOptions {
    LaneOptions::new().lane_bits(2).horizon(1_000 * MS).max_skew(500 * MS).max_lead(200 * MS)
}

/// Two consumers of a partition, whose clocks differ by less than `max_skew`.
#[test]
fn raise_floor_makes_the_next_owner_of_a_partition_sort_after_the_stored_id() {
    let now = SystemClock.now_ms().unwrap();
    let (ahead, behind) = (Arc::new(ManualClock::new(now + 2_000)), Arc::new(ManualClock::new(now)));
    let register = FaultyRegister::new();
    let open = |clock: &Arc<ManualClock>, holder: &str| {
        let options = LaneOptions::new().holder(holder).clock(Arc::clone(clock));
        LeasedGenerator::open(register.clone(), options).and_then(opened).unwrap()
    };
    let (before, after) = (open(&ahead, "a"), open(&behind, "b"));
    let stored = before.generate(room()).unwrap();
    assert!(after.generate(room()).unwrap() < stored, "the lease alone does not order the hosts");
    after.raise_floor(stored);
    assert!(after.generate(room()).unwrap() > stored);
    assert!(after.stats().lead > 1_900 * MS, "{:?}", after.stats());
}

/// Takes the lane away, and waits until there is another one.
fn change_lane<C: Clock + Clone + Send + Sync, const STRIPES: usize>(
    ids: &LeasedGenerator<C, STRIPES>,
    register: &FaultyRegister,
) {
    let (lane, lost) = (ids.status().lane.unwrap(), ids.status().lost);
    admin::free(&mut register.clone(), "lanes", lane, FreeIf::Forced).unwrap();
    wait_until("another lane", || ids.status().lost > lost && ids.status().phase == Phase::Holding);
}

#[test]
fn raise_floor_holds_for_the_next_lane_too() {
    let (register, mut rounds) = (FaultyRegister::new(), 0);
    let options = options().horizon(2_000 * MS);
    let ids = LeasedGenerator::open(register.clone(), options).and_then(opened).unwrap();
    while rounds < 2 {
        let floor = SystemClock.now_ms().unwrap() + 1_500;
        ids.raise_floor_ms(floor);
        change_lane(&ids, &register);
        let minted = ids.generate_within(room(), 2_000 * MS).unwrap().timestamp_ms();
        assert!(minted >= floor, "{} ms below", floor - minted);
        // On a machine that stalls, the clock is past the floor.
        rounds += u32::from(SystemClock.now_ms().unwrap() < floor);
    }
}

/// The system's clock, which one thread reads only after something has happened.
#[derive(Clone, Default)]
struct Held(Arc<Mutex<Option<(ThreadId, Hook)>>>);

type Hook = Box<dyn FnOnce() + Send>;

impl Clock for Held {
    fn now_ms(&self) -> Result<u64, ClockError> {
        let is_due = |(thread, _): &(ThreadId, Hook)| *thread == thread::current().id();
        let hook = self.0.lock().unwrap().take_if(|held| is_due(held));
        if let Some((_, hook)) = hook {
            hook();
        }
        SystemClock.now_ms()
    }
}

/// The lane changes while a call observes an ID.
#[test]
fn an_observed_id_holds_for_the_lane_that_was_taken_meanwhile() {
    let (register, clock) = (FaultyRegister::new(), Held::default());
    let options = options().horizon(2_000 * MS).max_skew(1_500 * MS).clock(clock.clone());
    let ids = Arc::new(LeasedGenerator::open(register.clone(), options).and_then(opened).unwrap());
    let seen = MessageId::last_at(SystemClock.now_ms().unwrap() + 1_400).unwrap();
    let (has_changed, changing) = (Arc::new(AtomicBool::new(false)), Arc::clone(&ids));
    let flag = Arc::clone(&has_changed);
    let hook: Hook = Box::new(move || {
        change_lane(&changing, &register);
        flag.store(true, Ordering::SeqCst);
    });
    *clock.0.lock().unwrap() = Some((thread::current().id(), hook));
    ids.observe(seen).unwrap();
    assert!(has_changed.load(Ordering::SeqCst));
    assert!(ids.generate_within(room(), 2_000 * MS).unwrap() > seen);
}

#[test]
fn raise_floor_before_there_is_a_lane_holds_for_the_first_one() {
    let register = FaultyRegister::new();
    register.set_down(true);
    let ids = LeasedGenerator::open(register.clone(), options()).unwrap();
    let floor = SystemClock.now_ms().unwrap() + 300;
    ids.raise_floor(MessageId::first_at(floor).unwrap());
    register.set_down(false);
    assert!(ids.generate_within(room(), 10_000 * MS).unwrap().timestamp_ms() > floor);
}

#[test]
fn each_refused_call_counts_once() {
    let register = FaultyRegister::new();
    register.set_down(true);
    let ids = LeasedGenerator::open(register.clone(), options()).unwrap();
    for _ in 0..3 {
        ids.generate(room()).unwrap_err();
    }
    assert_eq!(ids.stats().refused, 3);
    register.set_down(false);
    ids.wait_until_open(10_000 * MS).unwrap();
    let too_long = ids.longest_run() + 1;
    ids.batch(room(), too_long).unwrap_err();
    ids.generate_within(room(), 1_000 * MS).unwrap();
    ids.close();
    ids.generate(room()).unwrap_err();
    assert_eq!(ids.stats().refused, 5);
}

/// A struct that holds one needs no bounds of its own.
#[allow(dead_code, reason = "it compiles")]
struct Application<C> {
    ids: LeasedGenerator<C>,
}

#[test]
fn the_clock_is_that_of_the_options() {
    let clock = Arc::new(ManualClock::new(1_795_204_812_345));
    let ids = LeasedGenerator::open(FaultyRegister::new(), options().clock(Arc::clone(&clock))).unwrap();
    assert!(Arc::ptr_eq(ids.clock(), &clock));
}

#[test]
fn a_stop_can_be_awaited() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    assert_eq!(ids.stopped_within(10 * MS), None);
    let empty = FaultyRegister::new().snapshot();
    thread::scope(|scope| {
        let blocked = scope.spawn(|| ids.stopped_within(Duration::MAX));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let awaited = scope.spawn(|| {
            let runtime = runtime;
            runtime.block_on(ids.stopped_async())
        });
        register.restore(&empty);
        assert!(blocked.join().unwrap().unwrap().is_reverted());
        assert!(awaited.join().unwrap().is_reverted());
    });
    let closed = LeasedGenerator::open(FaultyRegister::new(), options()).and_then(opened).unwrap();
    closed.close();
    assert!(closed.stopped_within(Duration::ZERO).unwrap().is_closed());
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(MS);
    }
}
