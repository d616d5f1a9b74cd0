//! What a fleet costs its store: many engines on a register whose calls take 2 ms, by a simulated clock. Counts the calls of
//! all processes from the moment at which they start together until each has a lane.
//!
//! The whole table, up to 4,096 processes, takes three minutes:
//! `IMID_LEASE_FLEET=4096 cargo test -p imid-lease-protocol --release --test simulation a_table_of_fleets -- --nocapture`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::world::{Random, START_MS, first_meta};
use imid_lease_protocol::engine::{Action, Config, Engine, Moment, Outcome, Phase, Reply};
use imid_lease_protocol::record::{Name, Space};

const HORIZON_MS: u64 = 10_000;

/// How long a call is on its way to the store, and its reply on the way back.
const WAY_MS: u64 = 1;

/// What the processes find when they start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    /// An empty register.
    Fresh,
    /// As many others were stopped in order.
    AfterStop,
    /// As many others have crashed a moment ago.
    AfterCrash,
}

/// What all calls together have cost, until each process had a lane.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Cost {
    pub(super) lists: u64,
    pub(super) records: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) conflicts: u64,
    pub(super) time_ms: u64,
}

struct Process {
    engine: Engine,
    /// The ceiling of the running generator, which mints all the time.
    ceiling_ms: Option<u64>,
    /// Counts the sleeps, so that an old one wakes no one.
    sleeps: u64,
    is_alive: bool,
}

enum Event {
    Wake {
        sleep: u64,
    },
    /// A call arrives at the store.
    Made(Action),
    Answered(Reply),
}

struct Fleet {
    random: Random,
    now_ms: u64,
    processes: Vec<Process>,
    /// Of the event at each time, which process it concerns. The number makes times unique.
    due: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, (usize, Event)>,
    made: u64,
    records: BTreeMap<String, String>,
    cost: Cost,
}

