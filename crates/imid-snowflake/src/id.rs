//! The value: 64 bits and their layout. The methods of [`Layout`] that return IDs are also here.

use core::cmp::Ordering;
use core::fmt;
use core::ops::{Bound, RangeBounds, RangeInclusive};
use core::time::Duration;

use crate::error::{Expected, LengthError, ParseError, RangeError, TimeRangeError};
use crate::layout::{Layout, TextForm};
use crate::text::{HexText, parse_decimal, parse_hex};

/// A 64-bit ID of the Snowflake family, together with its layout.
///
/// IDs of one layout are ordered by tick, then node, then sequence number. IDs of different layouts are ordered by their bits, so
/// that one sorted map can hold both; that is not the order of their times.
///
/// ```
/// use imid_snowflake::Layout;
///
/// let id = Layout::TWITTER.parse("204697221847986177")?;
/// assert_eq!(id.timestamp_ms(), 1_337_638_595_436);
/// assert_eq!((id.datacenter(), id.worker(), id.sequence()), (Some(1), 3, 1));
/// # Ok::<(), imid_snowflake::ParseError>(())
/// ```
///
/// JavaScript's numbers are exact only up to 2⁵³, so use the text in JSON.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Snowflake {
    bits: u64,
    layout: Layout,
}

/// The parts of a [`Snowflake`], for [`Layout::try_from_parts`].
// The fields are public and no field will follow: every layout has these three, and datacenter and worker are in the node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SnowflakeParts {
    /// Unix milliseconds.
    pub timestamp_ms: u64,
    /// The node, 0 to [`Layout::node_max`].
    pub node: u32,
    /// The sequence number within the tick, 0 to [`Layout::sequence_max`].
    pub sequence: u32,
}

impl Snowflake {
    /// Length of the byte form: 8.
    pub const BYTE_LEN: usize = 8;

    /// Length of the hex form: 16.
    pub const HEX_LEN: usize = 2 * Self::BYTE_LEN;

    /// Returns the ID with these bits. Every value is an ID.
    pub const fn from_u64(bits: u64, layout: Layout) -> Self {
        Self { bits, layout }
    }

    /// Returns the bits.
    pub const fn to_u64(self) -> u64 {
        self.bits
    }

    /// Returns the ID with these bits, as in a `bigint` column or a Java `long`. Every value is an ID.
    pub const fn from_i64(bits: i64, layout: Layout) -> Self {
        Self::from_u64(bits.cast_unsigned(), layout)
    }

    /// Returns the bits as a signed number, for a `bigint` column. If the top bit is set, the number is negative, so the
    /// column sorts it before the others.
    pub const fn to_i64(self) -> i64 {
        self.bits.cast_signed()
    }

    /// Returns the ID with these bytes, most significant first. Every value is an ID.
    pub const fn from_bytes(bytes: [u8; Self::BYTE_LEN], layout: Layout) -> Self {
        Self::from_u64(u64::from_be_bytes(bytes), layout)
    }

    /// Returns the ID with the bytes of a slice, most significant first.
    ///
    /// # Errors
    /// The slice does not have 8 bytes.
    pub const fn from_slice(bytes: &[u8], layout: Layout) -> Result<Self, LengthError> {
        match bytes.first_chunk() {
            Some(all) if bytes.len() == Self::BYTE_LEN => Ok(Self::from_bytes(*all, layout)),
            _ => Err(LengthError::new(bytes.len())),
        }
    }

    /// Returns the 8 bytes, most significant first, so that the order of bytes is the order of IDs.
    pub const fn to_bytes(self) -> [u8; Self::BYTE_LEN] {
        self.bits.to_be_bytes()
    }

    /// Reads 16 hex digits in either case, under any layout.
    ///
    /// # Errors
    /// The text is not 16 hex digits: for example it has 15, or it begins with `0x`.
    pub fn from_hex(text: &str, layout: Layout) -> Result<Self, ParseError> {
        Ok(Self::from_u64(parse_hex(text.as_bytes(), Expected::HexDigit)?, layout))
    }

    /// Returns the 16 hex digits in lower case, under any layout.
    pub fn to_hex(self) -> HexText {
        HexText::new(self.bits)
    }

    /// Returns the layout.
    pub const fn layout(self) -> Layout {
        self.layout
    }

    /// Returns the time at which the tick begins, in Unix milliseconds, rounded down.
    pub const fn timestamp_ms(self) -> u64 {
        self.layout.ms_of(self.tick())
    }

    /// Returns the exact time at which the tick begins, as a duration since 1970-01-01T00:00:00Z. It need not be a
    /// whole number of milliseconds.
    pub const fn since_unix_epoch(self) -> Duration {
        self.layout.time_of(self.tick())
    }

