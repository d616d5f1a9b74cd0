//! Which section this process holds, and below which bound: a pure state machine.
//!
//! The keeper asks [`Engine::poll`] what to do, does it, and tells [`Engine::reply`] what came of it. The engine does
//! no input or output and reads no clock, so a test can put it through any schedule.
//!
//! The rules are those of the lease protocol, in the space of numbers:
//! - A bound is used only after its write was acknowledged. A read grants nothing.
//! - Each attempt writes a new random token. A section is still ours only if its record is what was acknowledged, or
//!   what one of our own attempts since then wrote.
//! - A new owner starts at the bound that it read, in a new epoch. The jump of the epoch before is in the history before
//!   its record is overwritten.
//! - Time-outs decide only how soon the sections of a dead owner are used again.

mod messages;
mod reply;
mod section;

use std::collections::HashMap;

use super::numbers::Wish;
use super::record::{Jump, SectionRecord};
pub use messages::LastStored;
pub(crate) use messages::{Action, Config, Effect, Grant, Reply, Rule};
use section::{Section, State, Taking};

/// Numbers stay below this bound, so that they fit into a signed 64-bit column.
pub(crate) const MAX_BOUND: u64 = i64::MAX as u64;

/// The first number of a session, unless a floor says otherwise. 0 stays free for "nothing read yet".
pub(crate) const FIRST: u64 = 1;

/// How long the engine waits after a call without an answer.
pub(crate) const PAUSE_MS: u64 = 100;

/// An action without a reply yet.
#[derive(Debug, Clone)]
enum Pending {
    List,
    Read(u32),
    Write(u32, SectionRecord),
    Jump(Jump),
    Floor(u32),
}

/// The owner of some sections, or a process that waits for them.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    config: Config,
    sections: Vec<Section>,
    pending: Option<Pending>,
    /// When each owner's records last changed, as far as this process has seen.
    owners: HashMap<u64, u64>,
    /// Nothing is tried before this time.
    pause_until_ms: u64,
    /// When a record of this owner was last written.
    beat_ms: u64,
    next_list_ms: u64,
    /// The section to look at first, so that a busy one does not hold up the others.
    turn: u32,
    /// Whether the sections that this name held last may still be taken at once.
    first_list: bool,
    /// How many sections were lost to other owners.
    pub(crate) lost: u64,
    /// How many compare-and-sets of section records were tried.
    pub(crate) writes: u64,
}

impl Engine {
    pub(crate) fn new(config: Config, now: u64) -> Self {
        let section = Section {
            claimed: false,
            state: State::Idle,
            wish: None,
            step: config.min_step,
            raised_ms: now,
            acknowledged: 0,
            kept: None,
            least_bound: 0,
            token: 0,
            holder: None,
        };
        Self {
            sections: vec![section; config.sections as usize],
            config,
            pending: None,
            owners: HashMap::new(),
            pause_until_ms: now,
            beat_ms: now,
            next_list_ms: now,
            turn: 0,
            first_list: true,
            lost: 0,
            writes: 0,
        }
    }

    /// Returns whether a rule holds. Only tests switch rules off.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "the tests look at the configuration"))]
    #[cfg_attr(not(test), expect(unused_variables, reason = "the tests compare it"))]
    fn follows(&self, rule: Rule) -> bool {
        #[cfg(test)]
        return self.config.broken != Some(rule);
        #[cfg(not(test))]
        true
    }

    /// Returns the name of this owner.
    #[cfg(feature = "metrics")]
    pub(crate) fn name(&self) -> &str {
        &self.config.name
    }

    fn section(&mut self, section: u32) -> &mut Section {
        &mut self.sections[section as usize]
    }

    /// Takes the section as soon as it is free, or its owner is silent for the time-out.
    pub(crate) fn claim(&mut self, section: u32, now: u64) {
        self.section(section).claimed = true;
        self.next_list_ms = self.next_list_ms.min(now);
    }

    /// Notes what the numbers in memory need.
    pub(crate) fn wish(&mut self, section: u32, wish: Wish) {
        let section = self.section(section);
        section.wish = section.wish.max(Some(wish));
    }

    /// Gives a section back. Its numbers are sealed, and all of them are below `end`.
    pub(crate) fn release(&mut self, section: u32, end: u64) {
        let section = self.section(section);
        section.claimed = false;
        section.wish = None;
        section.state = match std::mem::replace(&mut section.state, State::Idle) {
            State::Held(lease) => State::Releasing(lease, end),
            State::Taking(_) => State::Idle,
            other => other,
        };
    }

    #[cfg(test)]
    pub(crate) fn holds(&self, section: u32) -> bool {
        matches!(self.sections[section as usize].state, State::Held(_))
    }

