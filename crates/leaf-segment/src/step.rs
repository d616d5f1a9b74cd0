//! How the step follows the rate.

use core::time::Duration;

/// A block should last this long: Leaf's `SEGMENT_DURATION`.
const BLOCK: Duration = Duration::from_secs(15 * 60);

/// The greatest step: Leaf's `MAX_STEP`.
const MOST: i64 = 1_000_000;

/// Returns the step after a block that lasted this long. `least` is the step that the store asks for.
pub(super) fn next_step(step: i64, least: i64, lasted: Duration) -> i64 {
    let step = step.max(least);
    if lasted < BLOCK {
        let doubled = step.saturating_mul(2);
        if doubled > MOST { step } else { doubled }
    } else if lasted > 2 * BLOCK && step / 2 >= least {
        step / 2
    } else {
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_doubles_below_15_minutes_and_halves_above_30() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        assert_eq!(next_step(2_000, 1_000, minutes(14)), 4_000);
        assert_eq!(next_step(2_000, 1_000, minutes(15)), 2_000);
        assert_eq!(next_step(2_000, 1_000, minutes(30)), 2_000);
        assert_eq!(next_step(2_000, 1_000, minutes(31)), 1_000);
    }

    #[test]
    fn the_step_stays_within_its_limits() {
        let long = Duration::from_secs(3_600);
        assert_eq!(next_step(1_500, 1_000, long), 1_500, "half would be below the least step");
        assert_eq!(next_step(600_000, 1_000, Duration::ZERO), 600_000, "double would be above a million");
        assert_eq!(next_step(500_000, 1_000, Duration::ZERO), 1_000_000);
        assert_eq!(next_step(100, 5_000, long), 5_000, "the store's step was raised");
        assert_eq!(next_step(i64::MAX, 1, Duration::ZERO), i64::MAX);
    }
}
