//! The generator under all interleavings of two and three threads, up to a bound on preemptions of one or two per model, and
//! under the orders of memory that its orderings allow. Run by `ci/loom.sh`.
//!
//! A fork is in `fork.rs`.
#![cfg(loom)]

mod models;
#[path = "../support/mod.rs"]
mod support;

use core::time::Duration;

use imid::clock::{Clock, ClockError, ManualClock, SystemClock};
use imid::generator::{Builder, GenerateError, Lane};
use imid::{Generator, IdParts, MessageId};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::thread;

use self::models::model;
use self::support::{T, session};

/// Two stamps a millisecond, so that a spin is soon full. With this seed each of the milliseconds from T - 3 to T + 15 starts at 0.
fn narrow() -> Builder<SystemClock, 1> {
    Generator::builder().seed(1_374_863).lane(Lane { index: 0, bits: 11 })
}

/// A clock whose changes all threads see at once, as they see those of a real clock. A modelled word can be seen late.
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
    model(1, || {
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
    model(1, || {
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

/// The last stamp before the limit goes to one of three. The others drop at most one stamp each.
#[test]
fn of_three_threads_one_gets_the_last_stamp() {
    model(1, || {
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
        assert_eq!(ids.stats().refused, 2);

        ids.clock().set(T + 2);
        let next = ids.generate(session(0)).unwrap();
        assert!(ms(next) == 2 && next.spin() == 0, "more than two stamps were dropped: {next:?}");
    });
}

#[test]
fn a_paused_thread_sees_no_false_refusal() {
    model(2, || {
        let ids = Arc::new(narrow().max_lead(Duration::ZERO).clock(clock(T)).build().unwrap());
        // All stamps of the first millisecond.
        assert_eq!([ids.generate(session(0)), ids.generate(session(0))].map(|id| ms(id.unwrap())), [0, 0]);
        ids.clock().set(T + 1);
        let other = Arc::clone(&ids);
        // A thread that still has the reading T + 1, or its limit, finds the clock at T + 2.
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
    model(2, || {
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
    model(2, || {
        let ids = Arc::new(narrow().clock(clock(T)).build().unwrap());
        let seen =
            MessageId::try_from_parts(IdParts { timestamp_ms: T + 3, spin: 4095, session_tag: session(7) }).unwrap();
        let done = Arc::new(AtomicBool::new(false));
        let thread = {
            let (ids, done) = (Arc::clone(&ids), Arc::clone(&done));
            thread::spawn(move || {
                ids.observe(seen).unwrap();
                done.store(true, Ordering::Release);
            })
        };
        let after = done.load(Ordering::Acquire);
        let id = ids.generate(session(0)).unwrap();
        assert!(!after || seen < id);
        thread.join().unwrap();
        let last = ids.generate(session(0)).unwrap();
        assert!(seen < last && id < last);
    });
}

#[test]
fn of_two_observed_the_greater_stays() {
    model(1, || {
        let ids = Arc::new(narrow().clock(clock(T)).build().unwrap());
        let seen = |ahead| {
            MessageId::try_from_parts(IdParts { timestamp_ms: T + ahead, spin: 4095, session_tag: session(7) }).unwrap()
        };
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.observe(seen(3)).unwrap());
        ids.observe(seen(5)).unwrap();
        assert!(seen(5) < ids.generate(session(0)).unwrap());
        thread.join().unwrap();
        assert!(ms(ids.generate(session(0)).unwrap()) > 5);
    });
}

/// An ID from before the latest reading changes nothing, because later IDs are past that reading. This must hold when a thread
/// publishes an older reading later.
#[test]
fn a_late_thread_does_not_turn_time_back() {
    model(1, || {
        let ids = Arc::new(narrow().stripes::<3>().clock(clock(T)).build().unwrap());
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(1)).unwrap());
        ids.clock().set(T + 2);
        ids.generate(session(0)).unwrap();
        let seen =
            MessageId::try_from_parts(IdParts { timestamp_ms: T + 1, spin: 4095, session_tag: session(7) }).unwrap();
        ids.observe(seen).unwrap();
        ids.clock().set(T);
        assert!(seen < ids.generate(session(2)).unwrap());
        thread.join().unwrap();
    });
}

#[test]
fn a_batch_is_one_run_beside_single_ids() {
    model(2, || {
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

/// Each finds the generator not started, started, or in between. No thread uses a seed that is not there yet.
#[test]
fn the_first_calls_share_one_seed() {
    model(1, || {
        let build = || Generator::builder().seed(1).clock(clock(T)).build().unwrap();
        let start = build().generate(session(0)).unwrap();
        assert_ne!(start.spin(), 0, "a start that no seed would give as well");
        let ids = Arc::new(build());
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)).unwrap());
        let mut all = [ids.generate(session(0)).unwrap(), thread.join().unwrap()];
        all.sort_unstable();
        let next =
            MessageId::try_from_parts(IdParts { timestamp_ms: T, spin: start.spin() + 1, session_tag: session(0) })
                .unwrap();
        assert_eq!(all, [start, next]);
    });
}

/// The words are loaded before the clock is read, whose word a thread can see late here. In the other order, a time that another
/// thread has minted at in between would look like a step back. A refusal has the wait of one moment: not that of the
/// other thread's stamps at the time before them.
#[test]
fn a_clock_that_goes_on_beside_a_call_is_not_a_step_back() {
    model(2, || {
        let ids = narrow().max_lead(Duration::ZERO).max_rollback(Duration::ZERO).clock(ManualClock::new(T));
        let ids = Arc::new(ids.build().unwrap());
        // The millisecond is full, so the next call reads the clock again.
        (0..2).for_each(|_| _ = ids.generate(session(0)).unwrap());
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || {
            other.clock().set(T + 1);
            (0..2).for_each(|_| _ = other.generate(session(0)));
        });
        match ids.generate(session(0)) {
            Ok(id) => assert_eq!(ms(id), 1),
            Err(error) => assert_eq!(error.retry_after(), Some(Duration::from_millis(1)), "{error}"),
        }
        thread.join().unwrap();
    });
}

#[test]
fn two_stripes_share_the_time_and_nothing_else() {
    model(1, || {
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

/// A thread that publishes an old reading does not take the time back, and refuses nothing.
#[test]
fn a_publisher_of_an_old_reading_does_no_harm() {
    model(2, || {
        let ids = Arc::new(narrow().stripes::<2>().max_lead(Duration::ZERO).clock(clock(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        ids.clock().set(T + 1);
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(1)).unwrap());
        ids.clock().set(T + 2);
        let second = ids.generate(session(0)).unwrap();
        let late = thread.join().unwrap();
        let third = ids.generate(session(0)).unwrap();
        assert!(ms(late) == 1 || ms(late) == 2);
        assert!(first < second && second < third && ms(second) == 2 && ms(third) == 2);
        assert_distinct(vec![first, second, late, third]);
        assert_eq!(ids.stats().behind, Duration::ZERO, "an old reading is not a step back");
    });
}

/// What is observed while another thread publishes the next millisecond is neither lost nor doubled.
#[test]
fn an_observed_id_and_a_tick_at_once_lead_to_the_later_of_both() {
    model(2, || {
        let ids = Arc::new(narrow().clock(clock(T)).build().unwrap());
        ids.generate(session(0)).unwrap();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || {
            other.clock().set(T + 1);
            other.generate(session(0)).unwrap()
        });
        let seen =
            MessageId::try_from_parts(IdParts { timestamp_ms: T + 2, spin: 4095, session_tag: session(7) }).unwrap();
        ids.observe(seen).unwrap();
        let reply = ids.generate(session(0)).unwrap();
        let tick = thread.join().unwrap();
        let last = ids.generate(session(0)).unwrap();
        assert!(seen < reply && reply < last && tick < last);
        assert!(ms(last) <= 4, "{last:?} is further ahead than one jump leads to");
        assert_distinct(vec![reply, tick, last]);
    });
}

/// A bound is raised after a floor, as when a generator goes from one lease to the next. No thread mints between them, also
/// not one that was paused with the old bound.
#[test]
fn no_thread_mints_between_an_old_ceiling_and_a_new_floor() {
    model(1, || {
        let ids = Arc::new(narrow().ceiling_ms(T + 1).clock(clock(T)).build().unwrap());
        ids.generate(session(0)).unwrap();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)).ok());
        // The last stamp below the old ceiling, for one of the two.
        let mut all: Vec<_> = ids.generate(session(0)).ok().into_iter().collect();
        ids.raise_floor(
            MessageId::try_from_parts(IdParts { timestamp_ms: T + 2, spin: 4095, session_tag: session(7) }).unwrap(),
        );
        ids.raise_ceiling_ms(T + 9);
        let last = ids.generate(session(0)).unwrap();
        assert!(ms(last) >= 3);
        all.extend(thread.join().unwrap());
        assert!(all.iter().all(|id| ms(*id) == 0 || ms(*id) >= 3), "{all:?}");
        all.push(last);
        assert_distinct(all);
    });
}

/// The same, where the thread has looked at the old floor and is paused, and another stripe mints under the new ceiling.
#[test]
fn no_thread_mints_below_a_new_ceiling_with_an_old_floor() {
    model(1, || {
        let ids = Arc::new(narrow().stripes::<2>().ceiling_ms(T + 1).clock(clock(T)).build().unwrap());
        // All stamps below the old ceiling.
        ids.batch(session(0), 2).unwrap().for_each(drop);
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)).ok());
        ids.raise_floor(
            MessageId::try_from_parts(IdParts { timestamp_ms: T + 2, spin: 4095, session_tag: session(7) }).unwrap(),
        );
        ids.raise_ceiling_ms(T + 9);
        let id = ids.generate(session(1)).unwrap();
        assert!(ms(id) >= 3);
        let late = thread.join().unwrap();
        assert!(late.is_none_or(|late| ms(late) >= 3), "{late:?}");
    });
}

/// No thread mints at the ceiling by the shortest way: with an addition that others may have come before.
#[test]
fn no_thread_mints_at_the_ceiling() {
    model(2, || {
        let ids = Arc::new(narrow().ceiling_ms(T + 1).clock(clock(T)).build().unwrap());
        let first = ids.generate(session(0)).unwrap();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)));
        let mut all = vec![Ok(first), ids.generate(session(0))];
        ids.clock().set(T + 1);
        all.push(ids.generate(session(0)));
        all.push(thread.join().unwrap());
        let (minted, refused): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
        let minted: Vec<_> = minted.into_iter().map(Result::unwrap).collect();
        assert!(minted.iter().all(|id| ms(*id) == 0), "{minted:?}");
        assert!(refused.iter().all(|seen| seen.is_err_and(GenerateError::is_ceiling)));
        assert_distinct(minted);
    });
}

