//! Random schedules of several owners, a register that loses and delays, and a message store that checks epochs.
//!
//! A call of the register takes effect some time after it was made. Its answer comes some time later, or the caller
//! gives up before. So writes are lost, answers are lost, and writes arrive after their callers have given up. Owners
//! crash with what they have not sent, restart, are paused, and wake with numbers that they minted long ago.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use super::engine::{Action, Config, Effect, Engine, LastStored, Reply, Rule};
use super::numbers::{Numbers, Wish};
use super::record::{Jump, SectionRecord};

const SECTIONS: u32 = 2;
const SESSIONS: u64 = 4;
const OWNERS: usize = 3;
const TIME_OUT_MS: u64 = 400;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// What kind of world it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum World {
    /// The register keeps its promises.
    Strong,
    /// When all owners have crashed, the register loses the last writes.
    Weak,
}

/// A number on its way to the message store.
#[derive(Debug, Clone, Copy)]
struct Message {
    session: u64,
    epoch: u64,
    value: u64,
    is_first: bool,
}

struct Owner {
    engine: Engine,
    numbers: Vec<Numbers>,
    /// The keeper waits for an answer.
    is_waiting: bool,
    keeper_sleeps_until: u64,
    minting_sleeps_until: u64,
    /// In the order of minting.
    outbox: VecDeque<Message>,
}

/// A call of the register.
struct Call {
    owner: u64,
    action: Action,
    takes_effect_at: u64,
    answered_at: u64,
    reply: Option<Reply>,
    answered: bool,
}

/// A write that readers see although it may vanish.
struct Dirty {
    section: u32,
    before: Option<SectionRecord>,
    ends_at: u64,
    stays: bool,
}

/// The last number that the message store has accepted for a session.
#[derive(Debug, Clone, Copy, Default)]
struct Stored {
    epoch: u64,
    value: u64,
}

struct Simulation {
    random: Random,
    world: World,
    broken: Option<Rule>,
    now: u64,
    next_owner: u64,
    owners: BTreeMap<u64, Owner>,
    calls: Vec<Call>,
    records: Vec<Option<SectionRecord>>,
    /// What the register may go back to in a weak world.
    old_records: Vec<Option<SectionRecord>>,
    jumps: HashSet<Jump>,
    dirty: Vec<Dirty>,
    minted: HashSet<(u64, u64)>,
    stored: Vec<Stored>,
    /// First numbers of epochs that the store accepted, and the number before.
    firsts: Vec<(Message, Stored)>,
    accepted: u64,
    refused: u64,
    takes: u64,
}

const fn section_of(session: u64) -> u32 {
    (session % SECTIONS as u64) as u32
}

impl Simulation {
    fn new(seed: u64, world: World, broken: Option<Rule>) -> Self {
        let mut simulation = Self {
            random: Random(seed),
            world,
            broken,
            now: 0,
            next_owner: 1,
            owners: BTreeMap::new(),
            calls: Vec::new(),
            records: vec![None; SECTIONS as usize],
            old_records: vec![None; SECTIONS as usize],
            jumps: HashSet::new(),
            dirty: Vec::new(),
            minted: HashSet::new(),
            stored: vec![Stored::default(); SESSIONS as usize],
            firsts: Vec::new(),
            accepted: 0,
            refused: 0,
            takes: 0,
        };
        for _ in 0..OWNERS {
            simulation.start();
        }
        simulation
    }

    fn start(&mut self) {
        let owner = self.next_owner;
        self.next_owner += 1;
        let config = Config {
            sections: SECTIONS,
            owner,
            // Two names: sometimes two processes have the same one.
            name: format!("name-{}", self.random.below(2)),
            time_out_ms: TIME_OUT_MS,
            horizon_ms: 20,
            min_step: 3,
            max_step: 12,
            floor: self.world == World::Weak,
            broken: self.broken,
        };
        let mut engine = Engine::new(config, self.now);
        for section in 0..SECTIONS {
            if !self.random.one_in(4) {
                engine.claim(section, self.now);
            }
        }
        let numbers = (0..SECTIONS).map(|_| Numbers::new(100)).collect();
        let owner_state = Owner {
            engine,
            numbers,
            is_waiting: false,
            keeper_sleeps_until: 0,
            minting_sleeps_until: 0,
            outbox: VecDeque::new(),
        };
        self.owners.insert(owner, owner_state);
    }

