//! Holding a lane: raising its ceiling in time, and how far; what the answers mean; and giving it back at the end.

use super::{Action, Engine, Grant, MIN_GAP_MS, Moment, Step, Stopped};
use crate::record::{LaneRecord, LaneState, Token};

/// How many attempts to write are remembered. If an older one takes effect after all, the lane counts as lost.
const MOST_ATTEMPTS: usize = 1_024;

/// How often a release is tried whose record is not that of another process.
const MOST_RELEASES: u32 = 3;

/// The wait after the first call that has failed, and the least and the longest one.
const FIRST_GAP_MS: u64 = 100;
const SHORTEST_GAP_MS: u64 = 10;
const LONGEST_GAP_MS: u64 = 10_000;

/// The longest one of a holder that has nothing left to mint.
const LONGEST_REFUSAL_MS: u64 = 1_000;

/// The lane that was granted last.
#[derive(Clone, Debug)]
pub(super) struct Present {
    pub(super) lane: u16,
    pub(super) floor_ms: u64,
    /// The greatest ceiling that was acknowledged.
    pub(super) ceiling_ms: u64,
    /// The record as it was last read, or written with an acknowledgement.
    pub(super) record: LaneRecord,
    /// When `record` was first known.
    pub(super) since_ms: u64,
    /// The latest attempts since the last acknowledged one, with their records. The acknowledged one is included.
    pub(super) attempts: Vec<(u64, LaneRecord)>,
    /// How many milliseconds were left below the ceiling at the last acknowledgement.
    pub(super) room_ms: u64,
    /// Whether another process has taken it, or it was given back.
    pub(super) is_lost: bool,
}

impl Engine {
    /// Raises the ceiling of the present lane, if it is time.
    pub(super) fn renew(&mut self, at: Moment, token: Token) -> Action {
        let Some(present) = &self.present else { return Action::Done };
        let horizon_ms = self.config.horizon_ms;
        let acknowledged_at_ms = self.acknowledged_at_ms.unwrap_or(0);
        let reached_ms = self.used_until_ms.max(at.now_ms.unwrap_or(0));
        let left_ms = present.ceiling_ms.saturating_sub(reached_ms);
        let wants_room = left_ms <= present.room_ms / 2;
        let allowed_ms = self.attempted_at_ms.map_or(0, |attempted| attempted + MIN_GAP_MS);
        let regular_ms = acknowledged_at_ms + horizon_ms / 4;
        let due_ms = if wants_room { allowed_ms } else { regular_ms.max(allowed_ms) };
        if due_ms > at.mono_ms {
            return Action::Sleep { until_ms: due_ms };
        }
        let known_for_ms = at.mono_ms.saturating_sub(present.since_ms);
        let ceiling_ms = self.raise(at, present.record.ceiling_ms, present.floor_ms, known_for_ms);
        if ceiling_ms <= present.record.ceiling_ms {
            return Action::Sleep { until_ms: at.mono_ms + MIN_GAP_MS };
        }
        let record = LaneRecord {
            version: present.record.version + 1,
            token,
            holder: self.config.name.clone(),
            horizon_ms,
            ceiling_ms,
            state: LaneState::Held,
        };
        self.attempted_at_ms = Some(at.mono_ms);
        self.step = Step::Renewing;
        self.write_present(record)
    }

    pub(super) fn raise(&self, at: Moment, ceiling_ms: u64, floor_ms: u64, known_for_ms: u64) -> u64 {
        let raise = Raise {
            now_ms: at.now_ms,
            horizon_ms: self.config.horizon_ms,
            ceiling_ms,
            known_for_ms,
            floor_ms,
            used_until_ms: self.used_until_ms,
            acknowledged_ago_ms: self.acknowledged_at_ms.map(|then| at.mono_ms.saturating_sub(then)),
        };
        raise.ceiling()
    }

    /// Reads the record of the present lane.
    pub(super) fn read_present(&mut self, step: Step) -> Action {
        self.step = step;
        Action::Read { key: self.present_key() }
    }

