//! IDs that come from elsewhere: they move a host's time, and neither pile hosts up nor carry them away.

use std::cell::Cell;

use imid::clock::{Clock, ClockError, ManualClock};
use imid::generator::ObserveError;
use imid::{Generator, MessageId};

use super::{
    LEAD, MANY_HOSTS, Random, SKEW, SPREAD, T, ahead, assert_few_are_granted, assert_spread, host, hosts, ms, repeats,
    room,
};

/// Fifty hosts observe a message from a host whose clock is 1 s ahead, answer it, and go on with 20 IDs/s each in the
/// same room, for 20 s.
///
/// In the time that the clock has not reached, 2 s long at half speed, a millisecond has 0.04 IDs of each host: the 1,225
/// pairs of hosts meet 1,225 × 1,000 × 0.04² / 4,096 = 0.5 times; in the 18 s after it 2.2 times; and the answers of one
/// moment, spread over 16 ms, 1,225 / 16 / 4,096 = 0.02 times. Of 2.7 the standard deviation is 1.6, and the bound is seven
/// of them away. With the time standing still all IDs of the second have one millisecond, and the duplicates are 120.
#[test]
fn fifty_hosts_that_answer_one_message_1_s_ahead_do_not_pile_up() {
    const RUNS: u64 = 5;

    for run in 0..RUNS {
        let clock = ManualClock::new(T);
        let hosts = hosts(50, run, &clock);
        let mut random = Random(run);
        let mut minted = Vec::new();
        for ids in &hosts {
            ids.generate(room()).unwrap();
        }
        clock.advance(ms(5));
        let question = MessageId::first_at(T + 5 + 1_000).unwrap();
        for ids in &hosts {
            ids.observe(question).unwrap();
            let answer = ids.generate(room()).unwrap();
            assert!(question < answer);
            minted.push(answer);
        }
        for _ in 0..20_000 {
            clock.advance(ms(1));
            for ids in &hosts {
                if random.once_in(50) {
                    minted.push(ids.generate(room()).unwrap());
                }
            }
        }
        let found = repeats(&minted);
        assert!(found < 15, "{found} duplicates of {}, run {run}", minted.len());
    }
}

/// Fifty hosts without load see a message from a host whose clock is 1 s ahead. Each answers it once, at some moment of the
/// next 2 s, and mints nothing before. Their time must go on from the message and not from the answer.
///
/// At half speed the 50 answers are spread over 1,000 ms, so of the 1,225 pairs 1.2 share a millisecond: 490 in 400
/// messages. One pair in 4,096 is a duplicate. If the time stands still until a host mints, it is 7,847 pairs.
#[test]
fn fifty_idle_hosts_that_answer_one_message_later_do_not_pile_up() {
    let (mut pairs, mut random) = (0, Random(1));
    for run in 0..400 {
        let clock = ManualClock::new(T);
        let hosts = hosts(50, run, &clock);
        let question = MessageId::first_at(T + 1_000).unwrap();
        let mut at = Vec::new();
        for ids in &hosts {
            ids.generate(room()).unwrap();
            ids.observe(question).unwrap();
            at.push(T + random.next() % 2_000);
        }
        let mut times = Vec::new();
        for (ids, at) in hosts.iter().zip(at) {
            clock.set(at);
            let answer = ids.generate(room()).unwrap();
            assert!(question < answer);
            times.push(answer.timestamp_ms());
        }
        times.sort_unstable();
        pairs += times.chunk_by(|a, b| a == b).map(|same| same.len() * (same.len() - 1) / 2).sum::<usize>();
    }
    // Answers in the 16 ms of the spread are a little denser.
    assert!(pairs < 1_000, "{pairs} pairs in one millisecond");
}

/// One message sends all hosts to the same time. They arrive at different milliseconds: at most a quarter of the jump apart,
/// and at most [`SPREAD`].
#[test]
fn hosts_that_observe_one_message_start_a_seeded_distance_apart() {
    for jump in [1, 3, 8, 40, 64, 1_000, SKEW] {
        let clock = ManualClock::new(T);
        let question = MessageId::last_at(T + jump).unwrap();
        let answers = hosts(MANY_HOSTS, jump, &clock).into_iter().map(|ids| {
            ids.generate(room()).unwrap();
            ids.observe(question).unwrap();
            ids.generate(room()).unwrap()
        });
        assert_spread(&answers.collect::<Vec<_>>(), T + jump, SPREAD.min(jump / 4));
    }
}

