//! Which section this process holds, and below which bound: a pure state machine.
//!
//! The keeper asks [`Engine::poll`] what to do, does it, and tells [`Engine::reply`] what came of it. The engine does no
//! input or output and reads no clock, so a test can put it through any schedule.
//!
//! The rules are those of the lease protocol, in the space of numbers:
//! - A bound is used only after its write was acknowledged. A read grants nothing.
//! - Each attempt writes a new random token. A section is still ours only if its record is what was acknowledged, or
//!   what one of our own attempts since then wrote.
//! - A new owner starts at the bound that it read, in a new epoch. The jump of the epoch before is in the history before
//!   its record is overwritten.
//! - Time-outs decide only how soon the sections of a dead owner are used again.

use std::collections::HashMap;

use super::numbers::Wish;
use super::record::{Jump, SectionRecord};

/// Numbers stay below this bound, so that they fit into a signed 64-bit column.
pub(crate) const MAX_BOUND: u64 = i64::MAX as u64;

/// The first number of a session, unless a floor says otherwise. 0 stays free for "nothing read yet".
pub(crate) const FIRST: u64 = 1;

/// How long the engine waits after a call without an answer.
pub(crate) const PAUSE_MS: u64 = 100;

/// What an owner is called and how it behaves.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) sections: u32,
    /// Random: differs with each process and each start.
    pub(crate) owner: u64,
    pub(crate) name: String,
    pub(crate) time_out_ms: u64,
    /// A step that is used up sooner than this doubles.
    pub(crate) horizon_ms: u64,
    pub(crate) least_step: u64,
    pub(crate) most_step: u64,
    /// Whether a floor is asked for before a section is taken.
    pub(crate) floor: bool,
    #[cfg(test)]
    pub(crate) broken: Option<Rule>,
}

/// A rule that the tests switch off, to see that they would find its absence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    UseOnlyAcknowledgedBounds,
    AReadGrantsNothing,
    StartAtTheBound,
    NewOwnerNewEpoch,
    AConflictIsNotSuccess,
    KnowOnlyOwnTokens,
    KeepTheJumpBeforeOverwritingIt,
    AskForTheFloor,
    StopIfTheRegisterWentBack,
}

/// What the keeper should do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Read the records of all sections.
    List,
    /// Read the record of one section.
    Read(u32),
    /// Compare-and-set the record of a section.
    Write { section: u32, seen: Option<SectionRecord>, record: SectionRecord },
    /// Create the record of a jump. It may already exist.
    KeepJump(Jump),
    /// Ask the application for the greatest number and epoch of a section in its message table.
    AskFloor(u32),
    /// Do nothing until this time, or until something is wished.
    Wait(u64),
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The records. `None` stands for a record that cannot be read.
    Listed(Vec<(u32, Option<SectionRecord>)>),
    Read(Option<SectionRecord>),
    /// Whether it was written.
    Written(bool),
    JumpKept,
    Floor(LastStored),
    /// There is no answer, or none that can be understood. A write may have happened, or may happen later.
    Failed,
}

/// The greatest number and the greatest epoch of a section in the message table; 0 and 0 if it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "the application makes it")]
pub struct LastStored {
    /// The greatest number.
    pub number: u64,
    /// The greatest epoch.
    pub epoch: u64,
}

/// What may be minted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) section: u32,
    pub(crate) epoch: u64,
    pub(crate) start: u64,
    pub(crate) bound: u64,
    /// The first number at which the bound should be raised.
    pub(crate) wake: u64,
}

/// What the keeper must do to the numbers in memory after a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Grant(Grant),
    /// The section is lost: mint nothing more.
    Seal(u32),
}

