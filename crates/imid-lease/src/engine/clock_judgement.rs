//! Which time of a clock is believed: arithmetic on readings, without a clock.
//!
//! Time is kept as an **offset**: Unix milliseconds less the milliseconds of the process's own monotonic clock. A clock
//! that runs on evenly has a constant offset; a step changes it.

use std::collections::BTreeMap;

use crate::record::{LaneRecord, LaneState, Token};

/// How long a jump forward must last until it is believed: the machine was then suspended in a way that its monotonic
/// clock cannot see, or someone corrected a clock that was behind.
pub(crate) const LASTING_MS: u64 = 60_000;

/// One reading of both clocks of a process, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    /// The wall clock; `None` where it cannot be read.
    pub(crate) wall_ms: Option<u64>,
    /// The monotonic clock.
    pub(crate) mono_ms: u64,
}

/// What is known of the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Known {
    /// The offset of the last reading that was believed.
    pub(crate) good: Option<i64>,
    /// The offset of the store's time, if it has one.
    pub(crate) store: Option<i64>,
    /// A jump forward that has not been believed: its offset, and the monotonic time of its first reading.
    pub(crate) jump: Option<(i64, u64)>,
}

impl Known {
    /// Takes one reading into account, and returns the time to go by. This is the wall clock while it is within
    /// `max_skew_ms` of the store's time. If the store has no time, it is the wall clock while it is within
    /// `max_skew_ms` of the last good reading plus the time that has passed. Otherwise it is that sum itself.
    ///
    /// The store's time decides which readings are good. It is used itself only before the first good one.
    pub(crate) fn read(&mut self, reading: Reading, max_skew_ms: u64) -> Option<u64> {
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
    pub(crate) fn expected(&self) -> Option<i64> {
        self.store.or(self.good)
    }

    /// Returns the offset of the time to go by.
    pub(crate) fn believed(&self) -> Option<i64> {
        self.good.or(self.store)
    }

    /// Takes the offset of the store's time into account. A reading that was believed before the store's time was known
    /// is judged now: a process whose clock is wrong from the start has nothing else to compare it with.
    pub(crate) fn hear(&mut self, store: i64, max_skew_ms: u64) {
        if self.store.is_none() && self.good.is_some_and(|good| good.abs_diff(store) > max_skew_ms) {
            self.good = None;
            self.jump = None;
        }
        self.store = Some(store);
    }

    /// Lets the holders of lanes vote where the store's time and this clock differ by more than `max_skew_ms`, and no reading
    /// was good yet: one of both clocks is wrong. A holder that is alive has its ceiling within its horizon of the right time,
    /// and of no other. If more holders are near this clock than near the store's time, this clock is right, and the store's
    /// time is not used. Without holders, and if as many are near both, the store's time stays.
    ///
    /// A holder that has died has its ceiling near the time of its death, which a clock can still show: that of a machine that
    /// was off and continues from the time that it has saved, so a holder votes once its record has changed while it was watched.
    /// Returns whether the others could change nothing, or have had the time to.
    pub(crate) fn vote(&mut self, reading: Reading, max_skew_ms: u64, holders: &Holders) -> bool {
        let Reading { wall_ms: Some(wall_ms), mono_ms } = reading else { return true };
        let (None, Some(store)) = (self.good, self.store) else { return true };
        let near = |time_ms: u64, counts: fn(&Watched, u64) -> bool| {
            let from_ms = time_ms.saturating_sub(max_skew_ms);
            let to_ms = time_ms.saturating_add(max_skew_ms);
            let counted = holders.lanes.iter().flat_map(BTreeMap::values).filter(|it| counts(it, holders.watched_ms));
            counted.filter(|it| (from_ms..=to_ms.saturating_add(it.horizon_ms)).contains(&it.ceiling_ms)).count()
        };
        let is_alive = |it: &Watched, _| it.is_alive;
        let store_ms = time_of(store, mono_ms);
        if near(wall_ms, is_alive) > near(store_ms, Watched::can_vote) {
            self.good = Some(offset(wall_ms, mono_ms));
            return true;
        }
        near(wall_ms, Watched::can_vote) <= near(store_ms, is_alive)
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

/// The longest time for which a holder is watched. One with a horizon of more than 20 s may be alive and have no vote.
const WATCH_MS: u64 = 10_000;

/// The holders of lanes, watched from one list of the records to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    /// The monotonic time of the first list; `None` if a call has failed since.
    since_ms: Option<u64>,
    /// From the answer to the first list until the last one was asked for: a holder may renew its lane while an answer is under way.
    watched_ms: u64,
    lanes: Option<BTreeMap<u16, Watched>>,
}

#[derive(Clone, Debug)]
struct Watched {
    token: Token,
    ceiling_ms: u64,
    horizon_ms: u64,
    /// It has written since the first list.
    is_alive: bool,
}

impl Holders {
    /// Takes a list of the lanes into account, and the monotonic times of its request and of its answer.
    pub(crate) fn see(&mut self, asked_ms: u64, answered_ms: u64, lanes: impl Iterator<Item = (u16, LaneRecord)>) {
        self.watched_ms = asked_ms.saturating_sub(*self.since_ms.get_or_insert(answered_ms));
        let before = self.lanes.take();
        let held = lanes.filter(|(_, record)| record.state == LaneState::Held);
        let lanes = held.map(|(lane, LaneRecord { token, ceiling_ms, horizon_ms, .. })| {
            let has_renewed =
                |lanes: &BTreeMap<_, Watched>| lanes.get(&lane).is_none_or(|it| it.is_alive || it.token != token);
            let is_alive = before.as_ref().is_some_and(has_renewed);
            (lane, Watched { token, ceiling_ms, horizon_ms, is_alive })
        });
        self.lanes = Some(lanes.collect());
    }

    /// Notes that a call has failed. The holders may not reach the store either, so the time of the watch begins again.
    pub(crate) fn miss(&mut self) {
        self.since_ms = None;
    }
}

impl Watched {
    /// Returns whether it is alive, or may still show it: a holder renews its lane in each quarter of its horizon.
    fn can_vote(&self, watched_ms: u64) -> bool {
        self.is_alive || watched_ms < (self.horizon_ms / 2).min(WATCH_MS)
    }
}

/// Unix milliseconds less monotonic ones.
pub(crate) fn offset(unix_ms: u64, mono_ms: u64) -> i64 {
    i64::try_from(i128::from(unix_ms) - i128::from(mono_ms)).unwrap_or(i64::MAX)
}

/// Unix milliseconds at a monotonic time.
pub(crate) fn time_of(offset: i64, mono_ms: u64) -> u64 {
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
            known.hear(offset(T, 0), SKEW);
            assert_eq!(read(&mut known, wrong + 10, 10), T + 10, "the store's time");
            assert_eq!(read(&mut known, T + 1_020, 20), T + 1_020, "the clock was corrected");
            // From now on it has a good reading, so the store's clock may jump.
            known.hear(offset(T + 2 * HOUR, 0), SKEW);
            assert_eq!(read(&mut known, T + 1_030, 30), T + 1_030);
        }
        let mut known = Known::default();
        read(&mut known, T, 0);
        known.hear(offset(T + SKEW, 0), SKEW);
        assert_eq!(known.good, Some(offset(T, 0)), "by the limit");
    }