/// Each ID is either refused, or at most the end that the close returned.
#[test]
fn a_close_returns_an_end_past_what_minting_threads_get() {
    model(2, || {
        let ids = Arc::new(narrow().clock(clock(T)).build().unwrap());
        ids.generate(session(0)).unwrap();
        let single = |ids: Arc<Generator<TestClock>>| move || ids.generate(session(0));
        let run =
            |ids: Arc<Generator<TestClock>>| move || ids.batch(session(0), 2).map(|mut run| run.next_back().unwrap());
        let threads = [thread::spawn(single(Arc::clone(&ids))), thread::spawn(run(Arc::clone(&ids)))];
        let end = ids.close().unwrap();
        for thread in threads {
            match thread.join().unwrap() {
                Ok(id) => assert!(id.timestamp_ms() < end, "{id:?} after {end}"),
                Err(error) => assert!(error.is_closed()),
            }
        }
        assert!(ids.generate(session(0)).is_err_and(GenerateError::is_closed));
    });
}

/// A thread raises the ceiling and mints below it while another one closes. The end is then past what was minted, and not the old
/// ceiling.
#[test]
fn a_close_returns_an_end_past_what_is_minted_below_a_new_ceiling() {
    model(2, || {
        let ids = Arc::new(narrow().ceiling_ms(T + 1).clock(clock(T)).build().unwrap());
        // All stamps below the old ceiling.
        ids.batch(session(0), 2).unwrap().for_each(drop);
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || {
            other.raise_ceiling_ms(T + 9);
            [other.generate(session(0)), other.generate(session(0))]
        });
        let end = ids.close().unwrap();
        for id in thread.join().unwrap().into_iter().flatten() {
            assert!(id.timestamp_ms() < end, "{id:?} after {end}");
        }
    });
}

