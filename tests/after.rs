//! The next ID of a room from its last one and the time, against a model in products and sums, and what its random numbers are like.
#![cfg(feature = "std")]

mod support;

use core::time::Duration;
use std::collections::HashSet;

use imid::error::AfterError;
use imid::{AfterOptions, IdParts, MessageId, SessionHash, SessionTag, SessionType};
use proptest::prelude::*;

use self::support::{T, ms, room, session};

const DAY: u64 = 86_400_000;
const LAST_MS: u64 = (1 << 42) - 1;

/// Returns timestamp · 4,096 + spin, in a number that nothing wraps in.
fn stamp(id: MessageId) -> u128 {
    u128::from(id.timestamp_ms()) * 4096 + u128::from(id.spin())
}

fn id(timestamp_ms: u64, spin: u16) -> MessageId {
    MessageId::try_from_parts(IdParts { timestamp_ms, spin, session_tag: room() }).unwrap()
}

/// Returns the random number of these two parts.
fn random(r: u32, q: u32) -> u32 {
    q * 4096 + r
}

fn after(last: Option<MessageId>, now_ms: u64, random: u32) -> Result<MessageId, AfterError> {
    MessageId::after_with(last, room(), now_ms, AfterOptions { random, limit: AfterOptions::LIMIT })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// The rule a second time: the greater of two sums, unless `last` is too far ahead or the sum has more than 54 bits.
    #[test]
    fn an_id_has_the_greater_of_two_stamps(
        last in prop::option::of((0..=LAST_MS, 0_u16..4096, 0_u32..1 << 26)),
        now in prop_oneof![3 => 0..=LAST_MS, 1 => Just(0), 1 => Just(LAST_MS), 1 => LAST_MS..=u64::MAX],
        near in prop::option::of(-3_000_i64..3_000),
        r in 0_u32..4096,
        q in 0_u32..1024,
        rest in 0_u32..1024,
        tag in 0_u32..1 << 26,
        limit in prop_oneof![Just(0), Just(1), Just(DAY), 0_u64..4_000, Just(u64::MAX)],
    ) {
        let last = last.map(|(timestamp_ms, spin, tag)| {
            let session_tag = SessionTag::from_u32(tag).unwrap();
            MessageId::try_from_parts(IdParts { timestamp_ms, spin, session_tag }).unwrap()
        });
        // Two times by chance are seldom near each other, so most draws put the time near the last ID.
        let now = match (last, near) {
            (Some(last), Some(near)) => last.timestamp_ms().saturating_add_signed(near),
            _ => now,
        };
        let session = SessionTag::from_u32(tag).unwrap();
        // The bits above the 22 do not count.
        let options = AfterOptions { random: rest << 22 | random(r, q), limit: Duration::from_millis(limit) };
        let found = MessageId::after_with(last, session, now, options);

        let of_time = u128::from(now) * 4096 + u128::from(r);
        let expected = last.map_or(of_time, |last| of_time.max(stamp(last) + 1 + u128::from(q)));
        let is_ahead = last.is_some_and(|last| u128::from(last.timestamp_ms()) > u128::from(now) + u128::from(limit));
        match found {
            Ok(id) => {
                prop_assert!(!is_ahead && expected < 1 << 54);
                prop_assert_eq!(stamp(id), expected);
                prop_assert!(id.is_in(session) && Some(id) > last);
            }
            Err(error) if is_ahead => prop_assert!(error.is_skew()),
            Err(error) => prop_assert!(expected >= 1 << 54 && error.is_exhausted()),
        }
    }
}

#[test]
fn a_last_id_past_the_limit_is_an_error_that_says_by_how_much() {
    let last = |ahead| Some(id(T + ahead, 4095));
    assert_eq!(after(last(DAY), T, random(0, 0)).unwrap(), id(T + DAY + 1, 0));
    let error = after(last(DAY + 1), T, 0).unwrap_err();
    assert_eq!(error.to_string(), "expected a last ID at most 86400000 ms ahead of the time, found 86400001 ms");
    assert_eq!((error.is_skew(), error.is_exhausted(), error.ahead()), (true, false, Some(ms(DAY + 1))));
    let own = |limit, ahead| MessageId::after_with(last(ahead), room(), T, AfterOptions { random: 0, limit });
    assert!(own(ms(5), 5).is_ok() && own(ms(5), 6).is_err());
    assert!(own(Duration::MAX, LAST_MS - T - 1).is_ok());
    // A fraction of a millisecond is dropped.
    assert!(own(Duration::from_micros(5_999), 6).is_err());
    assert!(own(Duration::ZERO, 0).is_ok() && own(Duration::ZERO, 1).is_err());
}

