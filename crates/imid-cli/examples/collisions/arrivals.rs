//! When messages arrive, and for which session.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::risk::Burst;

/// `SplitMix64`, so that the arrivals do not depend on the generators' own mixing of seeds and time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to 1, without 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// Returns the time to the next event of a Poisson process with so many events per unit.
    fn gap(&mut self, rate: f64) -> f64 {
        -(1.0 - self.unit()).ln() / rate
    }
}

/// How the messages are spread over the sessions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Spread {
    /// So many sessions with the same rate.
    Uniform(usize),
    /// So many sessions by Zipf's law with this exponent.
    Zipf(usize, f64),
}

impl Spread {
    pub(crate) const fn count(self) -> usize {
        match self {
            Self::Uniform(count) | Self::Zipf(count, _) => count,
        }
    }

    pub(crate) const fn exponent(self) -> f64 {
        match self {
            Self::Uniform(_) => 0.0,
            Self::Zipf(_, exponent) => exponent,
        }
    }
}

/// Draws sessions by their rates.
pub(crate) struct Draw {
    count: usize,
    /// The sums of the shares up to each session. Empty if all are the same.
    sums: Vec<f64>,
}

impl Draw {
    pub(crate) fn new(spread: Spread) -> Self {
        let mut sums = Vec::new();
        if let Spread::Zipf(count, exponent) = spread {
            let mut sum = 0.0;
            for rank in 1..=count {
                sum += (rank as f64).powf(-exponent);
                sums.push(sum);
            }
        }
        Self { count: spread.count(), sums }
    }

    fn session(&self, random: &mut Random) -> usize {
        let Some(total) = self.sums.last() else { return random.below(self.count) };
        let place = random.unit() * total;
        self.sums.partition_point(|sum| *sum <= place).min(self.count - 1)
    }
}

/// A call that mints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Call {
    pub(crate) at_ns: u64,
    pub(crate) session: usize,
}

/// Calls in the order of their times.
pub(crate) struct Arrivals<'a> {
    draw: &'a Draw,
    /// Events per millisecond. Each one is a call, or a burst of calls.
    rate: f64,
    burst: Option<Burst>,
    calls_per_burst: u32,
    next_ms: f64,
    /// The calls of bursts that have begun.
    pending: BinaryHeap<Reverse<Call>>,
}

impl<'a> Arrivals<'a> {
    /// `calls` are those per millisecond.
    pub(crate) fn new(
        draw: &'a Draw,
        calls: f64,
        burst: Option<Burst>,
        ids_per_call: u32,
        random: &mut Random,
    ) -> Self {
        let calls_per_burst = burst.map_or(1, |burst| burst.messages as u32 / ids_per_call);
        let rate = calls / f64::from(calls_per_burst);
        Self { draw, rate, burst, calls_per_burst, next_ms: random.gap(rate), pending: BinaryHeap::new() }
    }

    pub(crate) fn next(&mut self, random: &mut Random) -> Call {
        while self.pending.peek().is_none_or(|Reverse(call)| call.at_ns > nanoseconds(self.next_ms)) {
            let session = self.draw.session(random);
            let start = self.next_ms;
            self.next_ms += random.gap(self.rate);
            let Some(burst) = self.burst else { return Call { at_ns: nanoseconds(start), session } };
            for _ in 0..self.calls_per_burst {
                let at_ns = nanoseconds(start + random.unit() * burst.over_ms);
                self.pending.push(Reverse(Call { at_ns, session }));
            }
        }
        self.pending.pop().expect("a burst has begun").0
    }
}

fn nanoseconds(ms: f64) -> u64 {
    (ms * 1e6) as u64
}
