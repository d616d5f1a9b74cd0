//! What a generator does at each edge of its policy, one documented result a test.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

mod support;

use std::cell::Cell;
use std::time::Duration;

use imid::clock::ClockError;
use imid::clock::{Clock, ManualClock, SystemClock};
use imid::generator::{Builder, GenerateError, Lane};
use imid::{Generator, IdParts, MessageId, SessionTag};

use self::support::{T, ms, room};

const HOUR: u64 = 3_600_000;

/// In the millisecond that equals the seed, the spins start at 0.
fn zero_at(seed: u64) -> Builder<SystemClock, 1> {
    Generator::builder().seed(seed)
}

/// In the millisecond [`T`] the spins start at 0.
fn zero() -> Builder<SystemClock, 1> {
    zero_at(T)
}

/// The timestamp relative to [`T`], and the spin.
fn at(id: MessageId) -> (i64, u16) {
    (id.timestamp_ms().cast_signed() - T.cast_signed(), id.spin())
}

/// Whether a time after [`T`] is this one, or up to 16 ms later: hosts that one event sends to the same place spread.
fn within_spread(found: i64, expected: u64) -> bool {
    (expected.cast_signed()..=expected.cast_signed() + 16).contains(&found)
}

#[test]
fn spins_count_up_within_a_millisecond_and_start_again_in_the_next() {
    let clock = ManualClock::new(T);
    let ids = zero().clock(&clock).build().unwrap();
    assert_eq!(at(ids.generate(room()).unwrap()), (0, 0));
    assert_eq!(at(ids.generate(room()).unwrap()), (0, 1));
    clock.set(T + 1);
    let start = zero().clock(&clock).build().unwrap().generate(room()).unwrap();
    assert_eq!(at(start).0, 1);
    assert_eq!(ids.generate(room()).unwrap(), start);
}

#[test]
fn the_first_millisecond_of_1970_is_a_time_like_any_other() {
    let ids = zero_at(0).clock(ManualClock::new(0)).build().unwrap();
    assert_eq!(ids.generate(SessionTag::from_u32(0).unwrap()).unwrap(), MessageId::MIN);
}

#[test]
fn a_full_millisecond_borrows_from_the_next_up_to_exactly_the_lead() {
    let clock = ManualClock::new(T);
    let ids = zero().max_lead(ms(2)).clock(&clock).build().unwrap();
    for expected in (0..3).flat_map(|tick| (0..4096).map(move |spin| (tick, spin))) {
        assert_eq!(at(ids.generate(room()).unwrap()), expected);
    }
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_overload());
    assert_eq!(error.retry_after(), Some(ms(1)));
    assert_eq!(error.to_string(), "next ID is too far ahead of the clock (limit 2 ms): retry in 1 ms");
    clock.set(T + 1);
    assert_eq!(at(ids.generate(room()).unwrap()), (3, 0));
}

#[test]
fn a_rollback_of_exactly_the_limit_is_absorbed_and_one_past_it_is_an_error() {
    let clock = ManualClock::new(T);
    let ids = zero().clock(&clock).build().unwrap();
    ids.generate(room()).unwrap();

    clock.set(T - HOUR);
    assert_eq!(at(ids.generate(room()).unwrap()), (0, 1));

    clock.set(T - HOUR - 1);
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_rollback());
    assert_eq!(error.retry_after(), Some(ms(1)));
    let words = "clock is 3600001 ms behind its latest reading (limit 3600000 ms): wait, raise max_rollback, or restart the process";
    assert_eq!(error.to_string(), words);

    clock.set(T - HOUR);
    assert_eq!(at(ids.generate(room()).unwrap()), (0, 2), "the refused call changed nothing");
}

/// Full load for a minute, the clock stepping back 30 s at its start: 4,096 IDs each millisecond, none refused, before the
/// clock has caught up, at that moment and after it.
#[test]
fn minting_goes_on_at_full_rate_through_a_rollback_of_30_s() {
    let clock = ManualClock::new(T);
    let ids = Generator::builder().clock(&clock).build().unwrap();
    let mut batch = vec![MessageId::MIN; 4096];
    let mut last = ids.generate(room()).unwrap();
    for tick in 0..60_000 {
        let now = T - 30_000 + tick;
        clock.set(now);
        ids.fill(room(), &mut batch).unwrap();
        assert!(last < batch[0]);
        last = batch[4095];
        assert!(last.timestamp_ms() <= now + 30_000 + 1_000);
    }
}

