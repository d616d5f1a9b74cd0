//! All processes, the register, and true time; and what must never happen.

use std::collections::BTreeMap;

use super::generator::{Generator, Last};
use super::holder::Holder;
use super::rules::{Rule, Rules};
use super::steps;
use super::store::{Flight, Store};
use imid_lease_protocol::engine::Phase;
use imid_lease_protocol::engine::{Action, Config, MIN_GAP_MS, Outcome, Reply, Silence};
use imid_lease_protocol::record::{MetaRecord, Name, Space, Token, uuid};

/// True time at the start of a schedule.
pub(super) const START_MS: u64 = 1_795_204_812_345;
pub(super) const HORIZON_MS: u64 = 1_000;
pub(super) const SKEW_MS: u64 = 300;
/// The same, to step a clock by.
pub(super) const STEP_MS: i64 = 300;
pub(super) const LEAD_MS: u64 = 200;
/// How long a process waits for a reply.
pub(super) const PATIENCE_MS: u64 = 150;

/// `SplitMix64` of Steele, Lea and Flood.
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(super) fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// What a schedule found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Two generators minted in one millisecond of one lane.
    Overlap { lane: u16, ms: u64 },
    /// A call returned a stamp that is not after one that was returned before it began.
    Order { ms: u64, after_ms: u64 },
    /// A ceiling is too far ahead of true time.
    Lead { ms: u64 },
    /// A process mints far ahead of its time although another lane is near.
    FarAhead,
    /// The IDs of a process do not follow the time.
    Behind,
    /// A process that should mint cannot, or one that should end does not.
    Stuck,
    /// A process lost its lane although it was never paused and the register always answered.
    LostWhileHealthy,
    /// A process was refused although all was well.
    RefusedWhileHealthy,
    /// Two attempts to renew came too soon after one another.
    TooOften,
    /// A forked child minted.
    ChildMinted,
    /// A recovery has not noticed a process that was connected.
    Unnoticed,
}

/// Milliseconds that follow each other, in which one generator minted.
#[derive(Clone, Copy, Debug)]
struct Run {
    first_ms: u64,
    last_ms: u64,
    instance: u64,
}

/// All that was minted in one lane. The runs of one generator are joined where they touch.
#[derive(Clone, Debug, Default)]
struct Minted(Vec<Run>);

impl Minted {
    /// Adds a run; returns the last millisecond that it has in common with a run of another generator.
    fn add(&mut self, run: Run) -> Option<u64> {
        let (mut overlap, mut merged) = (None, run);
        self.0.retain(|other| {
            if other.instance == run.instance {
                let touches = other.first_ms <= merged.last_ms + 1 && merged.first_ms <= other.last_ms + 1;
                if touches {
                    merged.first_ms = merged.first_ms.min(other.first_ms);
                    merged.last_ms = merged.last_ms.max(other.last_ms);
                }
                return !touches;
            }
            let last_ms = other.last_ms.min(run.last_ms);
            if other.first_ms.max(run.first_ms) <= last_ms {
                overlap = overlap.max(Some(last_ms));
            }
            true
        });
        self.0.push(merged);
        overlap
    }
}

#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) rules: Rules,
    pub(super) random: Random,
    pub(super) now_ms: u64,
    pub(super) store: Store,
    pub(super) holders: Vec<Holder>,
    pub(super) flights: Vec<Flight>,
    pub(super) fault: Option<Fault>,
    /// What was minted, by lane.
    minted_in: BTreeMap<u16, Minted>,
    /// A cloned machine shares leases up to here.
    pub(super) shared_until_ms: u64,
    instances: u64,
    calls: u64,
    pub(super) minted: u64,
    /// No ceiling may be further ahead of true time.
    pub(super) max_lead_ms: u64,
    /// How many lane bits the model distinguishes: a lane of fewer bits covers several.
    pub(super) width: u32,
    /// Prints what happens, to look at one schedule.
    pub(super) is_traced: bool,
    /// All is well: no process may lose its lane or be refused.
    pub(super) is_healthy: bool,
}

pub(super) fn config(name: &str, bits: u32) -> Config {
    Config {
        space: Space::lanes(bits).unwrap(),
        name: Name::parse(name).unwrap(),
        horizon_ms: HORIZON_MS,
        max_skew_ms: SKEW_MS,
        any_lead: false,
    }
}