/// Under full load an observed ID grants a few milliseconds, and not `max_lead` on top of it.
#[test]
fn an_observed_id_grants_a_few_milliseconds_and_no_lead() {
    for jump in [1, 500, LEAD, 2_000, SKEW] {
        let clock = ManualClock::new(T);
        let ids = host(jump).clock(&clock).build().unwrap();
        ids.generate(room()).unwrap();
        ids.observe(MessageId::last_at(T + jump).unwrap()).unwrap();
        assert_few_are_granted(&ids, jump);
    }
}

/// Hosts that answer each other a little less than once a millisecond stay where their clocks are.
#[test]
fn two_hosts_that_answer_each_other_nine_times_in_ten_ms_do_not_creep() {
    let clock = ManualClock::new(T);
    let hosts = hosts(2, 1, &clock);
    let mut last = hosts[0].generate(room()).unwrap();
    let mut most = 0;
    for now in T + 1..T + 20_000 {
        clock.set(now);
        if now % 10 == 0 {
            continue;
        }
        let ids = &hosts[(now % 2) as usize];
        ids.observe(last).unwrap();
        let reply = ids.generate(room()).unwrap();
        assert!(last < reply);
        last = reply;
        most = most.max(ahead(last, now));
    }
    assert!(most <= (2 + SPREAD).cast_signed(), "{most} ms ahead");
}

/// Twenty hosts mint `rate` IDs per millisecond together, and every host observes the IDs of all others, until one is refused.
/// Returns the greatest lead, and after how many milliseconds an ID was refused.
fn mesh(rate: f64, time_ms: u64) -> (i64, Option<u64>) {
    const HOSTS: usize = 20;

    let clock = ManualClock::new(T);
    let hosts: Vec<Generator<_>> = hosts(HOSTS as u64, 1, &clock);
    let mut random = Random(1);
    let (mut most, mut last) = (0, MessageId::MIN);
    for now in T..T + time_ms {
        clock.set(now);
        for at in 0..HOSTS {
            #[expect(clippy::cast_precision_loss, reason = "a random number below a million")]
            let is_due = (random.next() % 1_000_000) as f64 * (HOSTS as f64) < rate * 1e6;
            if !is_due {
                continue;
            }
            let id = hosts[at].generate(room()).unwrap();
            assert!(last < id, "an ID comes after all that its host has observed or minted");
            last = id;
            most = most.max(ahead(id, now));
            for (_, other) in hosts.iter().enumerate().filter(|(other, _)| *other != at) {
                if let Err(error) = other.observe(id) {
                    assert!(error.is_skew());
                    return (most, Some(now - T));
                }
            }
        }
    }
    (most, None)
}

/// Each ID moves all hosts by a millisecond at least. With 0.8 IDs per millisecond this is slower than the clock: a queue with
/// random arrivals, whose mean length is 2. The longest queue of 30,000 ms is about 30.
#[test]
fn a_dense_mesh_stays_within_the_skew() {
    let (most, refused) = mesh(0.8, 30_000);
    assert!(most <= 60 && refused.is_none(), "{most} ms ahead, {refused:?}");
}

/// With more than one ID per millisecond the hosts run away from the clock. Between two IDs their time stands still, as it does
/// after each short jump, so that they do it no sooner than the IDs alone make them: here 3,959 ms in a minute. If their time
/// went on at half speed from the first millisecond on, they would be 4,762 ms ahead; at 1.02 IDs per millisecond 299 and not
/// 116.
#[test]
fn a_mesh_that_is_faster_than_the_clock_is_not_made_faster_still() {
    for (rate, bound) in [(1.02, 180), (1.1, 4_300)] {
        let (most, refused) = mesh(rate, 60_000);
        assert!(most <= bound && refused.is_none(), "{most} ms ahead at {rate} IDs per millisecond, {refused:?}");
    }
    // Each second takes it a second further, so the skew is reached after 5 s.
    let (_, refused) = mesh(2.0, 60_000);
    assert!(refused.is_some_and(|after| (4_500..6_000).contains(&after)), "{refused:?}");
}

