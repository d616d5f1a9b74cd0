//! IDs in databases: wrappers for text and UUID columns, and time buckets for partitions.
//!
//! The features for databases write and read a [`MessageId`] as its 10 bytes. A column of texts or of UUIDs needs a
//! wrapper: [`AsText`] or [`AsUuid`].
//!
//! | value | bytes or number | column |
//! | --- | --- | --- |
//! | [`MessageId`] | 10 bytes | `bytea`, `VARBINARY(10)`, `BLOB`, `blob` |
//! | [`AsText`] | the 19 characters | `text`, `CHAR(19)`, `TEXT` |
//! | [`AsUuid`] | the [UUID view](MessageId::to_uuid_bytes) | `uuid`, `BINARY(16)`, `BLOB` |
//! | [`SessionTag`](crate::SessionTag) | its 26 bits | `integer`, `INT`, `int` |
//! | [`SessionType`](crate::SessionType) | its code | `smallint`, `SMALLINT` |
//!
//! What each feature reads and writes:
//!
//! | feature | bytes | text | UUID | `Option`, NULL | lists |
//! | --- | --- | --- | --- | --- | --- |
//! | `sqlx-0_9` | PostgreSQL, MySQL, SQLite | all three | with `uuid-1`, and feature `uuid` of sqlx | yes | `push_bind` for each; with `sqlx-postgres-0_9` also arrays: `id = ANY($1)` |
//! | `postgres-types-0_2` | `bytea` | `text`, `varchar`, `char` | `uuid` | yes | arrays, binary `COPY` |
//! | `diesel-2` | all three | all three | `uuid`, or 16 bytes | PostgreSQL, MySQL; SQLite for reading | `eq_any` in PostgreSQL and MySQL; in SQLite of `id.to_bytes().to_vec()` |
//! | `rusqlite-0_41` | `BLOB` | `TEXT` | `BLOB` of 16 bytes | yes | one parameter for each |
//! | `redis-1` | yes | yes | | yes | yes |
//! | `scylla-1` | `blob` | `text`, `ascii` | `uuid` | yes | yes |
//!
//! A value of the wrong length or type, or an unexpected NULL, is an error, with two exceptions that a `CHECK` in the table rules out: with
//! MySQL and SQLite, sqlx and diesel read a text of 10 bytes as an ID, and with SQLite, diesel drops the high bits of an integer that is
//! too long.
//!
//! STORES.md compares the forms, and has examples. The repository's `examples/recipes` has programs for crates that need no feature, such
//! as sea-orm and clickhouse.

use core::num::NonZeroU16;
use core::ops::RangeInclusive;

use crate::id::MessageId;
use crate::layout::TIMESTAMP_MAX;

/// An ID in a column of text.
///
/// ```
/// use imid::{message_id, store::AsText};
///
/// let column = AsText(message_id!("F3Z9-MB7Y-WCQH-T3DD"));
/// assert_eq!(column.0.spin(), 2219);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AsText(pub MessageId);

/// An ID in a column of UUIDs, as its [UUID view](MessageId::to_uuid_bytes).
///
/// ```
/// use imid::{message_id, store::AsUuid};
///
/// let column = AsUuid(message_id!("F3Z9-MB7Y-WCQH-T3DD"));
/// assert_eq!(column.0.to_uuid_bytes()[..6], [0x01, 0xa1, 0xf9, 0xe6, 0x92, 0xfb]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AsUuid(pub MessageId);

/// Implements the conversions of wrappers from and to IDs.
macro_rules! conversions {
    ($($wrapper:ident)*) => {$(
        impl From<MessageId> for $wrapper {
            fn from(id: MessageId) -> Self {
                Self(id)
            }
        }

        impl From<$wrapper> for MessageId {
            fn from(column: $wrapper) -> Self {
                column.0
            }
        }
    )*};
}

conversions!(AsText AsUuid);

