//! The generator under every interleaving of two and three threads, up to a bound on preemptions, and under every order of
//! memory that its orderings allow. Run by `ci/loom.sh`, in about 20 s.
//!
//! That these tests can fail was seen by breaking `src/generator/atomic.rs`, one step at a time:
//! - `Stripe::exchange`: a load, a compare and a store for the `compare_exchange` fail seven of them;
//! - `Core::take_from`: a load and a store for the `fetch_add` fail five;
//! - `Core::wake`: a relaxed store of the epoch fails `the_first_calls_share_one_seed`, and so does a relaxed load of it;
//! - `Core::raise_floor`: a load, a compare and a store for the `fetch_max` fail `of_two_observed_the_greater_stays`;
//! - `Core::tick`: a store for the `fetch_max` fails `a_late_thread_does_not_turn_time_back`.
#![cfg(loom)]

use core::sync::atomic::AtomicUsize;
use core::time::Duration;

use imid::clock::ClockError;
use imid::clock::{Clock, SystemClock};
use imid::generator::GenerateError;
use imid::generator::{Builder, Lane};
use imid::{Generator, MessageId, Session, SessionHash, SessionType, Start};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::thread;

const T: u64 = 1_763_665_800_000;

/// Two stamps a millisecond, so that a spin is soon full.
fn narrow() -> Builder<SystemClock, 1> {
    Generator::builder().start(Start::Zero).lane(Lane { index: 0, bits: 11 })
}

/// A clock that all threads see change at once, as they do a real one; a modelled word may be seen late.
struct TestClock {
    ms: core::sync::atomic::AtomicU64,
    /// Tells loom that the order of readings and settings matters.
    turn: AtomicU64,
}

impl TestClock {
    fn set(&self, ms: u64) {
        self.turn.fetch_add(1, Ordering::Relaxed);
        self.ms.store(ms, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> Result<u64, ClockError> {
        self.turn.fetch_add(1, Ordering::Relaxed);
        Ok(self.ms.load(Ordering::Relaxed))
    }
}

fn clock(ms: u64) -> TestClock {
    TestClock { ms: ms.into(), turn: AtomicU64::new(0) }
}

fn session(hash: u32) -> Session {
    Session::from_parts(SessionType::GROUP, SessionHash::new(hash).unwrap())
}

fn model(preemptions: usize, run: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    let runs = std::sync::Arc::new(AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&runs);
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        run();
    });
    println!("{} interleavings", runs.load(Ordering::Relaxed));
}

