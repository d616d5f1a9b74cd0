//! Why a Snowflake generator could not be built, or mint.

use core::time::Duration;

use thiserror::Error;

use crate::error::RangeError;
use imid::clock::ClockError;

/// A Snowflake cannot be minted. The generator is unchanged.
///
/// ```
/// use core::time::Duration;
/// use imid::clock::ManualClock;
/// use imid_snowflake::{Generator, Preset};
///
/// let clock = ManualClock::new(1_763_665_800_000);
/// let ids = Generator::builder(Preset::LEAF).node(39).clock(&clock).build()?;
/// ids.generate()?;
/// clock.set(1_763_665_800_000 - 5);
/// let error = ids.generate().unwrap_err();
/// assert!(error.is_rollback());
/// assert_eq!(error.to_string(), "clock is 5 ms behind the last ID or the floor");
/// assert_eq!(error.retry_after(), Some(Duration::from_millis(10)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct GenerateError(GenerateKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(super) enum GenerateKind {
    #[error(transparent)]
    Clock(#[from] ClockError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("next ID is past the ceiling of node {node}")]
    NodeCeiling { node: u32 },
    #[error("generator is closed")]
    Closed,
    #[error("node of the generator belongs to the parent process: build a generator after the fork")]
    Forked,
    #[error("spare node does not fit the layout: expected a node of 0 to {max}, found {found}")]
    Node { max: u32, found: u32 },
}

/// Why there is no next ID at a clock reading, in Unix milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(super) enum Refusal {
    #[error("expected a clock at {first} ms or later, the layout's first tick, found {found} ms")]
    BeforeFirstTick { first: u64, found: u64 },
    #[error("clock is {behind} ms behind the last ID or the floor")]
    Rollback { behind: u64, retry_after: Option<u64> },
    #[error("no sequence number is left in this tick")]
    Overload { retry_after: Option<u64> },
    #[error("clock is past the layout's last tick, which begins at {last} ms: it shows {found} ms")]
    PastLastTick { last: u64, found: u64 },
    #[error("no sequence number is left in the layout's last tick")]
    LastTickFull,
    #[error("next ID is past the ceiling of the generator")]
    Ceiling,
}

impl GenerateError {
    /// Returns how long the original waits here before it retries, in whole milliseconds of the clock.
    ///
    /// `None` if the original fails instead, or if waiting does not help.
    pub const fn retry_after(self) -> Option<Duration> {
        match self.0 {
            GenerateKind::Refused(
                Refusal::Rollback { retry_after: Some(ms), .. } | Refusal::Overload { retry_after: Some(ms) },
            ) => Some(Duration::from_millis(ms)),
            _ => None,
        }
    }

    /// Returns whether the clock has no usable time: it cannot be read, or it shows a time before the layout's first
    /// tick.
    pub const fn is_clock(self) -> bool {
        matches!(self.0, GenerateKind::Clock(_) | GenerateKind::Refused(Refusal::BeforeFirstTick { .. }))
    }

    /// Returns whether the clock is behind the time of the last ID or behind the floor, and there was no spare node to
    /// take.
    pub const fn is_rollback(self) -> bool {
        matches!(self.0, GenerateKind::Refused(Refusal::Rollback { .. }))
    }

    /// Returns whether all sequence numbers of the tick are used, or the tick is the last one below the floor.
    pub const fn is_overload(self) -> bool {
        matches!(self.0, GenerateKind::Refused(Refusal::Overload { .. }))
    }

    /// Returns whether the layout has no IDs left: the clock is past its last tick, or all sequence numbers of the last
    /// tick are used. The very last one is never used.
    pub const fn is_exhausted(self) -> bool {
        matches!(self.0, GenerateKind::Refused(Refusal::PastLastTick { .. } | Refusal::LastTickFull))
    }

    /// Returns whether the ID would be at or past the [ceiling](super::Generator::raise_ceiling_ms) of the generator, or
    /// past the [ceiling](super::NodeSource::ceiling_ms) of its node while there was no spare node to take.
    pub const fn is_ceiling(self) -> bool {
        matches!(self.0, GenerateKind::Refused(Refusal::Ceiling) | GenerateKind::NodeCeiling { .. })
    }

    /// Returns whether the generator was [closed](super::Generator::close).
    pub const fn is_closed(self) -> bool {
        matches!(self.0, GenerateKind::Closed)
    }

    /// Returns whether the process is a forked child, and the node is still the parent's.
    pub const fn is_forked(self) -> bool {
        matches!(self.0, GenerateKind::Forked)
    }

    /// Returns whether the [source of spare nodes](super::NodeSource) gave a node that the layout has no room for.
    pub const fn is_node(self) -> bool {
        matches!(self.0, GenerateKind::Node { .. })
    }
}

impl From<GenerateKind> for GenerateError {
    fn from(kind: GenerateKind) -> Self {
        Self(kind)
    }
}

/// A Snowflake generator cannot be built: its settings are incomplete, or do not fit the layout.
///
/// ```
/// use imid_snowflake::{Generator, Preset};
///
/// let error = Generator::builder(Preset::TWITTER).build().unwrap_err();
/// assert!(error.is_node());
/// assert_eq!(error.to_string(), "expected a node of 0 to 1023, found none");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct BuildError(BuildKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(super) enum BuildKind {
    #[error("expected a node of 0 to {max}, found none")]
    NoNode { max: u32 },
    #[error(transparent)]
    Node(RangeError),
}

impl BuildError {
    pub(super) const fn new(kind: BuildKind) -> Self {
        Self(kind)
    }

    /// Returns whether the node is missing, or does not fit the layout.
    pub const fn is_node(self) -> bool {
        matches!(self.0, BuildKind::NoNode { .. } | BuildKind::Node(_))
    }
}