#[test]
fn what_a_rollback_granted_is_given_back_as_the_clock_catches_up() {
    let clock = ManualClock::new(T);
    let ids = zero().max_lead(ms(0)).clock(&clock).build().unwrap();
    ids.generate(room()).unwrap();
    clock.set(T - 10);
    ids.generate(room()).unwrap();
    assert_eq!(ids.stats().behind, ms(10));
    // Half speed, until the clock has caught up after twice the step.
    for tick in 0..18 {
        clock.set(T - 10 + tick);
        assert_eq!(at(ids.generate(room()).unwrap()).0, tick.cast_signed() / 2);
        assert_eq!(ids.stats().behind, ms(10 - tick.div_ceil(2)));
    }
    clock.set(T + 10);
    let (tick, spin) = at(ids.generate(room()).unwrap());
    assert_eq!((tick, ids.stats().behind), (10, ms(0)));
    // The lead is the plain one again: this millisecond and no further.
    for _ in spin + 1..4096 {
        ids.generate(room()).unwrap();
    }
    assert!(ids.generate(room()).unwrap_err().is_overload());
}

#[test]
fn a_clock_without_a_usable_time_is_an_error_and_no_reading() {
    struct Scripted(Cell<Result<u64, ClockError>>);
    impl Clock for Scripted {
        fn now_ms(&self) -> Result<u64, ClockError> {
            self.0.get()
        }
    }

    let clock = Scripted(Cell::new(Err(ClockError::before_1970())));
    let ids = zero().clock(&clock).build().unwrap();
    let refused = |reading| {
        clock.0.set(reading);
        let error = ids.generate(room()).unwrap_err();
        assert!(error.is_clock());
        assert_eq!(error.retry_after(), None);
        error.to_string()
    };
    assert_eq!(refused(Err(ClockError::before_1970())), "expected a time since 1970, found an earlier one");
    assert_eq!(refused(Err(ClockError::unavailable())), "expected a clock that can be read, found none");
    assert_eq!(
        refused(Ok(1 << 42)),
        "expected a time of at most 4398046511103 ms (2109-05-15), found 4398046511104 ms"
    );
    assert!(refused(Ok(u64::MAX)).ends_with("found 18446744073709551615 ms"));

    clock.0.set(Ok(T));
    assert_eq!(at(ids.generate(room()).unwrap()), (0, 0));
}

#[test]
fn time_runs_out_after_the_last_stamp() {
    let ids = zero_at(MessageId::TIMESTAMP_MAX).clock(ManualClock::new(MessageId::TIMESTAMP_MAX)).build().unwrap();
    let all = SessionTag::from_u32((1 << 26) - 1).unwrap();
    let last = ids.batch(all, 4096).unwrap().next_back().unwrap();
    assert_eq!(last, MessageId::MAX);
    let error = ids.generate(all).unwrap_err();
    assert!(error.is_exhausted());
    assert_eq!(error.retry_after(), None);
    assert_eq!(error.to_string(), "too few IDs are left until the end of time (2109-05-15)");
}

/// A thread is paused between reading the clock and minting, while others mint two seconds' worth.
#[test]
fn a_stale_reading_is_read_again_before_anything_is_refused() {
    struct Stale {
        copy: Cell<u64>,
        real: Cell<u64>,
    }
    impl Clock for Stale {
        fn now_ms(&self) -> Result<u64, ClockError> {
            Ok(self.copy.get())
        }
        fn refresh(&self) -> Result<u64, ClockError> {
            Ok(self.real.get())
        }
    }

    let clock = Stale { copy: Cell::new(T), real: Cell::new(T) };
    let ids = zero().max_rollback(ms(100)).clock(&clock).build().unwrap();
    let mut last = MessageId::MIN;
    for tick in 0..2_000 {
        clock.copy.set(T + tick);
        clock.real.set(T + tick);
        last = ids.batch(room(), 4096).unwrap().next_back().unwrap();
    }
    // The copy stands 2 s behind: both limits are passed by it, neither by the real clock.
    clock.copy.set(T);
    assert_eq!(ids.generate(room()).unwrap().to_u128() >> 26, (last.to_u128() >> 26) + 1);
    assert_eq!(at(last).0, 2_000);
    assert_eq!(ids.stats().behind, ms(0), "and no rollback is believed");
    assert_eq!(ids.stats().refused, 0);

    // Nor is an ID from elsewhere refused by the copy.
    let ids = zero().clock(&clock).build().unwrap();
    clock.real.set(T);
    ids.generate(room()).unwrap();
    clock.real.set(T + 1_000);
    assert_eq!(ids.observe(MessageId::first_at(T + 5_500).unwrap()), Ok(()));
}

