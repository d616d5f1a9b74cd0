//! How a dialect divides the 80 bits.

use super::error::{DialectError, DialectKind};
use crate::id::MessageId;
use crate::layout::{HASH_BITS, ID_BITS, SPIN_BITS, TIMESTAMP_BITS, TYPE_BITS};

/// Widths of the four fields, from the left: timestamp in unix milliseconds, spin, session type, session hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    timestamp: u32,
    spin: u32,
    session_type: u32,
    hash: u32,
}

/// What a dialect reads in an ID.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Fields {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub timestamp_ms: u64,
    /// The counter; `None` where the layout has none.
    pub spin: Option<u16>,
    /// The code of the session type. [`Dialect::type_name`](super::Dialect::type_name) names it.
    pub type_code: u8,
    /// The session's hash, as wide as the layout keeps it: a hint, never proof.
    pub hash: u32,
}

impl Layout {
    /// A [`MessageId`]'s own: 42, 12, 4 and 22 bits.
    pub const STANDARD: Self =
        Self { timestamp: TIMESTAMP_BITS, spin: SPIN_BITS, session_type: TYPE_BITS, hash: HASH_BITS };

    /// RongCloud's until spring 2018: 43 ms, no counter, 5 type, 32 hash.
    pub const RONGCLOUD_V1: Self = Self { timestamp: 43, spin: 0, session_type: 5, hash: 32 };

    /// The layout with these widths, which sum to 80.
    ///
    /// # Errors
    /// Widths that do not sum to 80; a timestamp of 0 or more than 63 bits; more than 16 bits of spin, 8 of type or 32 of
    /// hash.
    pub const fn new(timestamp: u32, spin: u32, session_type: u32, hash: u32) -> Result<Self, DialectError> {
        let widths = [
            ("a timestamp", timestamp, 1, u64::BITS - 1),
            ("a spin", spin, 0, u16::BITS),
            ("a session type", session_type, 0, u8::BITS),
            ("a session hash", hash, 0, u32::BITS),
        ];
        let (mut at, mut sum) = (0, 0);
        while at < widths.len() {
            let (what, found, min, max) = widths[at];
            if found < min || found > max {
                return Err(DialectError::new(DialectKind::Width { what, min, max, found }));
            }
            (at, sum) = (at + 1, sum + found);
        }
        if sum != ID_BITS {
            return Err(DialectError::new(DialectKind::Sum { found: sum }));
        }
        Ok(Self { timestamp, spin, session_type, hash })
    }

    /// Widths of timestamp, spin, session type and session hash, in bits.
    pub const fn widths(&self) -> [u32; 4] {
        [self.timestamp, self.spin, self.session_type, self.hash]
    }

    /// Whether an ID's own accessors read it as this layout does.
    pub const fn is_standard(&self) -> bool {
        matches!(self, Self { timestamp: TIMESTAMP_BITS, spin: SPIN_BITS, session_type: TYPE_BITS, hash: HASH_BITS })
    }

    pub(super) const fn fields(&self, id: MessageId) -> Fields {
        let value = id.to_u128();
        let (hash, value) = cut(value, self.hash);
        let (type_code, value) = cut(value, self.session_type);
        let (spin, timestamp_ms) = cut(value, self.spin);
        Fields {
            timestamp_ms: timestamp_ms as u64,
            spin: if self.spin == 0 { None } else { Some(spin as u16) },
            type_code: type_code as u8,
            hash: hash as u32,
        }
    }

    /// The low bits of a longer hash that the layout keeps.
    pub(super) const fn keep(&self, hash: u32) -> u32 {
        cut(hash as u128, self.hash).0 as u32
    }
}

/// The low bits, and what stands above them.
const fn cut(value: u128, bits: u32) -> (u128, u128) {
    (value & ((1 << bits) - 1), value >> bits)
}
