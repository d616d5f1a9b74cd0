//! Why no Snowflake was minted.

use core::time::Duration;

use thiserror::Error;

use super::super::error::LayoutError;
use crate::clock::ClockError;

/// No Snowflake was minted, and the generator is as it was.
///
/// ```
/// use core::time::Duration;
/// use imid::clock::ManualClock;
/// use imid::snowflake::{Generator, Preset};
///
/// let clock = ManualClock::new(1_763_665_800_000);
/// let ids = Generator::new(Preset::LEAF, 39)?.with_clock(&clock);
/// ids.generate()?;
/// clock.set(1_763_665_800_000 - 5);
/// let error = ids.generate().unwrap_err();
/// assert_eq!(error.to_string(), "expected a clock that has reached the last ID's time, found it 5 ms behind");
/// assert_eq!(error.retry_after(), Some(Duration::from_millis(10)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct GenerateError(GenerateKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum GenerateKind {
    #[error(transparent)]
    Clock(#[from] ClockError),
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error("expected a clock that has reached the last ID's time, found it {behind} ms behind")]
    Rollback { behind: u64, retry_after: Option<u64> },
    #[error("expected a sequence number that is left in this tick, found none")]
    Full { retry_after: Option<u64> },
    #[error("expected a node of this process's own, found that of the process it was forked from")]
    Forked,
}

impl GenerateError {
    /// How long the original waits here before it tries again. Whole milliseconds, counted by the clock.
    ///
    /// `None` where the original fails instead, and where waiting does not help.
    pub const fn retry_after(self) -> Option<Duration> {
        match self.0 {
            GenerateKind::Rollback { retry_after: Some(ms), .. } | GenerateKind::Full { retry_after: Some(ms) } => {
                Some(Duration::from_millis(ms))
            }
            _ => None,
        }
    }

    /// Whether the clock gave no usable time: it cannot be read, or the layout has no tick for what it shows.
    pub const fn is_clock(self) -> bool {
        matches!(self.0, GenerateKind::Clock(_) | GenerateKind::Layout(_))
    }

    /// Whether the clock stepped back behind the last ID, and no other node was to be had.
    pub const fn is_rollback(self) -> bool {
        matches!(self.0, GenerateKind::Rollback { .. })
    }

    /// Whether the tick's sequence numbers are spent.
    pub const fn is_full(self) -> bool {
        matches!(self.0, GenerateKind::Full { .. })
    }

    /// Whether this process was forked from the one that the node belongs to.
    pub const fn is_forked(self) -> bool {
        matches!(self.0, GenerateKind::Forked)
    }
}

impl From<GenerateKind> for GenerateError {
    fn from(kind: GenerateKind) -> Self {
        Self(kind)
    }
}