/// A clock can tell that one of its readings is wrong.
#[test]
fn a_reading_that_its_clock_takes_back_moves_nothing() {
    struct Checked(Cell<u64>);

    impl Clock for Checked {
        fn now_ms(&self) -> Result<u64, ClockError> {
            Ok(self.0.get())
        }

        fn refresh(&self) -> Result<u64, ClockError> {
            Ok(T)
        }

        fn accepts(&self, reading_ms: u64) -> bool {
            reading_ms == T
        }
    }

    let ids = zero().max_skew(ms(5)).clock(Checked(Cell::new(T))).build().unwrap();
    assert_eq!(at(ids.generate(room()).unwrap()), (0, 0));
    ids.clock().0.set(T + 500);
    assert_eq!(at(ids.generate(room()).unwrap()), (0, 1));
    let error = ids.observe(MessageId::first_at(T + 400).unwrap()).unwrap_err();
    assert_eq!((error.ahead(), error.retry_after()), (Some(ms(400)), Some(ms(395))));
    assert_eq!(at(ids.generate(room()).unwrap()), (0, 2));
}

/// What makes a clock with checked readings fast.
#[test]
fn a_clock_is_asked_once_about_each_reading_and_not_refreshed() {
    struct Counting {
        ms: Cell<u64>,
        asked: Cell<u32>,
        refreshed: Cell<u32>,
    }

    impl Clock for Counting {
        fn now_ms(&self) -> Result<u64, ClockError> {
            Ok(self.ms.get())
        }

        fn refresh(&self) -> Result<u64, ClockError> {
            self.refreshed.set(self.refreshed.get() + 1);
            self.now_ms()
        }

        fn accepts(&self, _: u64) -> bool {
            self.asked.set(self.asked.get() + 1);
            true
        }
    }

    let ids =
        zero().clock(Counting { ms: Cell::new(T), asked: Cell::new(0), refreshed: Cell::new(0) }).build().unwrap();
    ids.generate(room()).unwrap();
    let refreshed = ids.clock().refreshed.get();
    for _ in 0..100 {
        for _ in 0..10 {
            ids.generate(room()).unwrap();
        }
        ids.clock().ms.set(ids.clock().ms.get() + 1);
    }
    assert_eq!((ids.clock().asked.get(), ids.clock().refreshed.get()), (100, refreshed));
}

#[test]
fn a_floor_puts_every_id_into_a_later_millisecond() {
    let known = MessageId::try_from_parts(IdParts { timestamp_ms: T + 500, spin: 17, session_tag: room() }).unwrap();
    let ids = zero().floor(known).clock(ManualClock::new(T)).build().unwrap();
    assert!(within_spread(at(ids.generate(room()).unwrap()).0, 501));
}

#[test]
fn a_floor_in_the_past_changes_nothing() {
    let ids = zero().floor(MessageId::MIN).clock(ManualClock::new(T)).build().unwrap();
    assert_eq!(at(ids.generate(room()).unwrap()), (0, 0));
}

#[test]
fn a_floor_of_exactly_the_rollback_limit_is_taken_and_one_past_it_is_an_error() {
    let floor = |ahead| {
        let known =
            MessageId::try_from_parts(IdParts { timestamp_ms: T + ahead, spin: 0, session_tag: room() }).unwrap();
        zero().floor(known).clock(ManualClock::new(T)).build().unwrap().generate(room())
    };
    assert!(within_spread(at(floor(HOUR).unwrap()).0, HOUR + 1));
    assert!(floor(HOUR + 1).unwrap_err().is_rollback());
}

