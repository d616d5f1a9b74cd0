//! How a Snowflake divides its 64 bits, and what its time counts.
//!
//! ```text
//!  63    62                    22 21          12 11            0
//! +------+------------------------+-------------+--------------+
//! | sign |        tick: 41        |  node: 10   |   seq: 12    |     Twitter; others move the borders
//! +------+------------------------+-------------+--------------+
//!                                  datacenter | worker
//! ```

use core::time::Duration;

use super::error::{LayoutError, LayoutKind};
use super::id::Snowflake;
use super::text;
use crate::error::ParseError;

/// Where the fields of a [`Snowflake`] are, how long a tick is, and when it began to count.
///
/// | constant | sign, tick, node, seq | first tick | last tick | written as |
/// | --- | --- | --- | --- | --- |
/// | [`TWITTER`](Self::TWITTER), [`LEAF`](Self::LEAF) | 1, 41, 10, 12 | 2010-11-04T01:42:54.657Z | 2080-07-10 | decimal |
/// | [`TWITTER_JAVA`](Self::TWITTER_JAVA) | 1, 41, 10, 12 | 2014-12-31T16:00:00Z | 2084-09-06 | decimal |
/// | [`DISCORD`](Self::DISCORD) | 0, 42, 10, 12 | 2015-01-01T00:00:00Z | 2154-05-15 | decimal |
/// | [`NSQ`](Self::NSQ) (a tick is 2²⁰ ns) | 0, 42, 10, 12 | 2012-10-28T16:23:41.999Z | 2158-12-18 | 16 hex digits |
/// | [`NSQ_BEFORE_2015`](Self::NSQ_BEFORE_2015) | 0, 42, 10, 12 | 2010-11-04T01:42:54.657Z | 2150-03-18 | 16 hex digits |
/// | [`ROLLBACK_38_15_10`](Self::ROLLBACK_38_15_10) | 1, 38, 15, 10 | 2017-12-21T00:00:00Z | **2026-09-06** | decimal |
///
/// A set sign bit is read as one more bit of time: that is what the arithmetic of those libraries makes of a clock past
/// the last tick, and such an ID is [flagged](Snowflake::is_overflowed).
///
/// ```
/// use core::time::Duration;
/// use imid::snowflake::Layout;
///
/// const OURS: Layout = match Layout::new("ours", 39, 8, 16, 17_000_000_000, Duration::from_millis(100)) {
///     Ok(layout) => layout,
///     Err(_) => panic!("fields that fit"),
/// };
/// assert_eq!(OURS.parse("33554432")?.timestamp_ms(), 1_700_000_000_200);
/// # Ok::<(), imid::error::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Layout {
    name: &'static str,
    /// The first tick, counted from 1970.
    epoch: u64,
    tick_ns: u64,
    tick_bits: u32,
    node_bits: u32,
    /// The low part of the node that is a worker; the rest is a datacenter.
    worker_bits: u32,
    seq_bits: u32,
    is_hex: bool,
}

const MILLISECOND: Duration = Duration::from_millis(1);
/// NSQ counts nanoseconds and drops 20 bits.
const NSQ_TICK: Duration = Duration::from_nanos(1 << NSQ_DROPPED_BITS);
const NSQ_DROPPED_BITS: u32 = 20;
const NS_PER_MS: u64 = 1_000_000;
/// A tick of more bits would leave its sums with an epoch no room.
const TICK_BITS_MAX: u32 = 48;
/// An hour.
const TICK_NS_MAX: u64 = 3_600_000 * NS_PER_MS;
const TWITTER_EPOCH: u64 = 1_288_834_974_657;

impl Layout {
    /// Twitter's of 2010: 5 bits of datacenter and 5 of worker.
    pub const TWITTER: Self = built_in("twitter", [41, 10, 12], TWITTER_EPOCH, MILLISECOND).with_worker_bits(5);

    /// The Java port that counts from 2015-01-01 in China.
    pub const TWITTER_JAVA: Self =
        built_in("twitter-java", [41, 10, 12], 1_420_041_600_000, MILLISECOND).with_worker_bits(5);

    /// Discord's: 5 bits that it calls worker (here the datacenter) and 5 that it calls process (here the worker).
    pub const DISCORD: Self = built_in("discord", [42, 10, 12], 1_420_070_400_000, MILLISECOND).with_worker_bits(5);

    /// NSQ's since 2015, when its tick became 2²⁰ ns: its new IDs sort before its old ones.
    pub const NSQ: Self = built_in("nsq", [42, 10, 12], 1_288_834_974_288, NSQ_TICK).in_hex();

    /// NSQ's until 2015.
    pub const NSQ_BEFORE_2015: Self = built_in("nsq-before-2015", [42, 10, 12], TWITTER_EPOCH, MILLISECOND).in_hex();

