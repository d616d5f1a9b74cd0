//! Measures the time to mint an ID, for imid and for other libraries: `cargo bench --bench generate` in this folder.
//!
//! A result has the name `topic/case/library`. Ratios are only fair between results of one run. So all libraries are
//! compiled here, with one compiler and one profile, and the same loop measures them in turn.
//!
//! - **Limits.** A layout with 12 bits of sequence has 4,096 IDs per millisecond, 244 ns each. After these a library
//!   waits, fails, or carries into the next millisecond. `generate` and `batch` are bursts. They measure the work and
//!   not the wait. A library that would wait or fail gets a wider sequence (`snowflake_me`, `ferroid`: 22 bits, which
//!   are enough for each machine that was measured). A library that can carry does so without a limit (`snowid`, with
//!   12 and with 16 bits; imid, with `max_lead` lifted). `sustained` measures the default limits of each library, with
//!   the waits, in wall time.
//! - **Failures** end the run, because each call in a measured loop is unwrapped. `ferroid` returns the same `Pending`
//!   for a lost race and for a full sequence, and its `next_id` retries both. [`spin`] counts the retries that had to
//!   wait, and [`assert_no_waits`] ends the run if there were too many.
//! - **Results** go through `black_box`. The session for imid also goes through one.
//! - **Two threads** leave a spinning barrier together. The time is the wall time from the first start to the last end.
//!   It is for two IDs, one from each thread. A round in which they ran one after the other is measured again.
#![allow(missing_docs, reason = "criterion's macros make public functions that have no docs")]

use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use ferroid::define_snowflake_id;
use ferroid::generator::AtomicSnowflakeGenerator;
use ferroid::id::{SnowflakeId, SnowflakeTwitterId};
use ferroid::time::{MonotonicClock, TWITTER_EPOCH, TimeSource};
use imid::clock::{Clock, SystemClock, TickClock};
use imid::generator::Builder;
use imid::{Generator, MessageId, SessionTag};
use snowflake_me::Snowflake;
use snowid::{SnowID, SnowIDConfig};

/// Number of threads in the contended cases.
const THREADS: usize = 2;
/// Number of IDs in a batch.
const BATCH: usize = 64;

define_snowflake_id!(
    /// 16 bits of sequence: 65,536 IDs per millisecond, 15.3 ns each.
    Ferroid16, u64, reserved: 1, timestamp: 41, machine_id: 6, sequence: 16
);
define_snowflake_id!(
    /// 22 bits of sequence, which a run does not use up. The time lasts for 24 days, which is enough for a run.
    Ferroid22, u64, reserved: 1, timestamp: 31, machine_id: 10, sequence: 22
);

/// Returns a builder for imid without a limit on the rate, because the other libraries have no limit here.
fn unlimited() -> Builder<SystemClock, 1> {
    Generator::builder().max_lead(Duration::MAX)
}

fn ticker() -> TickClock {
    TickClock::start().expect("a thread to spare")
}

/// Returns a session for a number. Sessions of consecutive numbers use different stripes.
fn session(number: usize) -> SessionTag {
    SessionTag::from_u32(number as u32).expect("26 bits")
}

type Ferroid<Id> = AtomicSnowflakeGenerator<Id, MonotonicClock>;

fn ferroid<Id: SnowflakeId<Ty = u64>>(epoch: Duration) -> Ferroid<Id> {
    AtomicSnowflakeGenerator::new(1, MonotonicClock::with_epoch(epoch))
}

/// Returns an epoch for [`Ferroid22`] and for the 31 bits of time of `snowflake_me`.
fn a_second_ago() -> Duration {
    let now = SystemTime::now() - Duration::from_secs(1);
    now.duration_since(UNIX_EPOCH).expect("a clock past 1970")
}

/// Returns a generator with 22 bits of sequence instead of 12, and with 31 bits of time instead of 41.
fn wide_snowflake_me() -> Snowflake {
    Snowflake::builder()
        .machine_id(&|| Ok(1))
        .data_center_id(&|| Ok(1))
        .start_time(a_second_ago().as_millis() as i64)
        .bit_len_time(31)
        .bit_len_sequence(22)
        .finalize()
        .expect("31 + 22 + 5 + 5 bits")
}

/// Returns a generator with 12 bits of sequence, the default of `snowid`.
fn snowid_12() -> SnowID {
    SnowID::new(1).expect("node 1 of 1024")
}

/// Returns a generator with 16 bits of sequence, the most that `snowid` allows.
fn snowid_16() -> SnowID {
    let config = SnowIDConfig::builder().node_bits(6).expect("6 to 16 node bits").build();
    SnowID::with_config(1, config).expect("node 1 of 64")
}

