use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::record::LaneRecord;
use crate::register::{MemoryRegister, Promise, RegisterError};

const T: u64 = 1_795_204_812_345;
const RECOVERY: Recovery = Recovery::new(Duration::from_secs(10), Duration::from_secs(5));

/// A register that has a time, counts its writes, and lets something happen before each call.
struct Watched<F> {
    memory: MemoryRegister,
    before: F,
    writes: u32,
    time_ms: Arc<AtomicU64>,
}

impl<F: FnMut(&mut MemoryRegister, &str) + Send> Watched<F> {
    fn new(memory: &MemoryRegister, before: F) -> Self {
        Self { memory: memory.clone(), before, writes: 0, time_ms: Arc::new(AtomicU64::new(T)) }
    }
}

impl<F: FnMut(&mut MemoryRegister, &str) + Send> Register for Watched<F> {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        (self.before)(&mut self.memory, "read");
        self.memory.read(key)
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        (self.before)(&mut self.memory, "list");
        self.memory.list(prefix)
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        (self.before)(&mut self.memory, "write");
        self.writes += 1;
        self.memory.compare_and_set(key, seen, value)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        (self.before)(&mut self.memory, "time");
        Ok(Some(self.time_ms.load(Ordering::Relaxed)))
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

fn nothing(_: &mut MemoryRegister, _: &str) {}

/// A register with the time T.
fn timed(memory: &MemoryRegister) -> impl Register {
    Watched::new(memory, nothing)
}

thread_local! {
    /// The clock of this machine in a test, which its own thread alone sees.
    static HERE: RefCell<Option<Box<dyn Fn() -> u64>>> = const { RefCell::new(None) };
}

pub(super) fn here_ms() -> Option<u64> {
    HERE.with_borrow(|here| here.as_ref().map(|here| here()))
}

fn set_here(here: impl Fn() -> u64 + 'static) {
    HERE.set(Some(Box::new(here)));
}

const META: &str = "imid-lease/1 meta version=3 token=5b1f6c0e9d2a4477 layout=imid-80 bits=1 era=2 floor=500 \
                    space=0f8fad5b-d9cb-469f-a165-70867728950e";

/// A space of two lanes in its era 2, with these records.
fn space(lanes: [&str; 2]) -> MemoryRegister {
    let mut memory = MemoryRegister::new();
    put(&mut memory, "lanes/meta", META);
    for (lane, text) in lanes.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        put(&mut memory, &format!("lanes/2/0000{lane}"), &record(text));
    }
    memory
}

/// Returns the text of a record from its last fields.
fn record(fields: &str) -> String {
    format!("imid-lease/1 lane version=7 token=9f86d081884c7d65 holder=web-3 {fields}")
}

fn put(memory: &mut MemoryRegister, key: &str, text: &str) {
    let seen = memory.read(key).unwrap();
    assert!(memory.compare_and_set(key, seen.as_deref(), text).unwrap());
}

/// Returns the record of a lane without its token, which is drawn.
fn lane(memory: &MemoryRegister, key: &str) -> String {
    let text = memory.clone().read(key).unwrap().expect(key);
    LaneRecord::parse(&text).unwrap();
    text.split(' ').filter(|field| !field.starts_with("token=")).skip(2).collect::<Vec<_>>().join(" ")
}

fn meta(memory: &MemoryRegister) -> MetaRecord {
    MetaRecord::parse(&memory.clone().read("lanes/meta").unwrap().unwrap()).unwrap()
}

/// A holder writes its record again.
fn renew(memory: &mut MemoryRegister) {
    let text = memory.read("lanes/2/00000").unwrap().unwrap();
    let version = LaneRecord::parse(&text).unwrap().version;
    let next = text.replace(&format!("version={version} "), &format!("version={} ", version + 1));
    put(memory, "lanes/2/00000", &next);
}

/// To connect, or to watch a space for half a horizon, takes longer than a clock may be off by.
#[test]
fn the_clocks_are_compared_at_one_moment() {
    let time_ms = Arc::new(AtomicU64::new(T));
    let slow = |memory: &MemoryRegister| {
        let passing = time_ms.clone();
        let before = move |_: &mut MemoryRegister, _: &str| _ = passing.fetch_add(6_000, Ordering::Relaxed);
        Watched { time_ms: time_ms.clone(), ..Watched::new(memory, before) }
    };
    let passing = time_ms.clone();
    set_here(move || passing.load(Ordering::Relaxed));
    let memory = space(["horizon=20 ceiling=900 held", ""]);
    assert!(recover(&mut slow(&memory), "lanes", RECOVERY).unwrap() > T + 15_000);
    assert!(create(&mut slow(&memory), "new", LANES_LAYOUT, 1, RECOVERY).unwrap().floor_ms > T + 15_000);
}

#[test]
fn a_silent_holders_lane_is_free_after_its_horizon_and_keeps_its_ceiling() {
    let mut memory = space(["horizon=20 ceiling=900 held", ""]);
    let start = std::time::Instant::now();
    free(&mut memory, "lanes", 0, FreeIf::Unchanged).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(20), "it was not watched");
    assert_eq!(lane(&memory, "lanes/2/00000"), "version=8 holder=web-3 horizon=20 ceiling=900 free");
}

