//! The value: 80 bits that sort by time and carry a hash of their session. Its text is in [`codec`](crate::codec).

use core::ops::{Bound, RangeBounds, RangeInclusive};
use core::time::Duration;

use crate::error::{Quantity, RangeError, TimeRangeError};
use crate::layout::{self, ID_MAX, SPIN_MAX, STAMP_MAX, STAMP_SHIFT, TIMESTAMP_MAX, TIMESTAMP_SHIFT};
use crate::session::{SessionHash, SessionTag, SessionType};

const TIMESTAMP: &Quantity = &Quantity::new("a timestamp", " ms");
const SPIN: &Quantity = &Quantity::new("a spin", "");
const ID: &Quantity = &Quantity::new("an ID", "");

/// A message's ID: 42-bit timestamp, 12-bit spin, 4-bit session type, 22-bit session hash.
///
/// Every 80-bit value is an ID. IDs, their integers, their bytes and their texts all have the same order: by timestamp
/// first, then by spin, type and hash.
///
/// There is no default ID, because a store would keep it like any message's ID. Use an `Option` if an ID can be missing.
///
/// Most programs read IDs in three ways: [`str::parse`] for text, [`from_bytes`](Self::from_bytes) for 10 bytes, and
/// [`parse_lenient`](Self::parse_lenient) for what a person types. For other forms:
///
/// | you have | use |
/// | --- | --- |
/// | a constant | [`message_id!`](crate::message_id) |
/// | text as bytes, which need not be UTF-8 | [`parse_bytes`](Self::parse_bytes) |
/// | a slice of 10 bytes | [`from_slice`](Self::from_slice), `try_from` |
/// | 20 hex digits | [`from_hex`](Self::from_hex) |
/// | an integer | [`from_u128`](Self::from_u128) |
/// | a UUID view | [`from_uuid_bytes`](Self::from_uuid_bytes), or `from_uuid` with the feature `uuid-1` |
/// | timestamp, spin and session tag | [`try_from_parts`](Self::try_from_parts) |
///
/// ```
/// use imid::{MessageId, SessionTag, SessionType, IdParts};
///
/// let room = SessionTag::new(SessionType::GROUP, "room-42");
/// let id = MessageId::try_from_parts(IdParts { timestamp_ms: 1_763_665_800_000, spin: 7, session_tag: room })?;
/// assert_eq!(id.timestamp_ms(), 1_763_665_800_000);
/// assert_eq!(id.spin(), 7);
/// assert!(id.is_in(room));
/// assert_eq!(MessageId::from_bytes(id.to_bytes()), id);
/// # Ok::<(), imid::error::RangeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
// Slices of IDs are loaded and stored as slices of integers.
#[repr(transparent)]
pub struct MessageId(u128);

impl MessageId {
    /// The smallest ID: 80 zeros, `2222-2222-2222-2222`.
    pub const MIN: Self = Self(0);
    /// The greatest ID: 80 ones, `ZZZZ-ZZZZ-ZZZZ-ZZZZ`.
    pub const MAX: Self = Self(ID_MAX);
    /// Length of the byte form: 10.
    pub const BYTE_LEN: usize = layout::BYTES;
    /// Length of the text form: 19.
    pub const TEXT_LEN: usize = layout::TEXT_LEN;
    /// Length of the hex form: 20.
    pub const HEX_LEN: usize = layout::HEX_LEN;
    /// The greatest timestamp, in Unix milliseconds: 2109-05-15T07:35:11.103Z.
    pub const TIMESTAMP_MAX: u64 = TIMESTAMP_MAX;
    /// The greatest spin: 4,095.
    pub const SPIN_MAX: u16 = SPIN_MAX;

    /// Returns the ID with this integer, 0 to 2⁸⁰ - 1.
    ///
    /// # Errors
    /// The value is 2⁸⁰ or more.
    #[inline]
    pub const fn from_u128(value: u128) -> Result<Self, RangeError> {
        if value > ID_MAX {
            return Err(ID.too_large(ID_MAX, value));
        }
        Ok(Self(value))
    }

    /// Returns the integer, 0 to 2⁸⁰ - 1.
    #[inline]
    pub const fn to_u128(self) -> u128 {
        self.0
    }

    /// Returns the ID with these 10 bytes, most significant first. Every value is an ID.
    #[inline]
    pub const fn from_bytes(bytes: [u8; layout::BYTES]) -> Self {
        let [high @ .., a, b] = bytes;
        // The low 16 bits are separate: 80 bits are one 64-bit load and one 16-bit load.
        Self((u64::from_be_bytes(high) as u128) << u16::BITS | u16::from_be_bytes([a, b]) as u128)
    }

    /// Returns the 10 bytes, most significant first, so they sort as IDs do.
    #[inline]
    pub const fn to_bytes(self) -> [u8; layout::BYTES] {
        let [_, _, _, _, _, _, bytes @ ..] = self.0.to_be_bytes();
        bytes
    }

