//! What an engine does with replies.

use super::{AfterSeal, Engine, MIN_GAP_MS, Moment, Outcome, Present, Reply, Search, Step, Stopped};
use crate::record::LaneRecord;

impl Engine {
    /// Takes a reply into account. The reply may come after the engine has given up waiting for it
    /// ([`Outcome::Unknown`]).
    pub fn reply(&mut self, at: Moment, reply: Reply) {
        self.used_until_ms = self.used_until_ms.max(at.used_until_ms);
        match reply {
            Reply::Listed(listed) => {
                if !matches!(self.step, Step::Looking) {
                    return;
                }
                self.backoff.note(listed.is_ok());
                self.search.is_blind |= listed.is_err();
                match listed {
                    Ok(records) => {
                        self.look(at, &records);
                        self.search.listed_at_ms = at.mono_ms;
                    }
                    Err(_) => self.step = Step::Look { at_ms: at.mono_ms + self.gap_ms(at, self.backoff) },
                }
            }
            Reply::Read(read) => {
                self.backoff.note(read.is_ok());
                let again_ms = at.mono_ms + self.gap_ms(at, self.backoff);
                match (&self.step, read) {
                    (Step::Checking, Ok(text)) => self.check(at, text.as_deref()),
                    (Step::Checking, Err(_)) => self.step = Step::Check { at_ms: again_ms },
                    (Step::Confirming(taken), Ok(text)) => self.confirm(taken.clone(), text.as_deref()),
                    (Step::Confirming(taken), Err(_)) => {
                        self.step = Step::Confirm { at_ms: again_ms, taken: taken.clone() };
                    }
                    (Step::CheckingRelease { tries }, Ok(text)) => self.check_release(*tries + 1, text.as_deref()),
                    (Step::CheckingRelease { .. }, Err(_)) => self.step = Step::Stopped(Stopped::Closed),
                    _ => {}
                }
            }
            Reply::Written { attempt, outcome } => self.written(at, attempt, outcome),
            Reply::Sealed { end_ms } => self.sealed(at, end_ms),
        }
    }

    fn written(&mut self, at: Moment, attempt: u64, outcome: Outcome) {
        let is_awaited = match &self.step {
            Step::GivingBack { attempt: awaited } | Step::Taking { attempt: awaited, .. } => *awaited == attempt,
            Step::Renewing | Step::Releasing { .. } => {
                self.present.as_ref().and_then(Present::last_attempt) == Some(attempt)
            }
            _ => false,
        };
        if !is_awaited {
            if outcome == Outcome::Acknowledged {
                self.acknowledged_late(attempt);
            }
            return;
        }
        self.backoff.note(outcome != Outcome::Unknown);
        self.write_backoff.note(outcome != Outcome::Unknown);
        let again_ms = at.mono_ms + self.gap_ms(at, self.write_backoff);
        match std::mem::replace(&mut self.step, Step::Keep) {
            // If it was not given back, others wait for its horizon.
            Step::GivingBack { .. } => {
                let is_unknown = outcome == Outcome::Unknown;
                self.may_hold = is_unknown;
                self.step = Step::Look { at_ms: if is_unknown { again_ms } else { at.mono_ms } };
            }
            Step::Taking { lane, floor_ms, record, .. } => {
                if outcome == Outcome::Acknowledged {
                    self.taken(at, lane, floor_ms, *record, attempt);
                } else if outcome == Outcome::Conflict {
                    self.lost_race(at, lane);
                } else {
                    self.may_hold = true;
                    self.search.is_blind = true;
                    self.step = Step::Look { at_ms: again_ms };
                }
            }
            Step::Renewing => match outcome {
                Outcome::Acknowledged => self.acknowledge(at, attempt),
                Outcome::Conflict => self.step = Step::Check { at_ms: at.mono_ms },
                Outcome::Unknown => self.step = Step::Check { at_ms: again_ms },
            },
            Step::Releasing { tries } => {
                if outcome == Outcome::Conflict {
                    self.step = Step::CheckRelease { tries };
                } else {
                    if let (Outcome::Acknowledged, Some(present)) = (outcome, &mut self.present) {
                        (present.is_lost, self.may_hold) = (true, false);
                    }
                    self.step = Step::Stopped(Stopped::Closed);
                }
            }
            other => self.step = other,
        }
    }