    /// Returns the time at which the tick begins, as a `SystemTime`. On Windows that has steps of 100 ns and is rounded down; the
    /// built-in layouts have whole milliseconds, except [`Layout::NSQ`].
    #[cfg(feature = "std")]
    pub fn time(self) -> std::time::SystemTime {
        // The sum does not overflow: a layout's last tick is before the year 10000.
        std::time::UNIX_EPOCH + self.since_unix_epoch()
    }

    /// Returns the tick, counted from the layout's first. If the ID is [overflowed](Self::is_overflowed), it is one bit
    /// wider than [`Layout::tick_bits`].
    pub const fn tick(self) -> u64 {
        self.bits >> self.layout.sequence_bits() >> self.layout.node_bits()
    }

    /// Returns the node, 0 to [`Layout::node_max`].
    pub const fn node(self) -> u32 {
        (self.bits >> self.layout.sequence_bits()) as u32 & self.layout.node_max()
    }

    /// Returns the high part of the node, or `None` if the layout does not divide the node.
    pub const fn datacenter(self) -> Option<u32> {
        match self.layout.node_bits() - self.layout.worker_bits() {
            0 => None,
            _ => Some(self.node() >> self.layout.worker_bits()),
        }
    }

    /// Returns the low part of the node, or the whole node if the layout does not divide it.
    pub const fn worker(self) -> u32 {
        match self.datacenter() {
            None => self.node(),
            Some(datacenter) => self.node() - (datacenter << self.layout.worker_bits()),
        }
    }

    /// Returns the sequence number within the tick, 0 to [`Layout::sequence_max`].
    pub const fn sequence(self) -> u32 {
        self.bits as u32 & self.layout.sequence_max()
    }

    /// Returns time, node and sequence number. [`Layout::try_from_parts`] recreates the ID from them, unless a tick is shorter than
    /// a millisecond or the ID is [overflowed](Self::is_overflowed).
    pub const fn parts(self) -> SnowflakeParts {
        SnowflakeParts { timestamp_ms: self.timestamp_ms(), node: self.node(), sequence: self.sequence() }
    }

    /// Returns whether the layout has a sign bit and this bit is set. The time is then after the layout's last tick
    /// (Leaf's last tick is in 2080), and the number is negative in Java and SQL.
    pub const fn is_overflowed(self) -> bool {
        self.layout.has_sign() && self.to_i64() < 0
    }
}

impl Layout {
    /// Reads a text as this layout's owners write it: decimal without leading zeros, or 16 hex digits in lower case.
    ///
    /// If the layout has a sign bit, a negative number and the unsigned number with the same bits are the same ID.
    ///
    /// # Errors
    /// The text has another form, such as `007`, `+5` or one with white space; the number has more than 64 bits; the
    /// number is negative and the layout has no sign bit.
    pub fn parse(self, text: &str) -> Result<Snowflake, ParseError> {
        self.parse_bytes(text.as_bytes())
    }