    fn any_owner(&mut self) -> u64 {
        let at = self.random.below(self.owners.len() as u64) as usize;
        *self.owners.keys().nth(at).expect("there are owners")
    }

    /// One random event. An error is a broken promise.
    fn event(&mut self) -> Result<(), String> {
        self.now += match self.random.below(200) {
            0 => self.random.below(3 * TIME_OUT_MS),
            1..50 => self.random.below(20),
            _ => self.random.below(2),
        };
        self.effects();
        self.answers();
        let number = self.any_owner();
        match self.random.below(1_000) {
            0..3 => self.crash(number),
            3..5 if self.world == World::Weak => self.crash_of_all(),
            5..10 => {
                let sleep = self.now + self.random.below(3 * TIME_OUT_MS);
                let owner = self.owners.get_mut(&number).expect("it is there");
                match self.random.below(3) {
                    0 => owner.keeper_sleeps_until = sleep,
                    1 => owner.minting_sleeps_until = sleep,
                    _ => (owner.keeper_sleeps_until, owner.minting_sleeps_until) = (sleep, sleep),
                }
            }
            10..14 => {
                let section = self.random.below(u64::from(SECTIONS)) as u32;
                let owner = self.owners.get_mut(&number).expect("it is there");
                // Commands reach the engine between two actions.
                if !owner.is_waiting {
                    let end = owner.numbers[section as usize].seal();
                    owner.engine.release(section, end);
                }
            }
            14..20 => {
                let section = self.random.below(u64::from(SECTIONS)) as u32;
                self.owners.get_mut(&number).expect("it is there").engine.claim(section, self.now);
            }
            20..23 => {
                let section = self.random.below(u64::from(SECTIONS)) as u32;
                let owner = self.owners.get_mut(&number).expect("it is there");
                if !owner.is_waiting && owner.engine.holds(section) {
                    owner.engine.wish(section, Wish::NewEpoch);
                }
            }
            23..400 => self.keeper(number),
            400..800 => self.mint(number)?,
            _ => self.deliver(number)?,
        }
        Ok(())
    }

    fn crash(&mut self, owner: u64) {
        self.owners.remove(&owner);
        self.start();
    }

    fn crash_of_all(&mut self) {
        self.owners.clear();
        self.calls.clear();
        self.dirty.clear();
        self.records.clone_from(&self.old_records);
        for _ in 0..OWNERS {
            self.start();
        }
    }

    fn keeper(&mut self, number: u64) {
        let token = self.random.next();
        let owner = self.owners.get_mut(&number).expect("it is there");
        if owner.is_waiting || owner.keeper_sleeps_until > self.now {
            return;
        }
        let action = owner.engine.poll(self.now, token);
        if matches!(action, Action::Wait(_)) {
            return;
        }
        owner.is_waiting = true;
        let slow = if self.random.one_in(10) { TIME_OUT_MS } else { 5 };
        let takes_effect_at = self.now + self.random.below(slow);
        let answered_at = match self.random.below(10) {
            0 => self.now + self.random.below(slow),
            _ => takes_effect_at + self.random.below(slow),
        };
        // Not every call arrives.
        let takes_effect_at = if self.random.one_in(15) { u64::MAX } else { takes_effect_at };
        let call = Call { owner: number, action, takes_effect_at, answered_at, reply: None, answered: false };
        self.calls.push(call);
    }