    fn present_key(&self) -> String {
        self.lane_key(self.present.as_ref().map_or(0, |present| present.lane))
    }

    /// Tries to replace the record of the present lane.
    fn write_present(&mut self, record: LaneRecord) -> Action {
        self.attempts += 1;
        let (attempt, key) = (self.attempts, self.present_key());
        let Some(present) = &mut self.present else { return Action::Done };
        let (seen, value) = (present.record.to_string(), record.to_string());
        present.attempts.push((attempt, record));
        if present.attempts.len() > MOST_ATTEMPTS {
            present.attempts.remove(0);
        }
        Action::Write { attempt, key, seen: Some(seen), value }
    }

    /// Writes that the present lane is free. The generator is sealed.
    pub(super) fn release(&mut self, tries: u32, token: Token) -> Action {
        let Some(present) = &self.present else { return Action::Done };
        let record = LaneRecord {
            version: present.record.version + 1,
            token,
            holder: self.config.name.clone(),
            horizon_ms: self.config.horizon_ms,
            // Below the ceiling that was read, if less was used: no one has minted in between.
            ceiling_ms: present.floor_ms.max(self.used_until_ms),
            state: LaneState::Free,
        };
        self.step = Step::Releasing { tries };
        self.write_present(record)
    }

    /// A write of the present grant was acknowledged.
    pub(super) fn acknowledge(&mut self, at: Moment, attempt: u64) {
        let reached_ms = self.used_until_ms.max(at.now_ms.unwrap_or(0));
        let Some(present) = &mut self.present else { return };
        // Attempts before this one expected other records, so none of them can be written anymore.
        present.attempts.retain(|(number, _)| *number == attempt);
        let Some((_, record)) = present.attempts.first() else { return };
        present.record = record.clone();
        present.since_ms = at.mono_ms;
        present.ceiling_ms = present.ceiling_ms.max(record.ceiling_ms);
        present.room_ms = present.ceiling_ms.saturating_sub(reached_ms);
        self.acknowledged.insert(present.lane, record.clone());
        self.acknowledged_at_ms = Some(at.mono_ms);
        self.acknowledgements += 1;
        self.step = Step::Raise;
    }

    /// Handles an acknowledgement that the engine no longer waits for. If it is of the present grant, the lane
    /// was this process's when the record was written, so the ceiling holds.
    pub(super) fn acknowledged_late(&mut self, attempt: u64) {
        let Some(present) = &mut self.present else { return };
        if let Some((_, record)) = present.attempts.iter().find(|(number, _)| *number == attempt) {
            present.ceiling_ms = present.ceiling_ms.max(record.ceiling_ms);
            if matches!(self.step, Step::Keep) {
                self.step = Step::Raise;
            }
        }
    }

    /// Decides what the record of the present lane means, after a conflict or silence.
    pub(super) fn check(&mut self, at: Moment, text: Option<&str>) {
        let found = text.map(LaneRecord::parse);
        let Some(present) = &self.present else { return };
        let lane = present.lane;
        if let Some(Err(_)) = found {
            // Another version writes records of another format here. They are not overwritten.
            return self.lose(at);
        }
        let found = found.and_then(Result::ok);
        if self.reverted(lane, found.as_ref()) {
            return self.stop(Stopped::Reverted { key: self.lane_key(lane) });
        }
        let Some(present) = &mut self.present else { return };
        match found {
            Some(found) if found == present.record => {}
            Some(found) if present.wrote(&found) => {
                // A read grants nothing: the next write from here does.
                present.record = found;
                present.since_ms = at.mono_ms;
            }
            _ => return self.lose(at),
        }
        self.step = Step::Keep;
    }

    fn lose(&mut self, at: Moment) {
        if let Some(present) = &mut self.present {
            present.is_lost = true;
        }
        self.lost += 1;
        self.step = Step::Look { at_ms: at.mono_ms };
    }

