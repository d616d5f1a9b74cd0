//! What is simulated, and what the formulas expect of it.

use imid::{SessionTag, SessionType};

use crate::arrivals::{Arrivals, Draw, Random, Spread};
use crate::risk::{Burst, Mode, Pairs, Sessions};
use crate::world::World;

/// A deployment and its traffic.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Case {
    pub(crate) mode: Mode,
    pub(crate) hosts: u32,
    /// The number of hosts that the formula is told.
    hosts_of_formula: u32,
    /// By how much clocks differ at most.
    skew_ms: u32,
    spread: Spread,
    /// Messages per millisecond.
    rate: f64,
    burst: Option<Burst>,
    ids_per_call: u32,
    /// Messages in all, on average.
    messages: f64,
    /// Decides the arrivals and the clocks. The generators draw seeds of their own.
    seed: u64,
}

/// What a run counted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Outcome {
    messages: u64,
    pub(crate) expected: f64,
    pub(crate) counted: u64,
    /// In standard deviations.
    pub(crate) deviation: f64,
}

/// Returns the cases of the table.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let one = |hosts, skew_ms, rate, messages| Case {
        mode: Mode::AnyHost,
        hosts,
        hosts_of_formula: hosts,
        skew_ms,
        spread: Spread::Uniform(1),
        rate,
        burst: None,
        ids_per_call: 1,
        messages,
        seed: 0,
    };
    // One session, at rates that differ by a thousand.
    for (index, hosts) in [2, 4, 8, 16, 32, 64].into_iter().enumerate() {
        for (turn, (rate, messages)) in [(0.1, 2e6), (1.0, 1e6), (10.0, 1e6), (100.0, 8e5)].into_iter().enumerate() {
            cases.push(one(hosts, [0, 1, 10, 50][(index + turn) % 4], rate, messages));
        }
    }
    // Many sessions.
    for (hosts, skew_ms, spread, rate) in [
        (2, 0, Spread::Uniform(10), 10.0),
        (8, 10, Spread::Uniform(100), 100.0),
        (16, 50, Spread::Uniform(1_000), 1_000.0),
        (8, 0, Spread::Zipf(1_000, 1.0), 10.0),
        (8, 50, Spread::Zipf(100_000, 1.0), 100.0),
        (64, 10, Spread::Zipf(10_000, 1.3), 100.0),
    ] {
        cases.push(Case { spread, ..one(hosts, skew_ms, rate, 2e6) });
    }
    // Messages that answer one event.
    for (hosts, skew_ms, spread, rate, messages, over_ms) in [
        (2, 0, Spread::Uniform(1), 0.1, 5.0, 0.5),
        (8, 0, Spread::Uniform(1), 0.1, 20.0, 10.0),
        (8, 1, Spread::Uniform(1), 0.1, 20.0, 10.0),
        (8, 10, Spread::Uniform(100), 1.0, 20.0, 10.0),
        (16, 50, Spread::Uniform(1), 1.0, 50.0, 50.0),
        (32, 10, Spread::Zipf(1_000, 1.0), 10.0, 100.0, 20.0),
        (64, 0, Spread::Uniform(1_000), 10.0, 200.0, 2.0),
        (64, 50, Spread::Uniform(1), 10.0, 20.0, 5.0),
    ] {
        let burst = Some(Burst { messages, over_ms });
        cases.push(Case { spread, burst, ..one(hosts, skew_ms, rate, 1e6) });
    }
    // Several IDs per call.
    for (hosts, skew_ms, rate, ids_per_call) in [(2, 0, 1.0, 5), (8, 10, 10.0, 5), (8, 0, 10.0, 50), (32, 50, 1.0, 20)]
    {
        cases.push(Case { ids_per_call, ..one(hosts, skew_ms, rate, 2e6) });
    }
    // Two sessions that share a hash, so rarely that it takes a great load to see it.
    for (hosts, skew_ms, rate) in [(16, 0, 24_000.0), (32, 10, 40_000.0), (64, 50, 100_000.0)] {
        cases.push(Case { mode: Mode::ByName, spread: Spread::Uniform(1_000_000), ..one(hosts, skew_ms, rate, 4e7) });
    }
    // The ways to deploy that are unique, under loads that repeat thousands of IDs without them.
    for mode in [Mode::ByShard, Mode::Lanes] {
        for (hosts, skew_ms, rate, messages, spread) in [
            (2, 0, 100.0, 1e6, Spread::Uniform(100)),
            (8, 10, 100.0, 2e6, Spread::Zipf(1_000, 1.0)),
            (16, 50, 100.0, 2e6, Spread::Uniform(16)),
            (64, 50, 1_000.0, 5e6, Spread::Uniform(1_000_000)),
        ] {
            cases.push(Case { mode, spread, ..one(hosts, skew_ms, rate, messages) });
        }
    }
    let burst = Some(Burst { messages: 200.0, over_ms: 2.0 });
    cases.push(Case { mode: Mode::Lanes, burst, ..one(64, 10, 10.0, 1e6) });
    for (case, seed) in cases.iter_mut().zip(1..) {
        case.seed = seed;
    }
    cases
}

