//! The work of a lease without its thread: time is scripted, and a register says which calls it gets.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use imid::clock::ClockError;

use imid_lease_protocol::record::Space;

use super::*;
use crate::clock::SCRIPTED_MS;
use crate::error::LeaseError;
use crate::options::TrustedClock;
use crate::record::{LaneRecord, Name};
use crate::register::{MemoryRegister, Promise};
use crate::status::{Start, Status};
use crate::wait::lock;

const T: u64 = 1_795_204_812_345;
const HORIZON_MS: u64 = 10_000;
const SKEW_MS: u64 = 1_000;
const HOUR_MS: i64 = 3_600_000;

/// What the register, the clock and the generators of a test share.
#[derive(Default)]
struct Script {
    /// All that was done, in order.
    log: Mutex<Vec<String>>,
    /// How far the clock, and the store's time, are ahead of the time of the script. A store without a time has the least one.
    clock_ahead_ms: AtomicI64,
    store_ahead_ms: AtomicI64,
    time_fails: AtomicBool,
    time_takes_ms: AtomicU64,
    /// What happens during the next call for the time.
    in_time: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    is_permanent: AtomicBool,
    writes_panic: AtomicBool,
    time_panics: AtomicBool,
    clock_panics: AtomicBool,
}

impl Script {
    fn say(&self, what: String) {
        lock(&self.log).push(what);
    }

    fn set_store(&self, ahead_ms: i64) {
        self.store_ahead_ms.store(ahead_ms, Ordering::Relaxed);
    }
}

fn scripted_ms(ahead: &AtomicI64) -> u64 {
    (T + monotonic_ms()).saturating_add_signed(ahead.load(Ordering::Relaxed))
}

struct ScriptedClock(Arc<Script>);

impl Clock for ScriptedClock {
    fn now_ms(&self) -> Result<u64, ClockError> {
        assert!(!self.0.clock_panics.load(Ordering::Relaxed), "on purpose");
        Ok(scripted_ms(&self.0.clock_ahead_ms))
    }
}

struct ScriptedRegister(MemoryRegister, Arc<Script>);

impl ScriptedRegister {
    fn refused(&self) -> impl FnOnce(RegisterError) -> RegisterError {
        let is_permanent = self.1.is_permanent.load(Ordering::Relaxed);
        move |error| if is_permanent { error.permanent() } else { error }
    }
}

impl Register for ScriptedRegister {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        self.1.say(format!("read {key}"));
        self.0.read(key).map_err(self.refused())
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        self.1.say("list".into());
        self.0.list(prefix).map_err(self.refused())
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        self.1.say(format!("write {key}"));
        assert!(!self.1.writes_panic.load(Ordering::Relaxed), "on purpose");
        self.0.compare_and_set(key, seen, value).map_err(self.refused())
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        self.1.say("time".into());
        SCRIPTED_MS.set(SCRIPTED_MS.get().map(|now_ms| now_ms + self.1.time_takes_ms.load(Ordering::Relaxed)));
        if let Some(happens) = lock(&self.1.in_time).take() {
            happens();
        }
        assert!(!self.1.time_panics.load(Ordering::Relaxed), "on purpose");
        if self.1.time_fails.load(Ordering::Relaxed) {
            return Err(self.refused()(RegisterError::new("no time")));
        }
        let has_time = self.1.store_ahead_ms.load(Ordering::Relaxed) != i64::MIN;
        Ok(has_time.then(|| scripted_ms(&self.1.store_ahead_ms)))
    }

    fn creates_missing_spaces(&self) -> bool {
        true
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

/// A generator that has minted nothing.
struct ScriptedMinter(Arc<Script>);

impl Minter for ScriptedMinter {
    fn used_until_ms(&self) -> u64 {
        0
    }

    fn start(&mut self, grant: Grant) {
        self.0.say(format!("start {}", grant.lane));
    }

    fn raise(&mut self, _: u64) {
        self.0.say("raise".into());
    }

    fn seal(&mut self) -> u64 {
        self.0.say("seal".into());
        0
    }
}

/// A lease on the thread of a test.
struct Scripted {
    script: Arc<Script>,
    memory: MemoryRegister,
    handle: Arc<Handle>,
    lease: Lease<ScriptedRegister, ScriptedClock>,
}

impl Scripted {
    /// A lease at the time 1 s, over a register that has the time of the script.
    fn new(memory: &MemoryRegister, bits: u32, name: &str) -> Self {
        Self::trusting(None, memory, bits, name)
    }

    fn trusting(trusted: Option<TrustedClock>, memory: &MemoryRegister, bits: u32, name: &str) -> Self {
        SCRIPTED_MS.set(Some(SCRIPTED_MS.get().unwrap_or(1_000)));
        let script = Arc::new(Script::default());
        let config = Config {
            space: Space::lanes(bits).unwrap(),
            name: Name::parse(name).unwrap(),
            horizon_ms: HORIZON_MS,
            max_skew_ms: SKEW_MS,
            any_lead: false,
        };
        let minter = Box::new(ScriptedMinter(Arc::clone(&script)));
        let register = ScriptedRegister(memory.clone(), Arc::clone(&script));
        let clock = BelievedClock::new(ScriptedClock(Arc::clone(&script)), SKEW_MS, trusted);
        let (handle, lease) = Lease::new(register, clock, config, false, minter, &Changes::new());
        Self { script, memory: memory.clone(), handle: Arc::new(handle), lease }
    }

    fn status(&self) -> Status {
        self.state().status_at(None)
    }

    /// Works until it sleeps or ends.
    fn work(&mut self) -> Option<u64> {
        self.lease.work()
    }

    /// Works until this time.
    fn run_until(&mut self, end_ms: u64) {
        while let Some(until_ms) = self.work()
            && until_ms <= end_ms
        {
            assert!(until_ms > monotonic_ms(), "it does not sleep");
            SCRIPTED_MS.set(Some(until_ms));
        }
        SCRIPTED_MS.set(Some(end_ms));
    }

    /// Returns what was done since the last call.
    fn done(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.script.log))
    }

    /// Returns how often this was done since the last call.
    fn counts<const N: usize>(&self, what: [&str; N]) -> [usize; N] {
        let done = self.done();
        what.map(|what| done.iter().filter(|done| *done == what).count())
    }

    fn state(&self) -> State {
        self.handle.state()
    }
}

