//! The writes of a holder: it raises the ceiling of its lane in time, and how far; and gives the lane back at the end.

use super::messages::{Action, Moment};
use super::{Engine, MIN_GAP_MS, Step};
use crate::record::{LaneRecord, LaneState, Token};

/// How many attempts to write are remembered. If an older one takes effect after all, the lane counts as lost.
const MOST_ATTEMPTS: usize = 1_024;

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
}