/// Number of calls in which a generator had to wait for the clock, in all threads.
static WAITS: AtomicU64 = AtomicU64::new(0);

/// Handles a retry of `ferroid`: 0 is a lost race, and other numbers are a wait for the clock.
fn spin(wait: u64) {
    if wait > 0 {
        WAITS.fetch_add(1, Ordering::Relaxed);
    }
    std::hint::spin_loop();
}

/// Ends the run if the limits of a layout were measured instead of its work.
///
/// A few waits are not a limit: a thread that was suspended between its clock reading and its exchange has to wait, and
/// reads a newer time in its next try.
fn assert_no_waits(minted: u64) {
    let waits = WAITS.swap(0, Ordering::Relaxed);
    assert!(
        waits * 100 <= minted.max(10_000),
        "{waits} waits for {minted} IDs: the sequence is too narrow for this machine"
    );
}

/// Number of calls of a thread in one round of [`race`]: less time than a processor gives to a thread at once.
const ROUND: u64 = 20_000;

/// Returns the time of `iters` calls of `mint` on each of [`THREADS`] threads, from the first start to the last end.
///
/// On a busy machine the threads often run one after the other, and then do not compete. So it measures whole rounds, and
/// repeats those in which the threads did not run at the same time.
fn race(iters: u64, mint: impl Fn(usize) + Sync) -> Duration {
    let rounds = iters.div_ceil(ROUND);
    let (mut counted, mut time, mut repeated) = (0, Duration::ZERO, 0);
    while counted < rounds {
        let (all, together) = round(&mint);
        if together >= all * 4 / 5 {
            time += all;
            counted += 1;
        } else {
            repeated += 1;
            assert!(repeated < 100_000, "no processor for each of {THREADS} threads");
        }
    }
    let nanos = time.as_nanos() * u128::from(iters) / u128::from(rounds * ROUND);
    Duration::from_nanos(u64::try_from(nanos).expect("less than 584 years"))
}

/// Returns the time from the first start to the last end, and from the last start to the first end.
fn round(mint: &(impl Fn(usize) + Sync)) -> (Duration, Duration) {
    let ready = AtomicUsize::new(0);
    let run = |thread| {
        ready.fetch_add(1, Ordering::SeqCst);
        // The barrier spins, because a futex would start the threads one after the other.
        while ready.load(Ordering::SeqCst) < THREADS {
            std::hint::spin_loop();
        }
        let start = Instant::now();
        for _ in 0..ROUND {
            mint(thread);
        }
        (start, Instant::now())
    };
    let spans: Vec<_> = thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread that mints")).collect()
    });
    let (starts, ends) = (spans.iter().map(|span| span.0), spans.iter().map(|span| span.1));
    let all = ends.clone().max().expect("two threads") - starts.clone().min().expect("two threads");
    (all, ends.min().expect("two threads").saturating_duration_since(starts.max().expect("two threads")))
}

/// Measures the parts of a generator: clocks and atomic operations. The times below include some of these.
fn floor(c: &mut Criterion) {
    let mut group = c.benchmark_group("floor/one-thread");
    group.bench_function("system-time", |b| b.iter(SystemTime::now));
    group.bench_function("system-time-ms", |b| {
        b.iter(|| SystemTime::now().duration_since(UNIX_EPOCH).map(|now| now.as_millis() as u64));
    });
    // What imid's clock would be without `clock_gettime`.
    group.bench_function("system-time-ms-64-bit", |b| {
        b.iter(|| UNIX_EPOCH.elapsed().map(|now| now.as_secs() * 1_000 + u64::from(now.subsec_millis())));
    });
    let clock: MonotonicClock = MonotonicClock::with_epoch(TWITTER_EPOCH);
    group.bench_function("ferroid-clock", |b| b.iter(|| TimeSource::<u64>::current_millis(&clock)));
    group.bench_function("imid-system-clock", |b| b.iter(|| SystemClock.now_ms()));
    let clock = ticker();
    group.bench_function("imid-tick-clock", |b| b.iter(|| clock.now_ms()));
    let word = AtomicU64::new(0);
    group.bench_function("compare-exchange", |b| {
        b.iter(|| {
            let last = word.load(Ordering::Relaxed);
            word.compare_exchange(last, last + 1, Ordering::Relaxed, Ordering::Relaxed)
        });
    });
    group.bench_function("fetch-add", |b| b.iter(|| word.fetch_add(1, Ordering::Relaxed)));
    // The least time for an ID of 16 bytes that is taken with a locked instruction.
    group.bench_function("fetch-add-16-bytes", |b| {
        b.iter(|| u128::from(word.fetch_add(1, Ordering::Relaxed)) << 26 | u128::from(black_box(session(0)).to_u32()));
    });
    #[cfg(target_arch = "x86_64")]
    group.bench_function("rdtsc", |b| b.iter(rdtsc));
    group.finish();
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the intrinsic has no safe form")]
fn rdtsc() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux allows it in user programs.
    unsafe { std::arch::x86_64::_rdtsc() }
}

