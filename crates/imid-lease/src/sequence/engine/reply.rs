//! What an engine learns from a reply.

use std::collections::HashMap;

use super::messages::{Config, Effect, Grant, Reply, Rule};
use super::section::{Lease, State, Taking};
use super::{Engine, MAX_BOUND, PAUSE_MS, Pending};
use crate::sequence::record::{Jump, SectionRecord};

impl Engine {
    /// Learns what came of the last action. Returns what changes for the numbers in memory.
    pub(crate) fn reply(&mut self, now: u64, reply: Reply) -> Option<Effect> {
        let pending = self.pending.take().expect("a reply follows an action");
        if reply == Reply::Failed {
            self.pause_until_ms = now + PAUSE_MS;
        }
        match (pending, reply) {
            (Pending::List, Reply::Listed(records)) => self.listed(now, records),
            (Pending::List, _) => {}
            (Pending::Read(section), Reply::Read(record)) => return self.read(now, section, record),
            (Pending::Write(section, record), reply) => return self.written(now, section, record, &reply),
            (Pending::Jump(jump), Reply::JumpKept) => self.section(jump.section).kept = Some(jump),
            (Pending::Floor(section), Reply::Floor(floor)) if floor.number.max(floor.epoch) < MAX_BOUND => {
                if let State::Taking(taking) = &mut self.section(section).state {
                    taking.floor = Some(floor);
                }
            }
            // The section is looked at again with the next listing, so others are not held up.
            (Pending::Jump(Jump { section, .. }) | Pending::Floor(section), _) => {
                let section = self.section(section);
                if matches!(section.state, State::Taking(_)) {
                    section.state = State::Idle;
                }
            }
            (Pending::Read(section), _) => {
                // A release is tried once.
                if matches!(self.section(section).state, State::Releasing(..)) {
                    self.section(section).state = State::Idle;
                }
            }
        }
        None
    }

    /// Looks for sections to take. Only a fresh listing decides, so a process that was paused sees first what happened
    /// in the meantime.
    fn listed(&mut self, now: u64, records: Vec<(u32, Option<SectionRecord>)>) {
        let first = std::mem::replace(&mut self.first_list, false);
        self.next_list_ms = now + self.config.time_out_ms / 4;
        let mut read: Vec<_> = vec![Some(None); self.sections.len()];
        let mut owners = HashMap::new();
        for (number, record) in records {
            let Some(slot) = read.get_mut(number as usize) else { continue };
            if let Some(record) = record.as_ref().filter(|record| record.held) {
                // An owner is alive if it changes one of its records. A section that another process takes from it is
                // not a sign of life.
                let token = std::mem::replace(&mut self.sections[number as usize].token, record.token);
                let last = self.owners.get(&record.owner).filter(|_| token == record.token).copied().unwrap_or(now);
                let since = owners.entry(record.owner).or_insert(last);
                *since = last.max(*since);
            }
            // An unreadable record is never taken.
            *slot = record.map(Some);
        }
        self.owners = owners;
        let stops = self.follows(Rule::StopIfTheRegisterReverted);
        for (section, record) in self.sections.iter_mut().zip(read) {
            let Some(record) = record else { continue };
            if !matches!(section.state, State::Idle) {
                continue;
            }
            section.holder = record.as_ref().filter(|record| record.held).map(|record| record.name.clone());
            if stops && section.is_ahead_of(record.as_ref()) {
                section.state = State::Reverted;
                continue;
            }
            let can_take = section.claimed
                && record.as_ref().is_none_or(|record| {
                    let is_silent = || {
                        let limit = self.config.time_out_ms.max(record.time_out_ms);
                        self.owners.get(&record.owner).is_some_and(|since| now - since >= limit)
                    };
                    let was_mine = record.owner == self.config.owner || first && record.name == self.config.name;
                    !record.held || was_mine || is_silent()
                });
            if can_take {
                section.state =
                    State::Taking(Taking { seen: record, floor: None, attempts: Vec::new(), in_doubt: false });
            }
        }
    }

