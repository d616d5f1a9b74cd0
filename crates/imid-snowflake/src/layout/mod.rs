//! How a Snowflake divides its 64 bits, and how its ticks count time. This file has only arithmetic, without text and
//! IDs.
//!
//! ```text
//!  63    62                    22 21          12 11            0
//! +------+------------------------+-------------+--------------+
//! | sign |        tick: 41        |  node: 10   | sequence: 12 |     Twitter; others move the borders
//! +------+------------------------+-------------+--------------+
//!                                  datacenter | worker
//! ```

mod builder;

use core::time::Duration;

pub use builder::LayoutBuilder;

use crate::error::{Quantity, RangeError};

/// The fields of a [`Snowflake`](crate::Snowflake), the length of a tick, the time of the first tick, and the form of
/// the text.
///
/// | constant | sign, tick, node, sequence | first tick | last tick | text |
/// | --- | --- | --- | --- | --- |
/// | [`TWITTER`](Self::TWITTER), [`LEAF`](Self::LEAF) | 1, 41, 10, 12 | 2010-11-04T01:42:54.657Z | 2080-07-10 | decimal |
/// | [`TWITTER_JAVA`](Self::TWITTER_JAVA) | 1, 41, 10, 12 | 2014-12-31T16:00:00Z | 2084-09-06 | decimal |
/// | [`DISCORD`](Self::DISCORD) | 0, 42, 10, 12 | 2015-01-01T00:00:00Z | 2154-05-15 | decimal |
/// | [`NSQ`](Self::NSQ) (a tick is 2²⁰ ns) | 0, 42, 10, 12 | 2012-10-28T16:23:41.999Z | 2158-12-18 | hex |
/// | [`NSQ_BEFORE_2015`](Self::NSQ_BEFORE_2015) | 0, 42, 10, 12 | 2010-11-04T01:42:54.657Z | 2150-03-18 | hex |
/// | [`ROLLBACK_38_15_10`](Self::ROLLBACK_38_15_10) | 1, 38, 15, 10 | 2017-12-21T00:00:00Z | **2026-09-06** | decimal |
///
/// After the last tick, the originals' time overflows into the sign bit. A set sign bit is therefore read as one more bit of the
/// tick, and [`is_overflowed`](crate::Snowflake::is_overflowed) returns `true`.
///
/// ```
/// use core::time::Duration;
/// use imid_snowflake::Layout;
///
/// const OURS: Layout = match Layout::builder()
///     .tick_bits(39)
///     .node_bits(8)
///     .sequence_bits(16)
///     .epoch(Duration::from_secs(1_700_000_000))
///     .tick(Duration::from_millis(100))
///     .build()
/// {
///     Ok(layout) => layout,
///     Err(_) => panic!("the fields fill 63 bits"),
/// };
/// assert_eq!(OURS.parse("33554432")?.timestamp_ms(), 1_700_000_000_200);
/// # Ok::<(), imid_snowflake::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    epoch_ns: u64,
    tick_ns: u64,
    // Each width is a byte, because an ID contains its layout.
    tick_bits: u8,
    node_bits: u8,
    worker_bits: u8,
    sequence_bits: u8,
    text_form: TextForm,
}

/// How the IDs of a [`Layout`] are written as text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum TextForm {
    /// A decimal number without leading zeros. It is signed if the layout has a sign bit.
    #[default]
    Decimal,
    /// 16 hex digits in lower case, as NSQ writes them.
    Hex,
}

const NS_PER_MS: u128 = 1_000_000;
const NS_PER_S: u128 = 1_000 * NS_PER_MS;

const TIME: &Quantity = &Quantity("a time", " ms");
const NODE: &Quantity = &Quantity("a node", "");
const SEQUENCE: &Quantity = &Quantity("a sequence number", "");

impl Layout {
    /// Returns the width of the tick in bits, without the sign bit: 1 to 48.
    pub const fn tick_bits(self) -> u32 {
        self.tick_bits as u32
    }

    /// Returns the width of the node in bits: 1 to 32.
    pub const fn node_bits(self) -> u32 {
        self.node_bits as u32
    }

    /// Returns the width of the low part of the node in bits. The low part is the worker, and the rest is the
    /// datacenter. If the layout does not divide the node, it is the whole width.
    pub const fn worker_bits(self) -> u32 {
        self.worker_bits as u32
    }

    /// Returns the width of the sequence number in bits: 0 to 32.
    pub const fn sequence_bits(self) -> u32 {
        self.sequence_bits as u32
    }

    /// Returns the time at which the first tick begins, as a duration since 1970-01-01T00:00:00Z.
    pub const fn epoch(self) -> Duration {
        Duration::from_nanos(self.epoch_ns)
    }

