use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::register::{MemoryRegister, Promise};

const T: u64 = 1_795_204_812_345;
const RECOVERY: Recovery = Recovery::new(Duration::from_secs(10), Duration::from_secs(5));

/// A register that counts its writes, and lets something happen before each call.
struct Watched<F> {
    memory: MemoryRegister,
    before: F,
    writes: u32,
}

impl<F: FnMut(&mut MemoryRegister, &str) + Send> Watched<F> {
    fn new(memory: &MemoryRegister, before: F) -> Self {
        Self { memory: memory.clone(), before, writes: 0 }
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
        Ok(None)
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }
}

/// Random enough: each is drawn once.
#[expect(clippy::unnecessary_wraps, reason = "as a source that can fail")]
fn draw() -> Result<u128, RegisterError> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Ok(u128::from(NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// Recovers at the time T.
fn recover(register: &mut impl Register, space: &str, recovery: Recovery) -> Result<u64, AdminError> {
    recover_at(register, space, recovery, T, &mut draw)
}

/// Creates at the time T.
fn create(register: &mut impl Register, space: &str, bits: u32, recovery: Recovery) -> Result<MetaRecord, AdminError> {
    create_at(register, space, LANES_LAYOUT, bits, recovery, T, &mut draw)
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
    let found = LaneRecord::parse(&memory.read("lanes/2/00000").unwrap().unwrap()).unwrap();
    put(memory, "lanes/2/00000", &LaneRecord { version: found.version + 1, ..found }.to_string());
}

#[test]
fn a_record_that_others_always_write_first_is_an_error_after_a_hundred_tries() {
    let memory = space(["horizon=1 ceiling=900 held", ""]);
    let always = |memory: &mut MemoryRegister, call: &str| {
        if call == "write" {
            renew(memory);
        }
    };
    let mut register = Watched::new(&memory, always);
    let error = free(&mut register, "lanes", 0, &mut draw).unwrap_err();
    assert_eq!(error.to_string(), "the record lanes/2/00000 is being written by another process");
    assert_eq!(register.writes, 100);
    let error = resize(&mut register, "lanes", 2, &mut draw).unwrap_err();
    assert_eq!(error.to_string(), "the record lanes/2/00000 is being written by another process");
    assert_eq!(register.writes, 200);
}

#[test]
fn only_a_lane_that_is_held_can_be_freed() {
    let mut memory = space(["horizon=86400001 ceiling=900 held", "horizon=1 ceiling=900 free"]);
    let mut refused = |lane| free(&mut memory, "lanes", lane, &mut draw).unwrap_err();
    assert!(refused(1).is_not_held());
    assert_eq!(refused(2).to_string(), "expected a lane below 2, found 2");
    assert!(free(&mut memory, "others", 0, &mut draw).unwrap_err().is_no_space());
    let mut memory = space(["", "horizon=86400001 ceiling=900 held"]);
    assert!(free(&mut memory, "lanes", 0, &mut draw).unwrap_err().is_not_held(), "it was never taken");
    let long = held_lane(&mut memory, "lanes", 1).unwrap().horizon().unwrap_err();
    assert!(long.to_string().starts_with("expected a horizon of at most 24 h in the record of lane 1"), "{long}");
}

#[test]
fn a_recovery_starts_all_lanes_above_what_was_granted() {
    let lanes = ["horizon=20000 ceiling=900 free", "horizon=0 ceiling=700 closed"];
    for (recovery, floor_ms) in [
        (RECOVERY, T + 25_000),
        (Recovery::new(Duration::from_secs(30), Duration::from_secs(5)), T + 35_000),
        (RECOVERY.above_ms(T + 60_000), T + 60_000),
        (RECOVERY.above_ms(T), T + 25_000),
        (RECOVERY.above_ms(u64::MAX), 1 << 42),
    ] {
        let memory = space(lanes);
        assert_eq!(recover(&mut memory.clone(), "lanes", recovery).unwrap(), floor_ms);
        assert_eq!(
            lane(&memory, "lanes/2/00000"),
            format!("version=8 holder=web-3 horizon=20000 ceiling={floor_ms} free")
        );
        assert_eq!(
            lane(&memory, "lanes/2/00001"),
            format!("version=8 holder=web-3 horizon=0 ceiling={floor_ms} closed")
        );
        let MetaRecord { version, era, bits, floor_ms: found_ms, .. } = meta(&memory);
        assert_eq!((version, era, bits, found_ms), (4, 2, 1, floor_ms));
    }
    // A lane that was never taken gets a record, and a floor is never lowered.
    let mut memory = space(["", ""]);
    put(&mut memory, "lanes/meta", &META.replace("floor=500", &format!("floor={}", T + 3_600_000)));
    assert_eq!(recover(&mut memory.clone(), "lanes", RECOVERY).unwrap(), T + 3_600_000);
    assert_eq!(
        lane(&memory, "lanes/2/00000"),
        format!("version=1 holder=recover horizon=0 ceiling={} free", T + 3_600_000)
    );
}

#[test]
fn a_recovery_below_a_ceiling_that_was_granted_is_refused() {
    for (ahead_ms, is_refused) in [(15_000, false), (15_001, true)] {
        let memory = space(["", &format!("horizon=10000 ceiling={} free", T + ahead_ms)]);
        let found = recover(&mut memory.clone(), "lanes", RECOVERY);
        assert_eq!(found.as_ref().is_err_and(AdminError::is_ahead), is_refused, "{found:?}");
        assert_eq!(meta(&memory).to_string() == META, is_refused, "nothing was changed");
        if is_refused {
            recover(&mut memory.clone(), "lanes", RECOVERY.above_ms(T + ahead_ms)).unwrap();
        }
    }
}

#[test]
fn a_new_number_of_lanes_closes_those_of_before_and_starts_above_them() {
    let memory = space(["horizon=20 ceiling=900 held", ""]);
    let made = resize(&mut memory.clone(), "lanes", 2, &mut draw).unwrap();
    assert_eq!((made.version, made.era, made.bits, made.floor_ms), (4, 3, 2, 900));
    assert_eq!(made, meta(&memory));
    assert_eq!(lane(&memory, "lanes/2/00000"), "version=8 holder=web-3 horizon=20 ceiling=900 closed");
    assert_eq!(lane(&memory, "lanes/2/00001"), "version=1 holder=resize horizon=0 ceiling=500 closed");
    assert_eq!(view(&mut memory.clone(), "lanes").unwrap().lanes.len(), 4);

    // After one that has stopped half-way, a closed lane stays as it is.
    let memory = space(["horizon=20 ceiling=900 closed", "horizon=20 ceiling=600 free"]);
    assert_eq!(resize(&mut memory.clone(), "lanes", 0, &mut draw).unwrap().floor_ms, 900);
    assert_eq!(lane(&memory, "lanes/2/00000"), "version=7 holder=web-3 horizon=20 ceiling=900 closed");
    let mut memory = space(["", ""]);
    assert_eq!(
        resize(&mut memory, "lanes", 1, &mut draw).unwrap_err().to_string(),
        "the space already has 1 lane bits"
    );
    assert!(resize(&mut memory, "lanes", 17, &mut draw).unwrap_err().is_options());
    assert!(resize(&mut memory, "others", 2, &mut draw).unwrap_err().is_no_space());
    assert_eq!(meta(&memory).to_string(), META, "nothing was changed");
}

#[test]
fn a_space_is_created_once_and_above_what_may_be_held() {
    let memory = MemoryRegister::new();
    for (recovery, floor_ms) in [(RECOVERY.above_ms(T + 60_000), T + 60_000), (RECOVERY, T + 15_000)] {
        let memory = MemoryRegister::new();
        let made = create(&mut memory.clone(), "lanes", 1, recovery).unwrap();
        assert_eq!((made.version, made.era, made.bits, made.floor_ms), (1, 1, 1, floor_ms));
        assert_eq!((&made, made.layout.as_str()), (&meta(&memory), "imid-80"));
        for key in ["lanes/1/00000", "lanes/1/00001"] {
            assert_eq!(lane(&memory, key), format!("version=1 holder=create horizon=0 ceiling={floor_ms} free"));
        }
        let error = create(&mut memory.clone(), "lanes", 1, recovery).unwrap_err();
        assert!(error.is_existing());
    }
    assert!(create(&mut memory.clone(), "a/b", 1, RECOVERY).unwrap_err().is_options());

    // Only the description is lost.
    let mut memory = MemoryRegister::new();
    put(&mut memory, "lanes/2/00000", &record(&format!("horizon=20 ceiling={} held", T + 90_000)));
    put(&mut memory, "lanes/3/00001", &record("horizon=20 ceiling=900 free"));
    let made = create(&mut memory.clone(), "lanes", 0, RECOVERY).unwrap();
    assert_eq!((made.era, made.floor_ms), (4, T + 90_000));
    assert!(lane(&memory, "lanes/2/00000").ends_with(" closed") && lane(&memory, "lanes/3/00001").ends_with(" closed"));
}

#[test]
fn a_first_space_starts_at_the_present_and_is_refused_where_lanes_are_left() {
    let mut memory = MemoryRegister::new();
    let made = create_first(&mut memory, "lanes", LANES_LAYOUT, 1, &mut draw).unwrap();
    assert_eq!((made.version, made.era, made.bits, made.floor_ms), (1, 1, 1, 0));
    assert_eq!((&made, memory.list("lanes/").unwrap().len()), (&meta(&memory), 1));
    assert!(register_id(&mut memory).unwrap().is_some());
    assert!(create_first(&mut memory, "lanes", LANES_LAYOUT, 1, &mut draw).unwrap_err().is_existing());
    let mut memory = MemoryRegister::new();
    put(&mut memory, "lanes/2/00000", &record("horizon=20 ceiling=900 free"));
    let error = create_first(&mut memory, "lanes", LANES_LAYOUT, 1, &mut draw).unwrap_err();
    assert!(error.is_used() && memory.read("lanes/meta").unwrap().is_none(), "{error}");
}

#[test]
fn a_view_has_each_lane_as_it_was_read() {
    let mut memory = space(["horizon=20 ceiling=900 held", ""]);
    let lanes = view(&mut memory, "lanes").unwrap().lanes;
    let found: Vec<_> = lanes.iter().map(|it| (it.lane, it.record.as_ref().unwrap().is_some())).collect();
    assert_eq!(found, [(0, true), (1, false)]);
    put(&mut memory, "lanes/2/00001", "imid-lease/2 lane");
    assert!(view(&mut memory, "lanes").unwrap().lanes[1].record.is_err());
    assert_eq!(register_id(&mut memory).unwrap(), None);
    put(&mut memory, RegisterRecord::KEY, "x");
    assert!(register_id(&mut memory).is_err());
}

#[test]
fn an_error_says_what_was_found() {
    let holder = Name::parse("web-3").expect("a name");
    for (kind, words) in [
        (AdminKind::Register(RegisterError::new("refused")), "the register failed"),
        (AdminKind::Record(LaneRecord::parse("x").expect_err("no record")), "cannot read a record"),
        (AdminKind::NoSpace { name: "lanes".into() }, "the register has no space \"lanes\""),
        (AdminKind::NoLane { lanes: 16, found: 16 }, "expected a lane below 16, found 16"),
        (AdminKind::NotHeld { lane: 3 }, "lane 3 is not held"),
        (
            AdminKind::Long { lane: 3, horizon_ms: 86_400_001 },
            "expected a horizon of at most 24 h in the record of lane 3, found 86400001 ms; force frees it nevertheless",
        ),
        (AdminKind::InUse { lane: 3, holder }, "lane 3 is in use by web-3"),
        (
            AdminKind::Ahead { key: "lanes/1/00003".into(), ceiling_ms: 9, floor_ms: 5 },
            "expected a time above all IDs: lanes/1/00003 was granted up to 9 (Unix milliseconds), which is after 5, so a \
             clock was ahead",
        ),
        (
            AdminKind::Exists { name: "lanes".into(), bits: 4 },
            "the register already has the space \"lanes\", with 4 lane bits",
        ),
        (
            AdminKind::Used { key: "lanes/1/00003".into() },
            "expected a space that was never used, found the record lanes/1/00003",
        ),
        (
            AdminKind::Clocks { store_ms: 9, here_ms: 5, max_skew: Duration::from_secs(5) },
            "expected clocks that differ by at most 5000 ms, found 9 (Unix milliseconds) in the store and 5 here",
        ),
        (AdminKind::SameBits { bits: 4 }, "the space already has 4 lane bits"),
        (AdminKind::Busy { key: "lanes/meta".into() }, "the record lanes/meta is being written by another process"),
    ] {
        let error = AdminError::from(kind);
        assert_eq!(error.to_string(), words);
        // Each predicate is that of one kind.
        let predicates = [
            (error.is_register(), "the register failed"),
            (error.is_no_space(), "the register has no space"),
            (error.is_not_held(), "lane 3 is not held"),
            (error.is_in_use(), "lane 3 is in use"),
            (error.is_ahead(), "expected a time above"),
            (error.is_existing(), "the register already has the space"),
            (error.is_options(), "expected a name"),
            (error.is_used(), "expected a space"),
            (error.is_clock(), "expected clocks"),
        ];
        for (is_so, start) in predicates {
            assert_eq!(is_so, words.starts_with(start), "{words}");
        }
    }
}