const START: [&str; 11] = [
    "list",
    "read register",
    "write register",
    "write lanes/meta",
    "time",
    "list",
    "write lanes/1/00000",
    "read lanes/meta",
    "seal",
    "start 0",
    "read register",
];

#[test]
fn a_start_and_an_idle_lease_make_few_calls() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    assert_eq!(scripted.work(), Some(1_000 + HORIZON_MS / 4));
    assert_eq!(scripted.done(), START);
    scripted.run_until(1_000 + 600_000);
    // Every quarter of the horizon, and every 10 s.
    let counts = scripted.counts(["write lanes/1/00000", "raise", "time", "list", "read register", "seal", "start 0"]);
    assert_eq!(counts, [240, 240, 60, 0, 0, 0, 0]);
}

#[test]
fn the_state_says_what_was_found_and_granted() {
    let memory = MemoryRegister::new();
    let mut scripted = Scripted::new(&memory, 1, "a");
    assert_eq!((scripted.state().start, scripted.state().view.is_given_back), (Start::Asking, true));
    scripted.script.set_store(200);
    scripted.work();
    let state = scripted.state();
    let status = state.status_at(None);
    let lane = status.lane.unwrap();
    let space_id = crate::admin::view(&mut memory.clone(), "lanes").unwrap().meta.space_id;
    assert_eq!(status.phase, Phase::Holding);
    assert_eq!(status.space_id, Some(space_id));
    assert_eq!(status.register_id, crate::admin::register_id(&mut memory.clone()).unwrap());
    assert_eq!(status.store_ahead_ms, Some(200));
    assert_eq!(status.held_lanes, Some(1));
    assert_eq!(status.ceiling_ms, Some(T + 1_000 + HORIZON_MS));
    assert_eq!((status.renewals, status.lost, status.last_error.clone()), (1, 0, None));
    assert_eq!((state.view.stopped.clone(), state.view.far_ahead), (None, None));
    assert_eq!((state.next_ms, state.view.next_time_out_ms), (3_500, None));
    assert_eq!((state.start, state.is_refused, state.view.is_given_back), (Start::Answered, false, false));
    assert_eq!(state.view.acknowledged_at_ms, Some(1_000));

    // Another process finds the first one.
    let mut second = Scripted::new(&memory, 1, "b");
    second.work();
    let state = second.state();
    assert_eq!(state.status_at(None).lane, Some(1 - lane));
    assert_eq!(state.view.held_lanes, Some(2));

    // A third one finds no lane, and says when the next one can be taken.
    let mut third = Scripted::new(&memory, 1, "c");
    let next = third.work();
    assert!(next.is_some_and(|until_ms| (1_037..=1_075).contains(&until_ms)), "{next:?}");
    let state = third.state();
    assert_eq!((state.view.phase, state.view.held_lanes), (Phase::Seeking, Some(2)));
    assert_eq!(state.view.next_time_out_ms, Some(1_000 + HORIZON_MS));
    assert!(state.view.is_given_back);
}

