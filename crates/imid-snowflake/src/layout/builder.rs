//! Builds a layout, and checks its settings.

use core::time::Duration;

use super::{Layout, NS_PER_MS, TextForm, saturating};
use crate::error::{Quantity, RangeError};

/// Generators add ticks in words of 64 bits. With this width no sum overflows.
const TICK_BITS_MAX: u64 = 48;
const TICK_MAX: Duration = Duration::from_secs(3_600);
/// 9999-12-31T23:59:59.999Z, so that calendars and `SystemTime` can represent the time of any ID.
const LAST_MS_MAX: u64 = 253_402_300_799_999;

const TICK_BITS: &Quantity = &Quantity("a tick", " bits");
const NODE_BITS: &Quantity = &Quantity("a node", " bits");
const WORKER_BITS: &Quantity = &Quantity("a worker", " bits");
const SEQUENCE_BITS: &Quantity = &Quantity("a sequence", " bits");
const TICK: &Quantity = &Quantity("a tick", " ns");
const EPOCH: &Quantity = &Quantity("an epoch", " ns");
const FIELDS: &Quantity = &Quantity("fields", " bits in all");
const LAST_TIME: &Quantity = &Quantity("a last time", " ms");

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
}

/// Builds a [`Layout`]. The setters have the names of its accessors, and all of them are `const fn`.
///
/// ```
/// use imid_snowflake::Layout;
///
/// let layout = Layout::builder().tick_bits(42).worker_bits(5).build()?;
/// assert_eq!((layout.node_bits(), layout.worker_bits(), layout.has_sign()), (10, 5, false));
/// # Ok::<(), imid_snowflake::RangeError>(())
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
    /// A setting is out of range, such as a tick of 49 bits; the widths sum to neither 63 nor 64, such as 41, 10 and 11; the last
    /// tick is after the year 9999 (with the sign bit set, if there is one).
    pub const fn build(self) -> Result<Layout, RangeError> {
        let Self { tick_bits, node_bits, sequence_bits, text_form, .. } = self;
        let worker_bits = match self.worker_bits {
            Some(bits) => bits,
            None => node_bits,
        };
        let (epoch_ns, tick_ns) = (saturating(self.epoch.as_nanos()), saturating(self.tick.as_nanos()));
        let settings = [
            (TICK_BITS, tick_bits as u64, 1, TICK_BITS_MAX),
            (NODE_BITS, node_bits as u64, 1, u32::BITS as u64),
            (WORKER_BITS, worker_bits as u64, 1, node_bits as u64),
            (SEQUENCE_BITS, sequence_bits as u64, 0, u32::BITS as u64),
            (EPOCH, epoch_ns, 0, u64::MAX - 1),
            (TICK, tick_ns, 1, TICK_MAX.as_nanos() as u64),
        ];
        // A `for` loop is not const.
        let mut at = 0;
        while at < settings.len() {
            let (of, found, min, max) = settings[at];
            if let Err(error) = of.check(found, min..=max) {
                return Err(error);
            }
            at += 1;
        }
        let sum = tick_bits + node_bits + sequence_bits;
        if let Err(error) = FIELDS.check(sum as u64, u64::BITS as u64 - 1..=u64::BITS as u64) {
            return Err(error);
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
            Err(error) => Err(error),
        }
    }
}
