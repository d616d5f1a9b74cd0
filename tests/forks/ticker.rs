//! A child does not have the thread of its parent's `TickClock`.

use core::time::Duration;
use std::process::Command;
use std::time::Instant;

use imid::Generator;
use imid::clock::{Clock, TickClock};
use libtest_mimic::Trial;

use super::child::{Way, ways};
use super::minting::{assert_distinct, hot, mint, room};

pub(super) fn all() -> Vec<Trial> {
    super::trials! {
        a_tick_clock_goes_on_in_every_child
        a_tick_clock_is_dropped_and_started_in_every_child
        a_tick_clock_that_is_the_first_of_all_goes_on_in_every_child
    }
}

/// Whether the clock moves on by 20 ms. One that stands would be waited for in vain; a thread may be starved for long.
fn goes_on(clock: &TickClock) -> bool {
    let (began, first) = (Instant::now(), clock.now_ms().unwrap());
    while began.elapsed() < Duration::from_secs(10) {
        if clock.now_ms().unwrap() >= first + 20 {
            return true;
        }
    }
    false
}

fn a_tick_clock_goes_on_in_every_child() {
    for way in ways() {
        let clock = TickClock::start().unwrap();
        let ids = Generator::builder().clock(clock.clone()).build().unwrap();
        let before = ids.generate(hot()).unwrap();
        let child = way.copy(|| {
            assert!(goes_on(&clock), "the child's clock stands");
            let grandchild = way.copy(|| {
                assert!(goes_on(&clock), "the grandchild's clock stands");
                mint(&ids, room("grandchild"), 5_000)
            });
            let mut minted = mint(&ids, room("child"), 5_000);
            minted.extend(grandchild.ids());
            minted
        });
        assert!(goes_on(&clock), "the parent's clock stands");
        let (parent, child) = (mint(&ids, room("parent"), 5_000), child.ids());
        assert!(before.timestamp_ms() < child[0].timestamp_ms());
        assert_distinct(&[parent, child]);
    }
}

/// The child has handles of a thread that it does not have. To drop them may not wait for it, and a clock that the child
/// starts has a thread of its own.
fn a_tick_clock_is_dropped_and_started_in_every_child() {
    let names = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|name| name.starts_with("imid-tick")).count()
    };
    let wait_for_one = |why| {
        let began = Instant::now();
        while names() != 1 {
            assert!(began.elapsed() < Duration::from_secs(10), "{why}");
        }
    };
    for way in ways() {
        // The C library of a raw clone may start no threads: it takes the child for its parent.
        let threads = way != Way::Clone;
        let clock = TickClock::start().unwrap();
        // A thread that ends has a lock for a moment, without which the child could start none.
        wait_for_one("the thread of the clock before has ended");
        let work = || {
            assert_eq!(names(), 0, "a copy has the thread that copied it and no other");
            drop(clock.clone());
            assert!(goes_on(&clock));
            if threads {
                let own = TickClock::start().unwrap();
                assert!(goes_on(&own));
                wait_for_one("a clock that the child starts has a thread");
            }
            Vec::new()
        };
        assert!(way.copy(work).ids().is_empty());
        let moved = way.copy(move || {
            drop(clock);
            Vec::new()
        });
        assert!(moved.ids().is_empty());
    }
}

/// Nothing but the clock itself has had forks noticed then. In a process of its own.
fn a_tick_clock_that_is_the_first_of_all_goes_on_in_every_child() {
    const ALONE: &str = "IMID_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let test = "a_tick_clock_that_is_the_first_of_all_goes_on_in_every_child";
        let mut command = Command::new(std::env::current_exe().unwrap());
        let run = command.args(["--exact", test]).env(ALONE, "1").output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
        return;
    }
    let clock = TickClock::start().unwrap();
    for way in ways() {
        let work = || {
            assert!(goes_on(&clock), "the child's clock stands");
            Vec::new()
        };
        assert!(way.copy(work).ids().is_empty());
    }
}
