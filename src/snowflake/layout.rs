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

use core::time::Duration;

use super::error::{LayoutError, LayoutKind};
use crate::error::{Quantity, check_all};

/// The fields of a [`Snowflake`](super::Snowflake), the length of a tick, the time of the first tick, and the form of
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
/// A sign bit that is set is read as one more bit of the tick, because the originals' time overflows into it after the
/// last tick. [`is_overflowed`](super::Snowflake::is_overflowed) says so.
///
/// ```
/// use core::time::Duration;
/// use imid::snowflake::Layout;
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
/// # Ok::<(), imid::error::ParseError>(())
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
    /// A decimal number without leading zeros. It is signed where the layout has a sign bit.
    #[default]
    Decimal,
    /// 16 hex digits in lower case, as NSQ writes them.
    Hex,
}

const NS_PER_MS: u128 = 1_000_000;
const NS_PER_S: u128 = 1_000 * NS_PER_MS;
/// The stamp transition adds ticks. With this width its sums stay far below 64 bits.
const TICK_BITS_MAX: u64 = 48;
const TICK_MAX: Duration = Duration::from_hours(1);
/// 9999-12-31T23:59:59.999Z, so that calendars and `SystemTime` can represent the time of any ID.
const LAST_MS_MAX: u64 = 253_402_300_799_999;

const TICK_BITS: &Quantity = &Quantity::new("a tick", " bits");
const NODE_BITS: &Quantity = &Quantity::new("a node", " bits");
const WORKER_BITS: &Quantity = &Quantity::new("a worker", " bits");
const SEQUENCE_BITS: &Quantity = &Quantity::new("a sequence", " bits");
const TICK: &Quantity = &Quantity::new("a tick", " ns");
const EPOCH: &Quantity = &Quantity::new("an epoch", " ns");
const LAST_TIME: &Quantity = &Quantity::new("a last time", " ms");
const TIME: &Quantity = &Quantity::new("a time", " ms");
const NODE: &Quantity = &Quantity::new("a node", "");
const SEQUENCE: &Quantity = &Quantity::new("a sequence number", "");

impl Layout {
    /// Returns a builder with Twitter's widths, an undivided node, ticks of a millisecond since 1970, and decimal text.
    pub const fn builder() -> LayoutBuilder {
        LayoutBuilder {
            tick_bits: 41,
            node_bits: 10,
            worker_bits: None,
            sequence_bits: 12,
            epoch: Duration::ZERO,
            tick: Duration::from_millis(1),
            text_form: TextForm::Decimal,
        }
    }

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

    /// Returns the time at which the first tick begins, in unix milliseconds, rounded down.
    pub const fn first_ms(self) -> u64 {
        self.epoch_ns / NS_PER_MS as u64
    }

    /// Returns the time at which the last tick begins, in unix milliseconds, rounded down. Ticks with the sign bit set
    /// do not count.
    pub const fn last_ms(self) -> u64 {
        self.ms_of(self.last_tick())
    }

    /// Returns the last tick: the greatest without the sign bit.
    pub(super) const fn last_tick(self) -> u64 {
        max_of(self.tick_bits())
    }

    /// Returns the time at which a tick begins.
    pub(super) const fn time_of(self, tick: u64) -> Duration {
        let ns = self.ns_of(tick);
        Duration::new((ns / NS_PER_S) as u64, (ns % NS_PER_S) as u32)
    }

    /// Returns the time at which a tick begins, in unix milliseconds, rounded down.
    pub(super) const fn ms_of(self, tick: u64) -> u64 {
        (self.ns_of(tick) / NS_PER_MS) as u64
    }

    const fn ns_of(self, tick: u64) -> u128 {
        self.epoch_ns as u128 + tick as u128 * self.tick_ns as u128
    }

    /// Returns the bits of these parts, which fit their fields.
    pub(super) const fn compose(self, tick: u64, node: u32, sequence: u32) -> u64 {
        (tick << self.node_bits | node as u64) << self.sequence_bits | sequence as u64
    }

