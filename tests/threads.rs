//! Two to eight threads on one generator: no ID twice, and each order that is promised. Tens of millions of IDs in a release
//! build (`cargo test --release --test threads`), fewer where the compiler has not optimised.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

mod support;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use imid::clock::{Clock, ManualClock, SystemClock, TickClock};
use imid::generator::{Builder, Lane};
use imid::{Generator, MessageId, SessionHash, SessionTag, SessionType};

use self::support::T;

/// IDs in one configuration.
const COUNT: usize = if cfg!(debug_assertions) { 400_000 } else { 16_000_000 };

/// Sessions that all threads serve: of one stripe, of others, and two of one hash.
const SESSIONS: u64 = 8;

fn session(index: u64) -> SessionTag {
    let hash = [0, 1, 1, 2, 63, 64, 65, 4_194_303][index as usize];
    let code = 1 + index as u8;
    SessionTag::from_parts(SessionType::from_u8(code).unwrap(), SessionHash::from_u32(hash).unwrap())
}

/// Timestamp and spin, then the session's index: equal for equal IDs only, and small enough to keep millions.
fn key(id: MessageId, session: u64) -> u64 {
    (id.to_u128() >> 26) as u64 * SESSIONS + session
}

fn unlimited() -> Builder<SystemClock, 1> {
    Generator::builder().max_lead(Duration::MAX)
}

/// Runs the threads, and has each check that the IDs of each session increase.
fn mint<C, const STRIPES: usize>(
    _: &Generator<C, STRIPES>,
    threads: usize,
    take: impl Fn(u64, &mut Vec<u64>) + Sync,
) -> Vec<u64>
where
    C: Clock + Sync,
{
    let count = COUNT / threads;
    let work = |first: u64| {
        let mut keys = Vec::with_capacity(count + 1_024);
        let mut session = first;
        while keys.len() < count {
            let from = keys.len();
            take(session, &mut keys);
            assert!(keys[from..].is_sorted_by(|a, b| a < b), "the IDs of one call");
            session = (session + 1) % SESSIONS;
        }
        let mut last = [0; SESSIONS as usize];
        for key in &keys {
            let last = &mut last[(key % SESSIONS) as usize];
            assert!(*last < *key, "the IDs of one session");
            *last = *key;
        }
        assert!(STRIPES > 1 || keys.is_sorted_by(|a, b| a / SESSIONS < b / SESSIONS), "the IDs of one stripe");
        keys
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads as u64).map(|at| scope.spawn(move || work(at % SESSIONS))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    })
}

fn assert_distinct(mut keys: Vec<u64>) {
    #[expect(clippy::stable_sort_primitive, reason = "it finds the runs that the threads left, and merges them")]
    keys.sort();
    assert!(keys.is_sorted_by(|a, b| a < b), "an ID was minted twice");
}

fn one_by_one<C: Clock + Sync, const STRIPES: usize>(ids: &Generator<C, STRIPES>, threads: usize) {
    assert_distinct(mint(ids, threads, |at, keys| keys.push(key(ids.generate(session(at)).unwrap(), at))));
}

#[test]
fn threads_of_one_stripe_mint_distinct_ids_by_the_system_clock() {
    one_by_one(&unlimited().build().unwrap(), 2);
    one_by_one(&unlimited().build().unwrap(), 8);
}

#[test]
fn threads_of_one_stripe_mint_distinct_ids_by_a_tick_clock() {
    let clock = TickClock::start().unwrap();
    one_by_one(&unlimited().clock(clock.clone()).build().unwrap(), 2);
    one_by_one(&unlimited().clock(clock).build().unwrap(), 5);
}

#[test]
fn threads_of_64_stripes_mint_distinct_ids_by_the_system_clock() {
    one_by_one(&unlimited().stripes::<64>().build().unwrap(), 2);
    one_by_one(&unlimited().stripes::<64>().build().unwrap(), 8);
}

#[test]
fn threads_of_64_stripes_mint_distinct_ids_by_a_tick_clock() {
    let clock = TickClock::start().unwrap();
    one_by_one(&unlimited().stripes::<64>().clock(clock).build().unwrap(), 4);
}

#[test]
fn rolling_starts_give_distinct_ids() {
    one_by_one(&unlimited().rolling().build().unwrap(), 4);
}

#[test]
fn batches_slices_and_single_ids_share_no_id() {
    let ids = unlimited().build().unwrap();
    let keys = mint(&ids, 4, |at, keys| match at % 3 {
        0 => keys.push(key(ids.generate(session(at)).unwrap(), at)),
        1 => keys.extend(ids.batch(session(at), 100).unwrap().map(|id| key(id, at))),
        _ => {
            let mut slice = [MessageId::MIN; 64];
            ids.fill(session(at), &mut slice).unwrap();
            keys.extend(slice.map(|id| key(id, at)));
        }
    });
    assert_distinct(keys);
}

#[test]
fn generators_with_different_lanes_mint_distinct_ids_of_one_session() {
    let lanes = [1, 2].map(|lane| unlimited().lane(Lane { index: lane, bits: 2 }).build().unwrap());
    let keys: Vec<_> = thread::scope(|scope| {
        let hosts = lanes.each_ref().map(|ids| {
            scope.spawn(move || {
                mint(ids, 2, |at, keys| match at {
                    0 => keys.extend(ids.batch(session(at), 100).unwrap().map(|id| key(id, at))),
                    _ => keys.push(key(ids.generate(session(at)).unwrap(), at)),
                })
            })
        });
        hosts.into_iter().flat_map(|host| host.join().unwrap()).collect()
    });
    assert_distinct(keys);
}

