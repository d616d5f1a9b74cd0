//! Measures what a lease adds to the time to mint an ID: `cargo bench -p imid-lease --bench leased`.
//!
//! The plain and the leased generator alternate in one run, many times, and each takes its best. So a slow moment of the
//! machine meets both. It prints the ratios.
#![allow(missing_docs, reason = "a bench")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use imid::clock::{Clock, SystemClock, TickClock};
use imid::generator::Lane;
use imid::{Generator, SessionTag};
use imid_lease::register::MemoryRegister;
use imid_lease::{LaneOptions, LeasedGenerator};

/// IDs in one measurement: fewer than a lane mints in the time that it takes.
const RUN: u32 = 4_000;

/// Measurements of each.
const ROUNDS: usize = 4_000;

fn time<T>(mint: impl Fn() -> T) -> f64 {
    let start = Instant::now();
    for _ in 0..RUN {
        black_box(mint());
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(RUN)
}

/// The median of the fastest tenth: what the work takes when nothing disturbs it.
fn best(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 20]
}

fn measure<C, const STRIPES: usize>(name: &str, clock: &C, bits: u32)
where
    C: Clock + Clone + Send + Sync + 'static,
{
    // Long enough that no call is refused.
    let lead = Duration::from_secs(40);
    let plain =
        Generator::builder().stripes::<STRIPES>().clock(clock.clone()).max_lead(lead).lane(Lane { index: 0, bits });
    let plain = plain.build().expect("a lane");
    let options =
        LaneOptions::new().lane_bits(bits).clock(clock.clone()).max_lead(lead).horizon(Duration::from_secs(100));
    let options = options.stripes::<STRIPES>();
    let leased = LeasedGenerator::open(MemoryRegister::new(), options).expect("a thread");
    leased.wait_until_open(lead).expect("a lane");
    let session = black_box(SessionTag::from_u32(7).expect("26 bits"));
    let (mut plain_times, mut leased_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain_times.push(time(|| plain.generate(black_box(session)).expect("an ID")));
        leased_times.push(time(|| leased.generate(black_box(session)).expect("an ID")));
    }
    let (plain, leased) = (best(plain_times), best(leased_times));
    println!(
        "{name}, {STRIPES} stripes, {bits} lane bits: plain {plain:.2} ns, leased {leased:.2} ns, ratio {:.3}",
        leased / plain
    );
}

fn main() {
    measure::<_, 1>("system clock", &SystemClock, 0);
    measure::<_, 64>("system clock", &SystemClock, 2);
    let tick = TickClock::start().expect("a thread");
    measure::<_, 1>("published clock", &tick, 0);
    measure::<_, 1>("published clock", &tick, 2);
    measure::<_, 64>("published clock", &tick, 2);
}