    /// Returns the first tick that begins in a millisecond or after it.
    pub(super) const fn first_tick_from(self, ms: u64) -> Result<u64, LayoutError> {
        match self.ns_since_epoch(ms, 0) {
            Ok(ns) => Ok(ns.div_ceil(self.tick_ns as u128) as u64),
            Err(error) => Err(error),
        }
    }

    /// Returns the last tick that begins before the end of a millisecond.
    pub(super) const fn last_tick_in(self, ms: u64) -> Result<u64, LayoutError> {
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
    const fn ns_since_epoch(self, ms: u64, ns: u128) -> Result<u128, LayoutError> {
        match TIME.check(ms, self.first_ms()..=self.last_ms()) {
            Ok(()) => Ok((ms as u128 * NS_PER_MS + ns).saturating_sub(self.epoch_ns as u128)),
            Err(error) => Err(LayoutError::new(LayoutKind::Time(error))),
        }
    }

    /// Returns a key that sorts layouts in an order without a meaning. Only equal layouts have equal keys.
    pub(super) const fn rank(self) -> (u64, u64, [u8; 5]) {
        let Self { epoch_ns, tick_ns, tick_bits, node_bits, worker_bits, sequence_bits, text_form } = self;
        (epoch_ns, tick_ns, [tick_bits, node_bits, worker_bits, sequence_bits, text_form as u8])
    }

    /// Returns an error if a node does not fit the layout.
    pub(super) const fn check_node(self, node: u32) -> Result<(), LayoutError> {
        match NODE.check(node as u64, 0..=self.node_max() as u64) {
            Ok(()) => Ok(()),
            Err(error) => Err(LayoutError::new(LayoutKind::Field(error))),
        }
    }

    /// Returns an error if a sequence number does not fit the layout.
    pub(super) const fn check_sequence(self, sequence: u32) -> Result<(), LayoutError> {
        match SEQUENCE.check(sequence as u64, 0..=self.sequence_max() as u64) {
            Ok(()) => Ok(()),
            Err(error) => Err(LayoutError::new(LayoutKind::Field(error))),
        }
    }
}

// Only generators use these.
cfg_minting! {
    impl Layout {
        /// Returns the tick that is running at the start of a millisecond, or `None` before the first tick and after
        /// the last one.
        ///
        /// The epoch can be inside of the first millisecond. The first tick then counts as running from the start of it.
        pub(super) const fn tick_at(self, ms: u64) -> Option<u64> {
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
        pub(super) const fn tick_from(self, ms: u64) -> u64 {
            self.or_end(self.ns_after_epoch(ms).div_ceil(self.tick_ns as u128))
        }

        /// Returns the first tick that ends after a millisecond has begun. After the last tick, returns the one after it.
        pub(super) const fn tick_until(self, ms: u64) -> u64 {
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

        /// Returns the first unix millisecond that starts at the start of a tick or after it.
        pub(super) const fn reached_at(self, tick: u64) -> u64 {
            self.ns_of(tick).div_ceil(NS_PER_MS) as u64
        }

        /// Returns the width of tick and sequence number together, in bits.
        pub(super) const fn stamp_bits(self) -> u32 {
            self.tick_bits() + self.sequence_bits()
        }
    }
}

/// Returns the greatest value of this many bits, fewer than 64.
const fn max_of(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Builds a [`Layout`]. The setters have the names of its accessors, and all of them are `const fn`.
///
/// ```
/// use imid::snowflake::Layout;
///
/// let layout = Layout::builder().tick_bits(42).worker_bits(5).build()?;
/// assert_eq!((layout.node_bits(), layout.worker_bits(), layout.has_sign()), (10, 5, false));
/// # Ok::<(), imid::snowflake::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct LayoutBuilder {
    tick_bits: u32,
    node_bits: u32,
    worker_bits: Option<u32>,
    sequence_bits: u32,
    epoch: Duration,
    tick: Duration,
    text_form: TextForm,
}

impl LayoutBuilder {
    /// Sets the width of the tick, 1 to 48 bits. Default: 41.
    pub const fn tick_bits(self, bits: u32) -> Self {
        Self { tick_bits: bits, ..self }
    }

    /// Sets the width of the node, 1 to 32 bits. Default: 10.
    pub const fn node_bits(self, bits: u32) -> Self {
        Self { node_bits: bits, ..self }
    }

    /// Sets the width of the low part of the node, 1 bit to all bits. The low part is the worker, and the rest is the
    /// datacenter. Default: all bits.
    pub const fn worker_bits(self, bits: u32) -> Self {
        Self { worker_bits: Some(bits), ..self }
    }

    /// Sets the width of the sequence number, 0 to 32 bits. Default: 12.
    pub const fn sequence_bits(self, bits: u32) -> Self {
        Self { sequence_bits: bits, ..self }
    }

    /// Sets the time at which the first tick begins, since 1970-01-01T00:00:00Z and before the year 2554. Default:
    /// zero.
    pub const fn epoch(self, epoch: Duration) -> Self {
        Self { epoch, ..self }
    }

    /// Sets the length of a tick, 1 ns to 1 h. Default: 1 ms.
    pub const fn tick(self, tick: Duration) -> Self {
        Self { tick, ..self }
    }

    /// Sets how the IDs are written as text. Default: [`TextForm::Decimal`].
    pub const fn text_form(self, text_form: TextForm) -> Self {
        Self { text_form, ..self }
    }

    /// Returns the layout. There is a sign bit if the widths sum to 63.
    ///
    /// # Errors
    /// A setting is outside of its range, such as a tick of 49 bits; the widths sum to neither 63 nor 64, such as 41,
    /// 10 and 11; the last tick is after the year 9999 (with the sign bit set, if there is one).
    pub const fn build(self) -> Result<Layout, LayoutError> {
        let Self { tick_bits, node_bits, sequence_bits, text_form, .. } = self;
        let worker_bits = match self.worker_bits {
            Some(bits) => bits,
            None => node_bits,
        };
        let (epoch_ns, tick_ns) = (saturating(self.epoch.as_nanos()), saturating(self.tick.as_nanos()));
        let settings = check_all(&[
            (TICK_BITS, tick_bits as u64, 1..=TICK_BITS_MAX),
            (NODE_BITS, node_bits as u64, 1..=u32::BITS as u64),
            (WORKER_BITS, worker_bits as u64, 1..=node_bits as u64),
            (SEQUENCE_BITS, sequence_bits as u64, 0..=u32::BITS as u64),
            (EPOCH, epoch_ns, 0..=u64::MAX - 1),
            (TICK, tick_ns, 1..=TICK_MAX.as_nanos() as u64),
        ]);
        if let Err(error) = settings {
            return Err(LayoutError::new(LayoutKind::Field(error)));
        }
        let sum = tick_bits + node_bits + sequence_bits;
        if sum != u64::BITS && sum != u64::BITS - 1 {
            return Err(LayoutError::new(LayoutKind::Sum { found: sum }));
        }
        let layout = Layout {
            epoch_ns,
            tick_ns,
            tick_bits: tick_bits as u8,
            node_bits: node_bits as u8,
            worker_bits: worker_bits as u8,
            sequence_bits: sequence_bits as u8,
            text_form,
        };
        // This includes the sign bit, which is read as a bit of the tick.
        let last_ms = saturating(layout.ns_of(u64::MAX >> node_bits >> sequence_bits) / NS_PER_MS);
        match LAST_TIME.check(last_ms, 0..=LAST_MS_MAX) {
            Ok(()) => Ok(layout),
            Err(error) => Err(LayoutError::new(LayoutKind::Field(error))),
        }
    }
}

/// Returns the number, or `u64::MAX` if it is greater. No range in this file contains `u64::MAX`.
const fn saturating(number: u128) -> u64 {
    if number < u64::MAX as u128 { number as u64 } else { u64::MAX }
}

#[cfg(test)]
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