impl Fleet {
    fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            now_ms: 0,
            processes: Vec::new(),
            due: BinaryHeap::new(),
            events: BTreeMap::new(),
            made: 0,
            records: BTreeMap::new(),
            cost: Cost::default(),
        }
    }

    fn at(&mut self, time_ms: u64, process: usize, event: Event) {
        self.made += 1;
        self.due.push(Reverse((time_ms, self.made)));
        self.events.insert(self.made, (process, event));
    }

    /// Starts processes at this moment. Their names are new ones.
    fn start(&mut self, count: usize, bits: u32) -> std::ops::Range<usize> {
        let first = self.processes.len();
        let (space, random) = (Space::lanes(bits).unwrap(), self.random.wide());
        self.records.entry(space.meta_key()).or_insert_with(|| first_meta(&space, random).to_string());
        for index in first..first + count {
            let config = Config {
                space: Space::lanes(bits).unwrap(),
                name: Name::parse(&format!("holder-{index}")).unwrap(),
                horizon_ms: HORIZON_MS,
                max_skew_ms: 5_000,
                any_lead: false,
            };
            self.processes.push(Process { engine: Engine::new(config), ceiling_ms: None, sleeps: 0, is_alive: true });
            self.at(self.now_ms, index, Event::Wake { sleep: 0 });
        }
        first..first + count
    }

    fn moment(&self, process: usize) -> Moment {
        let now_ms = START_MS + self.now_ms;
        // Each has minted at another time last, so released lanes have different ceilings.
        let minted_ms = now_ms - process as u64 % 1_000;
        let used_until_ms = self.processes[process].ceiling_ms.map_or(0, |ceiling| ceiling.min(minted_ms));
        Moment { mono_ms: self.now_ms, now_ms: Some(now_ms), used_until_ms }
    }

    /// Does what an engine asks for until it sleeps, or waits for a reply.
    fn drive(&mut self, index: usize) {
        loop {
            let (at, random) = (self.moment(index), self.random.wide());
            let process = &mut self.processes[index];
            match process.engine.poll(at, random) {
                Action::Sleep { until_ms } => {
                    process.sleeps += 1;
                    let sleep = process.sleeps;
                    return self.at(until_ms.max(self.now_ms + 1), index, Event::Wake { sleep });
                }
                Action::Done | Action::Wait => return,
                Action::Seal => {
                    let end_ms = at.used_until_ms;
                    process.ceiling_ms = None;
                    process.engine.reply(at, Reply::Sealed { end_ms });
                }
                Action::Start(grant) => process.ceiling_ms = Some(grant.ceiling_ms),
                Action::Raise { ceiling_ms } => process.ceiling_ms = Some(ceiling_ms),
                call => return self.at(self.now_ms + WAY_MS, index, Event::Made(call)),
            }
        }
    }

    /// The store makes a call.
    fn make(&mut self, call: Action) -> Reply {
        match call {
            Action::List => {
                self.cost.lists += 1;
                self.cost.records += self.records.len() as u64;
                Reply::Listed(Ok(self.records.clone().into_iter().collect()))
            }
            Action::Read { key } => {
                self.cost.reads += 1;
                Reply::Read(Ok(self.records.get(&key).cloned()))
            }
            Action::Write { attempt, key, seen, value } => {
                self.cost.writes += 1;
                let is_expected = self.records.get(&key) == seen.as_ref();
                if is_expected {
                    self.records.insert(key, value);
                }
                self.cost.conflicts += u64::from(!is_expected);
                let outcome = if is_expected { Outcome::Acknowledged } else { Outcome::Conflict };
                Reply::Written { attempt, outcome }
            }
            other => panic!("{other:?} is not a call"),
        }
    }

    /// Lets the next thing happen.
    fn step(&mut self) {
        let Reverse((time_ms, number)) = self.due.pop().expect("something happens");
        self.now_ms = self.now_ms.max(time_ms);
        let (index, event) = self.events.remove(&number).expect("it was noted");
        if !self.processes[index].is_alive {
            return;
        }
        match event {
            Event::Wake { sleep } if sleep == self.processes[index].sleeps => self.drive(index),
            Event::Wake { .. } => {}
            Event::Made(call) => {
                let reply = self.make(call);
                self.at(self.now_ms + WAY_MS, index, Event::Answered(reply));
            }
            Event::Answered(reply) => {
                let at = self.moment(index);
                self.processes[index].engine.reply(at, reply);
                self.drive(index);
            }
        }
    }

    /// Lets things happen until this holds for each of the processes; returns what they cost.
    fn until(&mut self, processes: std::ops::Range<usize>, is_done: impl Fn(&Engine) -> bool) -> Cost {
        self.cost = Cost::default();
        let began_ms = self.now_ms;
        let mut open = processes.collect::<Vec<_>>();
        while let Some(&index) = open.last() {
            if is_done(&self.processes[index].engine) {
                open.pop();
            } else {
                self.step();
                assert!(self.now_ms < began_ms + 30 * HORIZON_MS, "{} have no lane", open.len());
            }
        }
        Cost { time_ms: self.now_ms - began_ms, ..self.cost }
    }

    /// Lets this time pass; returns what it cost.
    fn pass(&mut self, ms: u64) -> Cost {
        self.cost = Cost::default();
        let end_ms = self.now_ms + ms;
        while self.due.peek().is_some_and(|Reverse((time_ms, _))| *time_ms <= end_ms) {
            self.step();
        }
        self.now_ms = end_ms;
        self.cost
    }
}

fn holds(engine: &Engine) -> bool {
    engine.phase() == Phase::Holding
}

/// Returns what it costs that this many processes start together and each gets a lane.
pub(super) fn start_together(count: usize, bits: u32, start: Start, seed: u64) -> Cost {
    let mut fleet = Fleet::new(seed);
    if start != Start::Fresh {
        let before = fleet.start(count, bits);
        fleet.until(before.clone(), holds);
        fleet.pass(HORIZON_MS);
        if start == Start::AfterStop {
            for index in before.clone() {
                fleet.processes[index].engine.close();
                fleet.drive(index);
            }
            fleet.until(before.clone(), Engine::is_done);
        }
        for index in before {
            fleet.processes[index].is_alive = false;
            // Its memory.
            fleet.processes[index].engine = Engine::new(fleet.processes[index].engine.config().clone());
        }
    }
    let started = fleet.start(count, bits);
    fleet.until(started, holds)
}