fn one_thread(c: &mut Criterion) {
    let mut group = c.benchmark_group("generate/one-thread");
    group.throughput(Throughput::Elements(1));

    // The system clock.
    let ids = snowid_12();
    group.bench_function("snowid", |b| b.iter(|| ids.generate()));
    let ids = snowid_16();
    group.bench_function("snowid-16-bit", |b| b.iter(|| ids.generate()));
    let ids = unlimited().build().expect("no lane");
    group.bench_function("imid", |b| b.iter(|| ids.generate(black_box(session(0))).expect("no limit")));
    let ids = unlimited().stripes::<64>().build().expect("no lane");
    group.bench_function("imid-64-stripes", |b| b.iter(|| ids.generate(black_box(session(0))).expect("no limit")));
    let ids = wide_snowflake_me();
    group.bench_function("snowflake_me-22-bit", |b| b.iter(|| ids.next_id().expect("sequence left")));

    // A clock that a thread publishes.
    let ids = ferroid::<Ferroid22>(a_second_ago());
    group.bench_function("ferroid-22-bit", |b| {
        b.iter_custom(|iters| {
            let start = Instant::now();
            for _ in 0..iters {
                black_box(ids.next_id(spin));
            }
            let time = start.elapsed();
            assert_no_waits(iters);
            time
        });
    });
    let ids = unlimited().clock(ticker()).build().expect("no lane");
    group.bench_function("imid-tick", |b| b.iter(|| ids.generate(black_box(session(0))).expect("no limit")));
    let ids = unlimited().stripes::<64>().clock(ticker()).build().expect("no lane");
    group.bench_function("imid-tick-64-stripes", |b| b.iter(|| ids.generate(black_box(session(0))).expect("no limit")));

    // 128 bits, most of them random.
    group.bench_function("fast-uuid-v7", |b| b.iter(fast_uuid_v7::gen_id_u128));
    let mut ids = fast_uuid_v7::SequentialGenerator::new();
    group.bench_function("fast-uuid-v7-sequential", |b| b.iter(|| ids.next_id()));
    group.bench_function("uuid", |b| b.iter(uuid::Uuid::now_v7));
    group.bench_function("ulid", |b| b.iter(ulid::Ulid::generate));
    let mut ids = ulid::Generator::new();
    group.bench_function("ulid-monotonic", |b| b.iter(|| ids.generate().expect("80 bits to count in")));
    group.bench_function("scru128", |b| b.iter(scru128::new));
    let ids = uhlc::HLC::default();
    group.bench_function("uhlc", |b| b.iter(|| ids.new_timestamp()));
    group.finish();
}

/// Measures two threads that share one generator. The time is for two IDs, one from each thread.
fn two_threads(c: &mut Criterion) {
    let mut group = c.benchmark_group("generate/two-threads");
    group.throughput(Throughput::Elements(THREADS as u64));

    // The system clock.
    shared(&mut group, "snowid", snowid_12(), |ids, _| _ = black_box(ids.generate()));
    shared(&mut group, "snowid-16-bit", snowid_16(), |ids, _| _ = black_box(ids.generate()));
    ours(&mut group, "imid", unlimited().build().expect("no lane"));
    ours(&mut group, "imid-64-stripes", unlimited().stripes::<64>().build().expect("no lane"));
    shared(&mut group, "snowflake_me-22-bit", wide_snowflake_me(), |ids, _| {
        black_box(ids.next_id().expect("sequence left"));
    });

    // A clock that a thread publishes.
    let ids = ferroid::<Ferroid22>(a_second_ago());
    shared(&mut group, "ferroid-22-bit", ids, |ids, _| _ = black_box(ids.next_id(spin)));
    ours(&mut group, "imid-tick", unlimited().clock(ticker()).build().expect("no lane"));
    let ids = unlimited().stripes::<64>().clock(ticker()).build().expect("no lane");
    ours(&mut group, "imid-tick-64-stripes", ids);

    // The library has a generator per thread. The threads share no state, and have no common order.
    shared(&mut group, "fast-uuid-v7", (), |(), _| _ = black_box(fast_uuid_v7::gen_id_u128()));
    shared(&mut group, "ulid", (), |(), _| _ = black_box(ulid::Ulid::generate()));
    // A lock, inside the library or around it.
    shared(&mut group, "uuid", (), |(), _| _ = black_box(uuid::Uuid::now_v7()));
    shared(&mut group, "ulid-monotonic", Mutex::new(ulid::Generator::new()), |ids, _| {
        black_box(ids.lock().expect("no panic").generate().expect("80 bits to count in"));
    });
    shared(&mut group, "scru128", (), |(), _| _ = black_box(scru128::new()));
    shared(&mut group, "uhlc", uhlc::HLC::default(), |ids, _| _ = black_box(ids.new_timestamp()));
    group.finish();
}

