//! Errors of layouts, and of numbers that do not fit a layout.

use thiserror::Error;

use crate::error::OutOfBounds;

/// A layout cannot be built, or a number does not fit it.
///
/// ```
/// use imid::snowflake::Layout;
///
/// let error = Layout::builder().sequence_bits(11).build().unwrap_err();
/// assert_eq!(error.to_string(), "expected fields of 63 or 64 bits in all, found 62");
/// let error = Layout::TWITTER.first_at(1_288_834_974_656).unwrap_err();
/// assert_eq!(error.to_string(), "expected a time of 1288834974657 to 3487858230208 ms, found 1288834974656");
/// assert!(error.is_time());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct LayoutError(LayoutKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum LayoutKind {
    #[error("expected fields of 63 or 64 bits in all, found {found}")]
    Sum { found: u32 },
    #[error(transparent)]
    Field(OutOfBounds),
    #[error(transparent)]
    Time(OutOfBounds),
    #[error("expected a range of times in which a tick begins, found {from}..{to} ms")]
    Empty { from: u64, to: u64 },
}

impl LayoutError {
    pub(crate) const fn new(kind: LayoutKind) -> Self {
        Self(kind)
    }

    /// Returns whether a time is before the layout's first tick or after its last one.
    pub const fn is_time(self) -> bool {
        matches!(self.0, LayoutKind::Time(_))
    }

    /// Returns whether a range of times is empty, or so short that no tick begins in it.
    pub const fn is_empty(self) -> bool {
        matches!(self.0, LayoutKind::Empty { .. })
    }
}
