//! The clock that a background thread keeps: its end, its sharing, and what a stale reading may do.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

mod support;

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use imid::clock::ClockError;
use imid::clock::{Clock, TickClock};
use imid::generator::{GenerateError, Lane};
use imid::{Generator, MessageId, SessionTag};

use self::support::T;

/// The wall clock by way of the standard library.
fn wall() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// Waits until the clock shows another time; one that stands would be waited for in vain.
fn moves_on(clock: &TickClock) -> bool {
    let (began, first) = (Instant::now(), clock.now_ms().unwrap());
    while began.elapsed() < Duration::from_secs(10) {
        if clock.now_ms().unwrap() != first {
            return true;
        }
        thread::yield_now();
    }
    false
}

#[test]
fn a_tick_clock_shows_the_wall_clock_from_its_first_reading_on() {
    let before = wall();
    let clock = TickClock::start().unwrap();
    let first = clock.now_ms().unwrap();
    assert!(before <= first && first <= wall());
    for _ in 0..20 {
        assert!(moves_on(&clock));
        assert!(clock.now_ms().unwrap() <= wall(), "ahead of the wall clock");
    }
}

/// In most readings it is exact: a thread that is woken late now and then is no more than that.
#[test]
fn a_tick_clock_is_seldom_behind_the_wall_clock() {
    let clock = TickClock::start().unwrap();
    let late = (0..200)
        .filter(|_| {
            thread::sleep(Duration::from_micros(1_300));
            let now = wall();
            clock.now_ms().unwrap() + 5 < now
        })
        .count();
    assert!(late < 100, "{late} of 200 readings more than 5 ms behind");
}

#[test]
fn dropping_one_clone_stops_none() {
    let clock = TickClock::start().unwrap();
    drop(clock.clone());
    drop(TickClock::start().unwrap());
    assert!(moves_on(&clock));
}

/// Returns how many threads of this process bear the name of the clock's.
#[cfg(target_os = "linux")]
fn tickers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name == "imid-tick\n").count()
}

/// Waits until there are this many: a thread names itself, and the kernel takes a moment to forget one that has ended.
#[cfg(target_os = "linux")]
fn tickers_are(count: usize) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(10) {
        if tickers() == count {
            return true;
        }
        thread::sleep(Duration::from_millis(1));
    }
    false
}

/// Runs a test in a process of its own, since other tests start clocks too. Returns whether this is that process.
#[cfg(target_os = "linux")]
fn is_alone(test: &str) -> bool {
    is_alone_with(test, [])
}

/// The same, with variables of the environment.
#[cfg(target_os = "linux")]
fn is_alone_with<const N: usize>(test: &str, variables: [(&str, &str); N]) -> bool {
    const ALONE: &str = "IMID_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let alone = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(ALONE, "1")
        .envs(variables)
        .output()
        .unwrap();
    assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
    false
}

#[cfg(target_os = "linux")]
#[test]
fn all_clocks_of_a_process_share_one_thread_which_ends_with_the_last() {
    if !is_alone("all_clocks_of_a_process_share_one_thread_which_ends_with_the_last") {
        return;
    }
    let clock = TickClock::start().unwrap();
    let first = Generator::builder().clock(clock.clone()).build().unwrap();
    let second = Generator::builder().stripes::<8>().clock(clock.clone()).build().unwrap();
    let third = Generator::builder().clock(&clock).build().unwrap();
    assert!(first.generate(SessionTag::from_u32(0).unwrap()).is_ok());
    assert!(second.generate(SessionTag::from_u32(0).unwrap()).is_ok());
    assert!(third.generate(SessionTag::from_u32(0).unwrap()).is_ok());
    assert!(tickers_are(1), "one for all");
    drop((first, clock));
    thread::sleep(Duration::from_millis(20));
    assert!(tickers_are(1), "the second generator still has it");
    drop(second);
    assert!(tickers_are(0), "it ends with the last");

    let many: Vec<_> = (0..300).map(|_| TickClock::start().unwrap()).collect();
    assert!(many.iter().all(moves_on));
    assert!(tickers_are(1), "300 clocks");
    drop(many);
    assert!(tickers_are(0), "it ends again");
}

/// A process that forks while a thread of it starts has a child in which none can start.
#[cfg(target_os = "linux")]
#[test]
fn the_thread_of_a_clock_runs_when_its_start_returns() {
    if !is_alone("the_thread_of_a_clock_runs_when_its_start_returns") {
        return;
    }
    for _ in 0..50 {
        let clock = TickClock::start().unwrap();
        assert_eq!(tickers(), 1);
        drop(clock);
        assert!(tickers_are(0));
    }
}

/// No address space has room for the stack of a thread here.
#[cfg(target_os = "linux")]
#[test]
fn a_clock_whose_thread_cannot_start_is_an_error_each_time() {
    let test = "a_clock_whose_thread_cannot_start_is_an_error_each_time";
    if !is_alone_with(test, [("RUST_MIN_STACK", "1125899906842624")]) {
        return;
    }
    for _ in 0..2 {
        assert!(TickClock::start().is_err());
    }
}

/// Threads start and drop clocks at the same time, and none of them finds a clock that stands.
#[cfg(target_os = "linux")]
#[test]
fn clocks_that_come_and_go_never_stand() {
    if !is_alone("clocks_that_come_and_go_never_stand") {
        return;
    }
    thread::scope(|scope| {
        for at in 0_u64..4 {
            scope.spawn(move || {
                for round in 0..200 {
                    let clock = TickClock::start().unwrap();
                    assert!(moves_on(&clock));
                    drop(clock);
                    thread::sleep(Duration::from_micros((at * 331 + round * 17) % 2_500));
                }
            });
        }
    });
    assert!(tickers_are(0));
}