    /// Calls that reach the register now.
    fn effects(&mut self) {
        let mut calls = std::mem::take(&mut self.calls);
        calls.sort_by_key(|call| call.takes_effect_at);
        for call in &mut calls {
            if call.reply.is_none() && call.takes_effect_at <= self.now {
                call.reply = Some(self.effect(&call.action, call.answered || call.answered_at <= call.takes_effect_at));
            }
        }
        self.calls = calls;
        let now = self.now;
        for at in (0..self.dirty.len()).rev() {
            if self.dirty[at].ends_at <= now {
                self.do_due_actions(at);
            }
        }
    }

    /// A dirty write stays or vanishes.
    fn do_due_actions(&mut self, at: usize) {
        let dirty = self.dirty.swap_remove(at);
        if !dirty.stays {
            self.records[dirty.section as usize] = dirty.before;
        }
    }

    fn effect(&mut self, action: &Action, nobody_waits: bool) -> Reply {
        match action {
            Action::List => {
                let records = self.records.iter().enumerate();
                Reply::Listed(records.filter_map(|(i, r)| Some((i as u32, Some(r.clone()?)))).collect())
            }
            Action::Read(section) => Reply::Read(self.records[*section as usize].clone()),
            Action::Write { section, seen, record } => {
                while let Some(at) = self.dirty.iter().position(|dirty| dirty.section == *section) {
                    self.do_due_actions(at);
                }
                let slot = *section as usize;
                if self.records[slot] != *seen {
                    return Reply::Written(false);
                }
                let before = self.records[slot].replace(record.clone());
                if before.as_ref().map_or(0, |record| record.epoch) != record.epoch {
                    self.takes += 1;
                }
                if nobody_waits && self.random.one_in(2) {
                    let (ends_at, stays) = (self.now + self.random.below(TIME_OUT_MS), self.random.one_in(2));
                    self.dirty.push(Dirty { section: *section, before, ends_at, stays });
                } else if self.random.one_in(8) {
                    self.old_records.clone_from(&self.records);
                }
                Reply::Written(true)
            }
            Action::KeepJump(jump) => {
                let is_same = |kept: &&Jump| (kept.section, kept.epoch, kept.to) == (jump.section, jump.epoch, jump.to);
                match self.jumps.iter().find(is_same) {
                    // The history keeps the first record of a key.
                    Some(kept) => assert!(self.world == World::Weak || self.broken.is_some() || kept == jump),
                    None => drop(self.jumps.insert(*jump)),
                }
                Reply::JumpKept
            }
            Action::AskFloor(section) => {
                let sessions = (0..SESSIONS).filter(|session| section_of(*session) == *section);
                let stored = sessions.map(|session| self.stored[session as usize]);
                Reply::Floor(stored.fold(LastStored::default(), |last, stored| LastStored {
                    number: last.number.max(stored.value),
                    epoch: last.epoch.max(stored.epoch),
                }))
            }
            Action::Wait(_) => unreachable!("waiting is no call"),
        }
    }

    /// Answers that reach their callers now, and callers that give up.
    fn answers(&mut self) {
        let now = self.now;
        for call in &mut self.calls {
            if call.answered || call.answered_at > now {
                continue;
            }
            let Some(owner) = self.owners.get_mut(&call.owner) else {
                call.answered = true;
                continue;
            };
            if owner.keeper_sleeps_until > now {
                continue;
            }
            call.answered = true;
            owner.is_waiting = false;
            let in_time = call.takes_effect_at < call.answered_at;
            let reply = call.reply.clone().filter(|_| in_time).unwrap_or(Reply::Failed);
            match owner.engine.reply(now, reply) {
                Some(Effect::Grant(grant)) => owner.numbers[grant.section as usize].grant(&grant),
                Some(Effect::Seal(section)) => {
                    owner.numbers[section as usize].seal();
                }
                None => {}
            }
        }
        self.calls.retain(|call| !call.answered || (call.reply.is_none() && call.takes_effect_at != u64::MAX));
    }