#[test]
fn a_change_is_announced_and_a_wake_without_one_is_not() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.work();
    let count = scripted.handle.changes().count();
    assert!(count > 0);
    scripted.work();
    assert_eq!(
        scripted.handle.changes().count(),
        count,
        "a call that is refused wakes the scripted, and waits for news"
    );
    SCRIPTED_MS.set(Some(3_500));
    scripted.work();
    assert!(scripted.handle.changes().count() > count, "the ceiling was raised");
}

#[test]
fn a_store_without_a_time_is_asked_once() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.script.set_store(i64::MIN);
    scripted.run_until(100_000);
    assert_eq!(scripted.counts(["time", "start 0"]), [1, 1]);
    assert_eq!(scripted.status().store_ahead_ms, None);
}

#[test]
fn a_time_that_cannot_be_read_is_asked_for_before_each_action_until_it_is_known() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.script.time_fails.store(true, Ordering::Relaxed);
    scripted.work();
    assert_eq!(
        scripted.done(),
        [
            "list",
            "read register",
            "write register",
            "write lanes/meta",
            "time",
            "list",
            "time",
            "write lanes/1/00000",
            "time",
            "read lanes/meta",
            "time",
            "seal",
            "start 0",
            "time",
            "read register",
        ]
    );
    scripted.script.time_fails.store(false, Ordering::Relaxed);
    scripted.work();
    assert_eq!(scripted.counts(["time"]), [1]);
    // It is known now, so a failure costs no call more.
    scripted.script.time_fails.store(true, Ordering::Relaxed);
    scripted.run_until(1_000 + 60_000);
    assert_eq!(scripted.counts(["time"]), [6]);
    assert_eq!(scripted.status().store_ahead_ms, Some(0));
    assert_eq!(scripted.status().last_error, None, "the lease does not need it");
}

#[test]
fn a_time_that_cannot_be_read_takes_a_tenth_of_the_time() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.script.time_fails.store(true, Ordering::Relaxed);
    scripted.script.time_takes_ms.store(1_000, Ordering::Relaxed);
    scripted.run_until(100_000);
    assert_eq!(scripted.counts(["time", "raise"]), [10, 36]);
}

#[test]
fn no_lane_is_taken_while_the_clocks_differ_and_one_is_as_soon_as_they_agree() {
    for (store_ahead_ms, is_trusted) in [(HOUR_MS, false), (-HOUR_MS, false), (HOUR_MS, true), (500, false)] {
        SCRIPTED_MS.set(Some(1_000));
        let trusted = is_trusted.then_some(TrustedClock::Process);
        let mut scripted = Scripted::trusting(trusted, &MemoryRegister::new(), 0, "a");
        scripted.script.set_store(store_ahead_ms);
        if is_trusted || store_ahead_ms == 500 {
            scripted.work();
            assert_eq!(scripted.status().ceiling_ms, Some(T + 1_000 + HORIZON_MS), "this process's time");
            continue;
        }
        scripted.run_until(60_000);
        assert_eq!(scripted.counts(["list", "write lanes/1/00000"])[1], 0);
        let state = scripted.state();
        assert_eq!((state.view.phase, state.start), (Phase::Seeking, Start::ClocksDiffer(store_ahead_ms)));
        assert_eq!(state.store_ahead_ms, Some(store_ahead_ms));
        scripted.script.set_store(0);
        scripted.run_until(62_000);
        assert_eq!((scripted.status().phase, scripted.state().start), (Phase::Holding, Start::Answered));
    }
}

