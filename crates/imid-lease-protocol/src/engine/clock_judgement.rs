//! Which time of a clock is believed: arithmetic on readings, without a clock.
//!
//! Time is kept as an **offset**: Unix milliseconds less the milliseconds of the process's own monotonic clock. A clock
//! that runs on evenly has a constant offset; a step changes it.

/// How long a jump forward must last until it is believed: the machine was then suspended in a way that its monotonic
/// clock cannot see, or someone corrected a clock that was behind.
pub const LASTING_MS: u64 = 60_000;

/// One reading of both clocks of a process, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// The wall clock; `None` where it cannot be read.
    pub wall_ms: Option<u64>,
    /// The monotonic clock.
    pub mono_ms: u64,
}

/// What is known of the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Known {
    /// The offset of the last reading that was believed.
    pub good: Option<i64>,
    /// The offset of the store's time, if it has one.
    pub store: Option<i64>,
    /// A jump forward that has not been believed: its offset, and the monotonic time of its first reading.
    pub jump: Option<(i64, u64)>,
}

impl Known {
    /// Takes one reading into account, and returns the time to go by. This is the wall clock while it is within
    /// `max_skew_ms` of the store's time. If the store has no time, it is the wall clock while it is within
    /// `max_skew_ms` of the last good reading plus the time that has passed. Otherwise it is that sum itself.
    ///
    /// The store's time decides which readings are good. It is used itself only before the first good one.
    pub fn read(&mut self, reading: Reading, max_skew_ms: u64) -> Option<u64> {
        let Reading { wall_ms, mono_ms } = reading;
        let found = wall_ms.map(|wall| offset(wall, mono_ms));
        if let Some(found) = found {
            let is_good = match self.expected() {
                Some(expected) => found.abs_diff(expected) <= max_skew_ms,
                None => true,
            };
            if is_good || self.has_lasted(found, mono_ms, max_skew_ms) {
                self.good = Some(found);
                self.jump = None;
            }
        }
        Some(time_of(self.believed()?, mono_ms))
    }

    /// Returns the offset that a good reading is near.
    pub fn expected(&self) -> Option<i64> {
        self.store.or(self.good)
    }

    /// Returns the offset of the time to go by.
    pub fn believed(&self) -> Option<i64> {
        self.good.or(self.store)
    }

    /// Takes the offset of the store's time into account. A reading that was believed before the store's time was known
    /// is judged now: a process whose clock is wrong from the start has nothing else to compare it with. One that `mints` by it already
    /// goes on from it.
    pub fn hear(&mut self, store: i64, max_skew_ms: u64, mints: bool) {
        if self.store.is_none() && !mints && self.good.is_some_and(|good| good.abs_diff(store) > max_skew_ms) {
            self.good = None;
            self.jump = None;
        }
        self.store = Some(store);
    }

    /// Returns whether a jump forward has lasted long enough to be believed. If the store has a time, the store's time
    /// decides instead.
    ///
    /// A jump back is never believed: others continue, and this process would find all lanes ahead of its time.
    fn has_lasted(&mut self, found: i64, mono_ms: u64, max_skew_ms: u64) -> bool {
        if self.store.is_some() || self.good.is_none_or(|good| found < good) {
            self.jump = None;
            return false;
        }
        match self.jump {
            Some((offset, since)) if found.abs_diff(offset) <= max_skew_ms => {
                mono_ms.saturating_sub(since) >= LASTING_MS
            }
            _ => {
                self.jump = Some((found, mono_ms));
                false
            }
        }
    }
}

/// Unix milliseconds less monotonic ones.
pub fn offset(unix_ms: u64, mono_ms: u64) -> i64 {
    i64::try_from(i128::from(unix_ms) - i128::from(mono_ms)).unwrap_or(i64::MAX)
}