    /// Creates an ID from its parts, for tests and imports. Equal parts give equal IDs; use a [`Generator`](crate::Generator) for
    /// unique ones.
    ///
    /// # Errors
    /// A timestamp of 2⁴² ms or more; a spin of 4,096 or more.
    #[inline]
    pub const fn try_from_parts(parts: IdParts) -> Result<Self, RangeError> {
        let IdParts { timestamp_ms, spin, session_tag } = parts;
        if timestamp_ms > TIMESTAMP_MAX {
            return Err(TIMESTAMP.too_large(TIMESTAMP_MAX as u128, timestamp_ms as u128));
        }
        if spin > SPIN_MAX {
            return Err(SPIN.too_large(SPIN_MAX as u128, spin as u128));
        }
        Ok(Self::from_stamp(timestamp_ms << TIMESTAMP_SHIFT | spin as u64, session_tag))
    }

    /// Returns the parts, from which [`try_from_parts`](Self::try_from_parts) recreates the ID.
    #[inline]
    pub const fn parts(self) -> IdParts {
        IdParts { timestamp_ms: self.timestamp_ms(), spin: self.spin(), session_tag: self.session_tag() }
    }

    /// Returns the ID with this 54-bit stamp: timestamp above spin.
    #[inline]
    pub(crate) const fn from_stamp(stamp: u64, session: SessionTag) -> Self {
        debug_assert!(stamp <= STAMP_MAX);
        Self((stamp as u128) << STAMP_SHIFT | session.to_u32() as u128)
    }