/// The description of a space in which nothing was minted.
pub(super) fn first_meta(space: &Space, random: u128) -> MetaRecord {
    let (token, layout, bits, space_id) = (Token(random as u64), space.layout(), space.bits(), uuid(random));
    let text =
        format!("imid-lease/1 meta version=1 token={token} layout={layout} bits={bits} era=1 floor=0 space={space_id}");
    MetaRecord::parse(&text).unwrap()
}

impl World {
    pub(super) fn new(seed: u64, rules: Rules) -> Self {
        Self {
            rules,
            random: Random(seed),
            now_ms: START_MS,
            store: Store::default(),
            holders: Vec::new(),
            flights: Vec::new(),
            fault: None,
            minted_in: BTreeMap::new(),
            shared_until_ms: 0,
            instances: 0,
            calls: 0,
            minted: 0,
            max_lead_ms: u64::MAX,
            width: 1,
            is_traced: std::env::var_os("IMID_LEASE_TRACE").is_some(),
            is_healthy: false,
        }
    }

    /// An operator creates the space, if there is none.
    pub(super) fn describe(&mut self, bits: u32) {
        let space = Space::lanes(bits).unwrap();
        if self.store.records.keys().any(|key| key.starts_with(&space.prefix())) {
            return;
        }
        let meta = first_meta(&space, self.random.wide());
        self.store.steps.note(|| format!("\trecord\t{}\t{meta}", space.meta_key()));
        self.store.records.insert(space.meta_key(), meta.to_string());
    }

    pub(super) fn add(&mut self, name: &str, bits: u32) -> usize {
        self.describe(bits);
        self.holders.push(Holder::new(config(name, bits), self.rules, 0));
        let index = self.holders.len() - 1;
        self.holders[index].tokens = Random(index as u64);
        index
    }

    pub(super) fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Notes what happens.
    pub(super) fn trace(&self, index: usize, what: impl Fn() -> String) {
        if self.is_traced {
            println!("{:6} {index}: {}", self.now_ms - START_MS, what());
        }
    }

    fn can_run(&self, index: usize) -> bool {
        let holder = &self.holders[index];
        holder.is_alive && holder.paused_until_ms <= self.now_ms
    }

    /// Lets a process work until it sleeps or waits for a reply. Returns whether a call was made.
    pub(super) fn work(&mut self, index: usize) -> bool {
        if !self.can_run(index) || self.holders[index].is_waiting || self.holders[index].is_done {
            return false;
        }
        for _ in 0..20 {
            let (now_ms, rules) = (self.now_ms, self.rules);
            let random = self.draw(index);
            let holder = &mut self.holders[index];
            let at = holder.moment(now_ms);
            let was_lost = holder.engine.counts().0;
            let action = holder.engine.poll(at, random);
            debug_assert_eq!(was_lost, holder.engine.counts().0);
            self.trace(index, || format!("{action:?}"));
            let holder = &mut self.holders[index];
            match action {
                Action::Sleep { until_ms } => {
                    holder.sleeps_until_ms = until_ms;
                    return false;
                }
                Action::Done => {
                    holder.is_done = true;
                    return false;
                }
                Action::Wait => return false,
                Action::Seal => {
                    let is_sealed = match holder.engine.phase() {
                        Phase::Stopped => rules.keep(Rule::SealBeforeRelease),
                        _ => rules.keep(Rule::SealBeforeSwitch),
                    };
                    let end_ms = holder.generator.as_mut().map_or(0, |generator| generator.seal(rules, is_sealed));
                    let at = holder.moment(now_ms);
                    holder.engine.reply(at, Reply::Sealed { end_ms });
                    self.note(index, || format!("seal\t{end_ms}"));
                }
                Action::Start(grant) => {
                    self.instances += 1;
                    let holder = &mut self.holders[index];
                    let before_ms = holder.generator.as_ref().map_or(0, |generator| generator.used_until_ms(rules));
                    let generator = Generator::new(self.instances, grant);
                    if grant.floor_ms < before_ms {
                        self.fail(Fault::Order { ms: grant.floor_ms, after_ms: before_ms });
                    }
                    let holder = &mut self.holders[index];
                    holder.former.extend(holder.generator.replace(generator));
                    self.check_lead(grant.ceiling_ms);
                }
                Action::Raise { ceiling_ms } => {
                    if let Some(generator) = &mut holder.generator {
                        generator.raise(ceiling_ms);
                    }
                    self.check_lead(ceiling_ms);
                }
                call => {
                    self.check_rate(index, &call);
                    self.calls += 1;
                    let holder = &mut self.holders[index];
                    holder.is_waiting = true;
                    let flight = Flight {
                        number: self.calls,
                        holder: index,
                        incarnation: holder.incarnation,
                        call,
                        deadline_ms: now_ms + PATIENCE_MS,
                        reply: None,
                        is_given_up: false,
                    };
                    self.note(index, || steps::call(&flight));
                    self.flights.push(flight);
                    return true;
                }
            }
        }
        panic!("an engine that neither sleeps nor calls");
    }

