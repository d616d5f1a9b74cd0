//! The value: 64 bits and the layout that divides them. What a [`Layout`] makes of texts, parts and times is here.

use core::fmt;

use super::error::LayoutError;
use super::layout::Layout;
use super::text::{self, HexText};
use crate::error::ParseError;

/// A 64-bit ID of the Snowflake family.
///
/// IDs of one layout are ordered as they were made: by tick, then node, then sequence number. The order of IDs of
/// different layouts means nothing.
///
/// ```
/// use imid::snowflake::Layout;
///
/// let id = Layout::TWITTER.parse("204697221847986177")?;
/// assert_eq!(id.timestamp_ms(), 1_337_638_595_436);
/// assert_eq!((id.datacenter(), id.worker(), id.seq()), (Some(1), 3, 1));
/// # Ok::<(), imid::error::ParseError>(())
/// ```
///
/// Past 2⁵³ a JavaScript number is not exact, so JSON should carry the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Snowflake {
    bits: u64,
    layout: &'static Layout,
}

impl Snowflake {
    /// The ID with these bits. Every value is an ID.
    pub const fn from_u64(bits: u64, layout: &'static Layout) -> Self {
        Self { bits, layout }
    }

    /// The ID as a `bigint` column or a Java `long` holds it. Every value is an ID.
    pub const fn from_i64(bits: i64, layout: &'static Layout) -> Self {
        Self::from_u64(bits.cast_unsigned(), layout)
    }

    /// The bits.
    pub const fn to_u64(self) -> u64 {
        self.bits
    }

    /// The bits for a `bigint` column. Negative, and then sorted first there, once the top bit is set.
    pub const fn to_i64(self) -> i64 {
        self.bits.cast_signed()
    }

    /// The layout.
    pub const fn layout(self) -> &'static Layout {
        self.layout
    }

    /// The time: unix milliseconds at which the tick began, rounded down.
    pub const fn timestamp_ms(self) -> u64 {
        self.layout.ms_of(self.tick())
    }

    /// The tick, counted from the layout's first. One bit wider than the layout says where the ID is
    /// [overflowed](Self::is_overflowed).
    pub const fn tick(self) -> u64 {
        self.bits >> self.layout.seq_bits() >> self.layout.node_bits()
    }

    /// The node.
    pub const fn node(self) -> u32 {
        (self.bits >> self.layout.seq_bits()) as u32 & self.layout.node_max()
    }

    /// The high part of the node; `None` where the layout does not divide it.
    pub const fn datacenter(self) -> Option<u32> {
        match self.layout.node_bits() - self.layout.worker_bits() {
            0 => None,
            _ => Some(self.node() >> self.layout.worker_bits()),
        }
    }

    /// The low part of the node, or all of it where the layout does not divide it.
    pub const fn worker(self) -> u32 {
        match self.datacenter() {
            None => self.node(),
            Some(datacenter) => self.node() - (datacenter << self.layout.worker_bits()),
        }
    }

    /// The sequence number within the tick.
    pub const fn seq(self) -> u32 {
        self.bits as u32 & self.layout.seq_max()
    }

    /// Whether the sign bit is set under a layout that has one: the time ran over its field (Leaf's after 2080), and the
    /// number is negative in Java and SQL.
    pub const fn is_overflowed(self) -> bool {
        self.layout.has_sign() && self.to_i64() < 0
    }

    /// The 16 hex digits, under any layout.
    pub fn to_hex(self) -> HexText {
        HexText::new(self.bits)
    }
}

impl Layout {
    /// Reads a text as this layout's owners write it: decimal without leading zeros, or 16 hex digits in lower case.
    ///
    /// Under a layout with a sign bit a negative number and the unsigned one of the same bits are the same ID.
    ///
    /// # Errors
    /// Any other text; more than 64 bits; a negative number where there is no sign bit.
    pub fn parse(&'static self, text: &str) -> Result<Snowflake, ParseError> {
        self.parse_bytes(text.as_bytes())
    }

    /// [`parse`](Self::parse) for text that has not been checked to be UTF-8.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub fn parse_bytes(&'static self, text: &[u8]) -> Result<Snowflake, ParseError> {
        let bits = if self.is_hex() { text::parse_hex(text) } else { text::parse_decimal(text, self.has_sign()) };
        Ok(Snowflake::from_u64(bits?, self))
    }

    /// The ID with these parts; the time is rounded down to a tick.
    ///
    /// Made for tests and imports. A [`Generator`](super::Generator) is what keeps IDs distinct.
    ///
    /// # Errors
    /// A time before the first tick or past the last one; a node or a sequence number past its greatest.
    pub const fn try_from_parts(&'static self, ms: u64, node: u32, seq: u32) -> Result<Snowflake, LayoutError> {
        match (self.tick_at(ms), self.check_node(node), self.check_seq(seq)) {
            (Ok(tick), Ok(node), Ok(seq)) => Ok(Snowflake::from_u64(self.compose(tick, node, seq), self)),
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => Err(error),
        }
    }

    /// The least ID of a time: every ID of `ms` unix milliseconds or later is at least this one.
    ///
    /// # Errors
    /// A time before the first tick or past the last one.
    pub const fn first_at(&'static self, ms: u64) -> Result<Snowflake, LayoutError> {
        match self.first_tick_from(ms) {
            Ok(tick) => Ok(Snowflake::from_u64(self.compose(tick, 0, 0), self)),
            Err(error) => Err(error),
        }
    }

    /// The greatest ID of a time: every ID of `ms` unix milliseconds or earlier is at most this one.
    ///
    /// With [`first_at`](Self::first_at) it bounds a scan (`BETWEEN`). Where a tick is longer than a millisecond, a
    /// millisecond in which none begins gives an empty range.
    ///
    /// # Errors
    /// A time before the first tick or past the last one.
    pub const fn last_at(&'static self, ms: u64) -> Result<Snowflake, LayoutError> {
        match self.last_tick_in(ms) {
            Ok(tick) => {
                let bits = self.compose(tick, self.node_max() as u64, self.seq_max() as u64);
                Ok(Snowflake::from_u64(bits, self))
            }
            Err(error) => Err(error),
        }
    }
}

/// As the layout's owners write it: decimal (signed where there is a sign bit), or 16 hex digits. Width and alignment are
/// honoured.
impl fmt::Display for Snowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.layout.is_hex() {
            fmt::Display::fmt(&self.to_hex(), f)
        } else if self.layout.has_sign() {
            fmt::Display::fmt(&self.to_i64(), f)
        } else {
            fmt::Display::fmt(&self.bits, f)
        }
    }
}

impl fmt::Debug for Snowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snowflake({}, {self})", self.layout.name())
    }
}

impl From<Snowflake> for u64 {
    fn from(id: Snowflake) -> Self {
        id.to_u64()
    }
}

impl From<Snowflake> for i64 {
    fn from(id: Snowflake) -> Self {
        id.to_i64()
    }
}