impl Case {
    /// Returns the case with at most so many messages.
    #[cfg(test)]
    pub(crate) fn with_messages(self, messages: f64) -> Self {
        Self { messages: self.messages.min(messages), ..self }
    }

    /// Returns the case with a formula for another number of hosts.
    #[cfg(test)]
    pub(crate) fn with_hosts_of_formula(self, hosts_of_formula: u32) -> Self {
        Self { hosts_of_formula, ..self }
    }

    /// Returns the clocks of the hosts: by how many nanoseconds each is ahead.
    fn clocks(&self) -> Vec<u64> {
        let mut random = Random::new(self.seed ^ 0xc10c);
        let skew_ns = f64::from(self.skew_ms) * 1e6;
        (0..self.hosts).map(|_| (random.unit() * skew_ns) as u64).collect()
    }

    /// Returns how many pairs of equal IDs the formula expects.
    pub(crate) fn expected(&self) -> f64 {
        let (count, exponent) = (self.spread.count() as f64, self.spread.exponent());
        let sessions = Sessions::new(count, exponent, &[], self.rate * 1_000.0).expect("no session is listed");
        let mut pairs = Pairs::expected(&sessions, self.burst);
        if let Some(burst) = self.burst {
            pairs.in_bursts *= self.share_left_by_skew(burst.over_ms);
        }
        pairs.equal_ids(self.mode, self.hosts_of_formula) * self.messages / self.rate / 1_000.0
    }

    /// Returns how many of the pairs of a burst still have one millisecond on clocks that differ. The formula of the tool
    /// is for clocks that agree.
    fn share_left_by_skew(&self, over_ms: f64) -> f64 {
        let clocks = self.clocks();
        let same = |ahead_ms: f64| {
            // The mean over the distance of two messages, of the probability that a grid of 1 ms has both in one cell.
            let steps = 2_000;
            let at = |n: i32| (f64::from(n) + 0.5) / f64::from(steps) * over_ms;
            let cell = |distance: f64| (1.0 - distance.abs()).max(0.0);
            let weight = |distance: f64| 1.0 - distance / over_ms;
            let each = |n| weight(at(n)) * (cell(at(n) + ahead_ms) + cell(at(n) - ahead_ms));
            (0..steps).map(each).sum::<f64>()
        };
        let mut sum = 0.0;
        for (index, a) in clocks.iter().enumerate() {
            sum += clocks[index + 1..].iter().map(|b| same(a.abs_diff(*b) as f64 / 1e6)).sum::<f64>();
        }
        let pairs = f64::from(self.hosts * (self.hosts - 1)) / 2.0;
        sum / pairs / same(0.0)
    }

