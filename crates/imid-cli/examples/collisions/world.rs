//! Hosts with generators of the library and simulated clocks, and the IDs that they mint.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use imid::clock::{Clock, ClockError};
use imid::generator::Lane;
use imid::{Generator, MessageId, SessionTag};

use crate::arrivals::Random;
use crate::risk::Mode;

/// When the simulation starts: unix milliseconds.
const START_MS: u64 = 1_795_204_800_000;

/// How long an ID is kept to find one that is equal, in milliseconds: more than the greatest skew and lead.
const KEPT_MS: u64 = 120;

/// The clock of a host: the true time, and by how much the clock is ahead of it.
pub(crate) struct HostClock {
    true_ns: Arc<AtomicU64>,
    ahead_ns: u64,
}

impl Clock for HostClock {
    fn now_ms(&self) -> Result<u64, ClockError> {
        Ok(START_MS + (self.true_ns.load(Ordering::Relaxed) + self.ahead_ns) / 1_000_000)
    }
}

/// Hosts, and the IDs of the last seconds.
pub(crate) struct World {
    true_ns: Arc<AtomicU64>,
    hosts: Vec<Generator<HostClock>>,
    mode: Mode,
    recent: Vec<u128>,
    /// The length of `recent` at which old IDs are counted.
    most_recent: usize,
    pairs: u64,
    messages: u64,
}

impl World {
    /// Starts hosts whose clocks are ahead of the true time by these durations.
    pub(crate) fn new(ahead_ns: &[u64], mode: Mode) -> Self {
        let true_ns = Arc::new(AtomicU64::new(0));
        let bits = ahead_ns.len().next_power_of_two().ilog2();
        let host = |(index, ahead_ns): (usize, &u64)| {
            let builder = Generator::builder().clock(HostClock { true_ns: true_ns.clone(), ahead_ns: *ahead_ns });
            let lane = Lane { index: index as u16, bits };
            let builder = if mode == Mode::Lanes { builder.lane(lane) } else { builder };
            builder.build().expect("the lane has its bits")
        };
        let hosts = ahead_ns.iter().enumerate().map(host).collect();
        Self { true_ns, hosts, mode, recent: Vec::new(), most_recent: 1 << 22, pairs: 0, messages: 0 }
    }

    /// Mints the IDs of a call.
    pub(crate) fn call(&mut self, at_ns: u64, tag: SessionTag, session: usize, ids: u32, random: &mut Random) {
        self.true_ns.store(at_ns, Ordering::Relaxed);
        let hosts = self.hosts.len();
        let host = match self.mode {
            Mode::ByName => {
                let mut hasher = DefaultHasher::new();
                session.hash(&mut hasher);
                hasher.finish() as usize % hosts
            }
            Mode::ByShard => tag.shard(std::num::NonZeroU32::new(hosts as u32).expect("a host")) as usize,
            _ => random.below(hosts),
        };
        let host = &self.hosts[host];
        if ids == 1 {
            self.recent.push(host.generate(tag).expect("the clock is fine").to_u128());
        } else {
            let batch = host.batch(tag, ids as usize).expect("the clock is fine");
            self.recent.extend(batch.map(MessageId::to_u128));
        }
        self.messages += u64::from(ids);
        if self.recent.len() >= self.most_recent {
            self.count(START_MS + (at_ns / 1_000_000).saturating_sub(KEPT_MS));
            self.most_recent = self.most_recent.max(self.recent.len() * 2);
        }
    }

    /// Returns the number of pairs of equal IDs, and the number of IDs.
    pub(crate) fn finish(mut self) -> (u64, u64) {
        self.count(u64::MAX);
        (self.pairs, self.messages)
    }

    /// Counts and forgets the IDs before this time.
    fn count(&mut self, before_ms: u64) {
        self.recent.sort_unstable();
        let id = |bits: &u128| MessageId::from_u128(*bits).expect("80 bits").timestamp_ms();
        let end = self.recent.partition_point(|bits| id(bits) < before_ms);
        for equal in self.recent[..end].chunk_by(|a, b| a == b) {
            let n = equal.len() as u64;
            self.pairs += n * (n - 1) / 2;
        }
        self.recent.drain(..end);
    }
}
