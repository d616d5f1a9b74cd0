//! Properties of the buckets of time, and of the wrappers of columns.

use std::num::NonZeroU16;

use imid::store::{AsText, AsUuid, Buckets};
use imid::{MessageId, SessionTag};
use proptest::prelude::*;

const DAY_MS: u64 = 86_400_000;
const LAST_MS: u64 = MessageId::TIMESTAMP_MAX;

fn buckets(days: u16) -> Buckets {
    Buckets::from_days(NonZeroU16::new(days).expect("not zero"))
}

/// Any ID, more often near the ends of the time range and near midnight than elsewhere.
fn ids() -> impl Strategy<Value = MessageId> {
    let times = prop_oneof![
        0..=LAST_MS,
        0..=DAY_MS,
        LAST_MS - DAY_MS..=LAST_MS,
        (1..LAST_MS / DAY_MS, -1_i64..=1).prop_map(|(day, ms)| (day * DAY_MS).saturating_add_signed(ms)),
    ];
    let bounds = |ms| [MessageId::first_at(ms).expect("a timestamp"), MessageId::last_at(ms).expect("a timestamp")];
    let low_bits = prop_oneof![Just(0), Just(u128::MAX), any::<u128>()];
    (times, low_bits).prop_map(move |(ms, low)| {
        let [first, last] = bounds(ms).map(MessageId::to_u128);
        MessageId::from_u128(first | low & (first ^ last)).expect("80 bits")
    })
}

/// Any length of a bucket, more often a short one or one near the length of the whole range than another.
fn lengths() -> impl Strategy<Value = u16> {
    prop_oneof![1..=u16::MAX, 1..=31_u16, 50_900..=50_910_u16, 25_450..=25_455_u16, Just(u16::MAX)]
}

proptest! {
    #[test]
    fn an_id_is_in_the_range_of_its_bucket_and_of_no_neighbour(id in ids(), days in lengths()) {
        let bucket = buckets(days).bucket(id);
        prop_assert_eq!(u64::from(bucket), id.timestamp_ms() / (u64::from(days) * DAY_MS));
        let range = buckets(days).range(bucket).expect("the bucket of an ID");
        prop_assert!(range.contains(&id));
        let before = bucket.checked_sub(1).and_then(|before| buckets(days).range(before));
        prop_assert_eq!(before.is_none(), bucket == 0);
        prop_assert!(before.is_none_or(|before| before.end().to_u128() + 1 == range.start().to_u128()));
        let after = bucket.checked_add(1).and_then(|after| buckets(days).range(after));
        prop_assert_eq!(after.is_none(), *range.end() == MessageId::MAX);
        prop_assert!(after.is_none_or(|after| after.start().to_u128() == range.end().to_u128() + 1));
    }

    #[test]
    fn a_range_begins_and_ends_with_a_bucket(bucket: u16, days in lengths()) {
        let first_ms = u64::from(bucket) * u64::from(days) * DAY_MS;
        match buckets(days).range(bucket) {
            Some(range) => {
                prop_assert_eq!(*range.start(), MessageId::first_at(first_ms).expect("a timestamp"));
                let last_ms = (first_ms + u64::from(days) * DAY_MS - 1).min(LAST_MS);
                prop_assert_eq!(*range.end(), MessageId::last_at(last_ms).expect("a timestamp"));
                prop_assert_eq!(buckets(days).bucket(*range.start()), bucket);
                prop_assert_eq!(buckets(days).bucket(*range.end()), bucket);
            }
            None => prop_assert!(first_ms > LAST_MS),
        }
    }

    #[test]
    fn the_buckets_of_a_time_range_have_all_its_ids(a in ids(), b in ids(), days in 1_000..=u16::MAX) {
        let (first, last) = (a.min(b), a.max(b));
        let mut next = first;
        for bucket in buckets(days).bucket(first)..=buckets(days).bucket(last) {
            let range = buckets(days).range(bucket).expect("a bucket between those of two IDs");
            prop_assert!(range.contains(&next));
            next = MessageId::from_u128(range.end().to_u128() + 1).unwrap_or(MessageId::MAX);
        }
        prop_assert!(next > last || next == MessageId::MAX);
    }

    #[test]
    fn wrappers_have_the_order_of_their_ids(a in ids(), b in ids()) {
        prop_assert_eq!(AsText(a).cmp(&AsText(b)), a.cmp(&b));
        prop_assert_eq!(AsUuid(a).cmp(&AsUuid(b)), a.cmp(&b));
        prop_assert_eq!(MessageId::from(AsText::from(a)), a);
        prop_assert_eq!(MessageId::from(AsUuid::from(a)), a);
    }
}

#[test]
fn the_last_bucket_of_days_ends_with_the_last_id() {
    let last = buckets(1).range(50_903).expect("2109-05-15");
    assert_eq!((last.start().timestamp_ms(), *last.end()), (50_903 * DAY_MS, MessageId::MAX));
    assert_eq!(buckets(1).range(50_904), None);
    assert_eq!(buckets(u16::MAX).range(0), Some(MessageId::MIN..=MessageId::MAX));
    assert_eq!(buckets(u16::MAX).range(1), None);
    assert_eq!(buckets(1).bucket(MessageId::MIN), 0);
    assert_eq!(MessageId::MAX.session_tag(), SessionTag::from_u32((1 << 26) - 1).unwrap());
}
