//! The words that all stripes share, and how a reading of the clock is published in them.

use super::policy::Policy;
use super::timeline::{Timeline, Window};
use crate::fork;
use crate::sync::{AtomicU64, Ordering};

/// In place of a mark. Not 0, which is the mark of a child that nothing has asked for its mark yet; and no mark and reading
/// sum to it.
pub(super) const NOT_STARTED: u64 = u64::MAX;

/// What all stripes share. The words that a new reading writes are in the first cache line.
#[repr(C, align(128))]
pub(super) struct Words {
    /// The reading of the clock that `first` and `ceiling` hold for, plus the mark of the process ([`fork::mark`]).
    pub(super) reading: AtomicU64,
    /// The least stamp that a new ID may have; its tick is the time reached.
    pub(super) first: AtomicU64,
    /// The first stamp past the limit.
    pub(super) ceiling: AtomicU64,
    /// See [`Timeline`].
    pub(super) latest: AtomicU64,
    pub(super) meet: AtomicU64,
    pub(super) behind: AtomicU64,
    pub(super) floor: AtomicU64,
    pub(super) jump: AtomicU64,
    /// The first stamp that no ID may have, whatever the time.
    pub(super) bound: AtomicU64,
    /// What the fresh counters are mixed from.
    pub(super) seed: AtomicU64,
    /// The mark of the process that took the seed, or [`NOT_STARTED`].
    pub(super) process: AtomicU64,
}

impl Words {
    /// The words of a generator that has not started. `floor` is the least tick after the builder's, `bound` the first stamp
    /// that no ID may have.
    pub(super) const fn new(floor: u64, bound: u64) -> Self {
        Self {
            reading: AtomicU64::new(NOT_STARTED),
            first: AtomicU64::new(0),
            ceiling: AtomicU64::new(0),
            latest: AtomicU64::new(0),
            meet: AtomicU64::new(0),
            behind: AtomicU64::new(0),
            floor: AtomicU64::new(floor),
            jump: AtomicU64::new(0),
            bound: AtomicU64::new(bound),
            seed: AtomicU64::new(0),
            process: AtomicU64::new(NOT_STARTED),
        }
    }

    /// Whether the window was worked out for this reading, in this process: one compare covers first use and fork.
    #[inline]
    pub(super) fn hold_for(&self, now: u64) -> bool {
        // ORDERING: acquires the window that `publish` stored before it.
        self.reading.load(Ordering::Acquire) == fork::mark().wrapping_add(now)
    }

    #[inline]
    pub(super) fn window(&self) -> Window {
        // ORDERING: the ceiling first. A bound may be raised after a floor; whoever mints below the new bound must see the
        // floor. Stamps between the old bound and the floor may be another generator's.
        let ceiling = self.ceiling.load(Ordering::Acquire);
        Window { first: self.first.load(Ordering::Relaxed), ceiling }
    }

    /// The timeline as this thread sees it.
    pub(super) fn timeline(&self, policy: &Policy) -> Timeline {
        // ORDERING: acquires, so that the clock is read after them, and is not behind the readings that they hold.
        Timeline {
            latest: self.latest.load(Ordering::Acquire),
            reached: policy.shape.tick(self.first.load(Ordering::Acquire)),
            meet: self.meet.load(Ordering::Acquire),
            behind: self.behind.load(Ordering::Acquire),
            floor: self.floor.load(Ordering::Acquire),
            jump: self.jump.load(Ordering::Acquire),
        }
    }

    /// Writes a timeline and its window, and returns the window. Each word is written only if it changes, so that refusals
    /// write no line that others read.
    pub(super) fn publish(
        &self,
        copy: Option<u64>,
        now: u64,
        seen: Timeline,
        next: Timeline,
        policy: &Policy,
    ) -> Window {
        // ORDERING: acquires the floors that were raised before the bound, for the ceiling below.
        let bound = self.bound.load(Ordering::Acquire);
        let window = next.window(now, self.seed.load(Ordering::Relaxed), bound, policy);
        raise(&self.latest, next.latest);
        raise(&self.jump, next.jump);
        change(&self.meet, seen.meet, next.meet);
        change(&self.behind, seen.behind, next.behind);
        let first = raise(&self.first, window.first);
        // ORDERING: releases the floor to whoever loads the ceiling.
        store_new(&self.ceiling, window.ceiling);
        if let Some(copy) = copy {
            // ORDERING: releases all of the above to whoever mints by this reading.
            store_new(&self.reading, copy.wrapping_add(self.process.load(Ordering::Relaxed)));
        }
        Window { first, ceiling: window.ceiling }
    }
}

/// Raises a word, and returns the greater of what it was and what it should be.
#[inline]
pub(super) fn raise(word: &AtomicU64, value: u64) -> u64 {
    let seen = word.load(Ordering::Relaxed);
    if seen >= value {
        return seen;
    }
    // ORDERING: releases the reading of the clock to `timeline`.
    word.fetch_max(value, Ordering::Release).max(value)
}

/// Changes a word from what was seen: upwards in any case, downwards only if no other thread has changed it. Then the clock
/// may have stepped back again, and the next reading looks at it.
fn change(word: &AtomicU64, seen: u64, value: u64) {
    if value > seen {
        raise(word, value);
    } else if value < seen {
        let _ = word.compare_exchange(seen, value, Ordering::Release, Ordering::Relaxed);
    }
}

/// Stores a word if it is new.
#[inline]
fn store_new(word: &AtomicU64, value: u64) {
    if word.load(Ordering::Relaxed) != value {
        word.store(value, Ordering::Release);
    }
}
