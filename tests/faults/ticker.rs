//! The shared ticker.

use std::thread;
use std::time::{Duration, Instant};

use imid::Generator;
use imid::clock::{Clock, TickClock};

use super::room;

/// The threads of this process that bear the ticker's name.
#[cfg(target_os = "linux")]
fn tickers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("imid-tick")).count()
}

/// One test, since the number of threads is the process's.
#[cfg(target_os = "linux")]
#[test]
fn three_hundred_clocks_share_one_thread_and_it_ends_with_the_last() {
    let mut clocks: Vec<_> = (0..300).map(|_| TickClock::start().unwrap()).collect();
    let generators: Vec<_> =
        (0..300).map(|_| Generator::builder().clock(TickClock::start().unwrap()).build().unwrap()).collect();
    // A thread names itself a moment after it has started.
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
    let began = Instant::now();
    while tickers() > 0 {
        assert!(began.elapsed() < Duration::from_secs(10), "the thread outlives its handles");
        thread::sleep(Duration::from_millis(1));
    }

    // Start and end, over and over: each start shows the present time at once.
    for _ in 0..200 {
        let clock = TickClock::start().unwrap();
        let shown = clock.now_ms().unwrap();
        let real = clock.refresh().unwrap();
        assert!(real.abs_diff(shown) < 2_000, "{shown} at {real}");
    }
}
