//! The value: 64 bits and the layout that divides them.

use core::fmt;

use super::layout::Layout;
use super::text::HexText;

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