    /// After a conflict at the release: tries again if the record is one of this grant, whose reply was lost.
    pub(super) fn check_release(&mut self, tries: u32, text: Option<&str>) {
        let found = text.and_then(|text| LaneRecord::parse(text).ok());
        self.step = Step::Stopped(Stopped::Closed);
        // A record that is as expected, and yet not replaced: the store refuses the write, as with row security.
        if let (Some(present), Some(found)) = (&mut self.present, found)
            && present.wrote(&found)
            && tries < MOST_RELEASES
        {
            present.record = found;
            self.step = Step::Release { tries };
        }
    }

    /// Returns the wait after a call that has failed. The store may be overloaded by all who wait, so those who have no room
    /// to mint leave it to those who have, and who has waited long for an answer in vain is away for about as long.
    pub(super) fn gap_ms(&self, at: Moment, backoff: Backoff) -> u64 {
        let reached_ms = self.used_until_ms.max(at.now_ms.unwrap_or(0));
        let has_room = self.present.as_ref().is_some_and(|present| present.ceiling_ms > reached_ms);
        let horizon_ms = self.config.horizon_ms;
        let is_holder = self.present.as_ref().is_some_and(|present| !present.is_lost);
        let longest_ms = match (has_room, is_holder) {
            (true, _) => horizon_ms / 8,
            // Its callers are refused until the store answers.
            (false, true) => horizon_ms.min(LONGEST_REFUSAL_MS),
            (false, false) => horizon_ms.min(LONGEST_GAP_MS),
        };
        let took_ms = at.mono_ms.saturating_sub(self.polled_at_ms).min(longest_ms);
        jittered(self.random, backoff.wait_ms(longest_ms).max(took_ms)).max(SHORTEST_GAP_MS)
    }
}

impl Present {
    pub(super) fn grant(&self) -> Grant {
        let Self { lane, floor_ms, ceiling_ms, .. } = *self;
        Grant { lane, floor_ms, ceiling_ms }
    }

    pub(super) fn last_attempt(&self) -> Option<u64> {
        self.attempts.last().map(|(number, _)| *number)
    }

    /// Returns whether an attempt of this grant wrote this record.
    fn wrote(&self, found: &LaneRecord) -> bool {
        self.attempts.iter().any(|(_, record)| record == found)
    }
}

/// The first millisecond after the last timestamp of an ID (2109-05-15).
pub(crate) const END_OF_TIME_MS: u64 = 1 << 42;

/// What a new ceiling depends on, in milliseconds.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "each is in milliseconds")]
struct Raise {
    /// The time of the clock, as far as it is believed; `None` where there is none.
    now_ms: Option<u64>,
    horizon_ms: u64,
    /// The ceiling that was read.
    ceiling_ms: u64,
    /// How long ago this process first read the record.
    known_for_ms: u64,
    /// The first millisecond of the grant.
    floor_ms: u64,
    /// The first millisecond after the last stamp of this process; 0 if there is none.
    used_until_ms: u64,
    /// How long ago a write of this process was acknowledged for the last time; `None` if none was.
    acknowledged_ago_ms: Option<u64>,
}

impl Raise {
    /// Returns the ceiling to write: `max(now + h, C + e, R + e')`, with no more than a millisecond in the place of `e` where C is a
    /// horizon past all that can be minted now.
    ///
    /// It leads the true time by a horizon and the worst error of a clock at most, whatever restarts and take-overs
    /// there are, because `e` and `e'` are times that have passed. A ceiling of a clock that was ahead keeps its lead only for as
    /// long as the stamps do. It grows by a millisecond all the same: a record that does not change is that of a dead holder.
    fn ceiling(&self) -> u64 {
        let elapsed = self.known_for_ms.min(self.horizon_ms);
        let by_clock = self.now_ms.map_or(0, |now| now.saturating_add(self.horizon_ms));
        let next_ms = self.now_ms.unwrap_or(0).max(self.floor_ms).max(self.used_until_ms);
        let most = next_ms.saturating_add(self.horizon_ms).max(self.ceiling_ms.saturating_add(1));
        let by_record = self.ceiling_ms.saturating_add(elapsed).min(most);
        let by_stamps = self.acknowledged_ago_ms.map_or(0, |ago| self.used_until_ms.saturating_add(elapsed.min(ago)));
        by_clock.max(by_record).max(by_stamps).min(END_OF_TIME_MS)
    }
}