/// It was granted its lane by its own clock, before the store's time could be read.
#[test]
fn a_holder_that_learns_that_the_store_is_an_hour_off_keeps_to_its_time() {
    for ahead_ms in [-HOUR_MS, HOUR_MS] {
        SCRIPTED_MS.set(Some(1_000));
        let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
        scripted.script.time_fails.store(true, Ordering::Relaxed);
        scripted.run_until(2_000);
        scripted.script.set_store(ahead_ms);
        scripted.script.time_fails.store(false, Ordering::Relaxed);
        scripted.run_until(21_000);
        let status = scripted.status();
        assert_eq!((status.phase, status.store_ahead_ms), (Phase::Holding, Some(ahead_ms)));
        assert_eq!(status.ceiling_ms, Some(T + 21_000 + HORIZON_MS));
    }
}

#[test]
fn a_space_that_cannot_be_created_is_tried_again_when_the_hint_says() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.memory.set_down(true);
    assert_eq!(scripted.work(), Some(1_000 + CREATE_AGAIN_MS));
    let refusal = LeaseError::from(scripted.state().why_none().unwrap());
    assert_eq!(refusal.retry_after(), Some(Duration::from_millis(CREATE_AGAIN_MS)));
}

#[test]
fn an_error_is_shown_until_an_answer_and_one_that_lasts_is_told_apart() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.memory.set_down(true);
    let next = scripted.work();
    assert!(next.is_some(), "{next:?}");
    assert_eq!(scripted.done(), ["list"], "a store that is away is tried once at a time");
    let state = scripted.state();
    assert_eq!((state.start, state.is_refused), (Start::Asking, false));
    assert_eq!(state.last_error.as_deref(), Some("the register in memory is set down"));
    scripted.script.is_permanent.store(true, Ordering::Relaxed);
    scripted.run_until(5_000);
    assert!(scripted.state().is_refused);
    scripted.memory.set_down(false);
    scripted.run_until(20_000);
    let state = scripted.state();
    assert_eq!((state.view.phase, state.last_error, state.is_refused), (Phase::Holding, None, false));
    // The next error is one of a write.
    scripted.memory.set_down(true);
    scripted.done();
    scripted.run_until(23_000);
    let state = scripted.state();
    assert!(state.is_refused && state.last_error.is_some());
    assert_eq!((state.start, state.view.phase), (Start::Answered, Phase::Holding));
    let [writes, times, lists] = scripted.counts(["write lanes/1/00000", "time", "list"]);
    assert!(writes == 1 && times <= 1 && lists == 0, "{writes} writes, {times} times, {lists} lists");
}

#[test]
fn a_call_that_panics_has_no_answer_and_the_lease_goes_on() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.work();
    scripted.script.writes_panic.store(true, Ordering::Relaxed);
    scripted.run_until(3_500);
    scripted.work();
    let status = scripted.status();
    assert_eq!((status.phase, status.last_error.as_deref()), (Phase::Holding, Some("the call has panicked")));
    scripted.script.writes_panic.store(false, Ordering::Relaxed);
    scripted.run_until(10_000);
    let status = scripted.status();
    assert_eq!((status.phase, status.last_error), (Phase::Holding, None));
    assert!(status.renewals > 1, "{}", status.renewals);
}

#[test]
fn a_clock_or_a_time_call_that_panics_has_no_time_and_the_lease_goes_on() {
    type Panics = fn(&Script) -> &AtomicBool;
    let panics: [Panics; 2] = [|script| &script.clock_panics, |script| &script.time_panics];
    for panics in panics {
        let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
        scripted.work();
        let start_ms = monotonic_ms();
        panics(&scripted.script).store(true, Ordering::Relaxed);
        scripted.run_until(start_ms + 5_000);
        panics(&scripted.script).store(false, Ordering::Relaxed);
        let before = scripted.status().renewals;
        scripted.run_until(start_ms + 25_000);
        let status = scripted.status();
        assert_eq!(status.phase, Phase::Holding);
        assert!(status.renewals > before, "{}", status.renewals);
    }
}

#[test]
fn a_close_gives_the_lane_back_and_ends() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.work();
    scripted.done();
    scripted.handle.end();
    assert_eq!(scripted.work(), None);
    assert_eq!(scripted.done(), ["seal", "write lanes/1/00000"]);
    let state = scripted.state();
    assert_eq!((state.view.phase, state.view.stopped), (Phase::Stopped, Some(Stopped::Closed)));
    assert!(state.view.is_given_back);
    let record = LaneRecord::parse(&scripted.memory.read("lanes/1/00000").unwrap().unwrap()).unwrap();
    assert_eq!(record.state, crate::record::LaneState::Free);
}

