//! Why a generator could not be built, mint or observe.

use core::time::Duration;

use thiserror::Error;

use crate::clock::ClockError;
use crate::layout::SPIN_BITS;

/// No ID was minted. The call has no effect, except that it may use up one of a millisecond's 4,096 stamps.
///
/// ```
/// use core::time::Duration;
/// use imid::clock::ManualClock;
/// use imid::{Generator, SessionTag, SessionType};
///
/// let room = SessionTag::new(SessionType::GROUP, "room-42");
/// let clock = ManualClock::new(1_763_665_800_000);
/// let ids = Generator::builder().clock(&clock).build()?;
/// ids.generate(room)?;
/// clock.set(1_763_665_800_000 - 3_600_007);
/// let error = ids.generate(room).unwrap_err();
/// assert!(error.is_rollback());
/// assert_eq!(error.retry_after(), Some(Duration::from_millis(7)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct GenerateError(#[from] GenerateKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum GenerateKind {
    #[error(transparent)]
    Clock(#[from] ClockError),
    #[error(
        "clock is {found} ms behind its latest reading (limit {max} ms): wait, raise max_rollback, or restart the process"
    )]
    Rollback { max: u64, found: u64 },
    #[error(
        "clock is {found} ms behind the floor of the generator (limit {max} ms): check the floor, wait, or raise max_rollback"
    )]
    Floor { max: u64, found: u64 },
    #[error("next ID is too far ahead of the clock (limit {max} ms): retry in {wait} ms")]
    Lead { max: u64, wait: u64 },
    #[error("next ID is past the ceiling of the generator")]
    Ceiling,
    #[error("generator is closed")]
    Closed,
    #[error("lane of the generator belongs to the parent process: build a generator after the fork")]
    Forked,
    #[error("too few IDs are left until the end of time (2109-05-15)")]
    Exhausted,
    #[error("expected a run of at most {max} IDs, found {found}")]
    RunTooLong { max: usize, found: usize },
}

impl GenerateError {
    /// Returns how long to wait until the same call can succeed, in whole milliseconds of the clock, if the clock does not step.
    /// Other calls in the meantime can make the wait longer. While the clock is behind, this may be only part of it: the same call is
    /// then refused again, with the rest.
    ///
    /// After a [rollback](Self::is_rollback) it is the time until the clock is within `max_rollback` again. If IDs ran ahead
    /// of the clock before it stepped, the call can then be refused as [overload](Self::is_overload), with the rest.
    ///
    /// `None` if waiting does not help: the clock has no usable time, the ceiling is reached, the generator is closed
    /// or belongs to the parent process, time has run out, or the run is too long.
    pub const fn retry_after(self) -> Option<Duration> {
        match self.0 {
            GenerateKind::Rollback { max, found } | GenerateKind::Floor { max, found } => {
                Some(Duration::from_millis(found - max))
            }
            GenerateKind::Lead { wait, .. } => Some(Duration::from_millis(wait)),
            _ => None,
        }
    }

    /// Returns whether the clock gave no usable time.
    pub const fn is_clock(self) -> bool {
        matches!(self.0, GenerateKind::Clock(_))
    }

    /// Returns whether the clock is more than `max_rollback` behind its latest reading, or behind a floor.
    ///
    /// Either the clock stepped back, or it was far ahead and has been corrected. Minting resumes by itself after
    /// [`retry_after`](Self::retry_after). To resume immediately, restart the process. It is then a new host: two IDs of one
    /// session and millisecond, one from before the restart and one from after it, are equal with probability 1/4096. With a
    /// [`floor`](super::Builder::floor) no stored ID is repeated, but a floor that is more than `max_rollback` ahead of the clock
    /// is the same error.
    pub const fn is_rollback(self) -> bool {
        matches!(self.0, GenerateKind::Rollback { .. } | GenerateKind::Floor { .. })
    }

    /// Returns whether the next ID would be further ahead of the clock than the limit.
    pub const fn is_overload(self) -> bool {
        matches!(self.0, GenerateKind::Lead { .. })
    }

    /// Returns whether the ID would be at or past the [ceiling](super::Generator::raise_ceiling_ms).
    pub const fn is_ceiling(self) -> bool {
        matches!(self.0, GenerateKind::Ceiling)
    }

    /// Returns whether the generator was [closed](super::Generator::close).
    pub const fn is_closed(self) -> bool {
        matches!(self.0, GenerateKind::Closed)
    }

    /// Returns whether the process is a forked child and the generator has a lane. The lane belongs to the parent.
    pub const fn is_forked(self) -> bool {
        matches!(self.0, GenerateKind::Forked)
    }

    /// Returns whether too few stamps are left until the end of time, in May 2109.
    pub const fn is_exhausted(self) -> bool {
        matches!(self.0, GenerateKind::Exhausted)
    }

    /// Returns whether the run is longer than any that fits below `max_lead`.
    pub const fn is_run_too_long(self) -> bool {
        matches!(self.0, GenerateKind::RunTooLong { .. })
    }
}

/// An ID from elsewhere was refused. The generator is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct ObserveError(ObserveKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
enum ObserveKind {
    #[error(transparent)]
    Clock(ClockError),
    #[error("expected an ID at most {max} ms ahead of the clock, found {found} ms")]
    Skew { max: u64, found: u64 },
}

impl ObserveError {
    pub(crate) const fn skew(max: u64, found: u64) -> Self {
        Self(ObserveKind::Skew { max, found })
    }

    /// Returns whether the ID is more than `max_skew` ahead of the clock: a broken clock elsewhere, or a forged ID.
    pub const fn is_skew(self) -> bool {
        matches!(self.0, ObserveKind::Skew { .. })
    }

    /// Returns how long to wait until the clock is within the limit, in whole milliseconds. `None` if the clock gave no usable time.
    pub const fn retry_after(self) -> Option<Duration> {
        match self.0 {
            ObserveKind::Skew { max, found } => Some(Duration::from_millis(found - max)),
            ObserveKind::Clock(_) => None,
        }
    }

    /// Returns how far ahead of the clock the ID is, or `None` if the clock gave no usable time.
    pub const fn ahead(self) -> Option<Duration> {
        match self.0 {
            ObserveKind::Skew { found, .. } => Some(Duration::from_millis(found)),
            ObserveKind::Clock(_) => None,
        }
    }
}

impl From<ClockError> for ObserveError {
    fn from(error: ClockError) -> Self {
        Self(ObserveKind::Clock(error))
    }
}

/// A generator's settings contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct BuildError(BuildKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum BuildKind {
    #[error("expected a lane of at most {SPIN_BITS} bits, the width of the spin, found {found} bits")]
    LaneBits { found: u32 },
    #[error("expected a lane index below {lanes}, found {found}")]
    LaneIndex { lanes: u32, found: u16 },
    #[error("expected a seed for seeded starts, found none (none is drawn without `std` or on wasm32-unknown-unknown)")]
    Seed,
}

impl BuildError {
    pub(crate) const fn new(kind: BuildKind) -> Self {
        Self(kind)
    }

    /// Returns whether a seed is missing where none can be drawn.
    pub const fn is_seed(self) -> bool {
        matches!(self.0, BuildKind::Seed)
    }

    /// Returns whether the lane has more bits than the spin, or an index that its bits do not hold.
    pub const fn is_lane(self) -> bool {
        matches!(self.0, BuildKind::LaneBits { .. } | BuildKind::LaneIndex { .. })
    }
}
