//! How a dialect divides the 80 bits. This file has only arithmetic, without text and IDs.

use core::fmt::{self, Write};

use arrayvec::ArrayString;

use crate::layout::{HASH_BITS, ID_BITS, SPIN_BITS, TIMESTAMP_BITS, TYPE_BITS};

/// The widths of the four fields, from the most significant: timestamp in Unix milliseconds, spin, session type,
/// session hash. There are two layouts: imid's, and the one that RongCloud had until spring 2018.
///
/// ```
/// use imid::dialect::Layout;
///
/// assert_eq!(Layout::STANDARD.to_string(), "42-12-4-22");
/// assert_eq!(Layout::RONGCLOUD_V1.spin_bits(), 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Layout {
    // Each width is a byte, because an ID contains its layout.
    timestamp: u8,
    spin: u8,
    session_type: u8,
    hash: u8,
}

impl Layout {
    /// The layout of a [`MessageId`](crate::MessageId): 42, 12, 4 and 22 bits.
    pub const STANDARD: Self = Self::new([TIMESTAMP_BITS, SPIN_BITS, TYPE_BITS, HASH_BITS]);

    /// RongCloud's layout until spring 2018: 43 bits of timestamp, no spin, 5 of type and 32 of hash.
    pub const RONGCLOUD_V1: Self = Self::new([43, 0, 5, 32]);

    const fn new([timestamp, spin, session_type, hash]: [u32; 4]) -> Self {
        assert!(timestamp + spin + session_type + hash == ID_BITS, "the fields fill 80 bits");
        Self { timestamp: timestamp as u8, spin: spin as u8, session_type: session_type as u8, hash: hash as u8 }
    }

    /// Returns the name: `standard` or `rongcloud-v1`.
    pub const fn name(self) -> &'static str {
        if self.is_standard() { "standard" } else { "rongcloud-v1" }
    }

    /// Returns the width of the timestamp in bits: 42 or 43.
    pub const fn timestamp_bits(self) -> u32 {
        self.timestamp as u32
    }

    /// Returns the width of the spin in bits: 12, or 0 if there is none.
    pub const fn spin_bits(self) -> u32 {
        self.spin as u32
    }

    /// Returns the width of the session type in bits: 4 or 5.
    pub const fn type_bits(self) -> u32 {
        self.session_type as u32
    }

    /// Returns the width of the session hash in bits: 22 or 32.
    pub const fn hash_bits(self) -> u32 {
        self.hash as u32
    }

    /// Returns whether this is the layout of a [`MessageId`](crate::MessageId).
    pub const fn is_standard(self) -> bool {
        matches!(self, Self::STANDARD)
    }

    /// Returns the timestamp in 80 bits.
    pub(super) const fn timestamp_ms(self, bits: u128) -> u64 {
        (bits >> self.hash >> self.session_type >> self.spin) as u64
    }

    /// Returns the spin in 80 bits; 0 if the layout has none.
    pub(super) const fn spin(self, bits: u128) -> u16 {
        low(bits >> self.hash >> self.session_type, self.spin) as u16
    }

    /// Returns the session type in 80 bits.
    pub(super) const fn type_code(self, bits: u128) -> u8 {
        low(bits >> self.hash, self.session_type) as u8
    }

    /// Returns the session hash in 80 bits, or the part of a longer hash that the layout keeps.
    pub(super) const fn hash(self, bits: u128) -> u32 {
        low(bits, self.hash) as u32
    }
}

/// Returns the low bits of a value.
const fn low(value: u128, bits: u8) -> u128 {
    value & ((1 << bits) - 1)
}

/// Formats the four widths, such as `42-12-4-22`. Width and alignment apply.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Four numbers of at most three digits, and three dashes.
        let mut text = ArrayString::<15>::new();
        write!(text, "{}-{}-{}-{}", self.timestamp, self.spin, self.session_type, self.hash)?;
        f.pad(&text)
    }
}
