//! The behavior of the originals, as data.

use core::time::Duration;

use super::error::Refusal;
use crate::error::RangeError;
use crate::layout::Layout;

/// A layout, and its original's behavior when the clock steps back and when a tick is full.
///
/// | preset | the clock stepped back | a tick is full | sequence starts at |
/// | --- | --- | --- | --- |
/// | [`TWITTER`](Self::TWITTER), [`TWITTER_JAVA`](Self::TWITTER_JAVA) | error | wait for the next | 0 |
/// | [`DISCORD`](Self::DISCORD) (its own is not published) | error | wait for the next | 0 |
/// | [`NSQ`](Self::NSQ), [`NSQ_BEFORE_2015`](Self::NSQ_BEFORE_2015) | error | error | 0 |
/// | [`LEAF`](Self::LEAF) | up to 5 ms: wait twice as long, then error; more: error | wait for the next | 0 to 99, by tick and node |
/// | [`rollback_38_15_10`](Self::rollback_38_15_10) | up to 15 ms: wait; more: swap the node | wait for the next | 0 |
///
/// Only [`Generator::generate_within`](super::Generator::generate_within) waits. [`generate`](super::Generator::generate) returns
/// an error that says how long the original would wait. If the generator has a [source](super::NodeSource) of spare nodes, it swaps
/// the node where the original would fail immediately, and when the node's ceiling is reached.
///
/// ```
/// use core::time::Duration;
/// use imid_snowflake::{Layout, Preset};
///
/// const PATIENT_TWITTER: Preset = Preset::new(Layout::TWITTER).wait_when_behind(Duration::from_millis(50), 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preset {
    layout: Layout,
    /// The longest step back after which the generator waits.
    max_wait_ms: u64,
    /// The wait is this many times the step back.
    wait_factor: u32,
    waits_when_full: bool,
    /// Sequence numbers start below this.
    start_bound: u64,
}

/// Defines the constants and their list in one table.
macro_rules! built_in {
    ($($(#[$doc:meta])* $constant:ident $preset:expr;)*) => {
        impl Preset {
            $($(#[$doc])* pub const $constant: Self = $preset;)*

            /// The built-in presets: one for each built-in layout that has ticks left.
            pub const ALL: &'static [Self] = &[$(Self::$constant),*];
        }
    };
}

built_in! {
    /// Twitter's Scala service of 2010.
    TWITTER Self::new(Layout::TWITTER);

    /// The Java port.
    TWITTER_JAVA Self::new(Layout::TWITTER_JAVA);

    /// Discord's layout with Twitter's behavior.
    DISCORD Self::new(Layout::DISCORD);

    /// NSQ since 2015.
    NSQ Self::new(Layout::NSQ).fail_when_full();

    /// NSQ until 2015.
    NSQ_BEFORE_2015 Self::new(Layout::NSQ_BEFORE_2015).fail_when_full();

    /// Meituan Leaf.
    LEAF Self::new(Layout::LEAF).wait_when_behind(Duration::from_millis(5), 2).start_below(100);
}

const _: () = assert!(Preset::ALL.len() + 1 == Layout::ALL.len(), "each built-in layout but one has a preset");

impl Preset {
    /// Returns the built-in preset whose [layout has this name](Layout::name), such as `leaf`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|preset| preset.layout.name() == Some(name))
    }

    /// Returns the preset of the article on clock rollback, with your own epoch (the time at which the first tick begins, since
    /// 1970-01-01T00:00:00Z). The epoch of [`Layout::ROLLBACK_38_15_10`] does not mint anymore: 38 bits of milliseconds are
    /// 8.7 years, and its last tick was on 2026-09-06.
    ///
    /// # Errors
    /// The epoch is in the year 2554 or later.
    ///
    /// ```
    /// use core::time::Duration;
    /// use imid_snowflake::{Generator, Preset};
    ///
    /// let preset = Preset::rollback_38_15_10(Duration::from_secs(1_767_225_600))?; // 2026-01-01, until September 2034
    /// let id = Generator::try_new(preset, 3)?.generate()?;
    /// assert_eq!(id.node(), 3);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub const fn rollback_38_15_10(epoch: Duration) -> Result<Self, RangeError> {
        match Layout::builder().tick_bits(38).node_bits(15).sequence_bits(10).epoch(epoch).build() {
            Ok(layout) => Ok(Self::new(layout).wait_when_behind(Duration::from_millis(15), 1)),
            Err(error) => Err(error),
        }
    }

    /// Returns a preset with Twitter's behavior for any layout: an error when the clock steps back, a wait when a tick is full, and
    /// sequence numbers from 0.
    pub const fn new(layout: Layout) -> Self {
        Self { layout, max_wait_ms: 0, wait_factor: 1, waits_when_full: true, start_bound: 1 }
    }

    /// Waits when the clock has stepped back by at most `max` (whole milliseconds), for `factor` times the step. If the
    /// clock is still behind after that, it is an error.
    #[must_use]
    pub const fn wait_when_behind(self, max: Duration, factor: u32) -> Self {
        let max_ms = max.as_millis();
        let max_wait_ms = if max_ms > u32::MAX as u128 { u32::MAX as u64 } else { max_ms as u64 };
        Self { max_wait_ms, wait_factor: factor, ..self }
    }

    /// Fails when a tick is full.
    #[must_use]
    pub const fn fail_when_full(self) -> Self {
        Self { waits_when_full: false, ..self }
    }

    /// Starts the sequence of each tick at a number below `bound` that depends on the tick and the node, so that the
    /// IDs of a quiet node are not all even. A bound of 0 counts as 1. A bound above the numbers of a tick counts as
    /// their number.
    #[must_use]
    pub const fn start_below(self, bound: u32) -> Self {
        let numbers = self.layout.sequence_max() as u64 + 1;
        let start_bound = match bound as u64 {
            0 => 1,
            bound if bound > numbers => numbers,
            bound => bound,
        };
        Self { start_bound, ..self }
    }

    pub(super) const fn layout_ref(&self) -> &Layout {
        &self.layout
    }

    /// Returns the layout.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) const fn start_bound(&self) -> u64 {
        self.start_bound
    }

    /// Returns the error for a clock that is this many milliseconds behind the last ID or the floor.
    pub(super) const fn behind(&self, behind: u64) -> Refusal {
        let waits = behind <= self.max_wait_ms;
        Refusal::Rollback { behind, retry_after: if waits { Some(behind * self.wait_factor as u64) } else { None } }
    }

    /// Returns the error for a full tick if the next tick begins after this many milliseconds.
    pub(super) const fn full(&self, next_ms: u64) -> Refusal {
        Refusal::Overload { retry_after: if self.waits_when_full { Some(next_ms) } else { None } }
    }
}