    /// Returns the variance of the count for each expected pair. It is more than 1, because the runs of two hosts that
    /// overlap in a millisecond have several equal IDs.
    fn dispersion(&self) -> f64 {
        if self.mode == Mode::ByName {
            // The next two IDs share a hash as rarely as any two.
            return 1.0;
        }
        let k = f64::from(self.ids_per_call);
        // A pair is followed by another one if the next IDs of the two hosts have one session too.
        let (mut next, mut ids) = (1.0, self.rate / f64::from(self.hosts));
        let count = self.spread.count() as f64;
        if let Some(burst) = self.burst {
            ids += burst.messages / burst.over_ms.max(1.0) / f64::from(self.hosts);
        } else {
            let sessions = Sessions::new(count, self.spread.exponent(), &[], 1.0).expect("no session is listed");
            next = sessions.squares;
        }
        // The numbers of calls of two hosts in a millisecond are Poisson numbers.
        let mean = ids / k;
        let most = (mean + 10.0 * mean.sqrt() + 10.0) as u32;
        let chances: Vec<_> = (0..=most)
            .scan((-mean).exp(), |chance, n| {
                let this = *chance;
                *chance *= mean / f64::from(n + 1);
                Some(this)
            })
            .collect();
        let (mut pairs, mut more) = (0.0, 0.0);
        for (a, chance_a) in (0..).zip(&chances) {
            for (b, chance_b) in (0..).zip(&chances) {
                let (short, long) = (f64::from(a.min(b)) * k, f64::from(a.max(b)) * k);
                let chance = chance_a * chance_b;
                pairs += chance * short * long;
                // The sum of o (o - 1) over all places of two runs, where o is how many IDs overlap.
                let inside = (long - short + 1.0) * short * (short - 1.0);
                let at_ends = 2.0 / 3.0 * short * (short - 1.0) * (short - 2.0);
                more += chance * (inside + at_ends);
            }
        }
        1.0 + next * more.max(0.0) / pairs
    }

    /// Mints the IDs.
    pub(crate) fn run(&self) -> Outcome {
        let mut random = Random::new(self.seed);
        let tags: Vec<_> = (0..self.spread.count())
            .map(|session| SessionTag::new(SessionType::GROUP, &format!("room-{session}")))
            .collect();
        let draw = Draw::new(self.spread);
        let calls_per_ms = self.rate / f64::from(self.ids_per_call);
        let mut arrivals = Arrivals::new(&draw, calls_per_ms, self.burst, self.ids_per_call, &mut random);
        let mut world = World::new(&self.clocks(), self.mode);
        let end_ns = (self.messages / self.rate * 1e6) as u64;
        loop {
            let call = arrivals.next(&mut random);
            if call.at_ns >= end_ns {
                break;
            }
            world.call(call.at_ns, tags[call.session], call.session, self.ids_per_call, &mut random);
        }
        let (counted, messages) = world.finish();
        let expected = self.expected();
        let deviation = match expected {
            0.0 if counted == 0 => 0.0,
            0.0 => f64::INFINITY,
            _ => (counted as f64 - expected) / (expected * self.dispersion()).sqrt(),
        };
        Outcome { messages, expected, counted, deviation }
    }

    /// Returns the first columns of the row of the table: what is simulated.
    pub(crate) fn columns(&self) -> String {
        let mode = match self.mode {
            Mode::AnyHost => "any host",
            Mode::ByName => "by name",
            Mode::ByShard => "by shard",
            _ => "lanes",
        };
        let sessions = match self.spread {
            Spread::Uniform(1) => "1".to_owned(),
            Spread::Uniform(count) => format!("{count}"),
            Spread::Zipf(count, exponent) => format!("{count}, Zipf {exponent}"),
        };
        let arrivals = self.burst.map_or_else(
            || "independent".to_owned(),
            |burst| format!("bursts of {} in {} ms", burst.messages, burst.over_ms),
        );
        let (hosts, skew, rate, ids) = (self.hosts, self.skew_ms, self.rate, self.ids_per_call);
        format!("| {mode} | {hosts} | {skew} ms | {sessions} | {rate} | {arrivals} | {ids} |")
    }

    /// Returns the row of the table.
    pub(crate) fn row(&self, outcome: &Outcome) -> String {
        let Outcome { messages, expected, counted, deviation } = outcome;
        // Not "-0.0".
        let deviation = (deviation * 10.0).round() / 10.0 + 0.0;
        format!("{} {messages} | {expected:.1} | {counted} | {deviation:+.1} |", self.columns())
    }
}
