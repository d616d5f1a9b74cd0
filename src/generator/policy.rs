//! The settings of a generator, which do not change.

use core::time::Duration;

use crate::stamp::{Origin, Shape};

/// Under full load each tick starts at a seeded place and runs over into the next one. A floor or an observed ID grants no more than
/// these ticks, nor more than `max_lead`.
pub(crate) const GRACE: u64 = 4;

/// The settings of a generator, with durations in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) shape: Shape,
    pub(crate) origin: Origin,
    pub(crate) max_lead: u64,
    pub(crate) max_rollback: u64,
    pub(crate) max_skew: u64,
}

impl Policy {
    /// Returns the longest run that an idle generator can grant, wherever its tick begins.
    #[inline]
    pub(crate) const fn longest_run(&self) -> u64 {
        let ticks = if self.max_lead < self.shape.last_tick() { self.max_lead } else { self.shape.last_tick() };
        // The last stamp of the last tick, from the latest start in the first one.
        self.shape.first_of(ticks + 1) - self.origin.greatest(&self.shape)
    }

    /// Returns how far a reading may be ahead of the greatest one and be believed immediately. One wild reading does no more
    /// harm than that: it must not lead to a refusal, nor let a forged ID pass.
    #[inline]
    pub(crate) const fn max_advance(&self) -> u64 {
        let least = if self.max_rollback < self.max_skew { self.max_rollback } else { self.max_skew };
        if least < 1_000 { least } else { 1_000 }
    }

    /// Returns how many ticks an ID may be past the time reached where the clock itself allows less.
    #[inline]
    pub(crate) const fn grace(&self) -> u64 {
        if self.max_lead < GRACE { self.max_lead } else { GRACE }
    }

    /// Returns the tick of a floor. Past the end of time no ID is left.
    pub(crate) const fn floor(&self, tick: u64) -> u64 {
        let end = self.shape.last_tick() + 1;
        if tick < end { tick } else { end }
    }

    /// Returns the first stamp of this tick, or the end of time if that is sooner.
    pub(crate) const fn ceiling(&self, tick: u64) -> u64 {
        self.shape.first_of(self.floor(tick))
    }
}

/// Returns a limit in whole milliseconds, at most all of time.
pub(crate) const fn millis(limit: Duration, last_tick: u64) -> u64 {
    let ms = limit.as_millis();
    if ms > last_tick as u128 { last_tick } else { ms as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::slew::tests::policy;

    #[test]
    fn one_reading_is_believed_up_to_the_least_limit_and_at_most_a_second() {
        for (max_rollback, max_skew, most) in
            [(10, 20, 10), (20, 10, 10), (0, 5_000, 0), (999, 5_000, 999), (3_600_000, 1_001, 1_000)]
        {
            assert_eq!(Policy { max_rollback, max_skew, ..policy() }.max_advance(), most, "{max_rollback} {max_skew}");
        }
    }
}
