//! The writes of a holder: it raises the ceiling of its lane in time, and gives the lane back at the end.

use super::messages::{Action, Moment};
use super::raise::Raise;
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