/// The same where a call that is refused has published the new ceiling, and an addition is the first step that depends on it.
#[test]
fn a_close_returns_an_end_past_what_an_addition_took_below_a_new_ceiling() {
    model(2, || {
        let ids = narrow().max_lead(Duration::from_millis(1)).ceiling_ms(T + 1).clock(clock(T)).build().unwrap();
        let ids = Arc::new(ids);
        // All stamps below the old ceiling.
        ids.batch(session(0), 2).unwrap().for_each(drop);
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || {
            other.raise_ceiling_ms(T + 9);
            assert!(other.batch(session(0), 3).is_err(), "more than the lead");
            other.generate(session(0))
        });
        let end = ids.close().unwrap();
        if let Ok(id) = thread.join().unwrap() {
            assert!(id.timestamp_ms() < end, "{id:?} after {end}");
        }
    });
}

/// Of two threads that reach the ceiling together, one can take the stamp at it and drop it. The end is the last ID all the same.
#[test]
fn the_end_of_a_generator_at_its_ceiling_is_its_last_id() {
    model(2, || {
        let ids = Arc::new(narrow().ceiling_ms(T + 1).clock(clock(T)).build().unwrap());
        ids.generate(session(0)).unwrap();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.generate(session(0)).ok());
        let own = ids.generate(session(0)).ok();
        let last = own.max(thread.join().unwrap()).unwrap();
        assert_eq!(ids.close().unwrap(), last.timestamp_ms() + 1);
    });
}

/// A thread computes its limit while another one moves the time past it. The limit has moved, too.
#[test]
fn a_time_that_moves_during_a_call_refuses_nothing() {
    model(2, || {
        let ids = Arc::new(narrow().max_lead(Duration::ZERO).clock(clock(T)).build().unwrap());
        ids.generate(session(0)).unwrap();
        // After a step back a call reads the real clock.
        ids.clock().set(T - 1);
        let seen =
            MessageId::try_from_parts(IdParts { timestamp_ms: T + 3, spin: 4095, session_tag: session(7) }).unwrap();
        let other = Arc::clone(&ids);
        let thread = thread::spawn(move || other.observe(seen).unwrap());
        ids.generate(session(0)).unwrap();
        thread.join().unwrap();
        assert_eq!(ids.stats().refused, 0);
    });
}