/// A section as this process knows it.
#[derive(Debug, Clone)]
struct Section {
    claimed: bool,
    state: State,
    wish: Option<Wish>,
    step: u64,
    /// When the last raise was acknowledged.
    raised_ms: u64,
    /// The greatest version whose write was acknowledged to this process.
    acknowledged: u64,
    /// The last jump that is known to be in the history. Its epoch alone would not do: a record that a reader saw can
    /// vanish, and then another record has the same epoch.
    kept: Option<Jump>,
    /// No record that follows from what this process knows has a bound below this one.
    least_bound: u64,
    /// The token that was read last.
    token: u64,
    /// The name of the last holder that was read.
    holder: Option<String>,
}

#[derive(Debug, Clone)]
enum State {
    /// Not held.
    Idle,
    Taking(Taking),
    Held(Lease),
    /// Sealed. The record still says that this process holds the section.
    Releasing(Lease, u64),
    /// The register lost an acknowledged write.
    WentBack,
}

/// A section that is being taken.
#[derive(Debug, Clone)]
struct Taking {
    /// The record to compare with.
    seen: Option<SectionRecord>,
    floor: Option<LastStored>,
    /// Tokens of the attempts so far.
    attempts: Vec<u64>,
    in_doubt: bool,
}

/// A section that is held.
#[derive(Debug, Clone)]
struct Lease {
    /// The last record that was acknowledged.
    acknowledged: SectionRecord,
    /// The record to compare with: the acknowledged one, or one that an attempt without an answer wrote.
    seen: SectionRecord,
    /// Tokens of the attempts since the last acknowledgement.
    attempts: Vec<u64>,
    in_doubt: bool,
}

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
            step: config.least_step,
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

    /// Whether a rule holds. Only tests switch rules off.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "the tests look at the configuration"))]
    #[cfg_attr(not(test), expect(unused_variables, reason = "the tests compare it"))]
    fn follows(&self, rule: Rule) -> bool {
        #[cfg(test)]
        return self.config.broken != Some(rule);
        #[cfg(not(test))]
        true
    }

    /// The name of this owner.
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

    pub(crate) fn went_back(&self, section: u32) -> bool {
        matches!(self.sections[section as usize].state, State::WentBack)
    }

    /// The name of the owner that was last read in a section's record.
    pub(crate) fn holder(&self, section: u32) -> Option<&str> {
        self.sections[section as usize].holder.as_deref()
    }

    /// Whether a section is still to be given back.
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
            State::Idle | State::WentBack => {
                unreachable!("only sections that are taken, held or released have actions")
            }
        };
        self.writes += 1;
        self.pending = Some(Pending::Write(number, record.clone()));
        Action::Write { section: number, seen, record }
    }

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
        let stops = self.follows(Rule::StopIfTheRegisterWentBack);
        for (section, record) in self.sections.iter_mut().zip(read) {
            let Some(record) = record else { continue };
            if !matches!(section.state, State::Idle) {
                continue;
            }
            section.holder = record.as_ref().filter(|record| record.held).map(|record| record.name.clone());
            if stops && section.is_ahead_of(record.as_ref()) {
                section.state = State::WentBack;
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
        let stops = self.follows(Rule::StopIfTheRegisterWentBack);
        let name = self.config.name.clone();
        let section = self.section(number);
        let is_ours = |attempts: &[u64], record: &SectionRecord| {
            if knows_tokens { attempts.contains(&record.token) } else { record.name == name }
        };
        let went_back = section.is_ahead_of(read.as_ref());
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
                if went_back && stops {
                    section.state = State::WentBack;
                    return Some(Effect::Seal(number));
                }
                let is_held = |record: &SectionRecord| {
                    *record == lease.seen || *record == lease.acknowledged || is_ours(&lease.attempts, record)
                };
                if let Some(record) = read.filter(|record| is_held(record) || went_back) {
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
            State::Idle | State::WentBack => None,
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
        let Config { horizon_ms, least_step, most_step, .. } = self.config;
        self.beat_ms = now;
        let section = self.section(number);
        section.acknowledged = record.version;
        section.least_bound = record.bound;
        section.holder = Some(record.name.clone());
        if section.wish.take().is_some() {
            let lasted_ms = now - section.raised_ms;
            if lasted_ms < horizon_ms {
                section.step = section.step.saturating_mul(2).min(most_step);
            } else if lasted_ms > horizon_ms.saturating_mul(4) {
                section.step = (section.step / 2).max(least_step);
            }
            section.raised_ms = now;
        } else if !matches!(section.state, State::Held(_)) {
            section.raised_ms = now;
        }
        let SectionRecord { epoch, start, bound, .. } = record;
        // Half a step is left when the next one is fetched.
        let wake = if bound == MAX_BOUND { MAX_BOUND } else { bound - section.step.div_ceil(2).min(bound - start) };
        section.state =
            State::Held(Lease { acknowledged: record.clone(), seen: record, attempts: Vec::new(), in_doubt: false });
        Effect::Grant(Grant { section: number, epoch, start, bound, wake })
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

impl Section {
    const fn is_held(&self) -> bool {
        matches!(self.state, State::Held(_))
    }

    const fn is_in_doubt(&self) -> bool {
        match &self.state {
            State::Taking(taking) => taking.in_doubt,
            State::Held(lease) | State::Releasing(lease, _) => lease.in_doubt,
            State::Idle | State::WentBack => false,
        }
    }

    /// Returns the record that the next write overwrites with a new epoch.
    fn ended_epoch(&self) -> Option<&SectionRecord> {
        match &self.state {
            State::Taking(taking) if !taking.is_ours() => taking.seen.as_ref(),
            State::Held(lease) if lease.begins_epoch(self.wish) => Some(&lease.seen),
            _ => None,
        }
    }

    /// Returns whether the register has lost a write that it acknowledged to this process.
    fn is_ahead_of(&self, read: Option<&SectionRecord>) -> bool {
        let (version, bound) = read.map_or((0, 0), |record| (record.version, record.bound));
        version < self.acknowledged || bound < self.least_bound
    }
}

impl Taking {
    /// Returns whether one of this process's attempts is already in the register. Then its epoch has begun, and only the
    /// acknowledgement is missing.
    fn is_ours(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| self.attempts.contains(&seen.token))
    }

    /// Returns the record that takes the section.
    fn record(&self, config: &Config, step: u64, token: u64) -> SectionRecord {
        let floor = self.floor.unwrap_or_default();
        let (version, epoch, from, start) = match &self.seen {
            Some(seen) if self.is_ours() => (seen.version, seen.epoch, seen.from, seen.start),
            Some(seen) => (seen.version, seen.epoch.max(floor.epoch) + 1, seen.start, seen.bound.max(floor.number + 1)),
            None => (0, floor.epoch + 1, FIRST, FIRST.max(floor.number + 1)),
        };
        let least = self.seen.as_ref().map_or(0, |seen| seen.bound);
        SectionRecord {
            version: version + 1,
            token,
            epoch,
            from,
            start,
            bound: start.saturating_add(step).max(least).min(MAX_BOUND),
            held: true,
            owner: config.owner,
            time_out_ms: config.time_out_ms,
            name: config.name.clone(),
        }
    }
}

impl Lease {
    /// Returns whether the next write begins a new epoch.
    fn begins_epoch(&self, wish: Option<Wish>) -> bool {
        wish == Some(Wish::NewEpoch) && self.seen.epoch == self.acknowledged.epoch
    }

    /// Returns the record that raises the bound, begins a new epoch, or only shows that the owner is alive.
    fn record(&self, wish: Option<Wish>, step: u64, token: u64) -> SectionRecord {
        let seen = self.seen.clone();
        let mut record = SectionRecord { version: seen.version + 1, token, ..seen.clone() };
        if self.begins_epoch(wish) {
            (record.epoch, record.from, record.start) = (seen.epoch + 1, seen.start, seen.bound);
            record.bound = record.start.saturating_add(step).min(MAX_BOUND);
        } else if wish.is_some() {
            record.bound = seen.bound.max(self.acknowledged.bound.saturating_add(step)).min(MAX_BOUND);
        }
        record
    }
}
