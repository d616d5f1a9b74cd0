//! What does not fit a Snowflake layout.

use core::time::Duration;

use thiserror::Error;

use super::ClockError;

/// A layout cannot be defined so, or a number does not fit one.
///
/// ```
/// use core::time::Duration;
/// use imid::snowflake::Layout;
///
/// let error = Layout::new("ours", 41, 10, 11, 0, Duration::from_millis(1)).unwrap_err();
/// assert_eq!(error.to_string(), "expected fields of 64 bits, or of 63 below a sign bit, found 62");
/// let error = Layout::TWITTER.first_at(1_288_834_974_656).unwrap_err();
/// assert_eq!(error.to_string(), "expected a time of 1288834974657 to 3487858230208 ms, found 1288834974656");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct LayoutError(LayoutKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum LayoutKind {
    #[error("expected fields of 64 bits, or of 63 below a sign bit, found {found}")]
    Sum { found: u32 },
    #[error("expected {what} of {min} to {max}{unit}, found {found}")]
    Range { what: &'static str, unit: &'static str, min: u64, max: u64, found: u64 },
}

impl LayoutError {
    pub(crate) const fn new(kind: LayoutKind) -> Self {
        Self(kind)
    }

    /// `found` unless it is outside `min..=max`.
    pub(crate) const fn check(
        what: &'static str,
        unit: &'static str,
        found: u64,
        min: u64,
        max: u64,
    ) -> Result<u64, Self> {
        if found < min || found > max {
            return Err(Self(LayoutKind::Range { what, unit, min, max, found }));
        }
        Ok(found)
    }
}

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
pub struct MintError(MintKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum MintKind {
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

impl MintError {
    /// How long the original waits here before it tries again. Whole milliseconds, counted by the clock.
    ///
    /// `None` where the original fails instead, and where waiting does not help.
    pub const fn retry_after(self) -> Option<Duration> {
        match self.0 {
            MintKind::Rollback { retry_after: Some(ms), .. } | MintKind::Full { retry_after: Some(ms) } => {
                Some(Duration::from_millis(ms))
            }
            _ => None,
        }
    }

    /// Whether the clock gave no usable time: it cannot be read, or the layout has no tick for what it shows.
    pub const fn is_clock(self) -> bool {
        matches!(self.0, MintKind::Clock(_) | MintKind::Layout(_))
    }

    /// Whether the clock stepped back behind the last ID, and no other node was to be had.
    pub const fn is_rollback(self) -> bool {
        matches!(self.0, MintKind::Rollback { .. })
    }

    /// Whether the tick's sequence numbers are spent.
    pub const fn is_full(self) -> bool {
        matches!(self.0, MintKind::Full { .. })
    }

    /// Whether this process was forked from the one that the node belongs to.
    pub const fn is_forked(self) -> bool {
        matches!(self.0, MintKind::Forked)
    }
}

impl From<MintKind> for MintError {
    fn from(kind: MintKind) -> Self {
        Self(kind)
    }
}
