//! What does not fit a layout.

use thiserror::Error;

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
