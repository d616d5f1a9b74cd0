//! What a leased generator has in common with a plain one: floors, state and one trait for both.

mod faulty;
#[allow(dead_code, reason = "another test uses the rest")]
mod opened;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use faulty::FaultyRegister;
use imid::clock::{Clock, ManualClock, SystemClock};
use imid::{Generator, MessageId, SessionTag, SessionType};
use imid_lease::admin::{self, FreeIf};
use imid_lease::{LaneOptions, LeaseError, LeasedGenerator, Mint, Phase};
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

#[test]
fn raise_floor_holds_for_the_next_lane_too() {
    let register = FaultyRegister::new();
    let ids = LeasedGenerator::open(register.clone(), options()).and_then(opened).unwrap();
    for _ in 0..5 {
        let floor = ids.generate_within(room(), 1_000 * MS).unwrap().timestamp_ms() + 100;
        ids.raise_floor_ms(floor);
        let (lane, lost) = (ids.status().lane.unwrap(), ids.status().lost);
        admin::free(&mut register.clone(), "lanes", lane, FreeIf::Forced).unwrap();
        wait_until("another lane", || ids.status().lost > lost && ids.status().phase == Phase::Holding);
        assert!(ids.generate_within(room(), 1_000 * MS).unwrap().timestamp_ms() >= floor);
    }
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
    let too_long = usize::try_from(ids.longest_run()).unwrap() + 1;
    ids.batch(room(), too_long).unwrap_err();
    ids.generate_within(room(), 1_000 * MS).unwrap();
    ids.close();
    ids.generate(room()).unwrap_err();
    assert_eq!(ids.stats().refused, 5);
}

/// Code that is written once.
fn mint_a_reply(ids: &dyn Mint, to: MessageId) -> Result<MessageId, LeaseError> {
    ids.observe(to).unwrap();
    ids.observe_limited(to, 1_000 * MS).unwrap();
    ids.raise_floor(to);
    let run = ids.batch(room(), 3)?;
    assert!(ids.longest_run() > 3);
    let mut filled = [to; 2];
    ids.fill(room(), &mut filled)?;
    assert!(run.into_iter().all(|id| to < id && id < filled[0]));
    let last = ids.generate(room())?;
    assert!(last < ids.generate_within(room(), 1_000 * MS)?);
    assert_eq!(ids.stats().refused, 0);
    Ok(last)
}

#[test]
fn code_takes_a_plain_generator_or_a_leased_one() {
    let plain = Generator::new();
    let leased = LeasedGenerator::open(FaultyRegister::new(), options()).and_then(opened).unwrap();
    let to = plain.generate(room()).unwrap();
    for ids in [&plain as &dyn Mint, &leased] {
        assert!(mint_a_reply(ids, to).unwrap() > to);
    }
    let too_many = usize::try_from(plain.longest_run()).unwrap() + 1;
    let error = Mint::batch(&plain, room(), too_many).unwrap_err();
    assert_eq!(error.generate_error(), plain.batch(room(), too_many).err());
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