    fn mint(&mut self, number: u64) -> Result<(), String> {
        let count = 1 + self.random.below(4);
        let session = self.random.below(SESSIONS);
        let section = section_of(session);
        let owner = self.owners.get_mut(&number).expect("it is there");
        if owner.minting_sleeps_until > self.now {
            return Ok(());
        }
        for _ in 0..count {
            let Ok(minted) = owner.numbers[section as usize].next(session + 1) else { break };
            if let Some(wish) = minted.wish {
                owner.engine.wish(section, wish);
            }
            let (epoch, value) = (minted.epoch, minted.value);
            owner.outbox.push_back(Message { session, epoch, value, is_first: value == minted.start });
            if self.world == World::Strong && !self.minted.insert((session, value)) {
                return Err(format!("number {value} of session {session} repeats in epoch {epoch}"));
            }
        }
        Ok(())
    }

    /// An owner sends messages to the store.
    fn deliver(&mut self, number: u64) -> Result<(), String> {
        let count = self.random.below(6);
        let owner = self.owners.get_mut(&number).expect("it is there");
        if owner.minting_sleeps_until > self.now {
            return Ok(());
        }
        for _ in 0..count {
            let Some(message) = owner.outbox.pop_front() else { break };
            let Message { session, epoch, value, is_first } = message;
            let last = &mut self.stored[session as usize];
            if epoch < last.epoch {
                self.refused += 1;
                continue;
            }
            if value <= last.value {
                return Err(format!("session {session}: {value} of epoch {epoch} comes after {last:?}"));
            }
            if epoch == last.epoch && value != last.value + 1 {
                return Err(format!("session {session}: {value} of epoch {epoch} follows {last:?}"));
            }
            if epoch != last.epoch {
                if !is_first {
                    return Err(format!("session {session}: {value} is not the first of epoch {epoch}"));
                }
                self.firsts.push((message, *last));
            }
            *last = Stored { epoch, value };
            self.accepted += 1;
        }
        Ok(())
    }

    /// Each gap between epochs is covered by recorded jumps that follow each other.
    fn check_jumps(&self) -> Result<(), String> {
        let mut jumps = self.jumps.clone();
        for (section, record) in (0..).zip(&self.records) {
            if let Some(record) = record {
                jumps.insert(record.jump(section));
            }
        }
        for (message, last) in &self.firsts {
            let section = section_of(message.session);
            // Which numbers may come next. There can be several jumps of one epoch, since a record can vanish.
            let mut next = BTreeSet::from([last.value + 1]);
            for epoch in last.epoch + 1..=message.epoch {
                let jumps = jumps.iter().filter(|jump| (jump.section, jump.epoch) == (section, epoch));
                let follow = |jump: &Jump| {
                    next.iter().filter(|next| jump.from <= **next).map(|next| jump.to.max(*next)).collect::<Vec<_>>()
                };
                next = jumps.flat_map(follow).collect();
            }
            if !next.contains(&message.value) {
                return Err(format!("{jumps:?} lead to {next:?}, and {message:?} came after {last:?}"));
            }
            let is_here = |jump: &Jump| (jump.section, jump.epoch, jump.to) == (section, message.epoch, message.value);
            if !jumps.iter().any(is_here) {
                return Err(format!("there is no jump to {message:?}"));
            }
        }
        Ok(())
    }

    fn run(seed: u64, world: World, broken: Option<Rule>, events: u32) -> Result<Self, String> {
        let mut simulation = Self::new(seed, world, broken);
        for _ in 0..events {
            simulation.event().map_err(|error| format!("seed {seed}: {error}"))?;
        }
        // In a weak world jumps are lost together with the records.
        if world == World::Strong {
            simulation.check_jumps().map_err(|error| format!("seed {seed}: {error}"))?;
        }
        Ok(simulation)
    }
}

/// Returns the number of schedules: `IMID_SCHEDULES`, or a default that takes a few seconds.
fn schedules() -> u64 {
    std::env::var("IMID_SCHEDULES").ok().map_or(300, |count| count.parse().expect("IMID_SCHEDULES is a number"))
}