#[test]
fn observed_ids_come_before_all_later_ones_of_every_stripe() {
    let ids = zero().stripes::<8>().clock(ManualClock::new(T)).build().unwrap();
    let seen = MessageId::try_from_parts(IdParts { timestamp_ms: T + 3_000, spin: 4095, session_tag: room() }).unwrap();
    ids.observe(seen).unwrap();
    for bits in 0..64 {
        assert!(ids.generate(SessionTag::from_u32(bits).unwrap()).unwrap() > seen);
    }
}

/// An ID that new IDs follow anyway is never an error.
#[test]
fn an_id_of_the_present_millisecond_is_followed_and_one_of_the_past_needs_no_clock() {
    struct Failing(Cell<Option<u64>>);
    impl Clock for Failing {
        fn now_ms(&self) -> Result<u64, ClockError> {
            self.0.get().ok_or(ClockError::unavailable())
        }
    }

    let ids = zero().clock(Failing(Cell::new(Some(T)))).build().unwrap();
    ids.generate(room()).unwrap();
    let present = MessageId::last_at(T).unwrap();
    ids.observe(present).unwrap();
    assert!(ids.generate(room()).unwrap() > present);

    ids.clock().0.set(None);
    assert_eq!(ids.observe(present), Ok(()));
    let error = ids.observe(MessageId::last_at(T + 1).unwrap()).unwrap_err();
    assert!(!error.is_skew());
    assert_eq!((error.ahead(), error.retry_after()), (None, None));
}

#[test]
fn an_id_is_observed_until_the_clock_is_past_2109() {
    let clock = ManualClock::new(MessageId::TIMESTAMP_MAX);
    let ids = zero().clock(&clock).build().unwrap();
    ids.observe(MessageId::MAX).unwrap();
    assert!(ids.generate(room()).unwrap_err().is_exhausted());
    let ids = zero().clock(&clock).build().unwrap();
    clock.advance(ms(1));
    let error = ids.observe(MessageId::MAX).unwrap_err();
    assert_eq!(error.to_string(), "expected a time of at most 4398046511103 ms (2109-05-15), found 4398046511104 ms");
}

#[test]
fn an_id_at_the_skew_is_observed_and_one_past_it_changes_nothing() {
    let ids = zero().max_rollback(ms(0)).clock(ManualClock::new(T)).build().unwrap();
    let seen =
        |ahead| MessageId::try_from_parts(IdParts { timestamp_ms: T + ahead, spin: 0, session_tag: room() }).unwrap();
    let error = ids.observe(seen(5_001)).unwrap_err();
    assert!(error.is_skew());
    assert_eq!(error.ahead(), Some(ms(5_001)));
    assert_eq!(error.to_string(), "expected an ID at most 5000 ms ahead of the clock, found 5001 ms");
    assert_eq!(at(ids.generate(room()).unwrap()), (0, 0));

    ids.observe(seen(5_000)).unwrap();
    assert!(within_spread(at(ids.generate(room()).unwrap()).0, 5_001), "though no rollback at all is allowed");
}

#[test]
fn a_printed_generator_shows_its_settings_and_a_printed_batch_none_of_its_ids() {
    let ids = zero().clock(ManualClock::new(T)).build().unwrap();
    assert!(
        format!("{ids:?}").starts_with("Generator { stripes: 1, clock: ManualClock(1763665800000), policy: Policy {")
    );
    assert_eq!(format!("{:?}", ids.batch(room(), 3).unwrap()), "Batch { left: 3, .. }");
}

#[test]
fn a_run_that_does_not_fit_takes_nothing() {
    let ids = zero().max_lead(ms(1)).clock(ManualClock::new(T)).build().unwrap();
    assert_eq!(ids.longest_run(), 4_097);
    let error = ids.batch(room(), 4_098).unwrap_err();
    assert!(error.is_run_too_long());
    assert_eq!(error.retry_after(), None);
    assert_eq!(error.to_string(), "expected a run of at most 4097 IDs, found 4098");

    ids.batch(room(), 4_096).unwrap().for_each(drop);
    let mut slice = vec![MessageId::MAX; 4_097];
    let error = ids.fill(room(), &mut slice).unwrap_err();
    assert!(error.is_overload());
    assert_eq!(error.retry_after(), Some(ms(1)));
    assert!(slice.iter().all(|id| *id == MessageId::MAX));
    assert_eq!(at(ids.generate(room()).unwrap()), (1, 0));
}

