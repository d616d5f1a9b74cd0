//! How a dialect divides the 80 bits. This file has only arithmetic, without text and IDs.

use core::fmt;

use super::error::{DialectError, DialectKind, Widths};
use crate::error::{Quantity, check_all};
use crate::layout::{HASH_BITS, ID_BITS, SPIN_BITS, TIMESTAMP_BITS, TYPE_BITS};

/// The widths of the four fields, from the most significant: timestamp in unix milliseconds, spin, session type,
/// session hash.
///
/// ```
/// use imid::dialect::Layout;
///
/// const OURS: Layout = match Layout::builder().timestamp_bits(44).type_bits(2).build() {
///     Ok(layout) => layout,
///     Err(_) => panic!("44, 12, 2 and 22 bits are 80"),
/// };
/// assert_eq!(OURS.to_string(), "44-12-2-22");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    // Each width is a byte, because an ID contains its layout.
    timestamp: u8,
    spin: u8,
    session_type: u8,
    hash: u8,
}

const TIMESTAMP: &Quantity = &Quantity::new("a timestamp", " bits");
const SPIN: &Quantity = &Quantity::new("a spin", " bits");
const TYPE: &Quantity = &Quantity::new("a session type", " bits");
const HASH: &Quantity = &Quantity::new("a session hash", " bits");
/// They end in the year 10889. System clocks can represent the time of any ID.
const TIMESTAMP_BITS_MAX: u64 = 48;

impl Layout {
    /// The layout of a [`MessageId`](crate::MessageId): 42, 12, 4 and 22 bits.
    pub const STANDARD: Self = built(Self::builder());

    /// RongCloud's layout until spring 2018: 43 bits of timestamp, no spin, 5 of type and 32 of hash.
    pub const RONGCLOUD_V1: Self = built(Self::builder().timestamp_bits(43).spin_bits(0).type_bits(5).hash_bits(32));

    /// Returns a builder with the widths of [`STANDARD`](Self::STANDARD).
    pub const fn builder() -> LayoutBuilder {
        LayoutBuilder { timestamp: TIMESTAMP_BITS, spin: SPIN_BITS, session_type: TYPE_BITS, hash: HASH_BITS }
    }

    /// Returns the name of a built-in layout: `standard` or `rongcloud-v1`. Returns `None` for any other layout.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::STANDARD => Some("standard"),
            Self::RONGCLOUD_V1 => Some("rongcloud-v1"),
            _ => None,
        }
    }

    /// Returns the width of the timestamp in bits: 1 to 48.
    pub const fn timestamp_bits(self) -> u32 {
        self.timestamp as u32
    }

    /// Returns the width of the spin in bits: 0 to 16.
    pub const fn spin_bits(self) -> u32 {
        self.spin as u32
    }

    /// Returns the width of the session type in bits: 0 to 8.
    pub const fn type_bits(self) -> u32 {
        self.session_type as u32
    }

    /// Returns the width of the session hash in bits: 0 to 32.
    pub const fn hash_bits(self) -> u32 {
        self.hash as u32
    }

    /// Returns whether this is the layout of a [`MessageId`](crate::MessageId).
    pub const fn is_standard(self) -> bool {
        matches!(self, Self::STANDARD)
    }

    /// Returns the four widths together.
    pub(super) const fn widths(self) -> Widths {
        Widths([self.timestamp, self.spin, self.session_type, self.hash])
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
        self.widths().fmt(f)
    }
}

/// Builds a [`Layout`]. The setters have the names of its accessors, and all of them are `const fn`.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct LayoutBuilder {
    timestamp: u32,
    spin: u32,
    session_type: u32,
    hash: u32,
}

impl LayoutBuilder {
    /// Sets the width of the timestamp, 1 to 48 bits. Default: 42.
    pub const fn timestamp_bits(self, bits: u32) -> Self {
        Self { timestamp: bits, ..self }
    }

    /// Sets the width of the spin, 0 to 16 bits. Default: 12.
    pub const fn spin_bits(self, bits: u32) -> Self {
        Self { spin: bits, ..self }
    }

    /// Sets the width of the session type, 0 to 8 bits. Default: 4.
    pub const fn type_bits(self, bits: u32) -> Self {
        Self { session_type: bits, ..self }
    }

    /// Sets the width of the session hash, 0 to 32 bits. Default: 22.
    pub const fn hash_bits(self, bits: u32) -> Self {
        Self { hash: bits, ..self }
    }

    /// Returns the layout.
    ///
    /// # Errors
    /// A width is outside of its range, such as a timestamp of 49 bits; the widths do not sum to 80.
    pub const fn build(self) -> Result<Layout, DialectError> {
        let Self { timestamp, spin, session_type, hash } = self;
        let widths = check_all(&[
            (TIMESTAMP, timestamp as u64, 1..=TIMESTAMP_BITS_MAX),
            (SPIN, spin as u64, 0..=u16::BITS as u64),
            (TYPE, session_type as u64, 0..=u8::BITS as u64),
            (HASH, hash as u64, 0..=u32::BITS as u64),
        ]);
        if let Err(error) = widths {
            return Err(DialectError::new(DialectKind::Width(error)));
        }
        let sum = timestamp + spin + session_type + hash;
        if sum != ID_BITS {
            return Err(DialectError::new(DialectKind::Sum { found: sum }));
        }
        Ok(Layout { timestamp: timestamp as u8, spin: spin as u8, session_type: session_type as u8, hash: hash as u8 })
    }
}

const fn built(builder: LayoutBuilder) -> Layout {
    match builder.build() {
        Ok(layout) => layout,
        // PANIC: only at compile time, because the callers are constants.
        Err(_) => panic!("the widths sum to 80"),
    }
}