    /// Returns the length of a tick.
    pub const fn tick(self) -> Duration {
        Duration::from_nanos(self.tick_ns)
    }

    /// Returns how the IDs are written as text.
    pub const fn text_form(self) -> TextForm {
        self.text_form
    }

    /// Returns whether the top bit is a sign bit: the fields fill 63 bits.
    pub const fn has_sign(self) -> bool {
        self.tick_bits() + self.node_bits() + self.sequence_bits() < u64::BITS
    }

    /// Returns the greatest node.
    pub const fn node_max(self) -> u32 {
        max_of(self.node_bits()) as u32
    }

    /// Returns the greatest sequence number.
    pub const fn sequence_max(self) -> u32 {
        max_of(self.sequence_bits()) as u32
    }

    /// Returns the time at which the first tick begins, in Unix milliseconds, rounded down.
    pub const fn first_ms(self) -> u64 {
        self.epoch_ns / NS_PER_MS as u64
    }

    /// Returns the time at which the last tick begins, in Unix milliseconds, rounded down. Ticks with the sign bit set
    /// do not count.
    pub const fn last_ms(self) -> u64 {
        self.ms_of(self.last_tick())
    }

    /// Returns the last tick: the greatest without the sign bit.
    pub(crate) const fn last_tick(self) -> u64 {
        max_of(self.tick_bits())
    }

    /// Returns the time at which a tick begins.
    pub(crate) const fn time_of(self, tick: u64) -> Duration {
        let ns = self.ns_of(tick);
        Duration::new((ns / NS_PER_S) as u64, (ns % NS_PER_S) as u32)
    }

    /// Returns the time at which a tick begins, in Unix milliseconds, rounded down.
    pub(crate) const fn ms_of(self, tick: u64) -> u64 {
        (self.ns_of(tick) / NS_PER_MS) as u64
    }

    const fn ns_of(self, tick: u64) -> u128 {
        self.epoch_ns as u128 + tick as u128 * self.tick_ns as u128
    }

    /// Returns the bits of these parts, which fit their fields.
    pub(crate) const fn compose(self, tick: u64, node: u32, sequence: u32) -> u64 {
        (tick << self.node_bits | node as u64) << self.sequence_bits | sequence as u64
    }

    /// Returns the first tick that begins in a millisecond or after it.
    pub(crate) const fn first_tick_from(self, ms: u64) -> Result<u64, RangeError> {
        match self.ns_since_epoch(ms, 0) {
            Ok(ns) => Ok(ns.div_ceil(self.tick_ns as u128) as u64),
            Err(error) => Err(error),
        }
    }