/// The failures of calls in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Notes whether a call was answered.
    pub(super) fn note(&mut self, is_answered: bool) {
        self.failures = if is_answered { 0 } else { self.failures.saturating_add(1) };
    }

    /// Returns how long to wait now, in milliseconds: it doubles with each failure.
    fn wait_ms(self, longest_ms: u64) -> u64 {
        (FIRST_GAP_MS << self.failures.saturating_sub(1).min(16)).min(longest_ms)
    }
}

/// Returns a wait between nothing and this time, by chance, so that those who were refused together do not come back together.
pub(super) fn jittered(random: u64, longest_ms: u64) -> u64 {
    let product = u128::from(random) * (u128::from(longest_ms) + 1);
    (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_795_204_812_345;
    const PLAIN: Raise = Raise {
        now_ms: Some(T),
        horizon_ms: 10_000,
        ceiling_ms: 0,
        known_for_ms: 0,
        floor_ms: 0,
        used_until_ms: 0,
        acknowledged_ago_ms: None,
    };

    #[test]
    fn a_ceiling_is_the_greatest_of_three() {
        #[rustfmt::skip]
        let table = [
            ("a new lane", PLAIN, T + 10_000),
            ("a clock that is behind: the time since the record was read", Raise { ceiling_ms: T + 20_000, known_for_ms: 250, used_until_ms: T + 11_000, ..PLAIN }, T + 20_250),
            ("at most a horizon", Raise { ceiling_ms: T + 20_000, known_for_ms: 99_000, floor_ms: T + 20_000, ..PLAIN }, T + 30_000),
            ("no time has passed: no room", Raise { ceiling_ms: T + 20_000, ..PLAIN }, T + 20_000),
            ("a horizon past the clock already", Raise { ceiling_ms: T + 20_000, known_for_ms: 250, ..PLAIN }, T + 20_001),
            ("nearly a horizon past the stamps", Raise { ceiling_ms: T + 20_000, known_for_ms: 250, used_until_ms: T + 10_100, ..PLAIN }, T + 20_100),
            ("no clock", Raise { now_ms: None, ceiling_ms: 7, known_for_ms: 3, ..PLAIN }, 10),
            ("stamps ahead of both", Raise { used_until_ms: T + 15_000, known_for_ms: 2_000, acknowledged_ago_ms: Some(1_500), ..PLAIN }, T + 16_500),
            ("stamps, and the record is new", Raise { used_until_ms: T + 15_000, known_for_ms: 20, acknowledged_ago_ms: Some(1_500), ..PLAIN }, T + 15_020),
            ("stamps without a write", Raise { used_until_ms: T + 15_000, known_for_ms: 2_000, ..PLAIN }, T + 10_000),
            ("the end of time", Raise { now_ms: Some(u64::MAX), ceiling_ms: u64::MAX, ..PLAIN }, END_OF_TIME_MS),
        ];
        for (what, raise, ceiling) in table {
            assert_eq!(raise.ceiling(), ceiling, "{what}");
        }
    }

    #[test]
    fn the_wait_doubles_up_to_a_second_and_begins_anew_after_an_answer() {
        let mut backoff = Backoff::default();
        let waits = [0; 6].map(|_| {
            backoff.note(false);
            backoff.wait_ms(1_000)
        });
        assert_eq!(waits, [100, 200, 400, 800, 1_000, 1_000]);
        backoff.note(true);
        backoff.note(false);
        assert_eq!(backoff.wait_ms(1_000), 100);
    }

    #[test]
    fn a_wait_by_chance_has_the_whole_range() {
        for (random, longest_ms, wait_ms) in [
            (0, 100, 0),
            (u64::MAX, 100, 100),
            (u64::MAX / 2, 100, 50),
            (u64::MAX, 0, 0),
            (u64::MAX, u64::MAX, u64::MAX),
        ] {
            assert_eq!(jittered(random, longest_ms), wait_ms, "{random} {longest_ms}");
        }
    }
}
