//! Why the state does not advance at a clock reading.

use thiserror::Error;

/// Why there is no next ID at a clock reading, in unix milliseconds.
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
