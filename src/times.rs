//! Ranges of times, in milliseconds.

use core::ops::{Bound, RangeBounds, RangeInclusive};

/// Returns the first and the last millisecond of a range. An open end is the end of `all`. In an empty range the first
/// is greater than the last. The last is `None` if the range ends before millisecond 0.
pub(crate) fn first_and_last(times: impl RangeBounds<u64>, all: RangeInclusive<u64>) -> (u64, Option<u64>) {
    let first = match times.start_bound() {
        Bound::Included(&ms) => ms,
        Bound::Excluded(&ms) => ms.saturating_add(1),
        Bound::Unbounded => *all.start(),
    };
    let last = match times.end_bound() {
        Bound::Included(&ms) => Some(ms),
        Bound::Excluded(&ms) => ms.checked_sub(1),
        Bound::Unbounded => Some(*all.end()),
    };
    (first, last)
}