    /// Reads a text as [`parse`](Self::parse) does, from bytes that need not be UTF-8.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub fn parse_bytes(self, text: &[u8]) -> Result<Snowflake, ParseError> {
        let bits = match self.text_form() {
            TextForm::Decimal => parse_decimal(text, self.has_sign())?,
            TextForm::Hex => parse_hex(text, Expected::LowerHexDigit)?,
        };
        Ok(Snowflake::from_u64(bits, self))
    }

    /// Creates an ID from its parts, for tests and imports. Equal parts give equal IDs; use a [`Generator`](super::Generator) for
    /// unique ones.
    ///
    /// The tick is the first one that begins in the millisecond. If no tick begins in it, the tick is the last one that
    /// begins before it.
    ///
    /// ```
    /// use imid_snowflake::{Layout, SnowflakeParts};
    ///
    /// let id = Layout::LEAF.try_from_parts(SnowflakeParts { timestamp_ms: 1_567_733_700_834, node: 39, sequence: 3_448 })?;
    /// assert_eq!(id.to_string(), "1169786042799259000");
    /// # Ok::<(), imid_snowflake::RangeError>(())
    /// ```
    ///
    /// # Errors
    /// The time is before the first tick or after the last one; the node or the sequence number does not fit its field,
    /// such as node 1,024 in 10 bits.
    pub const fn try_from_parts(self, parts: SnowflakeParts) -> Result<Snowflake, RangeError> {
        let SnowflakeParts { timestamp_ms, node, sequence } = parts;
        let ticks = (self.first_tick_from(timestamp_ms), self.last_tick_in(timestamp_ms));
        match (ticks, self.check_node(node), self.check_sequence(sequence)) {
            ((Ok(from), Ok(until)), Ok(()), Ok(())) => {
                let tick = if from < until { from } else { until };
                Ok(Snowflake::from_u64(self.compose(tick, node, sequence), self))
            }
            ((Err(error), _) | (_, Err(error)), ..) | (_, Err(error), _) | (.., Err(error)) => Err(error),
        }
    }

    /// Returns the smallest ID of a Unix millisecond: no ID of that millisecond or a later one is smaller.
    ///
    /// # Errors
    /// The time is before the first tick or after the last one.
    pub const fn first_at(self, ms: u64) -> Result<Snowflake, RangeError> {
        match self.first_tick_from(ms) {
            Ok(tick) => Ok(Snowflake::from_u64(self.compose(tick, 0, 0), self)),
            Err(error) => Err(error),
        }
    }

    /// Returns the greatest ID of a Unix millisecond: no ID of that millisecond or an earlier one is greater.
    ///
    /// It is less than [`first_at`](Self::first_at) of the same time if no tick begins in the millisecond.
    ///
    /// # Errors
    /// The time is before the first tick or after the last one.
    pub const fn last_at(self, ms: u64) -> Result<Snowflake, RangeError> {
        match self.last_tick_in(ms) {
            Ok(tick) => Ok(Snowflake::from_u64(self.compose(tick, self.node_max(), self.sequence_max()), self)),
            Err(error) => Err(error),
        }
    }

    /// Returns the first and the last ID of a range of Unix milliseconds, for a scan by time in a store (`BETWEEN`). An
    /// open end of the range is the end of the layout's time.
    ///
    /// ```
    /// use imid_snowflake::Layout;
    ///
    /// let day = Layout::DISCORD.range(1_462_060_800_000..1_462_147_200_000)?;
    /// assert_eq!((day.start().to_u64(), day.end().to_u64()), (176_120_502_681_600_000, 176_482_890_547_199_999));
    /// # Ok::<(), imid_snowflake::TimeRangeError>(())
    /// ```
    ///
    /// # Errors
    /// A bound is before the first tick or after the last one ([`last_ms`](Self::last_ms) + 1 is valid as an excluded
    /// end); no tick begins in the range, such as `5..5`.
    pub fn range(self, times: impl RangeBounds<u64>) -> Result<RangeInclusive<Snowflake>, TimeRangeError> {
        let from = match times.start_bound() {
            Bound::Included(&ms) => ms,
            Bound::Excluded(&ms) => ms.saturating_add(1),
            Bound::Unbounded => self.first_ms(),
        };
        // `None` before millisecond 0.
        let last = match times.end_bound() {
            Bound::Included(&ms) => Some(ms),
            Bound::Excluded(&ms) => ms.checked_sub(1),
            Bound::Unbounded => Some(self.last_ms()),
        };
        let first = self.first_at(from)?;
        let empty = TimeRangeError::empty(from, last.map_or(0, |last| last.saturating_add(1)));
        let last = last.filter(|last| from <= *last).ok_or(empty)?;
        let last = self.last_at(last)?;
        if first <= last { Ok(first..=last) } else { Err(empty) }
    }
}

/// Compares the bits, and the layouts if the bits are equal.
impl Ord for Snowflake {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bits.cmp(&other.bits).then_with(|| self.layout.rank().cmp(&other.layout.rank()))
    }
}

impl PartialOrd for Snowflake {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Formats the ID as the layout's owners write it: in decimal, signed if there is a sign bit, or as 16 hex digits.
/// Width and alignment apply.
impl fmt::Display for Snowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layout.text_form() {
            TextForm::Hex => fmt::Display::fmt(&self.to_hex(), f),
            TextForm::Decimal if self.layout.has_sign() => fmt::Display::fmt(&self.to_i64(), f),
            TextForm::Decimal => fmt::Display::fmt(&self.bits, f),
        }
    }
}

/// Formats the name of the layout, or `custom`, and the text.
impl fmt::Debug for Snowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snowflake({}, {self})", self.layout.name().unwrap_or("custom"))
    }
}

/// Formats the 16 hex digits in lower case, leading zeros included. `{:#x}` puts `0x` before them.
impl fmt::LowerHex for Snowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_hex().fmt_lower(f)
    }
}

/// Formats the 16 hex digits in upper case, leading zeros included. `{:#X}` puts `0x` before them.
impl fmt::UpperHex for Snowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_hex().fmt_upper(f)
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

impl From<Snowflake> for [u8; Snowflake::BYTE_LEN] {
    fn from(id: Snowflake) -> Self {
        id.to_bytes()
    }
}

/// Returns the 8 [bytes](Snowflake::to_bytes).
#[cfg(feature = "std")]
impl From<Snowflake> for Vec<u8> {
    fn from(id: Snowflake) -> Self {
        id.to_bytes().into()
    }
}

impl From<Snowflake> for SnowflakeParts {
    fn from(id: Snowflake) -> Self {
        id.parts()
    }
}

/// The text that `Display` writes.
#[cfg(feature = "std")]
impl From<Snowflake> for String {
    fn from(id: Snowflake) -> Self {
        id.to_string()
    }
}
