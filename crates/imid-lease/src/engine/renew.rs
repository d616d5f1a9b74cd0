//! The writes of a holder: it raises the ceiling of its lane in time, and gives the lane back at the end.

use super::messages::{Action, Moment};
use super::raise::{END_OF_TIME_MS, Raise};
use super::{Engine, MIN_GAP_MS, Step};
use crate::record::{LaneRecord, LaneState, Token};

/// The greatest margin of a ceiling that is raised because a call wants it. Without one each post of the room would wait for a write;
/// with more each crash would take the IDs further ahead.
const MOST_MARGIN_MS: u64 = 1_000;

/// The least time between two attempts to write for calls that wait, and between two lists for them. Each call that must wait for the
/// next one is late by this.
pub(crate) const FOLLOW_GAP_MS: u64 = 10;

/// How many attempts to write are remembered. If an older one takes effect after all, the lane counts as lost.
const MOST_ATTEMPTS: usize = 1_024;

/// How often the time between two lists is doubled, while they show nothing that calls ask for: to 0.64 s.
const MOST_DOUBLINGS: u32 = 6;

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
        // A call waits for this one. The first of them waits for nothing else.
        let followed = self.follow(at, present.ceiling_ms);
        let follow_ms = self.followed_at_ms.map_or(0, |followed| followed + FOLLOW_GAP_MS);
        let due_ms = match followed {
            Some(_) => follow_ms,
            None if wants_room => allowed_ms,
            None => regular_ms.max(allowed_ms),
        };
        if due_ms > at.mono_ms {
            return self.ask_or_sleep(at, due_ms);
        }
        let known_for_ms = at.mono_ms.saturating_sub(present.since_ms);
        let ceiling_ms = self.raise(at, present.record.ceiling_ms, present.floor_ms, known_for_ms);
        let ceiling_ms = ceiling_ms.max(followed.unwrap_or(0));
        if ceiling_ms <= present.record.ceiling_ms {
            return self.ask_or_sleep(at, at.mono_ms + MIN_GAP_MS);
        }
        let record = LaneRecord {
            version: present.record.version + 1,
            token,
            holder: self.config.name.clone(),
            horizon_ms,
            ceiling_ms,
            state: LaneState::Held,
        };
        if followed.is_some() {
            self.followed_at_ms = Some(at.mono_ms);
        }
        self.attempted_at_ms = Some(at.mono_ms);
        self.step = Step::Renewing;
        self.write_present(record)
    }

    /// No write before this time. A list for calls never goes before a write: many rooms with IDs from far ahead would
    /// else use up the lease.
    fn ask_or_sleep(&mut self, at: Moment, until_ms: u64) -> Action {
        let gap_ms = FOLLOW_GAP_MS << self.vain_looks.min(MOST_DOUBLINGS);
        let allowed_ms = self.looked_at_ms.map_or(0, |looked| looked + gap_ms);
        if !self.is_beyond(at, self.asked_ms) {
            return self.sleep(until_ms);
        }
        if allowed_ms > at.mono_ms {
            return self.sleep(until_ms.min(allowed_ms));
        }
        (self.looking_for_ms, self.looked_at_ms) = (std::mem::take(&mut self.asked_ms), Some(at.mono_ms));
        self.step = Step::Asking;
        Action::List
    }

    /// The lanes were listed for a call.
    pub(super) fn answer(&mut self, at: Moment) {
        self.answered_ms = self.looking_for_ms;
        let is_vain = self.is_beyond(at, self.looking_for_ms);
        self.vain_looks = if is_vain { self.vain_looks.saturating_add(1) } else { 0 };
    }

    /// Returns the ceiling that a refused call wants, if it is above this one and near enough, and a margin for the calls that follow
    /// it.
    fn follow(&self, at: Moment, ceiling_ms: u64) -> Option<u64> {
        let (wanted_ms, most_ms) = (self.wanted_ms, self.most_ms(at)?);
        if wanted_ms <= ceiling_ms || wanted_ms > most_ms {
            return None;
        }
        let margin_ms = (self.config.horizon_ms / 16).min(MOST_MARGIN_MS).min((most_ms - wanted_ms) / 8);
        Some(wanted_ms + margin_ms)
    }

    /// Returns how far a ceiling is raised because a call wants it: as far ahead as any clock explains, or to what another lane was granted.
    fn most_ms(&self, at: Moment) -> Option<u64> {
        let by_clock = at.now_ms?.saturating_add(self.follows_ms());
        // The ID after one that is below a ceiling can be in the millisecond of the ceiling.
        Some(by_clock.max(self.granted_ms.saturating_add(1)).min(END_OF_TIME_MS))
    }

    /// Returns whether this is more than is known to be granted, and than any clock explains.
    fn is_beyond(&self, at: Moment, asked_ms: u64) -> bool {
        self.most_ms(at).is_some_and(|most_ms| asked_ms > most_ms)
    }

    /// Returns how far ahead of the clock a ceiling is raised because a call wants it. The last ID of a room can be a horizon ahead of
    /// the clock of its host, which can be ahead by the skew, while this one is behind by it.
    pub(crate) fn follows_ms(&self) -> u64 {
        self.longest_horizon_ms.saturating_add(self.config.max_skew_ms.saturating_mul(2))
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
    pub(super) fn release(&mut self, token: Token) -> Action {
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
        self.step = Step::Releasing;
        self.write_present(record)
    }
}