/// Limits in place, and a clock that one thread moves on, forth and back, while the others mint as fast as they may.
fn by_a_restless_clock<const STRIPES: usize>(threads: usize) {
    let clock = ManualClock::new(T);
    let lead = Duration::from_millis(20);
    let ids = Generator::builder().stripes::<STRIPES>().clock(&clock).max_lead(lead).build().unwrap();
    let done = AtomicBool::new(false);
    let keys = thread::scope(|scope| {
        scope.spawn(|| {
            for at in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                // Seven on, three back.
                clock.set(T + at / 10 * 4 + if at % 10 < 7 { at % 10 } else { 13 - at % 10 });
                thread::yield_now();
            }
        });
        let keys = mint(&ids, threads, |at, keys| {
            loop {
                match ids.generate(session(at)) {
                    Ok(id) => return keys.push(key(id, at)),
                    Err(error) if error.is_overload() => thread::yield_now(),
                    Err(error) => panic!("{error}"),
                }
            }
        });
        done.store(true, Ordering::Relaxed);
        keys
    });
    assert_distinct(keys);
    let stats = ids.stats();
    assert!(stats.lead <= lead + Duration::from_millis(8), "{stats:?}");
}

#[test]
fn threads_of_one_stripe_mint_distinct_ids_by_a_clock_that_jumps() {
    by_a_restless_clock::<1>(3);
}

#[test]
fn threads_of_three_stripes_mint_distinct_ids_by_a_clock_that_jumps() {
    by_a_restless_clock::<3>(3);
}

/// What one thread has published comes before what another mints after it has seen that.
#[test]
fn an_id_comes_after_all_whose_calls_returned_before() {
    fn check<const STRIPES: usize>() {
        let ids = unlimited().stripes::<STRIPES>().build().unwrap();
        // For each session the greatest key that any thread has published; with one stripe all share the first.
        let published: [AtomicU64; SESSIONS as usize] = Default::default();
        let keys = mint(&ids, 4, |at, keys| {
            let published = &published[if STRIPES > 1 { at as usize } else { 0 }];
            let before = published.load(Ordering::Acquire);
            let key = key(ids.generate(session(at)).unwrap(), at);
            assert!(before / SESSIONS < key / SESSIONS, "before what another thread had published");
            published.fetch_max(key, Ordering::Release);
            keys.push(key);
        });
        assert_distinct(keys);
    }
    check::<1>();
    check::<64>();
}

/// One thread observes IDs ahead of all that were minted; what the others mint once they know of them comes after.
#[test]
fn what_one_thread_observed_comes_before_what_another_mints() {
    let ids = unlimited().stripes::<4>().max_skew(Duration::MAX).build().unwrap();
    let observed = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..1_000 {
                let ahead = ids.generate(session(0)).unwrap().timestamp_ms() + 3;
                ids.observe(MessageId::last_at(ahead).unwrap()).unwrap();
                observed.store(ahead, Ordering::Release);
                thread::yield_now();
            }
            done.store(true, Ordering::Relaxed);
        });
        for at in 0..3 {
            let (ids, observed, done) = (&ids, &observed, &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let seen = observed.load(Ordering::Acquire);
                    let id = ids.generate(session(at)).unwrap();
                    assert!(seen < id.timestamp_ms(), "before what another thread had observed");
                }
            });
        }
    });
}

/// Two threads take the last stamp of the limit at one time. One of them has it, and the other one is refused: the stamp that it takes
/// is compared with the limit once more.
#[test]
fn two_threads_at_the_last_stamp_of_the_limit_do_not_pass_it() {
    const ROUNDS: u64 = if cfg!(debug_assertions) { 60_000 } else { 400_000 };
    const END: u64 = u64::MAX;
    let clock = ManualClock::new(T);
    let builder = Generator::builder().max_lead(Duration::from_millis(1)).lane(Lane { index: 0, bits: 12 });
    let ids = builder.clock(&clock).build().unwrap();
    let (round, done, furthest) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let race = |now| {
        if let Ok(id) = ids.generate(session(0)) {
            // Asserted at the end: the other thread would wait for one that panics.
            furthest.fetch_max(id.timestamp_ms() - now, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for expected in 1..=ROUNDS {
                // Spinning makes the two race. On a busy machine it would hold the processor that the other thread needs.
                let mut spins = 0;
                while round.load(Ordering::Acquire) < expected {
                    spins += 1;
                    if spins < 1_000 { core::hint::spin_loop() } else { thread::yield_now() }
                }
                if round.load(Ordering::Acquire) == END {
                    return;
                }
                race(T + 10 * expected);
                done.store(expected, Ordering::Release);
            }
        });
        let began = Instant::now();
        // On a busy machine, a round can last as long as the turns of all other programs.
        for this in (1..=ROUNDS).take_while(|_| began.elapsed() < Duration::from_secs(10)) {
            let now = T + 10 * this;
            clock.set(now);
            // Publishes the limit of this millisecond, and leaves one stamp below it.
            ids.generate(session(0)).unwrap();
            round.store(this, Ordering::Release);
            race(now);
            while done.load(Ordering::Acquire) < this {
                thread::yield_now();
            }
        }
        round.store(END, Ordering::Release);
    });
    assert_eq!(furthest.into_inner(), 1, "ms ahead of the clock");
}