fn keeps_its_promises(world: World) {
    let mut sums = [0; 4];
    for seed in 0..schedules() {
        let simulation = Simulation::run(seed, world, None, 3_000).unwrap();
        let jumps = simulation.firsts.len() as u64;
        for (sum, part) in sums.iter_mut().zip([simulation.accepted, simulation.refused, simulation.takes, jumps]) {
            *sum += part;
        }
    }
    println!("accepted {}, refused {}, takes {}, jumps {}", sums[0], sums[1], sums[2], sums[3]);
    // A simulation in which little happens proves little.
    assert!(sums[1] > 0, "no paused owner woke");
    let [accepted, _, takes, jumps] = sums.map(|sum| sum / schedules());
    assert!(accepted > 100 && takes > 5 && jumps > 5, "{accepted} {takes} {jumps} in a schedule");
}

#[test]
fn no_schedule_repeats_or_decreases_a_number_or_hides_a_jump() {
    keeps_its_promises(World::Strong);
}

#[test]
fn with_a_floor_a_weak_register_repeats_no_stored_number() {
    keeps_its_promises(World::Weak);
}

/// Returns how many schedules were needed to see that a rule is missing.
fn schedules_until_found(rule: Rule, world: World) -> Option<u64> {
    (0..2_000).find(|seed| Simulation::run(*seed, world, Some(rule), 3_000).is_err())
}

#[test]
fn each_rule_that_is_switched_off_is_missed() {
    for (rule, world) in [
        (Rule::UseOnlyAcknowledgedBounds, World::Strong),
        (Rule::AReadGrantsNothing, World::Strong),
        (Rule::StartAtTheBound, World::Strong),
        (Rule::NewOwnerNewEpoch, World::Strong),
        (Rule::AConflictIsNotSuccess, World::Strong),
        (Rule::KnowOnlyOwnTokens, World::Strong),
        (Rule::KeepTheJumpBeforeOverwritingIt, World::Strong),
        (Rule::AskForTheFloor, World::Weak),
    ] {
        let found = schedules_until_found(rule, world);
        println!("{rule:?}: {found:?}");
        assert!(found.is_some(), "no schedule needs {rule:?}");
    }
}

/// Takes a section, raises its bound, and lets the register go back to the first record. Returns whether the owner
/// stops.
fn stops_after_a_restore(broken: Option<Rule>) -> bool {
    let mut simulation = Simulation::new(1, World::Strong, broken);
    let (_, owner) = simulation.owners.pop_first().expect("there are owners");
    let mut engine = owner.engine;
    engine.claim(0, 0);
    let (mut records, mut first) = (vec![None; SECTIONS as usize], None);
    for now in 0..60 {
        if now == 40 {
            records[0].clone_from(&first);
            engine.wish(0, Wish::Raise);
        }
        let reply = match engine.poll(now, now + 1) {
            Action::Wait(_) => {
                if engine.holds(0) && now < 20 {
                    first = first.or_else(|| records[0].clone());
                    engine.wish(0, Wish::Raise);
                }
                continue;
            }
            Action::List => Reply::Listed(Vec::new()),
            Action::Read(section) => Reply::Read(records[section as usize].clone()),
            Action::Write { section, seen, record } => {
                let slot = &mut records[section as usize];
                let is_same = *slot == seen;
                if is_same {
                    *slot = Some(record);
                }
                Reply::Written(is_same)
            }
            Action::KeepJump(_) => Reply::JumpKept,
            Action::AskFloor(_) => Reply::Floor(LastStored::default()),
        };
        engine.reply(now, reply);
    }
    engine.reverted(0)
}

#[test]
fn an_owner_stops_if_the_register_went_back() {
    assert!(stops_after_a_restore(None));
    assert!(!stops_after_a_restore(Some(Rule::StopIfTheRegisterReverted)));
}