#[test]
fn a_live_holder_keeps_its_lane_unless_it_is_forced() {
    let memory = space(["horizon=1 ceiling=900 held", ""]);
    let mut register = Watched::new(&memory, |memory, call| {
        if call == "write" {
            renew(memory);
        }
    });
    let error = free(&mut register, "lanes", 0, FreeIf::Unchanged).unwrap_err();
    assert_eq!(error.to_string(), "lane 0 is in use by web-3");
    assert_eq!(register.writes, 1, "it is not tried again");
    assert_eq!(lane(&memory, "lanes/2/00000"), "version=8 holder=web-3 horizon=1 ceiling=900 held");
    let memory = space(["horizon=86400001 ceiling=900 held", ""]);
    let mut renewals = 3;
    let mut register = Watched::new(&memory, |memory, call| {
        if call == "write" && renewals > 0 {
            renewals -= 1;
            renew(memory);
        }
    });
    free(&mut register, "lanes", 0, FreeIf::Forced).unwrap();
    assert_eq!(register.writes, 4);
    assert_eq!(lane(&memory, "lanes/2/00000"), "version=11 holder=web-3 horizon=86400001 ceiling=900 free");
}

#[test]
fn a_holder_is_watched_for_half_of_its_horizon_before_a_recovery() {
    set_here(|| T);
    for (renews, is_refused) in [(true, true), (false, false)] {
        let memory = space(["horizon=1 ceiling=900 held", "horizon=40 ceiling=900 held"]);
        let mut lists = 0;
        let mut register = Watched::new(&memory, |memory, call| {
            lists += i32::from(call == "list");
            if lists == 2 && renews {
                renew(memory);
            }
        });
        let start = std::time::Instant::now();
        let found = recover(&mut register, "lanes", RECOVERY);
        assert!(start.elapsed() >= Duration::from_millis(20), "the longest one");
        assert_eq!(found.as_ref().is_err_and(AdminError::is_in_use), is_refused, "{found:?}");
        assert_eq!(register.writes > 0, !is_refused);
    }
    // One that gives its lane back meanwhile is gone.
    let memory = space(["horizon=1 ceiling=900 held", ""]);
    let mut lists = 0;
    let mut register = Watched::new(&memory, |memory, call| {
        lists += i32::from(call == "list");
        if lists == 2 {
            put(memory, "lanes/2/00000", &record("horizon=1 ceiling=900 free"));
        }
    });
    recover(&mut register, "lanes", RECOVERY).unwrap();
}

#[test]
fn a_register_without_a_time_has_that_of_this_machine() {
    HERE.set(None);
    let before_ms = unix_ms();
    let found_ms = recover(&mut space(["", ""]), "lanes", RECOVERY).unwrap();
    assert!((before_ms..=unix_ms()).contains(&(found_ms - 15_000)), "{found_ms}");
}

/// One of the two clocks is behind. The holders had the other one.
#[test]
fn the_later_clock_counts_and_two_that_differ_need_a_time_above_all_ids() {
    for (here_ms, now_ms) in [(T - 5_000, T), (T + 5_000, T + 5_000)] {
        set_here(move || here_ms);
        let found = recover(&mut timed(&space(["", ""])), "lanes", RECOVERY);
        assert_eq!(found.unwrap(), now_ms + 15_000);
        let made = create(&mut timed(&MemoryRegister::new()), "lanes", LANES_LAYOUT, 1, RECOVERY);
        assert_eq!(made.unwrap().floor_ms, now_ms + 15_000);
    }
    for here_ms in [T - 20_000, T + 20_000] {
        set_here(move || here_ms);
        let (memory, new) = (space(["", ""]), MemoryRegister::new());
        assert!(recover(&mut timed(&memory), "lanes", RECOVERY).unwrap_err().is_clock());
        assert_eq!(meta(&memory).to_string(), META, "nothing was changed");
        let made = |recovery| create(&mut timed(&new), "lanes", LANES_LAYOUT, 1, recovery);
        let error = made(RECOVERY).unwrap_err();
        let expected =
            "expected clocks that differ by at most 5000 ms, found 1795204812345 (Unix milliseconds) in the store and";
        assert_eq!(error.to_string(), format!("{expected} {here_ms} here"));
        let later_ms = T.max(here_ms) + 15_000;
        assert_eq!(made(RECOVERY.above_ms(1)).unwrap().floor_ms, later_ms);
        assert_eq!(recover(&mut timed(&memory), "lanes", RECOVERY.above_ms(1)).unwrap(), later_ms);
    }
}

#[test]
fn the_number_of_lanes_of_a_live_process_is_changed_only_by_force() {
    let memory = space(["horizon=2 ceiling=900 held", ""]);
    let mut lists = 0;
    let mut register = Watched::new(&memory, |memory, call| {
        lists += i32::from(call == "list");
        if lists == 2 && call == "list" {
            renew(memory);
        }
    });
    assert!(resize(&mut register, "lanes", 2, ResizeIf::Unused).unwrap_err().is_in_use());
    assert_eq!((meta(&memory).to_string().as_str(), register.writes), (META, 0), "nothing was changed");
    assert_eq!(resize(&mut register, "lanes", 2, ResizeIf::Forced).unwrap().bits, 2);
    // A holder that is gone.
    let mut memory = space(["horizon=2 ceiling=900 held", ""]);
    assert_eq!(resize(&mut memory, "lanes", 2, ResizeIf::Unused).unwrap().bits, 2);
}