#[test]
fn the_longest_run_fits_an_idle_generator_wherever_it_starts() {
    for seed in 0..200 {
        let ids = Generator::builder().seed(seed).max_lead(ms(3)).clock(ManualClock::new(T)).build().unwrap();
        assert_eq!(ids.longest_run(), 3 * 4096 + 1);
        assert_eq!(ids.batch(room(), 3 * 4096 + 1).unwrap().count(), 3 * 4096 + 1);
    }
    assert_eq!(Generator::builder().rolling().max_lead(ms(3)).build().unwrap().longest_run(), 3 * 4096 + 1);
}

#[test]
fn lanes_never_meet_under_overload() {
    let mint = |index| {
        let ids = zero().lane(Lane { index, bits: 2 }).clock(ManualClock::new(T)).build().unwrap();
        ids.batch(room(), 5_000).unwrap().collect::<Vec<_>>()
    };
    let mut all: Vec<_> = (0..4).flat_map(mint).collect();
    assert!(all.iter().all(|id| (0..5).contains(&at(*id).0)));
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 20_000);
}

#[test]
fn a_refusal_has_one_reason() {
    let reasons = |error: GenerateError| {
        [
            error.is_clock(),
            error.is_rollback(),
            error.is_overload(),
            error.is_ceiling(),
            error.is_closed(),
            error.is_forked(),
            error.is_exhausted(),
            error.is_run_too_long(),
        ]
    };
    let ids = zero().max_lead(ms(0)).clock(ManualClock::new(T)).build().unwrap();
    while ids.generate(room()).is_ok() {}
    let overload = reasons(ids.generate(room()).unwrap_err());
    assert_eq!(overload, [false, false, true, false, false, false, false, false]);
    ids.close();
    let error = ids.generate(room()).unwrap_err();
    assert_eq!(reasons(error), [false, false, false, false, true, false, false, false]);
    assert_eq!((error.retry_after(), error.to_string()), (None, "generator is closed".to_owned()));
}

#[test]
fn settings_that_do_not_fit_say_why() {
    let wrong = |index, bits| {
        let error = Generator::builder().lane(Lane { index, bits }).build().unwrap_err();
        assert!(error.is_lane() && !error.is_seed());
        error.to_string()
    };
    assert_eq!(wrong(0, 13), "expected a lane of at most 12 bits, the width of the spin, found 13 bits");
    assert_eq!(wrong(0, u32::MAX), "expected a lane of at most 12 bits, the width of the spin, found 4294967295 bits");
    assert_eq!(wrong(4, 2), "expected a lane index below 4, found 4");
    assert_eq!(wrong(1, 0), "expected a lane index below 1, found 1");
}

#[test]
fn no_id_has_the_time_of_the_ceiling_until_it_is_raised() {
    let clock = ManualClock::new(T);
    let ids = zero().ceiling_ms(T + 1).clock(&clock).build().unwrap();
    assert_eq!(ids.batch(room(), 4_096).unwrap().map(|id| at(id).0).max(), Some(0));
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_ceiling() && !error.is_overload());
    assert_eq!(error.retry_after(), None);
    assert_eq!(error.to_string(), "next ID is past the ceiling of the generator");
    clock.set(T + 50);
    assert!(ids.generate(room()).unwrap_err().is_ceiling());
    ids.raise_ceiling_ms(T);
    assert!(ids.generate(room()).unwrap_err().is_ceiling(), "it only grows");
    ids.raise_ceiling_ms(T + 51);
    assert_eq!(at(ids.generate(room()).unwrap()).0, 50);
}

#[test]
fn lifted_limits_refuse_nothing_but_the_end_of_time() {
    let clock = ManualClock::new(MessageId::TIMESTAMP_MAX);
    let ids = zero_at(MessageId::TIMESTAMP_MAX)
        .max_lead(Duration::MAX)
        .max_rollback(Duration::MAX)
        .clock(&clock)
        .build()
        .unwrap();
    ids.generate(room()).unwrap();
    clock.set(0);
    assert_eq!(ids.generate(room()).unwrap().timestamp_ms(), MessageId::TIMESTAMP_MAX);
    ids.batch(room(), 4_094).unwrap().for_each(drop);
    assert!(ids.generate(room()).unwrap_err().is_exhausted());
}