    /// Learns what a record is after a conflict or a write without an answer.
    fn read(&mut self, now: u64, number: u32, read: Option<SectionRecord>) -> Option<Effect> {
        let knows_tokens = self.follows(Rule::KnowOnlyOwnTokens);
        let read_grants = !self.follows(Rule::AReadGrantsNothing);
        let stops = self.follows(Rule::StopIfTheRegisterReverted);
        let name = self.config.name.clone();
        let section = self.section(number);
        let is_ours = |attempts: &[u64], record: &SectionRecord| {
            if knows_tokens { attempts.contains(&record.token) } else { record.name == name }
        };
        let reverted = section.is_ahead_of(read.as_ref());
        match &mut section.state {
            State::Taking(taking) => {
                if read == taking.seen || read.as_ref().is_some_and(|record| is_ours(&taking.attempts, record)) {
                    let ours = (read != taking.seen).then(|| read.clone()).flatten();
                    taking.seen = read;
                    taking.in_doubt = false;
                    if let Some(record) = ours.filter(|_| read_grants) {
                        return Some(self.hold(now, number, record));
                    }
                } else {
                    section.state = State::Idle;
                }
                None
            }
            State::Held(lease) | State::Releasing(lease, _) => {
                if reverted && stops {
                    section.state = State::Reverted;
                    return Some(Effect::Seal(number));
                }
                let is_held = |record: &SectionRecord| {
                    *record == lease.seen || *record == lease.acknowledged || is_ours(&lease.attempts, record)
                };
                if let Some(record) = read.filter(|record| is_held(record) || reverted) {
                    let ours = record != lease.seen;
                    lease.seen = record.clone();
                    lease.in_doubt = false;
                    if ours && read_grants {
                        return Some(self.hold(now, number, record));
                    }
                    return None;
                }
                Some(self.lose(now, number))
            }
            State::Idle | State::Reverted => None,
        }
    }

    /// Learns what came of a compare-and-set.
    fn written(&mut self, now: u64, number: u32, record: SectionRecord, reply: &Reply) -> Option<Effect> {
        let ignores_conflict = !self.follows(Rule::AConflictIsNotSuccess) && *reply == Reply::Written(false);
        let hopes = !self.follows(Rule::UseOnlyAcknowledgedBounds) && *reply == Reply::Failed;
        let section = self.section(number);
        if matches!(section.state, State::Releasing(..)) {
            // The write may still take effect later.
            section.least_bound = record.bound;
            if *reply == Reply::Written(true) {
                section.acknowledged = record.version;
            }
            section.state = State::Idle;
            return None;
        }
        if *reply == Reply::Written(true) || ignores_conflict || hopes {
            return Some(self.hold(now, number, record));
        }
        match &mut section.state {
            State::Taking(taking) => taking.in_doubt = true,
            State::Held(lease) => lease.in_doubt = true,
            _ => {}
        }
        None
    }

    /// Uses a record that was acknowledged.
    fn hold(&mut self, now: u64, number: u32, record: SectionRecord) -> Effect {
        let Config { horizon_ms, min_step, max_step, .. } = self.config;
        self.beat_ms = now;
        let section = self.section(number);
        section.acknowledged = record.version;
        section.least_bound = record.bound;
        section.holder = Some(record.name.clone());
        if section.wish.take().is_some() {
            let lasted_ms = now - section.raised_ms;
            if lasted_ms < horizon_ms {
                section.step = section.step.saturating_mul(2).min(max_step);
            } else if lasted_ms > horizon_ms.saturating_mul(4) {
                section.step = (section.step / 2).max(min_step);
            }
            section.raised_ms = now;
        } else if !matches!(section.state, State::Held(_)) {
            section.raised_ms = now;
        }
        let SectionRecord { epoch, start, bound, .. } = record;
        // Half a step is left when the next one is fetched.
        let raise_at = if bound == MAX_BOUND { MAX_BOUND } else { bound - section.step.div_ceil(2).min(bound - start) };
        section.state =
            State::Held(Lease { acknowledged: record.clone(), seen: record, attempts: Vec::new(), in_doubt: false });
        Effect::Grant(Grant { section: number, epoch, start, bound, raise_at })
    }

    /// Another owner has the section. Its epoch is higher, so numbers that were still minted here would be refused.
    fn lose(&mut self, now: u64, number: u32) -> Effect {
        self.lost += 1;
        self.next_list_ms = now;
        let section = self.section(number);
        section.wish = None;
        section.state = State::Idle;
        Effect::Seal(number)
    }
}
