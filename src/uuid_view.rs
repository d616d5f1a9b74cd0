//! The UUID view: the same 80 bits in the fields of a UUID of version 7, for columns and libraries that have a UUID type.
//!
//! ```text
//!  127                             80 79   76 75        64 63 62 61  58 57                36 35            0
//! +----------------------------------+-------+------------+-----+------+--------------------+---------------+
//! |  timestamp: 48 bits, Unix ms     | 0b111 |  spin: 12  |  2  | type |  session hash: 22  |    ones: 36   |
//! +----------------------------------+-------+------------+-----+------+--------------------+---------------+
//! ```

use crate::error::{UuidError, UuidKind};
use crate::id::MessageId;
use crate::layout::{
    SPIN_BITS, SPIN_MAX, STAMP_SHIFT, TAG_BITS, TAG_MAX, TIMESTAMP_BITS, TIMESTAMP_MAX, TIMESTAMP_SHIFT,
};
use crate::session::SessionTag;

/// Length of a UUID.
pub(crate) const UUID_BYTES: usize = 16;

/// Width of the timestamp of a UUID of version 7.
const UUID_TIMESTAMP_BITS: u32 = 48;
const VERSION_BITS: u32 = 4;
const VARIANT_BITS: u32 = 2;
/// Width of the end of a view, which is ones: zeros would make many views look like the number of a payment card.
const TAIL_BITS: u32 = 36;

const TAG_SHIFT: u32 = TAIL_BITS;
const VARIANT_SHIFT: u32 = TAG_SHIFT + TAG_BITS;
const SPIN_SHIFT: u32 = VARIANT_SHIFT + VARIANT_BITS;
const VERSION_SHIFT: u32 = SPIN_SHIFT + SPIN_BITS;
const UUID_TIMESTAMP_SHIFT: u32 = VERSION_SHIFT + VERSION_BITS;

/// The version of UUIDs that begin with Unix milliseconds.
const VERSION: u8 = 7;
/// The variant of RFC 9562.
const VARIANT: u8 = 0b10;

const _: () = assert!(UUID_TIMESTAMP_SHIFT + UUID_TIMESTAMP_BITS == u128::BITS, "fields fill 128 bits");
const _: () = assert!(UUID_BYTES as u32 * 8 == u128::BITS, "a UUID has 128 bits");
const _: () = assert!(TIMESTAMP_BITS <= UUID_TIMESTAMP_BITS, "the timestamp of an ID fits");
const _: () = assert!(STAMP_SHIFT == TAG_BITS, "the session tag is the low part of an ID");

impl MessageId {
    /// Returns the UUID view, most significant byte first: a UUID of version 7 with the timestamp and the spin of the ID
    /// in the usual places. Views have the order of their IDs.
    ///
    /// A view contains the bits of the ID and no random bits. The text of the view below is
    /// `019aa2ac-6b40-7007-8fc8-56bfffffffff`. Feature `uuid-1` adds `to_uuid`, which returns a `uuid::Uuid`.
    ///
    /// ```
    /// use imid::{MessageId, message_id};
    ///
    /// let id = message_id!("EUNC-Q8QJ-22GH-T3DD");
    /// let bytes = id.to_uuid_bytes();
    /// assert_eq!(bytes[..8], [0x01, 0x9a, 0xa2, 0xac, 0x6b, 0x40, 0x70, 0x07]);
    /// assert_eq!(bytes[8..], [0x8f, 0xc8, 0x56, 0xbf, 0xff, 0xff, 0xff, 0xff]);
    /// assert_eq!(MessageId::from_uuid_bytes(bytes), Ok(id));
    /// ```
    #[inline]
    pub const fn to_uuid_bytes(self) -> [u8; UUID_BYTES] {
        let view = (self.timestamp_ms() as u128) << UUID_TIMESTAMP_SHIFT
            | (VERSION as u128) << VERSION_SHIFT
            | (self.spin() as u128) << SPIN_SHIFT
            | (VARIANT as u128) << VARIANT_SHIFT
            | (self.session_tag().to_u32() as u128) << TAG_SHIFT
            | low_bits(TAIL_BITS) as u128;
        view.to_be_bytes()
    }

    /// Returns the ID with this UUID view, most significant byte first.
    ///
    /// # Errors
    /// Any other UUID: the version is not 7; the variant is not that of RFC 9562; the timestamp is 2⁴² ms or more; one
    /// of the last 36 bits is zero, as in almost every random UUID of version 7.
    #[inline]
    pub const fn from_uuid_bytes(bytes: [u8; UUID_BYTES]) -> Result<Self, UuidError> {
        let view = u128::from_be_bytes(bytes);
        let version = (view >> VERSION_SHIFT) as u8 & low_bits(VERSION_BITS) as u8;
        if version != VERSION {
            return Err(UuidError::new(UuidKind::Version(version)));
        }
        let variant = (view >> VARIANT_SHIFT) as u8 & low_bits(VARIANT_BITS) as u8;
        if variant != VARIANT {
            return Err(UuidError::new(UuidKind::Variant(variant)));
        }
        let timestamp_ms = (view >> UUID_TIMESTAMP_SHIFT) as u64;
        if timestamp_ms > TIMESTAMP_MAX {
            return Err(UuidError::new(UuidKind::Time(timestamp_ms)));
        }
        let tail = view as u64 & low_bits(TAIL_BITS);
        if tail != low_bits(TAIL_BITS) {
            return Err(UuidError::new(UuidKind::Tail(tail)));
        }
        let spin = (view >> SPIN_SHIFT) as u16 & SPIN_MAX;
        let tag = (view >> TAG_SHIFT) as u32 & TAG_MAX;
        Ok(Self::from_stamp(timestamp_ms << TIMESTAMP_SHIFT | spin as u64, SessionTag::truncate(tag)))
    }
}

/// Returns this many ones.
const fn low_bits(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::ID_BITS;

    #[test]
    fn each_bit_of_an_id_is_one_bit_of_its_view() {
        let zero = u128::from_be_bytes(MessageId::MIN.to_uuid_bytes());
        let mut seen = 0;
        for bit in 0..ID_BITS {
            let id = MessageId::from_u128(1 << bit).unwrap();
            let view = u128::from_be_bytes(id.to_uuid_bytes());
            assert_eq!((view ^ zero).count_ones(), 1, "bit {bit}");
            assert!(view ^ zero > seen, "bit {bit} is below an earlier one");
            seen |= view ^ zero;
            assert_eq!(MessageId::from_uuid_bytes(view.to_be_bytes()), Ok(id), "bit {bit}");
        }
    }

    #[test]
    fn each_bit_that_no_id_has_is_refused() {
        let [first, last] = [MessageId::MIN, MessageId::MAX].map(|id| u128::from_be_bytes(id.to_uuid_bytes()));
        for view in [first, last] {
            let foreign = !(first ^ last);
            assert_eq!(foreign.count_ones(), u128::BITS - ID_BITS);
            for bit in (0..u128::BITS).filter(|bit| foreign >> bit & 1 == 1) {
                let changed = (view ^ 1 << bit).to_be_bytes();
                assert!(MessageId::from_uuid_bytes(changed).is_err(), "bit {bit} of {view:032x}");
            }
        }
    }
}