    pub(crate) fn reverted(&self, section: u32) -> bool {
        matches!(self.sections[section as usize].state, State::Reverted)
    }

    /// Returns the name of the owner that was last read in a section's record.
    pub(crate) fn holder(&self, section: u32) -> Option<&str> {
        self.sections[section as usize].holder.as_deref()
    }

    /// Returns whether a section is still to be given back.
    pub(crate) fn is_releasing(&self) -> bool {
        self.sections.iter().any(|section| matches!(section.state, State::Releasing(..)))
    }

    /// Returns the next action. The keeper does one action at a time. `token` is a fresh random number.
    pub(crate) fn poll(&mut self, now: u64, token: u64) -> Action {
        assert!(self.pending.is_none(), "an action is under way");
        if now < self.pause_until_ms {
            return Action::Wait(self.pause_until_ms);
        }
        // Sections that mint come before those that wait.
        let next = self
            .find(|section| matches!(section.state, State::Held(_)) && section.wish.is_some())
            .or_else(|| self.find(|section| matches!(&section.state, State::Held(lease) if lease.in_doubt)))
            .or_else(|| self.find(|section| matches!(section.state, State::Releasing(..))))
            .or_else(|| if now >= self.next_beat_ms() { self.find(Section::is_held) } else { None })
            .or_else(|| self.find(|section| matches!(section.state, State::Taking(_))));
        if let Some(section) = next {
            self.turn = section + 1;
            return self.act(section, token);
        }
        let waits = self.sections.iter().any(|section| section.claimed && matches!(section.state, State::Idle));
        if waits && now >= self.next_list_ms {
            self.pending = Some(Pending::List);
            return Action::List;
        }
        let list_ms = if waits { self.next_list_ms } else { u64::MAX };
        let beat_ms = if self.find(Section::is_held).is_some() { self.next_beat_ms() } else { u64::MAX };
        Action::Wait(list_ms.min(beat_ms))
    }

    fn find(&self, is_wanted: impl Fn(&Section) -> bool) -> Option<u32> {
        let (before, after) = self.sections.split_at(self.turn as usize % self.sections.len());
        let numbers = (before.len()..).zip(after).chain((0..).zip(before));
        numbers.into_iter().find(|(_, section)| is_wanted(section)).map(|(number, _)| number as u32)
    }

    const fn next_beat_ms(&self) -> u64 {
        self.beat_ms.saturating_add(self.config.time_out_ms / 4)
    }

    /// Returns the next action for a section that is taken, held or released.
    fn act(&mut self, number: u32, token: u64) -> Action {
        let keeps_jumps = self.follows(Rule::KeepTheJumpBeforeOverwritingIt);
        let asks_floor = self.config.floor && self.follows(Rule::AskForTheFloor);
        let [starts_at_bound, new_epoch] =
            [Rule::StartAtTheBound, Rule::NewOwnerNewEpoch].map(|rule| self.follows(rule));
        let section = &mut self.sections[number as usize];
        if section.is_in_doubt() {
            self.pending = Some(Pending::Read(number));
            return Action::Read(number);
        }
        let ended = section.ended_epoch().map(|record| record.jump(number));
        if let Some(jump) = ended.filter(|jump| keeps_jumps && section.kept != Some(*jump)) {
            self.pending = Some(Pending::Jump(jump));
            return Action::KeepJump(jump);
        }
        if let State::Taking(Taking { floor: None, .. }) = section.state
            && asks_floor
        {
            self.pending = Some(Pending::Floor(number));
            return Action::AskFloor(number);
        }
        let (seen, record) = match &mut section.state {
            State::Taking(taking) => {
                let mut record = taking.record(&self.config, section.step, token);
                if let Some(seen) = taking.seen.as_ref().filter(|_| !taking.is_ours()) {
                    // Only tests come here with a rule switched off.
                    if !starts_at_bound {
                        record.start = seen.start;
                    }
                    if !new_epoch {
                        record.epoch = seen.epoch;
                    }
                }
                taking.attempts.push(token);
                (taking.seen.clone(), record)
            }
            State::Held(lease) => {
                lease.attempts.push(token);
                (Some(lease.seen.clone()), lease.record(section.wish, section.step, token))
            }
            State::Releasing(lease, end) => {
                let seen = lease.seen.clone();
                let (version, bound) = (seen.version + 1, seen.start.max(*end));
                let record = SectionRecord { version, token, bound, held: false, ..seen.clone() };
                (Some(seen), record)
            }
            State::Idle | State::Reverted => {
                unreachable!("only sections that are taken, held or released have actions")
            }
        };
        self.writes += 1;
        self.pending = Some(Pending::Write(number, record.clone()));
        Action::Write { section: number, seen, record }
    }
}
