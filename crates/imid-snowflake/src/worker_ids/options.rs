//! Settings of worker IDs.

use std::time::Duration;

use imid::clock::SystemClock;
use imid_lease::{LaneOptions, TrustedClock};

use crate::{Layout, Preset};

/// The most bits of a worker ID that are leased: 65,536 of them.
pub(super) const MAX_BITS: u32 = 16;

/// Settings of [`WorkerIds`](super::WorkerIds). Every process that uses one register has the same preset and space.
///
/// ```
/// use core::time::Duration;
/// use imid_snowflake::Preset;
/// use imid_snowflake::worker_ids::WorkerOptions;
///
/// let options = WorkerOptions::new(Preset::LEAF).spares(2).horizon(Duration::from_secs(30));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct WorkerOptions<C = SystemClock> {
    pub(super) preset: Preset,
    pub(super) spares: u8,
    pub(super) clock: C,
    pub(super) options: LaneOptions,
}

impl WorkerOptions {
    /// Returns the default settings: one spare worker ID, a horizon of 10 s, and the system clock.
    pub fn new(preset: Preset) -> Self {
        // The IDs of a Snowflake generator do not run ahead of its clock.
        Self { preset, spares: 1, clock: SystemClock, options: LaneOptions::new().max_lead(Duration::ZERO) }
    }
}

impl<C> WorkerOptions<C> {
    /// Sets the clock. Default: the system's.
    pub fn clock<D>(self, clock: D) -> WorkerOptions<D> {
        WorkerOptions { preset: self.preset, spares: self.spares, clock, options: self.options }
    }

    /// Sets how many worker IDs are held besides the first one. Default: 1.
    ///
    /// A generator switches to a spare one when the clock steps back further than it waits, or when its own lease is lost. Each is
    /// a lease with its own writes, even while it is spare.
    pub fn spares(mut self, spares: u8) -> Self {
        self.spares = spares;
        self
    }

    /// Sets the name of the space. Default: `workers`. Generators of different spaces can mint equal IDs.
    pub fn space(mut self, name: impl Into<String>) -> Self {
        self.options = self.options.space(name);
        self
    }

    /// Sets the name under which this process holds its worker IDs, as [`LaneOptions::holder`] does. Each lease adds a dot and its number,
    /// so the name has 1 to 60 of the characters `A-Z`, `a-z`, `0-9`, `-`, `_`, `.` and `:`.
    pub fn holder(mut self, name: impl Into<String>) -> Self {
        self.options = self.options.holder(name);
        self
    }

    /// Sets how far ahead of use the ceiling is written, as [`LaneOptions::horizon`] does. It must be greater than
    /// [`max_skew`](Self::max_skew).
    pub fn horizon(mut self, horizon: Duration) -> Self {
        self.options = self.options.horizon(horizon);
        self
    }

    /// Names the clock to trust if this process's and the store's differ at the start, as [`LaneOptions::trust`] does.
    pub fn trust(mut self, clock: TrustedClock) -> Self {
        self.options = self.options.trust(clock);
        self
    }

    /// Sets the largest clock error that is tolerated, as [`LaneOptions::max_skew`] does. A longer step is not followed.
    pub fn max_skew(mut self, skew: Duration) -> Self {
        self.options = self.options.max_skew(skew);
        self
    }
}

/// Returns the name of a layout in the register, or its numbers if it has no name.
pub(super) fn describe(layout: Layout) -> String {
    let Some(name) = layout.name() else {
        let (tick, node, sequence) = (layout.tick_bits(), layout.node_bits(), layout.sequence_bits());
        return format!("{tick}-{node}-{sequence}-{}-{}", layout.epoch().as_nanos(), layout.tick().as_nanos());
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layout_has_a_name_that_the_register_takes() {
        let long = Layout::builder().tick_bits(41).node_bits(17).sequence_bits(5);
        let long = long.epoch(Duration::from_nanos(1_500_000_000_123_456_789)).build().unwrap();
        for (layout, name) in [
            (Preset::TWITTER.layout(), "twitter"),
            (Layout::ROLLBACK_38_15_10, "rollback-38-15-10"),
            (long, "41-17-5-1500000000123456789-1000000"),
        ] {
            assert_eq!(describe(layout), name);
        }
    }
}