    fn draw(&mut self, index: usize) -> u128 {
        if self.rules.keep(Rule::FreshToken) {
            return self.random.wide();
        }
        self.holders[index].tokens.wide()
    }

    fn check_rate(&mut self, index: usize, call: &Action) {
        let now_ms = self.now_ms;
        let holder = &mut self.holders[index];
        if matches!(call, Action::Write { .. }) && holder.engine.phase() == Phase::Holding {
            let before = holder.renewed_at_ms.replace(now_ms);
            if before.is_some_and(|then| now_ms < then + MIN_GAP_MS) {
                self.fail(Fault::TooOften);
            }
        }
    }

    fn check_lead(&mut self, ceiling_ms: u64) {
        let lead_ms = ceiling_ms.saturating_sub(self.now_ms);
        if lead_ms > self.max_lead_ms {
            self.fail(Fault::Lead { ms: lead_ms });
        }
    }

    /// The store makes a call, or the process gets its reply.
    pub(super) fn advance(&mut self, flight: usize) {
        let flight_state = &mut self.flights[flight];
        if flight_state.reply.is_none() {
            let reply = self.store.make(&flight_state.call, self.rules);
            self.store.steps.note(|| format!("\tmade\t{}\t{}", flight_state.number, steps::reply(&reply)));
            flight_state.reply = Some(reply);
            return;
        }
        let flight = self.flights.swap_remove(flight);
        self.deliver(flight);
    }

    /// Both together, in order, until nothing is under way.
    pub(super) fn settle(&mut self) {
        while let Some(flight) = (0..self.flights.len()).next() {
            self.advance(flight);
        }
    }

    fn deliver(&mut self, flight: Flight) {
        let Some(reply) = flight.reply else { return };
        if let (Action::Write { value, .. }, Reply::Written { outcome: Outcome::Acknowledged, .. }) =
            (&flight.call, &reply)
        {
            self.store.sync(value);
        }
        let now_ms = self.now_ms;
        self.trace(flight.holder, || format!("{reply:?} given up {}", flight.is_given_up));
        let holder = &mut self.holders[flight.holder];
        if !holder.is_alive || holder.incarnation != flight.incarnation {
            return;
        }
        if flight.is_given_up && !matches!(reply, Reply::Written { .. }) {
            return;
        }
        if !flight.is_given_up {
            holder.is_waiting = false;
        }
        let late = if flight.is_given_up { "late" } else { "reply" };
        self.note(flight.holder, || format!("{late}\t{}\t{}", flight.number, steps::reply(&reply)));
        let holder = &mut self.holders[flight.holder];
        let at = holder.moment(now_ms);
        holder.engine.reply(at, reply);
        self.check_lost(flight.holder);
    }

    fn check_lost(&mut self, index: usize) {
        if self.is_healthy && self.holders[index].engine.counts().0 > 0 {
            self.fail(Fault::LostWhileHealthy);
        }
    }

    /// The store loses what it has acknowledged to no one. Others may have read it.
    pub(super) fn lose_softly(&mut self) {
        for lost in self.store.lose() {
            for flight in &mut self.flights {
                if let (Action::Write { attempt, value, .. }, Some(_)) = (&flight.call, &flight.reply)
                    && *value == lost
                {
                    flight.reply = Some(Reply::Written { attempt: *attempt, outcome: Outcome::Unknown });
                }
            }
        }
    }