/// One process of a fleet with this many lanes is replaced: the new one starts, and `stops_after_ms` later an old one gives its
/// lane back. Returns how long after that, or after its start if there was a lane to spare, the new one has a lane.
fn replace_one(bits: u32, spare: usize, stops_after_ms: u64, seed: u64) -> u64 {
    let mut fleet = Fleet::new(seed);
    let old = fleet.start((1 << bits) - spare, bits);
    fleet.until(old, holds);
    fleet.pass(HORIZON_MS);
    let new = fleet.start(1, bits);
    fleet.pass(stops_after_ms);
    fleet.processes[0].engine.close();
    fleet.drive(0);
    fleet.until(new, holds).time_ms
}

/// The middle of many replacements, and the longest.
fn replacements(bits: u32, spare: usize) -> (u64, u64) {
    let times = (0..20).map(|seed| replace_one(bits, spare, 1 + Random(seed).below(20_000), seed));
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() - 1])
}

#[test]
fn one_process_is_replaced_in_a_moment_if_a_lane_is_free_and_else_soon_after_one_is_given_back() {
    for bits in [0, 4, 6] {
        let (half_ms, longest_ms) = replacements(bits, 0);
        println!("{} lanes, all taken: {half_ms} ms, at most {longest_ms} ms", 1 << bits);
        let wait_ms = (16 << bits).clamp(75, HORIZON_MS / 5 * 4);
        assert!(longest_ms <= wait_ms + 10, "{bits}: {longest_ms}");
    }
    let mut fleet = Fleet::new(1);
    let old = fleet.start(12, 4);
    fleet.until(old, holds);
    let new = fleet.start(1, 4);
    assert_eq!(fleet.until(new, holds).time_ms, 6, "a list, a write and a read");
}

/// The law of their growth: a process loses two races at most, whatever the size of the fleet, and reads the lanes a few times,
/// and besides at most 100 records per second while it waits. With as many lanes as that, it is four lists per horizon.
fn check(count: usize, bits: u32, start: Start, seed: u64) -> Cost {
    let cost = start_together(count, bits, start, seed);
    let what = format!("{count} on {}, {start:?}, seed {seed}: {cost:?}", 1 << bits);
    let horizon_ms = if start == Start::AfterCrash { HORIZON_MS } else { 0 };
    let most = count as u64 * ((4 << bits) + horizon_ms / 10);
    assert!(cost.records <= most, "at most {most} records: {what}");
    assert!(bits < 10 || cost.lists <= 4 * count as u64, "at most four lists each: {what}");
    assert!(cost.conflicts <= 2 * count as u64, "at most two lost races each: {what}");
    assert!(cost.time_ms <= horizon_ms + 3_000, "at most 3 s: {what}");
    cost
}

const STARTS: [Start; 3] = [Start::Fresh, Start::AfterStop, Start::AfterCrash];

// ci/explore.sh checks 1,000 processes, by the table below.
#[test]
fn a_process_of_a_large_fleet_costs_what_one_of_a_small_fleet_costs() {
    for (count, bits) in [(1, 0), (4, 2), (16, 4), (64, 6), (250, 8)] {
        for start in STARTS {
            for seed in 0..2 {
                check(count, bits, start, seed);
            }
        }
    }
}

/// Whoever has a lane writes four times per horizon, and does nothing else.
#[test]
fn a_lane_costs_four_writes_per_horizon() {
    let mut fleet = Fleet::new(1);
    let all = fleet.start(16, 4);
    fleet.until(all, holds);
    let cost = fleet.pass(10 * HORIZON_MS);
    assert_eq!((cost.lists, cost.reads, cost.conflicts), (0, 0, 0));
    assert!((16 * 39..=16 * 41).contains(&cost.writes), "{cost:?}");
}

/// Prints the times of docs/LEASES.md, and checks the same law.
#[test]
fn a_table_of_fleets() {
    let most: usize = std::env::var("IMID_LEASE_FLEET").map_or(16, |text| text.parse().expect("a number"));
    println!("processes lanes start lists records conflicts ms");
    for (count, bits) in [(1, 0), (4, 2), (16, 4), (64, 6), (256, 8), (1_000, 10), (4_000, 12), (4_096, 12)] {
        for start in STARTS {
            if count <= most {
                let Cost { lists, records, conflicts, time_ms, .. } = check(count, bits, start, 1);
                println!("{count} {} {start:?} {lists} {records} {conflicts} {time_ms}", 1 << bits);
            }
        }
    }
}