    /// Returns timestamp and spin as one number of 54 bits.
    #[inline]
    pub(crate) const fn stamp(self) -> u64 {
        (self.0 >> STAMP_SHIFT) as u64
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z, 0 to 2⁴² - 1.
    ///
    /// In a generator's ID this is the time of minting. It can be ahead of the clock: see
    /// [`Generator`](crate::Generator).
    #[inline]
    pub const fn timestamp_ms(self) -> u64 {
        self.stamp() >> TIMESTAMP_SHIFT
    }

    /// Returns the timestamp as a duration since 1970-01-01T00:00:00Z.
    #[inline]
    pub const fn since_unix_epoch(self) -> Duration {
        Duration::from_millis(self.timestamp_ms())
    }

    /// Returns the timestamp as a `SystemTime`.
    #[cfg(feature = "std")]
    pub fn time(self) -> std::time::SystemTime {
        std::time::UNIX_EPOCH + self.since_unix_epoch()
    }

    /// Returns the counter within the millisecond, 0 to 4,095, which does not start at 0.
    #[inline]
    pub const fn spin(self) -> u16 {
        self.stamp() as u16 & SPIN_MAX
    }

    /// Returns the session's type. Other systems may use the same code for another kind of conversation:
    /// [`Dialect::type_name`](crate::dialect::Dialect::type_name) returns their name for it.
    #[inline]
    pub const fn session_type(self) -> SessionType {
        self.session_tag().session_type()
    }

    /// Returns the hash of the session's name: a hint, not a proof (see [`SessionHash`]).
    #[inline]
    pub const fn session_hash(self) -> SessionHash {
        self.session_tag().session_hash()
    }

    /// Returns the session tag: type and hash.
    #[inline]
    pub const fn session_tag(self) -> SessionTag {
        SessionTag::truncate(self.0 as u32)
    }

    /// Returns whether the ID can belong to a session with this tag, that is, whether type and hash are equal.
    ///
    /// If not, the ID belongs to another session. If so, it may still belong to another one, because two sessions can share a hash
    /// (see [`SessionHash`]).
    #[inline]
    pub const fn is_in(self, session: SessionTag) -> bool {
        self.session_tag().to_u32() == session.to_u32()
    }

    /// Returns the smallest ID of a millisecond: no ID of that millisecond or a later one is smaller.
    ///
    /// # Errors
    /// The timestamp is 2⁴² ms or more.
    pub const fn first_at(timestamp_ms: u64) -> Result<Self, RangeError> {
        Self::try_from_parts(IdParts { timestamp_ms, spin: 0, session_tag: SessionTag::ZEROS })
    }

    /// Returns the greatest ID of a millisecond: no ID of that millisecond or an earlier one is greater.
    ///
    /// # Errors
    /// The timestamp is 2⁴² ms or more.
    pub const fn last_at(timestamp_ms: u64) -> Result<Self, RangeError> {
        Self::try_from_parts(IdParts { timestamp_ms, spin: SPIN_MAX, session_tag: SessionTag::ONES })
    }

    /// Returns the first and the last ID of a range of Unix milliseconds, for a scan by time in a store (`BETWEEN`).
    ///
    /// A generator can mint an ID whose timestamp is ahead of the clock. If a scan by wall-clock time must find all messages,
    /// extend the end of the range as the [table of leads](crate#how-far-ids-can-be-ahead-of-the-clock) says.
    ///
    /// ```
    /// use imid::MessageId;
    ///
    /// let hour = MessageId::range(1_763_665_200_000..1_763_668_800_000)?;
    /// assert_eq!(hour.start().to_string(), "EUNC-KN92-2222-2222");
    /// assert_eq!(hour.end().to_string(), "EUND-F55Z-ZZZZ-ZZZZ");
    /// # Ok::<(), imid::error::TimeRangeError>(())
    /// ```
    ///
    /// # Errors
    /// A bound is past the last timestamp (2⁴² ms itself is valid as an excluded end); the range contains no
    /// millisecond, such as `5..5`.
    pub fn range(times: impl RangeBounds<u64>) -> Result<RangeInclusive<Self>, TimeRangeError> {
        let (from, last) = first_and_last(times);
        let first = Self::first_at(from)?;
        match last {
            Some(last) if from <= last => Ok(first..=Self::last_at(last)?),
            _ => Err(TimeRangeError::empty(from, last.map_or(0, |last| last + 1))),
        }
    }
}

#[cfg(feature = "std")]
impl MessageId {
    /// Returns the first and the last ID of a range of times, as [`range`](Self::range) does for Unix milliseconds, including each
    /// millisecond that the range touches. No ID is earlier than 1970.
    ///
    /// ```
    /// use imid::MessageId;
    /// use std::time::{Duration, SystemTime};
    ///
    /// let last_hour = MessageId::range_of(SystemTime::now() - Duration::from_secs(3_600)..)?;
    /// # assert_eq!(*last_hour.end(), MessageId::MAX);
    /// # Ok::<(), imid::error::TimeRangeError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`range`](Self::range), also if the range ends before 1970.
    pub fn range_of(times: impl RangeBounds<std::time::SystemTime>) -> Result<RangeInclusive<Self>, TimeRangeError> {
        // The instants from the first one to the one that excludes the last, in nanoseconds since 1970.
        let nanos = |time: &std::time::SystemTime| {
            time.duration_since(std::time::UNIX_EPOCH).map_or(-1, |since| since.as_nanos().cast_signed())
        };
        let ms = |nanos: i128| u64::try_from(nanos / 1_000_000).unwrap_or(u64::MAX);
        let from = match times.start_bound() {
            Bound::Included(time) => nanos(time).max(0),
            Bound::Excluded(time) => nanos(time) + 1,
            Bound::Unbounded => 0,
        };
        let to = match times.end_bound() {
            Bound::Included(time) => nanos(time) + 1,
            Bound::Excluded(time) => nanos(time).max(0),
            Bound::Unbounded => return Self::range(ms(from)..),
        };
        if to <= from {
            return Err(TimeRangeError::empty(ms(from), ms(to)));
        }
        Self::range(ms(from)..=ms(to - 1))
    }
}

/// Returns the first and the last millisecond of a range of times. An open end is the end of time. In an empty range the
/// first is greater than the last. The last is `None` if the range ends before millisecond 0.
fn first_and_last(times: impl RangeBounds<u64>) -> (u64, Option<u64>) {
    let first = match times.start_bound() {
        Bound::Included(&ms) => ms,
        Bound::Excluded(&ms) => ms.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let last = match times.end_bound() {
        Bound::Included(&ms) => Some(ms),
        Bound::Excluded(&ms) => ms.checked_sub(1),
        Bound::Unbounded => Some(TIMESTAMP_MAX),
    };
    (first, last)
}

#[cfg(target_has_atomic = "64")]
impl MessageId {
    /// Returns the ID with the next stamp. The caller makes sure that there is one.
    #[inline]
    pub(crate) const fn next_stamp(self) -> Self {
        Self(self.0 + (1 << STAMP_SHIFT))
    }
}

/// The parts of an ID, for [`MessageId::try_from_parts`].
// The fields are public and no field will follow, because the format does not change. Callers write this struct as named
// arguments, so it is not `#[non_exhaustive]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IdParts {
    /// Milliseconds since 1970-01-01T00:00:00Z, 0 to [`MessageId::TIMESTAMP_MAX`].
    pub timestamp_ms: u64,
    /// The counter within the millisecond, 0 to [`MessageId::SPIN_MAX`].
    pub spin: u16,
    /// The session tag: type and hash.
    pub session_tag: SessionTag,
}

impl TryFrom<IdParts> for MessageId {
    type Error = RangeError;

    fn try_from(parts: IdParts) -> Result<Self, RangeError> {
        Self::try_from_parts(parts)
    }
}

impl From<MessageId> for IdParts {
    fn from(id: MessageId) -> Self {
        id.parts()
    }
}

impl TryFrom<u128> for MessageId {
    type Error = RangeError;

    fn try_from(value: u128) -> Result<Self, RangeError> {
        Self::from_u128(value)
    }
}

impl From<MessageId> for u128 {
    fn from(id: MessageId) -> Self {
        id.to_u128()
    }
}

impl From<[u8; layout::BYTES]> for MessageId {
    fn from(bytes: [u8; layout::BYTES]) -> Self {
        Self::from_bytes(bytes)
    }
}

impl From<MessageId> for [u8; layout::BYTES] {
    fn from(id: MessageId) -> Self {
        id.to_bytes()
    }
}
