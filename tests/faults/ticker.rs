//! The shared ticker.

use std::thread;
use std::time::{Duration, Instant};

use imid::Generator;
use imid::clock::{Clock, TickClock};

use super::refusal::alone;
use super::room;

/// The threads of this process that bear the ticker's name.
fn tickers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("imid-tick")).count()
}

/// Waits until there are so many. A thread names itself a moment after it has started, and the kernel takes a moment to forget
/// one that has ended.
fn wait_for_tickers(count: usize) {
    let began = Instant::now();
    while tickers() != count {
        assert!(began.elapsed() < Duration::from_secs(10), "{} threads, not {count}", tickers());
        thread::sleep(Duration::from_millis(1));
    }
}

/// In a process of its own, since other tests start clocks, too.
#[test]
fn three_hundred_clocks_share_one_thread_and_it_ends_with_the_last() {
    if !alone("ticker::three_hundred_clocks_share_one_thread_and_it_ends_with_the_last") {
        return;
    }
    let mut clocks: Vec<_> = (0..300).map(|_| TickClock::start().unwrap()).collect();
    let generators: Vec<_> =
        (0..300).map(|_| Generator::builder().clock(TickClock::start().unwrap()).build().unwrap()).collect();
    wait_for_tickers(1);
    thread::sleep(Duration::from_millis(20));
    assert_eq!(tickers(), 1, "600 handles");
    for ids in &generators {
        ids.generate(room()).unwrap();
    }
    drop(generators);
    let last = clocks.pop().unwrap();
    drop(clocks);
    thread::sleep(Duration::from_millis(20));
    assert_eq!(tickers(), 1, "one handle is left");
    let shown = last.now_ms().unwrap();
    let began = Instant::now();
    while last.now_ms().unwrap() == shown {
        assert!(began.elapsed() < Duration::from_secs(10), "the clock of the last handle stands");
    }
    drop(last);
    wait_for_tickers(0);

    // Start and end, over and over: each start shows the present time at once.
    for _ in 0..200 {
        let clock = TickClock::start().unwrap();
        let shown = clock.now_ms().unwrap();
        let real = clock.refresh().unwrap();
        assert!(real.abs_diff(shown) < 2_000, "{shown} at {real}");
    }
}