    /// Meituan Leaf's: Twitter's bits, the node undivided.
    pub const LEAF: Self = built_in("leaf", [41, 10, 12], TWITTER_EPOCH, MILLISECOND);

    /// The layout of the article on clock rollback: 15 bits of node, so that there are nodes to swap.
    pub const ROLLBACK_38_15_10: Self = built_in("rollback-38-15-10", [38, 15, 10], 1_513_814_400_000, MILLISECOND);

    /// The built-in layouts, in the order in which [`identify`](crate::identify::identify_at) prefers them.
    pub const ALL: &'static [Self] = &[
        Self::TWITTER,
        Self::LEAF,
        Self::DISCORD,
        Self::TWITTER_JAVA,
        Self::ROLLBACK_38_15_10,
        Self::NSQ,
        Self::NSQ_BEFORE_2015,
    ];

    /// The layout of these widths, with a sign bit above them if they sum to 63. The node is one number and the text is
    /// decimal, unless a setter below changes that.
    ///
    /// `epoch` is the first tick, counted in ticks from 1970-01-01T00:00:00Z: with ticks of a millisecond, unix
    /// milliseconds.
    ///
    /// # Errors
    /// Widths that sum to neither 63 nor 64; a tick of 0 or more than 48 bits, a node of 0 or more than 32, a
    /// sequence of more than 32; a tick of no time or of more than an hour; an epoch of 2⁴⁸ ticks or more; times of
    /// more than 64 bits.
    pub const fn new(
        name: &'static str,
        tick_bits: u32,
        node_bits: u32,
        seq_bits: u32,
        epoch: u64,
        tick: Duration,
    ) -> Result<Self, LayoutError> {
        // Saturates where it is refused anyway.
        let tick_ns = tick.as_secs().saturating_mul(1_000 * NS_PER_MS).saturating_add(tick.subsec_nanos() as u64);
        let ranges = [
            ("a tick", " bits", tick_bits as u64, 1, TICK_BITS_MAX as u64),
            ("a node", " bits", node_bits as u64, 1, u32::BITS as u64),
            ("a sequence", " bits", seq_bits as u64, 0, u32::BITS as u64),
            ("a tick", " ns", tick_ns, 1, TICK_NS_MAX),
            ("an epoch", " ticks", epoch, 0, max_of(TICK_BITS_MAX)),
        ];
        let mut at = 0;
        while at < ranges.len() {
            let (what, unit, found, min, max) = ranges[at];
            if let Err(error) = LayoutError::check(what, unit, found, min, max) {
                return Err(error);
            }
            at += 1;
        }
        let sum = tick_bits + node_bits + seq_bits;
        if sum != u64::BITS && sum != u64::BITS - 1 {
            return Err(LayoutError::new(LayoutKind::Sum { found: sum }));
        }
        let layout =
            Self { name, epoch, tick_ns, tick_bits, node_bits, worker_bits: node_bits, seq_bits, is_hex: false };
        // With the sign bit for time, too.
        match LayoutError::check("a last time", " ms", layout.ms_of(max_of(tick_bits + 1)), 0, u64::MAX - 1) {
            Ok(_) => Ok(layout),
            Err(error) => Err(error),
        }
    }

    /// Splits the node: the low bits are a worker, those above it a datacenter. More bits than the node has are all of it.
    #[must_use]
    pub const fn with_worker_bits(self, bits: u32) -> Self {
        let worker_bits = if bits < self.node_bits { bits } else { self.node_bits };
        Self { worker_bits, ..self }
    }

    /// Writes and reads 16 hex digits in lower case, as NSQ does.
    #[must_use]
    pub const fn in_hex(self) -> Self {
        Self { is_hex: true, ..self }
    }

    /// The built-in layout of this name, such as `twitter-java`.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|layout| layout.name == name)
    }

    /// The name: `twitter`, `twitter-java`, `discord`, `nsq`, `nsq-before-2015`, `leaf`, `rollback-38-15-10`, or what the
    /// caller chose.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Widths of tick (without a sign bit above it), node and sequence number, in bits.
    pub const fn widths(&self) -> [u32; 3] {
        [self.tick_bits, self.node_bits, self.seq_bits]
    }

    /// The greatest node.
    pub const fn node_max(&self) -> u32 {
        max_of(self.node_bits) as u32
    }

    /// The greatest sequence number.
    pub const fn seq_max(&self) -> u32 {
        max_of(self.seq_bits) as u32
    }

    /// The length of a tick.
    pub const fn tick(&self) -> Duration {
        Duration::from_nanos(self.tick_ns)
    }

    /// The time of the first tick, in unix milliseconds, rounded down.
    pub const fn first_ms(&self) -> u64 {
        self.ms_of(0)
    }

    /// The time of the last tick below the sign bit, in unix milliseconds, rounded down.
    pub const fn last_ms(&self) -> u64 {
        self.ms_of(self.last_tick())
    }

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
        let bits = if self.is_hex { text::parse_hex(text) } else { text::parse_decimal(text, self.has_sign()) };
        Ok(Snowflake::from_u64(bits?, self))
    }

    /// The ID with these parts; the time is rounded down to a tick.
    ///
    /// Made for tests and imports. A [`Generator`](super::Generator) is what keeps IDs distinct.
    ///
    /// # Errors
    /// A time before the first tick or past the last one; a node or a sequence number past its greatest.
    pub const fn try_from_parts(&'static self, ms: u64, node: u32, seq: u32) -> Result<Snowflake, LayoutError> {
        let seq_ok = LayoutError::check("a sequence number", "", seq as u64, 0, self.seq_max() as u64);
        match (self.tick_at(ms), self.check_node(node), seq_ok) {
            (Ok(tick), Ok(node), Ok(seq)) => Ok(self.compose(tick, node, seq)),
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => Err(error),
        }
    }

    /// The least ID of a time: every ID of `ms` unix milliseconds or later is at least this one.
    ///
    /// # Errors
    /// A time before the first tick or past the last one.
    pub const fn first_at(&'static self, ms: u64) -> Result<Snowflake, LayoutError> {
        match self.tick_begun(ms, self.tick_ns - 1) {
            Ok(tick) => Ok(self.compose(tick, 0, 0)),
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
        match self.tick_begun(ms, NS_PER_MS - 1) {
            Ok(tick) => Ok(self.compose(tick, self.node_max() as u64, self.seq_max() as u64)),
            Err(error) => Err(error),
        }
    }

    /// The tick that has begun at the start of a millisecond, counted from the epoch.
    pub(super) const fn tick_at(&self, ms: u64) -> Result<u64, LayoutError> {
        self.tick_begun(ms, 0)
    }

    /// The tick that has begun so many nanoseconds into a millisecond.
    const fn tick_begun(&self, ms: u64, ns: u64) -> Result<u64, LayoutError> {
        if let Err(error) = LayoutError::check("a time", " ms", ms, self.first_ms(), self.last_ms()) {
            return Err(error);
        }
        let ticks = (ms as u128 * NS_PER_MS as u128 + ns as u128) / self.tick_ns as u128;
        let tick = (ticks as u64).saturating_sub(self.epoch);
        Ok(if tick < self.last_tick() { tick } else { self.last_tick() })
    }

    /// The time of a tick in unix milliseconds, rounded down.
    pub(super) const fn ms_of(&self, tick: u64) -> u64 {
        let ns = (self.epoch + tick) as u128 * self.tick_ns as u128;
        let ms = ns / NS_PER_MS as u128;
        // `new` refuses what saturates.
        if ms < u64::MAX as u128 { ms as u64 } else { u64::MAX }
    }

    /// The unix millisecond from which on a tick has begun.
    pub(super) const fn reached_at(&self, tick: u64) -> u64 {
        let ns = (self.epoch + tick) as u128 * self.tick_ns as u128;
        ns.div_ceil(NS_PER_MS as u128) as u64
    }

    pub(super) const fn check_node(&self, node: u32) -> Result<u64, LayoutError> {
        LayoutError::check("a node", "", node as u64, 0, self.node_max() as u64)
    }

    /// The greatest tick below the sign bit.
    pub(super) const fn last_tick(&self) -> u64 {
        max_of(self.tick_bits)
    }

    pub(super) const fn node_bits(&self) -> u32 {
        self.node_bits
    }

    pub(super) const fn seq_bits(&self) -> u32 {
        self.seq_bits
    }

    /// The width of tick and sequence number, without the node.
    pub(super) const fn stamp_bits(&self) -> u32 {
        self.tick_bits + self.seq_bits
    }

    pub(super) const fn worker_bits(&self) -> u32 {
        self.worker_bits
    }

    pub(super) const fn is_hex(&self) -> bool {
        self.is_hex
    }

    pub(super) const fn has_sign(&self) -> bool {
        self.tick_bits + self.node_bits + self.seq_bits < u64::BITS
    }

    const fn compose(&'static self, tick: u64, node: u64, seq: u64) -> Snowflake {
        Snowflake::from_u64((tick << self.node_bits | node) << self.seq_bits | seq, self)
    }
}

/// The greatest value of so many bits, fewer than 64.
const fn max_of(bits: u32) -> u64 {
    (1 << bits) - 1
}

const fn built_in(name: &'static str, [tick, node, seq]: [u32; 3], epoch: u64, length: Duration) -> Layout {
    match Layout::new(name, tick, node, seq, epoch, length) {
        Ok(layout) => layout,
        // PANIC: when it is compiled, if ever.
        Err(_) => panic!("the fields fit"),
    }
}