/// As a `TickClock` whose thread is starved: readings are old, and the real time is found when it is asked for.
#[derive(Default)]
struct Starved {
    published: AtomicU64,
    real: AtomicU64,
    asked: AtomicU64,
}

impl Starved {
    fn at(ms: u64) -> Self {
        Self { published: ms.into(), real: ms.into(), asked: AtomicU64::new(0) }
    }

    /// Time goes on, and the thread does not.
    fn starve(&self, ms: u64) {
        self.real.fetch_add(ms, Ordering::Relaxed);
    }

    /// The thread runs again.
    fn publish(&self) {
        self.published.store(self.real.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl Clock for Starved {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(self.published.load(Ordering::Relaxed))
    }

    fn refresh(&self) -> Result<u64, ClockError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Ok(self.real.load(Ordering::Relaxed))
    }
}

/// Checks each ID against the last, and returns it.
fn next(ids: &Generator<&Starved>, last: &mut MessageId) -> MessageId {
    let id = ids.generate(SessionTag::from_u32(0).unwrap()).unwrap();
    assert!(*last < id, "{id} after {last}");
    *last = id;
    id
}

/// With the seed `T` the spins of that millisecond start at 0.
#[test]
fn a_starved_clock_makes_ids_older_and_never_refuses() {
    let clock = Starved::at(T);
    let lead = Duration::from_millis(3);
    let ids = Generator::builder().seed(T).max_lead(lead).clock(&clock).build().unwrap();
    let mut last = MessageId::MIN;
    assert_eq!(next(&ids, &mut last).timestamp_ms(), T);
    let asked_at_first = clock.asked.load(Ordering::Relaxed);
    clock.starve(100);
    // The old millisecond, and the lead over it, are filled up first.
    for place in 1..4 * 4_096 {
        assert_eq!(next(&ids, &mut last).timestamp_ms(), T + place / 4_096);
    }
    assert_eq!(clock.asked.load(Ordering::Relaxed), asked_at_first, "only for the first ID of all");
    // What the old reading would refuse is decided by the real one.
    assert_eq!(next(&ids, &mut last).timestamp_ms(), T + 100);
    assert_eq!(next(&ids, &mut last).timestamp_ms(), T + 100, "the old reading does not count as a rollback");
    // What the old reading means now is published: later calls with it do not ask again.
    let asked = clock.asked.load(Ordering::Relaxed);
    for _ in 0..100 {
        next(&ids, &mut last);
    }
    assert_eq!(clock.asked.load(Ordering::Relaxed), asked);
    assert_eq!(ids.stats().behind, Duration::ZERO);
    assert_eq!(ids.stats().refused, 0);

    clock.publish();
    let asked = clock.asked.load(Ordering::Relaxed);
    next(&ids, &mut last);
    assert_eq!(clock.asked.load(Ordering::Relaxed), asked, "a fresh reading is enough again");
}

#[test]
fn a_starved_clock_hides_a_rollback_only_until_something_would_be_refused() {
    let clock = Starved::at(T);
    let limits = Duration::from_millis(2);
    let ids = Generator::builder().seed(T).max_lead(limits).max_rollback(limits).clock(&clock).build().unwrap();
    let mut last = MessageId::MIN;
    next(&ids, &mut last);
    // The wall clock was set back while the thread slept: what was published is still good, within its lead.
    clock.real.store(T - 3, Ordering::Relaxed);
    for _ in 1..3 * 4_096 {
        assert!(next(&ids, &mut last).timestamp_ms() <= T + 2);
    }
    let error = ids.generate(SessionTag::from_u32(0).unwrap()).unwrap_err();
    assert!(error.is_rollback());
    assert_eq!(error.retry_after(), Some(Duration::from_millis(1)));
    clock.publish();
    assert!(ids.generate(SessionTag::from_u32(0).unwrap()).is_err_and(GenerateError::is_rollback));
    // Within the limit again; but the lead over the time that was reached is spent, and comes back with the clock.
    clock.starve(1);
    assert!(ids.generate(SessionTag::from_u32(0).unwrap()).is_err_and(GenerateError::is_overload));
    clock.starve(1);
    assert_eq!(next(&ids, &mut last).timestamp_ms(), T + 3);
}

#[test]
fn a_clock_that_is_starved_now_and_then_keeps_order_at_any_rate() {
    let clock = Starved::at(T);
    let ids = Generator::builder().max_lead(Duration::from_millis(5)).clock(&clock).build().unwrap();
    let mut last = MessageId::MIN;
    for round in 0_u64..3_000 {
        clock.starve(round % 4);
        if round % 7 == 0 {
            clock.publish();
        }
        for _ in 0..round % 97 {
            let id = next(&ids, &mut last);
            let (published, real) = (clock.published.load(Ordering::Relaxed), clock.real.load(Ordering::Relaxed));
            assert!(published <= id.timestamp_ms() && id.timestamp_ms() <= real + 5);
        }
    }
}

#[test]
fn generators_that_share_a_clock_do_not_share_their_stamps() {
    let clock = TickClock::start().unwrap();
    let hosts = [0, 1]
        .map(|lane| Generator::builder().lane(Lane { index: lane, bits: 1 }).clock(clock.clone()).build().unwrap());
    let mut all: Vec<_> = thread::scope(|scope| {
        let threads = hosts.each_ref().map(|ids| {
            scope.spawn(|| {
                (0..20_000)
                    .map(|_| ids.generate_within(SessionTag::from_u32(0).unwrap(), Duration::from_secs(10)).unwrap())
                    .collect::<Vec<_>>()
            })
        });
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_unstable();
    assert!(all.is_sorted_by(|a, b| a < b));
}