/// Measures imid. Each thread mints for its own session.
fn ours<C: Clock + Sync, const N: usize>(group: &mut BenchmarkGroup<WallTime>, name: &str, ids: Generator<C, N>) {
    shared(group, name, ids, |ids, thread| {
        black_box(ids.generate(black_box(session(thread))).expect("no limit"));
    });
}

/// Measures `mint` on one generator that all threads share. `mint` gets the number of its thread.
fn shared<G: Sync>(group: &mut BenchmarkGroup<WallTime>, name: &str, ids: G, mint: impl Fn(&G, usize) + Sync) {
    group.bench_function(name, |b| {
        b.iter_custom(|iters| {
            let time = race(iters, |thread| mint(&ids, thread));
            assert_no_waits(iters * THREADS as u64);
            time
        });
    });
}

/// Measures [`BATCH`] IDs in one call, into an existing buffer, or into a new vector if the name says so. The
/// throughput counts IDs.
fn batch(c: &mut Criterion) {
    let mut group = c.benchmark_group("batch-64/one-thread");
    group.throughput(Throughput::Elements(BATCH as u64));

    let ids = wide_snowflake_me();
    group.bench_function("snowflake_me-22-bit-vec", |b| b.iter(|| ids.next_ids(BATCH).expect("sequence left")));
    let mut out = Vec::with_capacity(BATCH);
    group.bench_function("snowflake_me-22-bit", |b| {
        b.iter(|| {
            out.clear();
            ids.next_ids_into(BATCH, &mut out).expect("sequence left");
            black_box(out.as_slice());
        });
    });
    let ids = unlimited().build().expect("no lane");
    group.bench_function("imid-vec", |b| {
        b.iter(|| ids.batch(black_box(session(0)), BATCH).expect("no limit").collect::<Vec<_>>());
    });
    let mut out = [MessageId::MIN; BATCH];
    group.bench_function("imid", |b| {
        b.iter(|| {
            ids.fill(black_box(session(0)), &mut out).expect("no limit");
            black_box(&out);
        });
    });
    let ids = unlimited().clock(ticker()).build().expect("no lane");
    group.bench_function("imid-tick", |b| {
        b.iter(|| {
            ids.fill(black_box(session(0)), &mut out).expect("no limit");
            black_box(&out);
        });
    });
    let mut out = [0; BATCH];
    let ids = snowid_12();
    group.bench_function("snowid", |b| {
        b.iter(|| {
            ids.generate_batch(&mut out);
            black_box(&out);
        });
    });
    let ids = snowid_16();
    group.bench_function("snowid-16-bit", |b| {
        b.iter(|| {
            ids.generate_batch(&mut out);
            black_box(&out);
        });
    });
    group.finish();
}

/// Mints an ID with imid at its limit: if the call is refused, it waits. The time limit is much longer than the waits.
fn patiently<C: Clock, const N: usize>(ids: &Generator<C, N>, session: SessionTag) -> MessageId {
    let minted = ids.generate(session).or_else(|_| ids.generate_within(session, Duration::from_secs(10)));
    minted.expect("a clock that runs")
}

/// Returns a generator of imid after a second of overload. Its lead is used up, so its rate is that of the layout.
fn led<const N: usize>(sessions: usize) -> Generator<SystemClock, N> {
    let ids = Generator::builder().stripes().build().expect("no lane");
    // Until all are refused one after another: a stripe that has room again while the next one is used up would never wait.
    while (0..sessions).any(|number| ids.generate(session(number)).is_ok()) {}
    ids
}