fn assert_distinct(mut ids: Vec<MessageId>) {
    ids.sort_unstable();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

/// Milliseconds after T.
fn ms(id: MessageId) -> u64 {
    id.timestamp_ms() - T
}

#[test]
fn two_threads_fill_the_spin_while_the_clock_ticks() {
    model(2, || {
        let ids = Arc::new(narrow().max_lead(Duration::from_millis(3)).clock(clock(T)).build().unwrap());
        let mint = |ids: Arc<Generator<TestClock>>| {
            move || {
                let pair = [ids.generate(session(0)).unwrap(), ids.generate(session(1)).unwrap()];
                assert!(pair[0] < pair[1] && ms(pair[1]) <= 3);
                pair
            }
        };
        let threads = [thread::spawn(mint(Arc::clone(&ids))), thread::spawn(mint(Arc::clone(&ids)))];
        ids.clock().set(T + 1);
        let mut all: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        let last = ids.generate(session(0)).unwrap();
        assert!(all.iter().all(|id| *id < last));
        all.push(last);
        assert_distinct(all);
    });
}

#[test]
fn three_threads_share_one_stripe() {
    model(2, || {
        let ids = Arc::new(narrow().clock(clock(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        let mint = |ids: Arc<Generator<TestClock>>| move || ids.generate(session(0)).unwrap();
        let threads = [thread::spawn(mint(Arc::clone(&ids))), thread::spawn(mint(Arc::clone(&ids)))];
        ids.clock().set(T + 1);
        let mut all = vec![first, ids.generate(session(0)).unwrap()];
        all.extend(threads.into_iter().map(|thread| thread.join().unwrap()));
        assert_distinct(all);
    });
}

/// The last stamp before the limit goes to one of three. What the others give up is at most a stamp each.
#[test]
fn of_three_threads_one_gets_the_last_stamp() {
    model(2, || {
        let ids = Arc::new(narrow().max_lead(Duration::ZERO).clock(clock(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        let mint = |ids: Arc<Generator<TestClock>>| move || ids.generate(session(0));
        let threads = [thread::spawn(mint(Arc::clone(&ids))), thread::spawn(mint(Arc::clone(&ids)))];
        let mut seen = vec![ids.generate(session(0))];
        seen.extend(threads.into_iter().map(|thread| thread.join().unwrap()));

        let (minted, refused): (Vec<_>, Vec<_>) = seen.into_iter().partition(Result::is_ok);
        assert_eq!((minted.len(), refused.len()), (1, 2));
        assert!(refused.iter().all(|seen| seen.is_err_and(GenerateError::is_overload)));
        let second = minted[0].unwrap();
        assert!(first < second && ms(second) == 0);
        let stats = ids.stats();
        assert_eq!((stats.issued, stats.refused), (2, 2));

        ids.clock().set(T + 2);
        let next = ids.generate(session(0)).unwrap();
        assert!(ms(next) == 2 && next.spin() == 0, "more than two stamps were given up: {next:?}");
    });
}

#[test]
fn a_paused_thread_sees_no_false_refusal() {
    model(3, || {
        let ids = Arc::new(narrow().max_lead(Duration::ZERO).clock(clock(T)).build().unwrap());
        ids.batch(session(0), 2).unwrap().for_each(drop);
        ids.clock().set(T + 1);
        let other = Arc::clone(&ids);
        // Whoever comes late, holding the time T + 1 or the limit of then, finds the clock at T + 2.
        let thread = thread::spawn(move || {
            let first = other.generate(session(0)).unwrap();
            other.clock().set(T + 2);
            let second = other.generate(session(0)).unwrap();
            [first, second]
        });
        let mut all = vec![ids.generate(session(0)).unwrap()];
        all.extend(thread.join().unwrap());
        assert_distinct(all);
    });
}

#[test]
fn a_clock_that_steps_back_between_two_threads_refuses_nothing() {
    model(4, || {
        let ids = Arc::new(narrow().max_lead(Duration::from_millis(1)).clock(clock(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || [other.generate(session(0)).unwrap(), other.generate(session(0)).unwrap()]);
        ids.clock().set(T - 3);
        let mut all = vec![first, ids.generate(session(0)).unwrap()];
        ids.clock().set(T + 1);
        all.extend(thread.join().unwrap());
        assert!(all.iter().all(|id| ms(*id) <= 2), "{all:?}");
        let last = ids.generate(session(0)).unwrap();
        assert!(all.iter().all(|id| *id < last));
        all.push(last);
        assert_distinct(all);
    });
}

#[test]
fn what_is_observed_comes_before_whatever_follows() {
    model(3, || {
        let ids = Arc::new(narrow().clock(clock(T)).build().unwrap());
        let seen = MessageId::try_from_parts(T + 3, 4095, session(7)).unwrap();
        let done = Arc::new(AtomicBool::new(false));
        let thread = {
            let (ids, done) = (Arc::clone(&ids), Arc::clone(&done));
            thread::spawn(move || {
                ids.observe(seen).unwrap();
                done.store(true, Ordering::Release);
                let reply = ids.generate(session(0)).unwrap();
                assert!(seen < reply);
                reply
            })
        };
        let after = done.load(Ordering::Acquire);
        let id = ids.generate(session(0)).unwrap();
        assert!(!after || seen < id);
        let reply = thread.join().unwrap();
        let last = ids.generate(session(0)).unwrap();
        assert!(seen < last && id < last && reply < last);
        assert_distinct(vec![id, reply, last]);
    });
}

#[test]
fn of_two_observed_the_greater_stays() {
    model(3, || {
        let ids = Arc::new(narrow().clock(clock(T)).build().unwrap());
        let observe = |ids: Arc<Generator<TestClock>>, ahead| {
            move || {
                let seen = MessageId::try_from_parts(T + ahead, 4095, session(7)).unwrap();
                ids.observe(seen).unwrap();
                assert!(seen < ids.generate(session(0)).unwrap());
            }
        };
        let thread = thread::spawn(observe(Arc::clone(&ids), 3));
        observe(Arc::clone(&ids), 5)();
        thread.join().unwrap();
        assert!(ms(ids.generate(session(0)).unwrap()) > 5);
    });
}

/// An ID from before the latest reading is not noted, so the reading must stay: also when an older one comes in late.
#[test]
fn a_late_thread_does_not_turn_time_back() {
    model(2, || {
        let ids = Arc::new(narrow().stripes::<3>().clock(clock(T)).build().unwrap());
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(1)).unwrap());
        ids.clock().set(T + 2);
        ids.generate(session(0)).unwrap();
        let seen = MessageId::try_from_parts(T + 1, 4095, session(7)).unwrap();
        ids.observe(seen).unwrap();
        ids.clock().set(T);
        assert!(seen < ids.generate(session(2)).unwrap());
        thread.join().unwrap();
    });
}

#[test]
fn a_batch_is_one_run_beside_single_ids() {
    model(4, || {
        let ids = Arc::new(narrow().clock(clock(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.batch(session(0), 3).unwrap().collect::<Vec<_>>());
        let mut all = vec![first, ids.generate(session(0)).unwrap()];
        ids.clock().set(T + 1);
        all.push(ids.generate(session(0)).unwrap());
        let run = thread.join().unwrap();
        let place = |id: &MessageId| ms(*id) * 2 + u64::from(id.spin());
        assert!(run.windows(2).all(|pair| place(&pair[0]) + 1 == place(&pair[1])), "{run:?}");
        all.extend(run);
        assert_distinct(all);
    });
}

/// Each finds the generator asleep, awake, or in between; the seed is there before anyone uses it.
#[test]
fn the_first_calls_share_one_seed() {
    model(4, || {
        let build = || Generator::builder().seed(1).clock(clock(T)).build().unwrap();
        let start = build().generate(session(0)).unwrap();
        assert_ne!(start.spin(), 0, "a start that no seed would give as well");
        let ids = Arc::new(build());
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)).unwrap());
        let mut all = [ids.generate(session(0)).unwrap(), thread.join().unwrap()];
        all.sort_unstable();
        let next = MessageId::try_from_parts(T, start.spin() + 1, session(0)).unwrap();
        assert_eq!(all, [start, next]);
    });
}

#[test]
fn two_stripes_share_the_time_and_nothing_else() {
    model(3, || {
        let ids = Arc::new(narrow().stripes::<2>().max_lead(Duration::ZERO).clock(clock(T)).build().unwrap());
        let other = Arc::clone(&ids);
        let pair = |ids: &Generator<TestClock, 2>, session| {
            let pair = [ids.generate(session).unwrap(), ids.generate(session).unwrap()];
            assert!(pair[0] < pair[1] && ms(pair[1]) <= 1);
            pair
        };
        let thread = thread::spawn(move || pair(&other, session(1)));
        let mut all = pair(&ids, session(0)).to_vec();
        ids.clock().set(T + 1);
        all.push(ids.generate(session(0)).unwrap());
        all.extend(thread.join().unwrap());
        assert_distinct(all);
    });
}

/// A thread that mints meanwhile may carry the time of the jump on, once.
#[test]
fn a_second_resync_ends_what_a_minting_thread_carried_on() {
    model(3, || {
        let ids = Arc::new(narrow().clock(clock(T)).build().unwrap());
        ids.clock().set(T + 9_000);
        ids.generate(session(0)).unwrap();
        ids.clock().set(T);
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)).is_ok());
        ids.resync().unwrap();
        let carried = u64::from(thread.join().unwrap());
        ids.resync().unwrap();
        assert_eq!(ms(ids.generate(session(0)).unwrap()), 0);
    });
}