#[test]
fn a_seed_makes_a_scripted_run_repeatable() {
    let run = |seed| {
        let clock = ManualClock::new(T);
        let ids = Generator::builder().seed(seed).clock(&clock).build().unwrap();
        let step = |by| {
            clock.advance(ms(by));
            ids.generate(room()).unwrap()
        };
        [0, 1, 0, 5, 70].map(step)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn two_generators_draw_different_seeds() {
    let first = || Generator::builder().clock(ManualClock::new(T)).build().unwrap().generate(room()).unwrap();
    // Eight equal spins by chance: 1 in 4096^7.
    assert!((0..8).map(|_| first()).any(|id| id != first()));
}

#[test]
fn generate_within_sleeps_through_an_overload_and_no_longer_than_it_may() {
    let ids = zero().max_lead(ms(0)).build().unwrap();
    // More than one millisecond holds, so some of the calls have to wait.
    let minted: Vec<_> = (0..20_000).map(|_| ids.generate_within(room(), Duration::from_secs(5)).unwrap()).collect();
    assert!(minted.is_sorted_by(|a, b| a < b));

    // The wait would be an hour, so ten minutes are not begun.
    let clock = ManualClock::new(T);
    let ids = zero().clock(&clock).build().unwrap();
    ids.generate(room()).unwrap();
    clock.set(T - 2 * HOUR);
    let error = ids.generate_within(room(), Duration::from_secs(600)).unwrap_err();
    assert_eq!(error.retry_after(), Some(ms(HOUR)));
}

#[test]
fn stats_count_what_was_issued_and_refused() {
    let clock = ManualClock::new(T);
    let ids = Generator::builder().max_lead(ms(10)).stripes::<4>().clock(&clock).build().unwrap();
    for (tick, bits) in (0..100).zip((0..7).cycle()) {
        clock.set(T + tick);
        let session = SessionTag::from_u32(bits).unwrap();
        ids.generate(session).unwrap();
        ids.batch(session, 10).unwrap().for_each(drop);
    }
    assert_eq!((ids.stats().refused, ids.stats().behind), (0, ms(0)));

    while ids.generate(room()).is_ok() {}
    assert_eq!(ids.stats().refused, 1);
    assert_eq!(ids.stats().lead, ms(10));
}

#[test]
fn the_default_generator_serves_all_threads() {
    let mut ids = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..500).map(|_| imid::generate(room()).unwrap()).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    ids.sort_unstable();
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert_eq!(ids.len(), 2_000);
}

/// The wait of a rollback ends where the clock is within `max_rollback` again. IDs that ran ahead before it stepped can need
/// more, and the next refusal says how much.
#[test]
fn after_the_wait_of_a_rollback_only_overload_is_left() {
    let clock = ManualClock::new(T);
    let limits = Generator::builder().max_lead(Duration::from_millis(10)).max_rollback(Duration::from_millis(100));
    let ids = limits.seed(1).clock(&clock).build().unwrap();
    while ids.generate(room()).is_ok() {}
    clock.set(T - 150);
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_rollback());
    assert_eq!(error.retry_after(), Some(Duration::from_millis(50)));
    clock.advance(error.retry_after().unwrap());
    let error = ids.generate(room()).unwrap_err();
    assert!(error.is_overload());
    clock.advance(error.retry_after().unwrap());
    assert!(ids.generate(room()).is_ok());
}

/// Clippy reports the constant and each use of it. If it did not, `expect` would fail in `ci/clippy.sh`.
#[test]
#[expect(clippy::borrow_interior_mutable_const, reason = "each use is a new generator, as the lint says")]
fn a_generator_in_a_const_is_a_new_one_at_each_use() {
    #[expect(clippy::declare_interior_mutable_const, reason = "as above")]
    const IDS: Generator = Generator::new();
    IDS.close();
    assert!(IDS.generate(room()).is_ok(), "the closed generator was another one");
}