/// Measures IDs per second of wall time with the limits in place. The time includes the waits.
fn sustained(c: &mut Criterion) {
    let mut group = c.benchmark_group("sustained/one-thread");
    group.throughput(Throughput::Elements(1));

    let ids = led::<1>(1);
    group.bench_function("imid", |b| b.iter(|| patiently(&ids, session(0))));
    // 64 sessions in turn. The layout has 262 million IDs per second, which a thread cannot mint, so no call is
    // refused.
    let ids = Generator::striped();
    let mut turn = (0..64).cycle();
    group.bench_function("imid-64-stripes", |b| b.iter(|| patiently(&ids, session(turn.next().expect("a cycle")))));
    // Refuses a call if the sequence is full. The caller tries again.
    let ids = snowid_12();
    group.bench_function("snowid-try", |b| {
        b.iter(|| {
            loop {
                match ids.try_generate() {
                    Ok(id) => break id,
                    Err(_) => std::hint::spin_loop(),
                }
            }
        });
    });
    // Refuses no calls: under load its time runs ahead of the clock, without a limit.
    group.bench_function("snowid", |b| b.iter(|| ids.generate()));
    let ids = Snowflake::builder().machine_id(&|| Ok(1)).data_center_id(&|| Ok(1)).finalize().expect("the default");
    group.bench_function("snowflake_me", |b| b.iter(|| ids.next_id().expect("no time-out is set")));
    let ids = ferroid::<SnowflakeTwitterId>(TWITTER_EPOCH);
    group.bench_function("ferroid-twitter", |b| b.iter(|| ids.next_id(|_| thread::yield_now())));
    let ids = ferroid::<Ferroid16>(TWITTER_EPOCH);
    group.bench_function("ferroid-16-bit", |b| b.iter(|| ids.next_id(|_| thread::yield_now())));
    group.finish();

    let mut group = c.benchmark_group("sustained/two-threads");
    group.throughput(Throughput::Elements(THREADS as u64));
    shared(&mut group, "imid", led::<1>(1), |ids, thread| _ = black_box(patiently(ids, session(thread))));
    // Each thread has one session, and so one stripe.
    shared(&mut group, "imid-64-stripes", led::<64>(2), |ids, thread| _ = black_box(patiently(ids, session(thread))));
    let ids = ferroid::<SnowflakeTwitterId>(TWITTER_EPOCH);
    shared(&mut group, "ferroid-twitter", ids, |ids, _| _ = black_box(ids.next_id(|_| thread::yield_now())));
    let ids = ferroid::<Ferroid16>(TWITTER_EPOCH);
    shared(&mut group, "ferroid-16-bit", ids, |ids, _| _ = black_box(ids.next_id(|_| thread::yield_now())));
    group.finish();
}

/// Returns a generator of 64-bit IDs with 22 bits of sequence, so that neither a wait nor a refusal is measured.
fn wide_snowflake() -> imid_snowflake::Builder<SystemClock, imid_snowflake::NoSpareNodes> {
    let layout = imid_snowflake::Layout::builder().tick_bits(36).node_bits(5).sequence_bits(22).epoch(a_second_ago());
    imid_snowflake::Generator::builder(imid_snowflake::Preset::new(layout.build().expect("63 bits"))).node(1)
}

/// Measures the generators of 64-bit IDs, beside the fastest peers with the same kind of clock.
fn snowflakes(c: &mut Criterion) {
    let mut group = c.benchmark_group("snowflake/one-thread");
    group.throughput(Throughput::Elements(1));
    let ids = wide_snowflake().build().expect("node 1 of 32");
    group.bench_function("imid", |b| b.iter(|| ids.generate().expect("sequence left")));
    let ids = wide_snowflake().clock(ticker()).build().expect("node 1 of 32");
    group.bench_function("imid-tick", |b| b.iter(|| ids.generate().expect("sequence left")));
    let ids = snowid_12();
    group.bench_function("snowid", |b| b.iter(|| ids.generate()));
    let ids = ferroid::<Ferroid22>(a_second_ago());
    group.bench_function("ferroid-22-bit", |b| b.iter(|| ids.next_id(spin)));
    group.finish();

    let mut group = c.benchmark_group("snowflake/two-threads");
    group.throughput(Throughput::Elements(THREADS as u64));
    let ids = wide_snowflake().clock(ticker()).build().expect("node 1 of 32");
    shared(&mut group, "imid-tick", ids, |ids, _| _ = black_box(ids.generate().expect("sequence left")));
    let ids = ferroid::<Ferroid22>(a_second_ago());
    shared(&mut group, "ferroid-22-bit", ids, |ids, _| _ = black_box(ids.next_id(spin)));
    group.finish();
}

criterion_group! {
    name = benches;
    // Each result takes less than 2 s, so that a whole run takes less than two minutes.
    config = Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(400))
        .measurement_time(Duration::from_millis(1_200))
        .nresamples(10_000);
    targets = floor, one_thread, two_threads, snowflakes, batch, sustained
}
criterion_main!(benches);