    /// A process that starts with a right clock, and a store whose time is an hour away.
    fn apart(store: u64) -> Known {
        let mut known = Known::default();
        read(&mut known, T, 0);
        known.hear(offset(store, 0), SKEW);
        known
    }

    /// Holders with these ceilings and a horizon of 10 s, which were listed twice in this time. The first of them have renewed.
    fn watched(alive: usize, ceilings_ms: &[u64], watched_ms: u64) -> Holders {
        let mut holders = Holders::default();
        for (token, asked_ms) in [(0, 0), (1, watched_ms)] {
            let record = |(lane, ceiling_ms): (usize, &u64)| {
                let token = if lane < alive { token } else { 0 };
                let text = "imid-lease/1 lane version=1 token=0000000000000000 holder=a horizon=10000 ceiling=0 held";
                let record = LaneRecord::parse(text).unwrap();
                (lane as u16, LaneRecord { token: Token(token), ceiling_ms: *ceiling_ms, ..record })
            };
            // The second answer takes long.
            holders.see(asked_ms, asked_ms * 10, ceilings_ms.iter().enumerate().map(record));
        }
        holders
    }

    #[test]
    fn holders_near_the_clock_decide_that_the_stores_time_is_wrong() {
        for store in [T + HOUR, T - HOUR] {
            let mut known = apart(store);
            let vote = |known: &mut Known, ceilings_ms: &[u64]| {
                let reading = Reading { wall_ms: Some(T + 10), mono_ms: 10 };
                known.vote(reading, SKEW, &watched(ceilings_ms.len(), ceilings_ms, 10))
            };
            assert_eq!(read(&mut known, T + 10, 10), store + 10, "without holders, the store's time");
            assert!(vote(&mut known, &[T + 7_000, store + 7_000]));
            assert_eq!(read(&mut known, T + 10, 10), store + 10, "as many near both");
            // The clock of the first one is behind, and the second one is too far ahead for its horizon.
            assert!(vote(&mut known, &[T - 600_000, T + 20_000]));
            assert_eq!(read(&mut known, T + 10, 10), store + 10, "nobody near one of them");
            assert!(vote(&mut known, &[T + 7_000, T + 9_000, store + 7_000]));
            assert_eq!(read(&mut known, T + 20, 20), T + 20, "most are near the clock");
            // The store's time is asked for again, and stays wrong.
            known.hear(offset(store + 20, 20), SKEW);
            assert_eq!(read(&mut known, T + 30, 30), T + 30);
            known.hear(offset(T + 30, 30), SKEW);
            assert_eq!(read(&mut known, T + 1_040, 40), T + 1_040, "and is right at last");
        }
    }

