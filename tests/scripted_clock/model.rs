//! The rule of minting a second time: plain numbers, products and comparisons, one thread, no shared code.
//!
//! A **place** counts stamps from 1970: milliseconds times the stamps of a millisecond, plus the counter.

use std::collections::HashMap;

/// The last millisecond of the format, in May 2109.
pub(super) const LAST_MS: u64 = 4_398_046_511_103;

/// What was set on the builder, limits in milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) start: Beginning,
    pub(super) seed: Option<u64>,
    pub(super) lane: u16,
    pub(super) lane_bits: u32,
    pub(super) max_lead: Option<u64>,
    pub(super) max_rollback: Option<u64>,
    pub(super) max_skew: Option<u64>,
    pub(super) floor: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Beginning {
    Seeded,
    Rolling,
    Zero,
}

impl Settings {
    /// Stamps in a millisecond.
    pub(super) fn capacity(&self) -> u64 {
        4096 / 2_u64.pow(self.lane_bits)
    }

    fn lead(&self) -> u64 {
        self.max_lead.unwrap_or(LAST_MS)
    }

    /// The longest run: every stamp of the present millisecond and of the lead, but for the latest start.
    pub(super) fn longest_run(&self) -> u64 {
        let latest_start = if self.start == Beginning::Zero { 0 } else { self.capacity() - 1 };
        (self.lead() + 1) * self.capacity() - latest_start
    }
}

/// What a call must do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Mints the run that starts at this place.
    Mint(u64),
    /// Mints the run that starts at this millisecond, wherever in it the unknown seed says.
    MintIn(u64),
    NoTime,
    RunTooLong,
    Exhausted,
    /// As said, and the wait in milliseconds.
    Rollback(u64),
    Overload(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Observation {
    Taken,
    NoTime,
    /// As said, and how far ahead, in milliseconds.
    TooFarAhead(u64),
}

pub(super) struct Model {
    settings: Settings,
    /// The greatest reading.
    latest: u64,
    /// No stamp comes before this millisecond.
    floor: u64,
    behind: u64,
    /// Of each stripe, the place after the last stamp.
    free: Vec<u64>,
    /// Where milliseconds are known to start.
    starts: HashMap<u64, u64>,
}

impl Model {
    pub(super) fn new(settings: Settings, stripes: usize) -> Self {
        // A floor stands for a reading of an earlier process.
        let latest = settings.floor.unwrap_or(0);
        let floor = settings.floor.map_or(0, |ms| ms + 1);
        Self { settings, latest, floor, behind: 0, free: vec![0; stripes], starts: HashMap::new() }
    }

    /// `reading` is what the clock shows, if it shows a time.
    pub(super) fn mint(
        &mut self,
        reading: Option<u64>,
        stripe: usize,
        run: u64,
        known: impl FnOnce(u64) -> Option<u64>,
    ) -> Verdict {
        let capacity = self.settings.capacity();
        if run > self.settings.longest_run() {
            return Verdict::RunTooLong;
        }
        let Some(now) = reading.filter(|now| *now <= LAST_MS) else { return Verdict::NoTime };
        if let Some(max) = self.settings.max_rollback
            && self.latest > now + max
        {
            return Verdict::Rollback(self.latest - now - max);
        }
        if now > self.latest {
            self.latest = now;
            self.settle(now);
        }
        let time = now.max(self.latest).max(self.floor);
        self.behind = self.behind.max(time - now);

        let free = self.free[stripe];
        let start = match self.settings.start {
            Beginning::Zero => Some(0),
            Beginning::Rolling => Some(free % capacity),
            Beginning::Seeded => known(time).or_else(|| self.starts.get(&time).copied()),
        };
        // A run that starts afresh fits wherever it starts, unless time ends first.
        let first = free.max(time * capacity + start.unwrap_or(0));
        let last_ms = (first + run - 1) / capacity;
        let limit = now + self.behind + self.settings.lead();
        if last_ms > LAST_MS {
            return Verdict::Exhausted;
        }
        if last_ms > limit {
            return Verdict::Overload(last_ms - limit);
        }
        if start.is_none() && free / capacity <= time {
            return Verdict::MintIn(time);
        }
        self.free[stripe] = first + run;
        Verdict::Mint(first)
    }

    /// The outcome of a [`Verdict::MintIn`].
    pub(super) fn minted(&mut self, stripe: usize, first: u64, run: u64) {
        // A run that goes on from the one before says nothing of where its millisecond starts.
        if first > self.free[stripe] {
            let capacity = self.settings.capacity();
            self.starts.insert(first / capacity, first % capacity);
        }
        self.free[stripe] = first + run;
    }

    /// The clock is past its earlier readings: what is left is the way to the first whole millisecond without a stamp, or to
    /// a floor.
    fn settle(&mut self, now: u64) {
        let capacity = self.settings.capacity();
        let unissued = self.free.iter().max().map_or(0, |free| free.div_ceil(capacity));
        self.behind = self.behind.min(unissued.max(self.floor).saturating_sub(now));
    }

    pub(super) fn observe(&mut self, reading: Option<u64>, ms: u64) -> Observation {
        if ms < self.latest.max(self.floor) {
            return Observation::Taken;
        }
        let Some(now) = reading.filter(|now| *now <= LAST_MS) else { return Observation::NoTime };
        let ahead = ms.saturating_sub(now.max(self.latest));
        if self.settings.max_skew.is_some_and(|max| ahead > max) {
            return Observation::TooFarAhead(ahead);
        }
        self.floor = self.floor.max(ms + 1);
        Observation::Taken
    }

    pub(super) fn resync(&mut self, reading: Option<u64>) -> bool {
        let Some(now) = reading.filter(|now| *now <= LAST_MS) else { return false };
        (self.latest, self.floor, self.behind) = (now, 0, 0);
        let lead = self.settings.lead();
        self.starts.clear();
        let capacity = self.settings.capacity();
        for free in &mut self.free {
            if *free > (now + lead + 1) * capacity {
                // Where the present millisecond starts, the next call will show.
                let start = if self.settings.start == Beginning::Rolling { *free % capacity } else { 0 };
                *free = now * capacity + start;
            }
        }
        true
    }
}