#[test]
fn past_the_end_of_time_there_is_no_id() {
    assert_eq!(after(None, LAST_MS, random(4095, 0)).unwrap(), id(LAST_MS, 4095));
    assert_eq!(after(Some(id(LAST_MS, 4094)), LAST_MS, random(0, 0)).unwrap(), id(LAST_MS, 4095));
    let microseconds = 1_763_665_800_000_000;
    for (last, now, words) in [
        (None, microseconds, "expected a time of 0 to 4398046511103 ms, found 1763665800000000"),
        (Some(id(T, 0)), 1 << 42, "expected a time of 0 to 4398046511103 ms, found 4398046511104"),
        (None, u64::MAX, "expected a time of 0 to 4398046511103 ms, found 18446744073709551615"),
        (Some(id(LAST_MS, 4095)), LAST_MS, "no ID is left after the last one until the end of time (2109-05-15)"),
    ] {
        let error = after(last, now, 0).unwrap_err();
        assert_eq!(error.to_string(), words);
        assert_eq!((error.is_skew(), error.is_exhausted(), error.ahead()), (false, true, None));
    }
}

/// The type and the hash of the last ID do not count: a collision with a room of the same tag is left to the unique key.
#[test]
fn the_tag_is_that_of_the_session() {
    let last = MessageId::last_at(T).unwrap();
    let next = MessageId::after(Some(last), session(5), T).unwrap();
    assert!(next > last && next.is_in(session(5)));
    assert_eq!(next.session_type(), SessionType::GROUP);
    assert_eq!(next.session_hash(), SessionHash::from_u32(5).unwrap());
}

/// The sum of squared differences from even counts, over the even count, is n - 1 for n values on average, with a variance of 2 (n - 1).
fn assert_even(counts: &[u32]) {
    let values = f64::from(u32::try_from(counts.len()).unwrap());
    let even = f64::from(counts.iter().sum::<u32>()) / values;
    let chi_square = counts.iter().map(|count| (f64::from(*count) - even).powi(2)).sum::<f64>() / even;
    let distance = (chi_square - (values - 1.0)) / (2.0 * (values - 1.0)).sqrt();
    assert!(distance.abs() < 6.0, "{values} values are {distance} standard deviations from even");
}

/// The spin of an ID by the time, and the step past a last ID, each take all their values equally often, and do not depend on each other.
#[test]
fn the_drawn_numbers_are_even() {
    const DRAWS: usize = 400_000;
    let (mut spins, mut steps, mut pairs) = (vec![0; 4096], vec![0; 1024], vec![0; 1024]);
    for _ in 0..DRAWS {
        let spin = MessageId::after(None, room(), T).unwrap().spin();
        spins[usize::from(spin)] += 1;
        let step = stamp(MessageId::after(Some(id(T + 1, 0)), room(), T).unwrap()) - stamp(id(T + 1, 0)) - 1;
        steps[usize::try_from(step).unwrap()] += 1;
        // The upper five bits of both parts of one number.
        let random = AfterOptions::drawn().random;
        pairs[(random >> 7 & 31 | (random >> 17 & 31) << 5) as usize] += 1;
    }
    for counts in [spins, steps, pairs] {
        assert_even(&counts);
    }
}

/// Each thread begins with keys of its own.
#[test]
fn threads_draw_different_numbers() {
    let draw = || (0..64).map(|_| AfterOptions::drawn().random).collect::<Vec<_>>();
    let all: Vec<_> = (0..16).map(|_| std::thread::spawn(draw)).collect();
    let all: HashSet<_> = all.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(all.len(), 16);
    // 1,024 of 2^32 numbers are equal to another one with a probability of 1/8,192, and two pairs practically never.
    let distinct: HashSet<_> = all.iter().flatten().collect();
    assert!(distinct.len() > 1_020, "{}", distinct.len());
}

/// Rooms above the rate that the steps carry run ahead of the time, and no others.
#[test]
fn eight_posts_per_millisecond_do_not_run_ahead() {
    let lead = |rate: u64| {
        let mut last = None;
        for post in 0..rate * 4_000 {
            last = Some(MessageId::after(last, room(), T + post / rate).unwrap());
        }
        last.unwrap().timestamp_ms().saturating_sub(T + 3_999)
    };
    assert!(lead(6) <= 1, "{}", lead(6));
    assert!(lead(16) > 3_000, "{}", lead(16));
}