#[test]
fn a_close_makes_no_call_after_one_that_has_failed() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.work();
    scripted.done();
    scripted.handle.end();
    scripted.memory.set_down(true);
    assert_eq!(scripted.work(), None);
    assert_eq!(scripted.done(), ["seal", "write lanes/1/00000"]);
    let state = scripted.state();
    assert_eq!((state.view.phase, state.view.is_given_back), (Phase::Stopped, false));
}

#[test]
fn a_close_during_a_call_for_the_time_that_fails_makes_no_other_call() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.work();
    let handle = Arc::clone(&scripted.handle);
    *lock(&scripted.script.in_time) = Some(Box::new(move || handle.end()));
    scripted.script.time_fails.store(true, Ordering::Relaxed);
    scripted.run_until(20_000);
    let done = scripted.done();
    assert_eq!(done.iter().rev().take(2).collect::<Vec<_>>(), ["seal", "time"]);
    assert_eq!((scripted.status().phase, scripted.state().view.is_given_back), (Phase::Stopped, false));
}

#[test]
fn a_close_during_a_call_that_the_store_refuses_gives_the_lane_back() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.work();
    let handle = Arc::clone(&scripted.handle);
    *lock(&scripted.script.in_time) = Some(Box::new(move || handle.end()));
    scripted.script.time_fails.store(true, Ordering::Relaxed);
    scripted.script.is_permanent.store(true, Ordering::Relaxed);
    scripted.run_until(20_000);
    assert_eq!((scripted.status().phase, scripted.state().view.is_given_back), (Phase::Stopped, true));
}

#[test]
fn a_close_before_the_first_lane_makes_no_call() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.handle.end();
    assert_eq!(scripted.work(), None);
    assert_eq!(scripted.done(), ["seal"]);
    assert!(scripted.state().view.is_given_back);
}

#[test]
fn the_end_says_that_the_lease_has_stopped_and_whether_its_lane_is_held() {
    let (memory, mut stages) = (MemoryRegister::new(), Vec::new());
    for (panic, phase) in [(None, Phase::Holding), (Some("on purpose"), Phase::Seeking)] {
        let mut scripted = Scripted::new(&memory, 0, "a");
        if phase == Phase::Seeking {
            scripted = Scripted::new(&memory, 0, "b");
        }
        scripted.work();
        assert_eq!(scripted.status().phase, phase);
        let count = scripted.handle.changes().count();
        scripted.lease.end(panic.map(str::to_owned));
        let state = scripted.state();
        assert_eq!((state.view.phase, state.view.stopped), (Phase::Stopped, Some(Stopped::Closed)));
        assert!(!state.view.is_given_back, "a write may be under way");
        assert_eq!(scripted.handle.changes().count() - count, 1);
        stages.push(scripted);
    }
}

#[test]
fn a_lane_that_was_lost_is_one_of_others() {
    let mut scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.work();
    crate::admin::free(&mut scripted.memory.clone(), "lanes", 0, crate::admin::FreeIf::Forced).unwrap();
    let mut second = Scripted::new(&scripted.memory, 0, "b");
    second.run_until(3_500);
    assert_eq!(second.status().phase, Phase::Holding);
    assert!(scripted.work().is_some());
    let state = scripted.state();
    assert_eq!((state.view.phase, state.view.lost, state.view.is_given_back), (Phase::Lost, 1, true));
    assert_eq!(state.view.held_lanes, Some(1));
}

#[test]
fn a_wake_is_taken_once() {
    let scripted = Scripted::new(&MemoryRegister::new(), 0, "a");
    scripted.handle.wake();
    assert!(scripted.lease.side.take_wake());
}

#[test]
fn the_id_of_the_register_is_read_until_it_is_known_and_at_most_once_a_minute() {
    let memory = MemoryRegister::new();
    let named = |id: &str| format!("imid-lease/1 register id={id}");
    // A record of another version.
    assert!(memory.clone().compare_and_set("register", None, "imid-lease/2 register").unwrap());
    let mut scripted = Scripted::new(&memory, 0, "a");
    scripted.run_until(1_000 + IDENTIFY_MS - 1);
    assert_eq!((scripted.counts(["read register"]), scripted.state().register_id), ([2], None), "one of them creates");
    let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
    assert!(memory.clone().compare_and_set("register", Some("imid-lease/2 register"), &named(id)).unwrap());
    scripted.run_until(1_000 + 3 * IDENTIFY_MS);
    assert_eq!((scripted.counts(["read register"]), scripted.state().register_id.as_deref()), ([1], Some(id)));
}