    #[test]
    fn a_holder_votes_once_it_has_renewed_and_is_waited_for_while_it_could_decide() {
        let (clock, store) = (T + 7_000, T + HOUR + 7_000);
        // How many have renewed, the ceilings, whether the vote is decided at first and whether the clock is right.
        for (alive, ceilings_ms, is_decided, is_right) in [
            (0, &[][..], true, false),
            (0, &[clock], false, false),
            (1, &[clock], true, true),
            (1, &[clock, store], false, true),
            (1, &[clock, clock, store, store], false, true),
            (1, &[store, clock], true, false),
            (1, &[store, clock, clock], false, false),
            (0, &[store, clock], false, false),
        ] {
            let mut known = apart(T + HOUR);
            let reading = Reading { wall_ms: Some(T + 10), mono_ms: 10 };
            let mut vote = |watched_ms| known.vote(reading, SKEW, &watched(alive, ceilings_ms, watched_ms));
            assert_eq!((vote(10), vote(4_999)), (is_decided, is_decided), "{alive} of {ceilings_ms:?}");
            assert!(vote(5_000), "half of the horizon is over");
            assert_eq!(known.good.is_some(), is_right, "{alive} of {ceilings_ms:?}");
        }
    }

    #[test]
    fn after_a_failed_call_the_watch_begins_again_and_the_living_are_known() {
        let reading = Reading { wall_ms: Some(T + 10), mono_ms: 10 };
        for (alive, is_right) in [(0, false), (2, true)] {
            let mut known = apart(T + HOUR);
            let ceilings_ms = [T + 7_000, T + 8_000, T + HOUR + 7_000];
            let mut holders = watched(alive, &ceilings_ms, 4_900);
            holders.miss();
            let lanes = watched(alive, &ceilings_ms, 4_900).lanes.unwrap();
            let text = "imid-lease/1 lane version=1 token=0000000000000000 holder=a horizon=10000 ceiling=0 held";
            let record = |(lane, it): (&u16, &Watched)| {
                let record = LaneRecord::parse(text).unwrap();
                (*lane, LaneRecord { token: it.token, ceiling_ms: it.ceiling_ms, ..record })
            };
            holders.see(90_000, 90_010, lanes.iter().map(record));
            assert_eq!(
                known.vote(reading, SKEW, &holders),
                is_right,
                "the third holder was silent, or could not write"
            );
            assert_eq!(known.good.is_some(), is_right);
        }
    }

    #[test]
    fn holders_do_not_vote_where_a_reading_was_good() {
        let mut known = Known::default();
        read(&mut known, T, 0);
        known.hear(offset(T + 1_000, 0), SKEW);
        assert!(known.vote(Reading { wall_ms: Some(T + HOUR), mono_ms: 10 }, SKEW, &watched(1, &[T + HOUR], 10)));
        assert_eq!(read(&mut known, T + HOUR, 10), T + 10);
        let mut known = apart(T + HOUR);
        assert!(known.vote(Reading { wall_ms: None, mono_ms: 10 }, SKEW, &watched(1, &[T], 10)));
        assert_eq!(known.believed(), Some(offset(T + HOUR, 0)));
    }

    #[test]
    fn no_reading_overflows() {
        for wall in [0, 1, u64::MAX] {
            for mono in [0, 1, u64::MAX] {
                let mut known = Known { store: Some(i64::MIN), ..Known::default() };
                known.read(Reading { wall_ms: Some(wall), mono_ms: mono }, u64::MAX);
                known.read(Reading { wall_ms: Some(0), mono_ms: mono }, 0);
                let mut known = Known { store: Some(i64::MIN), ..Known::default() };
                known.vote(Reading { wall_ms: Some(wall), mono_ms: mono }, u64::MAX, &watched(1, &[u64::MAX, 0], 10));
            }
        }
    }
}
