//! Why a clock could not be read.

use thiserror::Error;

use crate::layout::TIMESTAMP_MAX;

/// A clock has no usable time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct ClockError(ClockKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
enum ClockKind {
    #[error("expected a clock that can be read, found none")]
    Unavailable,
    #[error("expected a time since 1970, found an earlier one")]
    Before1970,
    #[error("expected a time of at most {TIMESTAMP_MAX} ms (2109-05-15), found {found} ms")]
    Past2109 { found: u64 },
}

impl ClockError {
    /// Returns the error of a clock that cannot be read. For your own clocks.
    pub const fn unavailable() -> Self {
        Self(ClockKind::Unavailable)
    }

    /// Returns the error of a clock that shows a time before 1970. For your own clocks.
    pub const fn before_1970() -> Self {
        Self(ClockKind::Before1970)
    }

    /// Returns the error of a clock that shows a time past the last timestamp. `found` is that time in Unix milliseconds. For your
    /// own clocks. A generator also checks each reading itself.
    pub const fn past_2109(found: u64) -> Self {
        Self(ClockKind::Past2109 { found })
    }

    /// Returns whether the clock cannot be read, as on wasm32-unknown-unknown.
    pub const fn is_unavailable(self) -> bool {
        matches!(self.0, ClockKind::Unavailable)
    }

    /// Returns whether the clock shows a time before 1970.
    pub const fn is_before_1970(self) -> bool {
        matches!(self.0, ClockKind::Before1970)
    }

    /// Returns whether the clock shows a time past the last timestamp, in May 2109.
    pub const fn is_past_2109(self) -> bool {
        matches!(self.0, ClockKind::Past2109 { .. })
    }
}