    /// A lane was taken.
    fn taken(&mut self, at: Moment, lane: u16, floor_ms: u64, record: LaneRecord, attempt: u64) {
        let taken = Present {
            lane,
            floor_ms,
            ceiling_ms: record.ceiling_ms,
            since_ms: at.mono_ms,
            attempts: vec![(attempt, record.clone())],
            room_ms: 0,
            is_lost: false,
            record,
        };
        // Until the lane is granted.
        self.may_hold = true;
        self.acknowledged_at_ms = Some(at.mono_ms);
        self.acknowledgements += 1;
        let was_held = self.search.seen.get(usize::from(lane)).is_some_and(|seen| seen.held().is_some());
        self.held_lanes = self.held_lanes.map(|held| held + u32::from(!was_held));
        // All lanes are listed again before the next one is taken, and take much memory.
        self.search = Search::default();
        self.step = Step::Confirm { at_ms: at.mono_ms, taken: Box::new(taken) };
    }

    /// The space is still that of the lane that was taken, so the lane is granted.
    pub(super) fn granted(&mut self, taken: Box<Present>) {
        if self.proven.as_ref().map(|proven| proven.era) != self.meta.as_ref().map(|meta| meta.era) {
            self.acknowledged.clear();
        }
        self.proven.clone_from(&self.meta);
        self.acknowledged.insert(taken.lane, taken.record.clone());
        self.may_hold = false;
        self.step = Step::Seal(AfterSeal::Start(taken));
    }

    /// A write of the present grant was acknowledged.
    fn acknowledge(&mut self, at: Moment, attempt: u64) {
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
    fn acknowledged_late(&mut self, attempt: u64) {
        let Some(present) = &mut self.present else { return };
        if let Some((_, record)) = present.attempts.iter().find(|(number, _)| *number == attempt) {
            present.ceiling_ms = present.ceiling_ms.max(record.ceiling_ms);
            if matches!(self.step, Step::Keep) {
                self.step = Step::Raise;
            }
        }
    }

    /// Decides what the record of the present lane means, after a conflict or silence.
    fn check(&mut self, at: Moment, text: Option<&str>) {
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
    fn check_release(&mut self, tries: u32, text: Option<&str>) {
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

    fn sealed(&mut self, at: Moment, end_ms: u64) {
        self.used_until_ms = self.used_until_ms.max(end_ms);
        let Step::Sealing(then) = std::mem::replace(&mut self.step, Step::Keep) else { return };
        match then {
            AfterSeal::Start(mut taken) => {
                taken.floor_ms = taken.floor_ms.max(self.used_until_ms);
                let start_ms = taken.floor_ms.max(at.now_ms.unwrap_or(0));
                taken.room_ms = taken.ceiling_ms.saturating_sub(start_ms);
                self.present = Some(*taken);
                self.has_tried_own = true;
                self.step = Step::Start;
            }
            AfterSeal::Release => self.step = Step::Release { tries: 0 },
            AfterSeal::Stop(why) => self.step = Step::Stopped(why),
        }
    }
}

/// How often a release is tried whose record is not that of another process.
const MOST_RELEASES: u32 = 3;

impl Present {
    fn last_attempt(&self) -> Option<u64> {
        self.attempts.last().map(|(number, _)| *number)
    }

    /// Returns whether an attempt of this grant wrote this record.
    fn wrote(&self, found: &LaneRecord) -> bool {
        self.attempts.iter().any(|(_, record)| record == found)
    }
}

const _: () = assert!(MIN_GAP_MS > 0, "attempts are apart");