    /// Returns the last tick that begins before the end of a millisecond.
    pub(crate) const fn last_tick_in(self, ms: u64) -> Result<u64, RangeError> {
        match self.ns_since_epoch(ms, NS_PER_MS - 1) {
            Ok(ns) => {
                let tick = (ns / self.tick_ns as u128) as u64;
                Ok(if tick < self.last_tick() { tick } else { self.last_tick() })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the nanoseconds from the epoch to `ns` nanoseconds after the start of a millisecond. The epoch can be
    /// inside of the first millisecond. A time before it counts as zero.
    const fn ns_since_epoch(self, ms: u64, ns: u128) -> Result<u128, RangeError> {
        match TIME.check(ms, self.first_ms()..=self.last_ms()) {
            Ok(()) => Ok((ms as u128 * NS_PER_MS + ns).saturating_sub(self.epoch_ns as u128)),
            Err(error) => Err(error),
        }
    }

    /// Returns a key that sorts layouts in an order without a meaning. Only equal layouts have equal keys.
    pub(crate) const fn rank(self) -> (u64, u64, [u8; 5]) {
        let Self { epoch_ns, tick_ns, tick_bits, node_bits, worker_bits, sequence_bits, text_form } = self;
        (epoch_ns, tick_ns, [tick_bits, node_bits, worker_bits, sequence_bits, text_form as u8])
    }

    /// Returns an error if a node does not fit the layout.
    pub(crate) const fn check_node(self, node: u32) -> Result<(), RangeError> {
        NODE.check(node as u64, 0..=self.node_max() as u64)
    }

    /// Returns an error if a sequence number does not fit the layout.
    pub(crate) const fn check_sequence(self, sequence: u32) -> Result<(), RangeError> {
        SEQUENCE.check(sequence as u64, 0..=self.sequence_max() as u64)
    }
}

// Only generators use these.
#[cfg(target_has_atomic = "64")]
impl Layout {
    /// Returns the tick that is running at the start of a millisecond, or `None` before the first tick and after
    /// the last one.
    ///
    /// The epoch can be inside of the first millisecond. The first tick then counts as running from the start of it.
    pub(crate) const fn tick_at(self, ms: u64) -> Option<u64> {
        if ms < self.first_ms() {
            return None;
        }
        // Most layouts have ticks of a millisecond, which need no division by a variable.
        let tick = if self.tick_ns as u128 == NS_PER_MS {
            ms.saturating_sub(self.epoch_ns.div_ceil(NS_PER_MS as u64))
        } else {
            saturating(self.ns_after_epoch(ms) / self.tick_ns as u128)
        };
        if tick <= self.last_tick() { Some(tick) } else { None }
    }

    /// Returns the first tick that begins at a millisecond or after it. After the last tick, returns the one after
    /// it.
    pub(crate) const fn tick_from(self, ms: u64) -> u64 {
        self.or_end(self.ns_after_epoch(ms).div_ceil(self.tick_ns as u128))
    }

    /// Returns the first tick that ends after a millisecond has begun. After the last tick, returns the one after it.
    pub(crate) const fn tick_until(self, ms: u64) -> u64 {
        self.or_end(self.ns_after_epoch(ms) / self.tick_ns as u128)
    }

    /// Returns the nanoseconds from the epoch to the start of a millisecond, and 0 before the epoch.
    const fn ns_after_epoch(self, ms: u64) -> u128 {
        (ms as u128 * NS_PER_MS).saturating_sub(self.epoch_ns as u128)
    }

    const fn or_end(self, tick: u128) -> u64 {
        let end = self.last_tick() + 1;
        if tick < end as u128 { tick as u64 } else { end }
    }

    /// Returns the first Unix millisecond that starts at the start of a tick or after it.
    pub(crate) const fn reached_at(self, tick: u64) -> u64 {
        self.ns_of(tick).div_ceil(NS_PER_MS) as u64
    }

    /// Returns the width of tick and sequence number together, in bits.
    pub(crate) const fn stamp_bits(self) -> u32 {
        self.tick_bits() + self.sequence_bits()
    }
}

/// Returns the greatest value of this many bits, fewer than 64.
const fn max_of(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Returns the number, or `u64::MAX` if it is greater. No range of a setting contains `u64::MAX`.
const fn saturating(number: u128) -> u64 {
    if number < u64::MAX as u128 { number as u64 } else { u64::MAX }
}

#[cfg(all(test, target_has_atomic = "64"))]
mod tests {
    use super::*;

    #[test]
    fn a_tick_runs_from_its_time_until_the_next() {
        let layout = |tick, epoch_ns| {
            let builder = Layout::builder().tick(tick).epoch(Duration::from_nanos(epoch_ns));
            builder.tick_bits(20).node_bits(11).sequence_bits(32).build().unwrap()
        };
        let ticks = [1_000_000, 999_999, 1_000_001, 300, 1 << 20, 100_000_000].map(Duration::from_nanos);
        let epochs = [0, 1, 999_999, 1_000_000, 1_500_000_000_123_456_789];
        for layout in ticks.iter().flat_map(|tick| epochs.map(|epoch| layout(*tick, epoch))) {
            assert_eq!(layout.tick_at(layout.first_ms()), Some(0), "{layout:?}");
            assert_eq!(layout.first_ms().checked_sub(1).and_then(|before| layout.tick_at(before)), None);
            let end_ms = layout.ns_of(layout.last_tick() + 1).div_ceil(NS_PER_MS) as u64;
            assert_eq!(layout.tick_from(u64::MAX), layout.last_tick() + 1);
            assert_eq!(layout.tick_until(u64::MAX), layout.last_tick() + 1);
            assert_eq!((layout.tick_from(0), layout.tick_until(0)), (0, 0));
            assert_eq!((layout.tick_at(end_ms), layout.tick_at(u64::MAX)), (None, None), "{layout:?}");
            for ms in (1..1_000).chain(layout.last_ms() - layout.first_ms() - 50..).map(|ms| layout.first_ms() + ms) {
                let Some(tick) = layout.tick_at(ms) else { break };
                let now = u128::from(ms) * NS_PER_MS;
                assert!(layout.ns_of(tick) <= now && now < layout.ns_of(tick + 1), "{layout:?} {ms}");
                assert!(layout.reached_at(tick) <= ms && ms < layout.reached_at(tick + 1), "{layout:?} {ms}");
                // The least tick that begins at `ms` or later, and the least that ends after it.
                let (from, until) = (layout.tick_from(ms), layout.tick_until(ms));
                assert!(layout.ns_of(from) >= now && (from == 0 || layout.ns_of(from - 1) < now), "{layout:?} {ms}");
                assert!(layout.ns_of(until + 1) > now && (until == 0 || layout.ns_of(until) <= now), "{layout:?} {ms}");
            }
        }
    }
}