/// Unix milliseconds at a monotonic time.
pub fn time_of(offset: i64, mono_ms: u64) -> u64 {
    mono_ms.saturating_add_signed(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_795_204_812_345;
    const HOUR: u64 = 3_600_000;
    const SKEW: u64 = 5_000;

    fn read(known: &mut Known, wall: u64, mono: u64) -> u64 {
        known.read(Reading { wall_ms: Some(wall), mono_ms: mono }, SKEW).unwrap()
    }

    #[test]
    fn small_steps_are_followed_and_large_ones_are_not() {
        let mut known = Known::default();
        assert_eq!(read(&mut known, T, 10), T);
        assert_eq!(read(&mut known, T + 100 + SKEW, 110), T + 100 + SKEW, "a step by the limit");
        assert_eq!(read(&mut known, T + 200, 210), T + 200, "and back");
        assert_eq!(read(&mut known, T + 300 - HOUR, 310), T + 300, "an hour back");
        assert_eq!(read(&mut known, T + 400 + HOUR, 410), T + 400, "an hour forward");
        assert_eq!(read(&mut known, T + 500, 510), T + 500);
    }

    #[test]
    fn a_jump_forward_is_believed_after_a_minute_and_a_jump_back_never() {
        let mut known = Known::default();
        read(&mut known, T, 0);
        assert_eq!(read(&mut known, T + HOUR + 1, 1), T + 1);
        assert_eq!(read(&mut known, T + HOUR + LASTING_MS, LASTING_MS), T + LASTING_MS);
        assert_eq!(read(&mut known, T + HOUR + LASTING_MS + 1, LASTING_MS + 1), T + HOUR + LASTING_MS + 1);
        let mut known = Known::default();
        read(&mut known, T, 0);
        for minutes in 1..60 {
            assert_eq!(read(&mut known, T - HOUR, minutes * LASTING_MS), T + minutes * LASTING_MS);
        }
        let mut known = Known::default();
        read(&mut known, T, 0);
        read(&mut known, T + HOUR, 1);
        read(&mut known, T + LASTING_MS, LASTING_MS);
        assert_eq!(read(&mut known, T + HOUR + 2 * LASTING_MS, 2 * LASTING_MS), T + 2 * LASTING_MS, "interrupted");
    }

    #[test]
    fn the_store_says_which_readings_are_good_and_stops_nobody() {
        let mut known = Known { store: Some(offset(T, 0)), ..Known::default() };
        assert_eq!(read(&mut known, T + HOUR, 5), T + 5, "a wild clock from the start: the store's time");
        assert_eq!(read(&mut known, T + 1_000, 10), T + 1_000);
        known.store = Some(offset(T + HOUR, 0));
        assert_eq!(
            read(&mut known, T + 1_010, 20),
            T + 1_010,
            "the store's clock jumps: on from the last good reading"
        );
        assert_eq!(read(&mut known, T + HOUR + 30, 30), T + HOUR + 30, "unless the wall clock agrees with it");
        assert_eq!(known.read(Reading { wall_ms: None, mono_ms: 40 }, SKEW), Some(T + HOUR + 40), "no clock");
        assert_eq!(Known::default().read(Reading { wall_ms: None, mono_ms: 40 }, SKEW), None);
    }

    #[test]
    fn the_first_reading_is_judged_when_the_stores_time_becomes_known() {
        for wrong in [T - HOUR, T + HOUR] {
            let mut known = Known::default();
            assert_eq!(read(&mut known, wrong, 0), wrong, "nothing to compare it with");
            known.hear(offset(T, 0), SKEW, false);
            assert_eq!(read(&mut known, wrong + 10, 10), T + 10, "the store's time");
            assert_eq!(read(&mut known, T + 1_020, 20), T + 1_020, "the clock was corrected");
            // From now on it has a good reading, so the store's clock may jump.
            known.hear(offset(T + 2 * HOUR, 0), SKEW, false);
            assert_eq!(read(&mut known, T + 1_030, 30), T + 1_030);
        }
        let mut known = Known::default();
        read(&mut known, T, 0);
        known.hear(offset(T + SKEW, 0), SKEW, false);
        assert_eq!(known.good, Some(offset(T, 0)), "by the limit");
        for wrong in [T - HOUR, T + HOUR] {
            let mut known = Known::default();
            read(&mut known, wrong, 0);
            known.hear(offset(T, 0), SKEW, true);
            assert_eq!(read(&mut known, wrong + 10, 10), wrong + 10, "it mints already");
        }
    }

    #[test]
    fn no_reading_overflows() {
        for wall in [0, 1, u64::MAX] {
            for mono in [0, 1, u64::MAX] {
                let mut known = Known { store: Some(i64::MIN), ..Known::default() };
                known.read(Reading { wall_ms: Some(wall), mono_ms: mono }, u64::MAX);
                known.read(Reading { wall_ms: Some(0), mono_ms: mono }, 0);
            }
        }
    }
}