    /// Processes give up waiting.
    pub(super) fn time_out(&mut self) {
        for index in 0..self.flights.len() {
            let flight = &mut self.flights[index];
            if flight.is_given_up || flight.deadline_ms > self.now_ms {
                continue;
            }
            let holder = &mut self.holders[flight.holder];
            if !holder.is_alive || holder.incarnation != flight.incarnation || holder.paused_until_ms > self.now_ms {
                continue;
            }
            flight.is_given_up = true;
            holder.is_waiting = false;
            let reply = match &flight.call {
                Action::List => Reply::Listed(Err(Silence)),
                Action::Read { .. } => Reply::Read(Err(Silence)),
                Action::Write { attempt, .. } => Reply::Written { attempt: *attempt, outcome: Outcome::Unknown },
                other => panic!("{other:?} is not a call"),
            };
            let at = holder.moment(self.now_ms);
            holder.engine.reply(at, reply);
            let (holder, number) = (flight.holder, flight.number);
            self.note(holder, || format!("reply\t{number}\tunknown"));
        }
    }

    /// A thread of a process mints a run.
    pub(super) fn mint(&mut self, index: usize, ahead_ms: u64) -> bool {
        if !self.can_run(index) {
            return false;
        }
        let now_ms = self.now_ms;
        let holder = &mut self.holders[index];
        let time_ms = holder.now_ms(now_ms);
        let began_after = holder.last;
        let Some(generator) = &mut holder.generator else { return false };
        let (lane, instance) = (generator.lane, generator.instance);
        let ahead_ms = ahead_ms.min((time_ms + LEAD_MS).saturating_sub(generator.used_until_ms(Rules::default())));
        let Some((first_ms, last_ms)) = generator.mint(time_ms, ahead_ms) else {
            holder.refusals += 1;
            if self.is_healthy {
                self.fail(Fault::RefusedWhileHealthy);
            }
            // A refused call wakes the thread of the lease.
            self.holders[index].sleeps_until_ms = 0;
            return false;
        };
        self.issued(index, lane, instance, (first_ms, last_ms), began_after);
        true
    }

    /// A thread that still has the generator before the present one calls it.
    pub(super) fn mint_by_former(&mut self, index: usize) {
        if !self.can_run(index) {
            return;
        }
        let now_ms = self.now_ms;
        let holder = &mut self.holders[index];
        let time_ms = holder.now_ms(now_ms);
        let began_after = holder.last;
        let Some(generator) = holder.former.last_mut() else { return };
        let (lane, instance) = (generator.lane, generator.instance);
        if let Some(run) = generator.mint(time_ms, 0) {
            self.issued(index, lane, instance, run, began_after);
        }
    }

    /// A thread is paused between its check and its addition.
    pub(super) fn pause_thread(&mut self, index: usize) {
        let now_ms = self.now_ms;
        let holder = &mut self.holders[index];
        let time_ms = holder.now_ms(now_ms);
        let began_after = holder.last;
        if let Some(generator) = &mut holder.generator {
            holder.threads.extend(generator.pause(time_ms, began_after));
        }
    }

    /// All paused threads of a process continue.
    pub(super) fn resume_threads(&mut self, index: usize) {
        if !self.can_run(index) {
            return;
        }
        let rules = self.rules;
        for paused in std::mem::take(&mut self.holders[index].threads) {
            let Some(generator) = self.holders[index].instance(paused.instance) else { continue };
            let lane = generator.lane;
            if let Some(ms) = generator.resume(paused, rules) {
                self.issued(index, lane, paused.instance, (ms, ms), paused.began_after);
            }
        }
    }

    /// A forked child calls the generator that it has inherited.
    pub(super) fn mint_in_child(&mut self, index: usize) {
        if !self.rules.keep(Rule::RefuseInChild) {
            let now_ms = self.now_ms;
            let mut child = self.holders[index].clone();
            let time_ms = child.now_ms(now_ms);
            if child.generator.as_mut().is_some_and(|generator| generator.mint(time_ms, 0).is_some()) {
                self.fail(Fault::ChildMinted);
            }
        }
    }