/// Buckets of time: each has the same number of days, in UTC. Bucket 0 begins on 1970-01-01.
///
/// In Cassandra and Scylla, partitions should be bounded. A table of messages therefore has the partition key
/// `(session_tag, bucket)` and the clustering key `id`. A reader computes the bucket from an ID; a range of IDs covers the buckets
/// from that of the first ID to that of the last. Bind a bucket as `i32::from(bucket)`:
///
/// ```sql
/// CREATE TABLE messages (session_tag int, bucket int, id blob, body text,
///   PRIMARY KEY ((session_tag, bucket), id)) WITH CLUSTERING ORDER BY (id DESC);
/// ```
///
/// ```
/// use core::num::NonZeroU16;
/// use imid::{MessageId, message_id, store::Buckets};
///
/// let weeks = Buckets::from_days(NonZeroU16::new(7).expect("seven is not zero"));
/// let id = message_id!("EUNC-Q8QJ-22GH-T3DD"); // 2025-11-20
/// assert_eq!((weeks.days().get(), weeks.bucket(id)), (7, 2916));
/// let week = weeks.range(2916).expect("a bucket of this century");
/// assert!(week.contains(&id));
/// assert_eq!(week.start().timestamp_ms(), 1_763_596_800_000); // 2025-11-20
///
/// // The partitions that have the messages of a month, from the latest.
/// let month = MessageId::range(1_763_596_800_000..1_766_188_800_000)?; // to 2025-12-20
/// let buckets = weeks.bucket(*month.start())..=weeks.bucket(*month.end());
/// assert!(buckets.rev().eq([2920, 2919, 2918, 2917, 2916]));
/// # Ok::<(), imid::error::TimeRangeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Buckets {
    days: NonZeroU16,
}

impl Buckets {
    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

    /// Returns buckets of the given number of days.
    pub const fn from_days(days: NonZeroU16) -> Self {
        Self { days }
    }

    /// Returns the number of days per bucket.
    pub const fn days(self) -> NonZeroU16 {
        self.days
    }

    /// Returns the bucket of an ID: its timestamp divided by the length of a bucket, rounded down.
    pub const fn bucket(self, id: MessageId) -> u16 {
        const { assert!(TIMESTAMP_MAX / Self::DAY_MS <= u16::MAX as u64, "buckets of one day have numbers of 16 bits") };
        (id.timestamp_ms() / self.length_ms()) as u16
    }

    /// Returns the first and the last ID of a bucket. Returns `None` if the bucket begins after the last timestamp.
    pub const fn range(self, bucket: u16) -> Option<RangeInclusive<MessageId>> {
        let first_ms = bucket as u64 * self.length_ms();
        if first_ms > TIMESTAMP_MAX {
            return None;
        }
        let next_ms = first_ms + self.length_ms();
        let last_ms = if next_ms > TIMESTAMP_MAX { TIMESTAMP_MAX } else { next_ms - 1 };
        match (MessageId::first_at(first_ms), MessageId::last_at(last_ms)) {
            (Ok(first), Ok(last)) => Some(RangeInclusive::new(first, last)),
            _ => None,
        }
    }

    /// Returns the length of a bucket, at most 5,662,224,000,000 ms.
    const fn length_ms(self) -> u64 {
        self.days.get() as u64 * Self::DAY_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(days: u16) -> Buckets {
        Buckets::from_days(NonZeroU16::new(days).unwrap())
    }

    #[test]
    fn the_buckets_follow_each_other_from_the_first_id_to_the_last() {
        for days in [1, 2, 7, 30, 365, 25_451, 25_452, 50_903, 50_904, u16::MAX] {
            let (mut bucket, mut next) = (0, MessageId::MIN);
            loop {
                let range = buckets(days).range(bucket).expect("a bucket after which IDs are left");
                assert_eq!(*range.start(), next, "{days} days");
                assert_eq!(buckets(days).bucket(*range.start()), bucket, "{days} days");
                assert_eq!(buckets(days).bucket(*range.end()), bucket, "{days} days");
                let Ok(after) = MessageId::from_u128(range.end().to_u128() + 1) else { break };
                (bucket, next) = (bucket + 1, after);
            }
            assert_eq!(bucket, u16::try_from(TIMESTAMP_MAX / 86_400_000 / u64::from(days)).unwrap());
            if let Some(after) = bucket.checked_add(1) {
                assert_eq!(buckets(days).range(after), None, "{days} days");
                assert_eq!(buckets(days).range(u16::MAX), None, "{days} days");
            }
        }
    }
}
