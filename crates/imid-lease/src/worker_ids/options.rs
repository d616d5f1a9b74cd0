//! Settings of worker IDs.

use std::time::Duration;

use imid::clock::SystemClock;
use imid_snowflake::{Layout, Preset};

use crate::options::{LaneOptions, OptionsError, OptionsKind, Settings, shared_setters};
use crate::record::Name;
use crate::space::Space;

/// The most bits of a worker ID that are leased: 65,536 of them.
const MAX_BITS: u32 = 16;

/// Settings of [`WorkerIds`](super::WorkerIds). Every process that uses one register has the same preset and space.
///
/// ```
/// use core::time::Duration;
/// use imid_snowflake::Preset;
/// use imid_lease::worker_ids::WorkerOptions;
///
/// let options = WorkerOptions::new(Preset::LEAF).spares(2).horizon(Duration::from_secs(30));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct WorkerOptions<C = SystemClock> {
    pub(super) preset: Preset,
    pub(super) spares: u8,
    pub(super) clock: C,
    pub(super) settings: Settings,
}

impl WorkerOptions {
    /// Returns the default settings: one spare worker ID, a horizon of 10 s, and the system clock.
    pub fn new(preset: Preset) -> Self {
        // The IDs of a Snowflake generator do not run ahead of its clock.
        let LaneOptions { clock, settings } = LaneOptions::new().max_lead(Duration::ZERO);
        Self { preset, spares: 1, clock, settings }
    }
}

impl<C> WorkerOptions<C> {
    /// Sets the clock. Default: the system's.
    pub fn clock<D>(self, clock: D) -> WorkerOptions<D> {
        WorkerOptions { preset: self.preset, spares: self.spares, clock, settings: self.settings }
    }

    /// Sets how many worker IDs are held besides the first one. Default: 1.
    ///
    /// A generator switches to a spare one when the clock steps back further than it waits, or when its own lease is lost. Each is
    /// a lease with its own writes, even while it is spare.
    pub fn spares(mut self, spares: u8) -> Self {
        self.spares = spares;
        self
    }

    shared_setters! {
        "worker ID",
        space: "Sets the name of the space. Default: `workers`. Generators of different spaces can mint equal IDs.",
        holder: "Each lease adds a dot and its number, so the name has 1 to 60 of the characters `A-Z`, `a-z`, `0-9`, `-`, `_`, \
                 `.` and `:`.",
        horizon: "It must be greater than [`max_skew`](Self::max_skew).",
        max_skew: "A longer step is not followed.",
    }

    /// Returns the space, and the name of each lease, if the settings are consistent.
    pub(super) fn check(&self) -> Result<(Space, Vec<Name>), OptionsError> {
        let (_, name) = self.settings.check()?;
        let layout = self.preset.layout();
        let space = if self.settings.space.is_empty() { "workers" } else { &self.settings.space };
        let space =
            Space::new(space, &describe(layout), layout.node_bits().min(MAX_BITS)).map_err(OptionsKind::Space)?;
        let names = (0..=self.spares).map(|lease| Name::parse(&format!("{name}.{lease}")));
        Ok((space, names.collect::<Result<_, _>>().map_err(OptionsKind::Name)?))
    }
}

/// Returns the name of a layout in the register, or its numbers if it has no name.
fn describe(layout: Layout) -> String {
    layout.name().map_or_else(
        || {
            let (tick, node, sequence) = (layout.tick_bits(), layout.node_bits(), layout.sequence_bits());
            format!("{tick}-{node}-{sequence}-{}-{}", layout.epoch().as_nanos(), layout.tick().as_nanos())
        },
        str::to_owned,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layout_has_a_name_that_the_register_takes() {
        let long = Layout::builder().tick_bits(41).node_bits(17).sequence_bits(5);
        let long = long.epoch(Duration::from_nanos(1_500_000_000_123_456_789)).build().unwrap();
        let presets = [Preset::TWITTER, Preset::new(Layout::ROLLBACK_38_15_10), Preset::new(long)].into_iter();
        let spaces: Vec<_> = presets.map(|preset| WorkerOptions::new(preset).check().unwrap().0).collect();
        let found = |at: usize| (spaces[at].name().as_str(), spaces[at].layout(), spaces[at].bits());
        assert_eq!(found(0), ("workers", "twitter", 10));
        assert_eq!(found(1), ("workers", "rollback-38-15-10", 15));
        assert_eq!(found(2), ("workers", "41-17-5-1500000000123456789-1000000", 16));
    }

    #[test]
    fn each_lease_has_a_name_of_its_own() {
        let check = |name: &str| WorkerOptions::new(Preset::LEAF).spares(2).holder(name).check();
        let names = check("web-3").unwrap().1;
        assert_eq!(names.iter().map(ToString::to_string).collect::<Vec<_>>(), ["web-3.0", "web-3.1", "web-3.2"]);
        assert!(check(&"a".repeat(64)).unwrap_err().to_string().starts_with("expected a name of 1 to 64"));
        assert!(WorkerOptions::new(Preset::LEAF).space("A b").check().is_err());
    }
}