/// What an observed ID can add to its own lead: the next millisecond, the spread, and what full load may borrow.
const MORE: u64 = 1 + SPREAD + 4;

/// Three hours of IDs that are as far ahead as `max_skew` allows, beside a load that varies: the lead does not grow.
#[test]
fn a_host_that_observes_for_hours_stays_within_the_skew() {
    let clock = ManualClock::new(T);
    let ids = host(1).clock(&clock).build().unwrap();
    let mut random = Random(1);
    let mut most = 0;
    for now in (T..T + 3 * 3_600_000).step_by(20) {
        clock.set(now);
        ids.observe(MessageId::last_at(now + SKEW).unwrap()).unwrap();
        let run = if random.once_in(100) { 8_000 } else { 1 };
        let last = ids.batch(room(), run).unwrap().next_back().unwrap();
        most = most.max(last.timestamp_ms() - now);
    }
    assert!((SKEW..=SKEW + MORE).contains(&most), "{most} ms ahead");
}

/// A client that sends IDs almost `max_skew` ahead moves nothing, and one that stays within the limit moves the host no further
/// than the limit.
#[test]
fn a_client_moves_a_host_by_no_more_than_the_limit() {
    const LIMIT: u64 = 50;

    for (limit, kept) in [(ms(LIMIT), LIMIT), (ms(0), 0), (ms(3_600_000), SKEW)] {
        let clock = ManualClock::new(T);
        let ids = host(1).clock(&clock).build().unwrap();
        let (mut most, mut refused) = (0, 0);
        for now in (T..T + 3_600_000).step_by(10) {
            clock.set(now);
            let before = ids.generate(room()).unwrap();
            for forged in [4_990, 20_000] {
                let error = ids.observe_limited(MessageId::first_at(now + forged).unwrap(), limit);
                let is_refused = forged > kept.max(before.timestamp_ms() - now);
                assert_eq!(error.is_err_and(ObserveError::is_skew), is_refused, "{forged} at {}", now - T);
                refused += u32::from(is_refused);
            }
            let allowed = MessageId::last_at(now + kept).unwrap();
            ids.observe_limited(allowed, limit).unwrap();
            let reply = ids.generate(room()).unwrap();
            assert!(allowed < reply);
            most = most.max(reply.timestamp_ms() - now);
        }
        assert!((kept..=kept + MORE).contains(&most) && refused > 0, "{most} ms ahead, {refused} refused");
    }
}

/// A clock whose last reading is published, and can be wrong or missing. The real one shows T.
struct Published {
    reading: Cell<Option<u64>>,
    refused: Cell<u64>,
}

impl Clock for Published {
    fn now_ms(&self) -> Result<u64, ClockError> {
        self.reading.get().ok_or_else(ClockError::unavailable)
    }

    fn refresh(&self) -> Result<u64, ClockError> {
        Ok(T)
    }

    fn accepts(&self, reading_ms: u64) -> bool {
        reading_ms != self.refused.get()
    }
}

/// The default `max_skew` is 5 s, and a reading that is at most 1 s ahead of the last one is believed.
#[test]
fn an_observed_id_is_compared_with_a_reading_that_the_clock_accepts() {
    for (reading, refused, is_observed) in [
        (Some(T + 1_000), 0, true),
        (Some(T + 1_001), 0, false),
        (Some(T + 1_000), T + 1_000, false),
        (Some(T), 0, false),
        (None, 0, false),
    ] {
        let clock = Published { reading: Cell::new(Some(T)), refused: Cell::new(0) };
        let ids = Generator::builder().clock(&clock).build().unwrap();
        ids.generate(room()).unwrap();
        clock.reading.set(reading);
        clock.refused.set(refused);
        let observed = ids.observe(MessageId::first_at(T + 5_500).unwrap());
        assert_eq!(observed.is_ok(), is_observed, "{reading:?}, {refused}: {observed:?}");
        assert!(observed.err().is_none_or(ObserveError::is_skew));
        // A clock without a reading is read once more.
        ids.observe(MessageId::first_at(T + 5_000).unwrap()).unwrap();
    }
}
