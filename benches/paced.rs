//! Measures the time to mint an ID now and then, as a service does: `cargo bench --bench paced` in this folder.
//!
//! A loop at full speed has its data in the first cache, and mostly reads the same time from the clock. A service mints an ID
//! for a message, does something else, and mints the next ID in a later millisecond. A result has the name
//! `topic/case/library`.
//!
//! - **One call per millisecond** at most. Each call is timed alone, so each result includes the timer. `nothing` is the time
//!   of the timer alone, with the same caches.
//! - **Medians.** A call that the scheduler interrupts takes thousands of times as long as the others. So a sample is the
//!   median of its calls and not their mean.
//! - **Evicted**: before each call a buffer of 64 MiB is written, which is larger than the caches of most machines. So the data
//!   of the generator and of the clock come from memory, and the code from the third cache or from memory. **Resident**: the
//!   processor waits for the next millisecond and reads only the clock.
//! - **Clock**: the time to read the system clock, as the library reads it and with `std::time` (`safe_twin`).
#![allow(missing_docs, reason = "criterion's macros make public functions that have no docs")]

use std::cell::RefCell;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use ferroid::generator::AtomicSnowflakeGenerator;
use ferroid::id::SnowflakeTwitterId;
use ferroid::time::{MonotonicClock, TWITTER_EPOCH};
use imid::clock::{Clock, SystemClock, TickClock};
use imid::{Generator, SessionTag, SessionType};
use snowid::SnowID;

const CACHE_LINE: usize = 64;
const EVICTED: usize = 64 << 20;

/// What happens between two calls.
trait Pause {
    fn pause(&self);
}

/// Writes all of a large buffer.
struct Evict(RefCell<Vec<u8>>);

impl Evict {
    fn new() -> Self {
        Self(RefCell::new(vec![0; EVICTED]))
    }
}

impl Pause for Evict {
    fn pause(&self) {
        // With fast memory, it can still be the millisecond of the last ID.
        let start = Instant::now();
        let mut buffer = self.0.borrow_mut();
        buffer.iter_mut().step_by(CACHE_LINE).for_each(|byte| *byte = byte.wrapping_add(1));
        black_box(&mut *buffer);
        while start.elapsed() < Duration::from_millis(1) {
            std::hint::spin_loop();
        }
    }
}

/// Waits for a millisecond.
struct Wait;

impl Pause for Wait {
    fn pause(&self) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(1) {
            std::hint::spin_loop();
        }
    }
}

/// Measures single calls, with a pause before each.
fn each(group: &mut BenchmarkGroup<WallTime>, pause: &impl Pause, name: &str, mut call: impl FnMut()) {
    group.bench_function(name, |b| {
        b.iter_custom(|iters| {
            let mut times: Vec<_> = (0..iters)
                .map(|_| {
                    pause.pause();
                    let start = Instant::now();
                    call();
                    start.elapsed()
                })
                .collect();
            let (_, median, _) = times.select_nth_unstable(iters as usize / 2);
            // Criterion divides this by the number of calls, and gets the median.
            *median * iters as u32
        });
    });
}

fn paced(c: &mut Criterion, case: &str, pause: &impl Pause) {
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let mut group = c.benchmark_group(format!("paced/{case}"));
    group.throughput(Throughput::Elements(1));
    each(&mut group, pause, "nothing", || {});

    // The system clock.
    let ids = Generator::new();
    each(&mut group, pause, "imid", || _ = black_box(ids.generate(black_box(room)).expect("no load")));
    // 64 rooms in turn. Most calls use a stripe that was not used for some milliseconds.
    let rooms: Vec<_> = (0..64).map(|room| SessionTag::new(SessionType::GROUP, &format!("room-{room}"))).collect();
    let mut turn = rooms.iter().cycle();
    let striped = Generator::striped();
    each(&mut group, pause, "imid-64-stripes", || {
        let room = *turn.next().expect("a cycle");
        black_box(striped.generate(black_box(room)).expect("no load"));
    });
    let snowid = SnowID::new(1).expect("node 1 of 1024");
    each(&mut group, pause, "snowid", || _ = black_box(snowid.generate()));
    each(&mut group, pause, "uuid", || _ = black_box(uuid::Uuid::now_v7()));

    // A clock that a thread publishes, on another processor.
    let ticker = TickClock::start().expect("a thread to spare");
    let ids = Generator::builder().clock(ticker.clone()).build().expect("no lane");
    each(&mut group, pause, "imid-tick", || _ = black_box(ids.generate(black_box(room)).expect("no load")));
    let striped = Generator::builder().stripes::<64>().clock(ticker).build().expect("no lane");
    let mut turn = rooms.iter().cycle();
    each(&mut group, pause, "imid-tick-64-stripes", || {
        let room = *turn.next().expect("a cycle");
        black_box(striped.generate(black_box(room)).expect("no load"));
    });
    let clock = MonotonicClock::<1>::with_epoch(TWITTER_EPOCH);
    let ferroid = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(1, clock);
    each(&mut group, pause, "ferroid", || _ = black_box(ferroid.next_id(|_| thread::yield_now())));
    group.finish();
}

/// Returns the Unix milliseconds of `std::time`, with 64-bit arithmetic as in the library.
fn safe_twin() -> u64 {
    let since = UNIX_EPOCH.elapsed().expect("a clock past 1970");
    since.as_secs() * 1_000 + u64::from(since.subsec_millis())
}

/// Measures the system clock as the library reads it and with `std::time`, in a loop and paced.
fn clock(c: &mut Criterion) {
    let mut group = c.benchmark_group("clock/loop");
    group.bench_function("system-clock", |b| b.iter(|| SystemClock.now_ms()));
    group.bench_function("safe-twin", |b| b.iter(safe_twin));
    group.finish();

    let mut group = c.benchmark_group("clock/evicted");
    let pause = Evict::new();
    each(&mut group, &pause, "nothing", || {});
    each(&mut group, &pause, "system-clock", || _ = black_box(SystemClock.now_ms()));
    each(&mut group, &pause, "safe-twin", || _ = black_box(safe_twin()));
    group.finish();
}

fn evicted(c: &mut Criterion) {
    paced(c, "evicted", &Evict::new());
}

fn resident(c: &mut Criterion) {
    paced(c, "resident", &Wait);
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(2))
        .nresamples(10_000);
    targets = evicted, resident, clock
}
criterion_main!(benches);