    /// Notes a run that a call has returned.
    fn issued(&mut self, index: usize, lane: u16, instance: u64, run: (u64, u64), began_after: Option<Last>) {
        let (first_ms, last_ms) = run;
        self.trace(index, || {
            format!("minted {}..={} lane {lane} by {instance}", first_ms - START_MS, last_ms - START_MS)
        });
        self.note(index, || format!("mint\t{lane}\t{first_ms}\t{last_ms}"));
        let holder = &mut self.holders[index];
        holder.minted += 1;
        holder.last = holder.last.max(Some(Last { ms: last_ms, instance }));
        if let Some(after) = began_after {
            // Across lanes the order is by millisecond.
            let is_late = first_ms > after.ms || first_ms == after.ms && instance == after.instance;
            if !is_late {
                self.fail(Fault::Order { ms: first_ms, after_ms: after.ms });
            }
        }
        self.minted += last_ms - first_ms + 1;
        // Not its configuration, which is that of its next start.
        let fewer = self.width.saturating_sub(self.holders[index].engine.config().space.bits());
        for part in (lane << fewer)..((lane + 1) << fewer) {
            let overlap = self.minted_in.entry(part).or_default().add(Run { first_ms, last_ms, instance });
            // The last millisecond that both have. The ones before it are shared if it is.
            if let Some(ms) = overlap.filter(|ms| *ms >= self.shared_until_ms) {
                self.fail(Fault::Overlap { lane, ms });
            }
        }
    }

    /// Adds a copy of a process, with its memory and its connections.
    pub(super) fn clone_machine(&mut self, index: usize) -> usize {
        let outstanding = |flight: &&Flight| flight.holder == index;
        let ceilings = self.flights.iter().filter(outstanding).filter_map(|flight| match &flight.call {
            Action::Write { value, .. } => {
                imid_lease_protocol::record::LaneRecord::parse(value).ok().map(|lane| lane.ceiling_ms)
            }
            _ => None,
        });
        // Its own ceiling is one of those in the register.
        let ceiling_ms = ceilings.max().unwrap_or(0).max(self.store.greatest_ceiling_ms());
        self.shared_until_ms = self.shared_until_ms.max(ceiling_ms);
        let mut clone = self.holders[index].clone();
        self.instances += 1;
        if let Some(generator) = &mut clone.generator {
            generator.instance = self.instances;
            clone.last = clone.last.map(|last| Last { instance: self.instances, ..last });
        }
        clone.threads.clear();
        clone.former.clear();
        self.holders.push(clone);
        let new = self.holders.len() - 1;
        // Both see the replies of calls under way.
        for flight in self.flights.clone() {
            if flight.holder == index {
                self.flights.push(Flight { holder: new, reply: flight.reply.clone(), ..flight });
            }
        }
        new
    }

    /// One round in which all is well: every process works, all calls are made and answered.
    pub(super) fn calm(&mut self, ms: u64) {
        self.now_ms += ms;
        self.time_out();
        for index in 0..self.holders.len() {
            for _ in 0..8 {
                if !self.work(index) {
                    break;
                }
                self.settle();
            }
        }
    }

    /// Rounds in which all is well.
    pub(super) fn calm_for(&mut self, ms: u64) {
        let end_ms = self.now_ms + ms;
        while self.now_ms < end_ms {
            self.calm(10);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Minted, Random, Run};

    /// Compares with a table of each millisecond.
    #[test]
    fn runs_have_the_overlaps_that_their_milliseconds_have() {
        let mut random = Random(1);
        let mut overlaps = 0;
        for _ in 0..2_000 {
            let mut minted = Minted::default();
            let mut owners: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for _ in 0..20 {
                let first_ms = random.below(100);
                let run = Run { first_ms, last_ms: first_ms + random.below(6), instance: random.below(3) };
                let others = |ms: &u64| owners.get(ms).is_some_and(|all| all.iter().any(|one| *one != run.instance));
                let expected = (run.first_ms..=run.last_ms).rev().find(others);
                assert_eq!(minted.add(run), expected);
                overlaps += u32::from(expected.is_some());
                for ms in run.first_ms..=run.last_ms {
                    owners.entry(ms).or_default().push(run.instance);
                }
            }
        }
        assert!(overlaps > 10_000, "{overlaps}");
    }
}
