//! A generator in the model: one word, `free`, and a ceiling. A stamp is `ms << 4 | counter`.

use super::rules::{Rule, Rules};
use imid_lease_protocol::engine::Grant;

/// Of `free`: sealed.
const CLOSED: u64 = 1 << 60;

/// The bits of the counter.
const COUNTER: u32 = 4;

#[derive(Clone, Debug)]
pub(super) struct Generator {
    /// Which generator it is, of all that were ever started.
    pub(super) instance: u64,
    pub(super) lane: u16,
    pub(super) ceiling_ms: u64,
    free: u64,
    end: u64,
}

/// A thread that has checked the ceiling and was paused before its addition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paused {
    pub(super) instance: u64,
    ceiling_ms: u64,
    /// The last stamp that had been returned when its call began.
    pub(super) began_after: Option<Last>,
}

/// The greatest millisecond that a process has returned, and by which generator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Last {
    pub(super) ms: u64,
    pub(super) instance: u64,
}

impl Generator {
    pub(super) fn new(instance: u64, grant: Grant) -> Self {
        let free = grant.floor_ms << COUNTER;
        Self { instance, lane: grant.lane, ceiling_ms: grant.ceiling_ms, free, end: free }
    }

    pub(super) fn raise(&mut self, ceiling_ms: u64) {
        self.ceiling_ms = self.ceiling_ms.max(ceiling_ms);
    }

    /// Whether the next stamp is below the ceiling.
    pub(super) fn has_room(&self, now_ms: u64) -> bool {
        self.free < CLOSED && self.fresh(now_ms) >> COUNTER < self.ceiling_ms
    }

    fn fresh(&self, now_ms: u64) -> u64 {
        self.free.max(now_ms << COUNTER)
    }

    /// Mints a run that ends `ahead_ms` later, and returns the milliseconds of its first and last stamp.
    pub(super) fn mint(&mut self, now_ms: u64, ahead_ms: u64) -> Option<(u64, u64)> {
        let first = self.fresh(now_ms);
        let last = first + (ahead_ms << COUNTER);
        if self.free >= CLOSED || last >> COUNTER >= self.ceiling_ms {
            return None;
        }
        self.free = last + 1;
        self.end = self.free;
        Some((first >> COUNTER, last >> COUNTER))
    }

    /// A thread checks the ceiling.
    pub(super) fn pause(&mut self, now_ms: u64, began_after: Option<Last>) -> Option<Paused> {
        if !self.has_room(now_ms) {
            return None;
        }
        // It has moved `free` into the window; its addition is still to come.
        self.free = self.fresh(now_ms);
        Some(Paused { instance: self.instance, ceiling_ms: self.ceiling_ms, began_after })
    }

    /// The thread adds, and returns the millisecond of its stamp.
    pub(super) fn resume(&mut self, paused: Paused, rules: Rules) -> Option<u64> {
        let taken = self.free;
        self.free += 1;
        if taken >= CLOSED {
            return None;
        }
        let allowed_ms =
            if rules.keep(Rule::CheckCeilingAgain) { paused.ceiling_ms.max(self.ceiling_ms) } else { u64::MAX };
        if taken >> COUNTER >= allowed_ms {
            return None;
        }
        self.end = self.end.max(taken + 1);
        Some(taken >> COUNTER)
    }

    /// The first millisecond after the last stamp; 0 before the first.
    pub(super) fn used_until_ms(&self, rules: Rules) -> u64 {
        if self.end.trailing_zeros() >= COUNTER || !rules.keep(Rule::RoundEndUp) {
            self.end >> COUNTER
        } else {
            (self.end >> COUNTER) + 1
        }
    }

    /// Seals it, and returns its end.
    pub(super) fn seal(&mut self, rules: Rules, is_sealed: bool) -> u64 {
        if is_sealed && self.free < CLOSED {
            // An addition that comes later is past the end.
            self.end = self.free.max(self.end).min(self.ceiling_ms << COUNTER).max(self.end);
            self.free = CLOSED;
        }
        self.used_until_ms(rules)
    }
}
