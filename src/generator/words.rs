//! The words that all stripes share, and how a reading of the clock is published in them.

use super::policy::Policy;
use super::timeline::{Timeline, Window};
use crate::fork;
use crate::sync::{AtomicU64, Ordering};

/// In place of a mark. Not 0, which is the mark of a child that nothing has asked for its mark yet; and no mark and reading
/// sum to it.
pub(super) const NOT_STARTED: u64 = u64::MAX;

/// What all stripes share.
///
/// A call that is the first one of its millisecond reads and writes the first cache line, and reads the policy in the second.
/// Where a program mints now and then, each further line or page comes from memory, and costs more than all arithmetic.
#[repr(C, align(256))]
pub(super) struct Words {
    /// The reading of the clock that `first` and `ceiling` hold for, plus the mark of the process ([`fork::mark`]).
    pub(super) reading: AtomicU64,
    /// The least stamp that a new ID may have; its tick is the time reached.
    pub(super) first: AtomicU64,
    /// The first stamp past the limit.
    pub(super) ceiling: AtomicU64,
    /// The first stamp that no ID may have, whatever the time.
    pub(super) bound: AtomicU64,
    /// What the fresh counters are mixed from.
    pub(super) seed: AtomicU64,
    /// See [`Timeline`].
    latest: AtomicU64,
    meet: AtomicU64,
    behind: AtomicU64,
    pub(super) policy: Policy,
    /// The mark of the process that took the seed, or [`NOT_STARTED`].
    pub(super) process: AtomicU64,
    /// See [`Timeline`].
    pub(super) floor: AtomicU64,
    pub(super) jump: AtomicU64,
    first_step: AtomicU64,
}

#[cfg(not(loom))]
const _: () = assert!(core::mem::offset_of!(Words, policy) == 64, "the words of a new millisecond are one cache line");
#[cfg(not(loom))]
const _: () = assert!(core::mem::offset_of!(Words, process) <= 128, "the policy is in the next one");

impl Words {
    /// The words of a generator that has not started. `floor` is the least tick after the builder's, `bound` the first stamp
    /// that no ID may have.
    pub(super) const fn new(policy: Policy, floor: u64, bound: u64) -> Self {
        Self {
            reading: AtomicU64::new(NOT_STARTED),
            first: AtomicU64::new(0),
            ceiling: AtomicU64::new(0),
            bound: AtomicU64::new(bound),
            seed: AtomicU64::new(0),
            latest: AtomicU64::new(0),
            meet: AtomicU64::new(0),
            behind: AtomicU64::new(0),
            policy,
            process: AtomicU64::new(NOT_STARTED),
            floor: AtomicU64::new(floor),
            jump: AtomicU64::new(0),
            first_step: AtomicU64::new(0),
        }
    }

    /// Whether the window was worked out for this reading, in this process: two compares cover first use, fork and a reading
    /// that is no time. Without the first one a reading past all time can sum to what the parent process has published.
    #[inline]
    pub(super) fn hold_for(&self, now: u64) -> bool {
        // ORDERING: acquires the window that `publish` stored before it.
        now < fork::UNIT && self.reading.load(Ordering::Acquire) == fork::mark() + now
    }

    #[inline]
    pub(super) fn window(&self) -> Window {
        // ORDERING: the ceiling first. A bound may be raised after a floor; whoever mints below the new bound must see the
        // floor. Stamps between the old bound and the floor may be another generator's.
        let ceiling = self.ceiling.load(Ordering::Acquire);
        Window { first: self.first.load(Ordering::Relaxed), ceiling }
    }

    /// The timeline as this thread sees it.
    pub(super) fn timeline(&self) -> Timeline {
        // ORDERING: acquires, so that the clock is read after them, and is not behind the readings that they hold.
        Timeline {
            floor: self.floor.load(Ordering::Acquire),
            jump: self.jump.load(Ordering::Acquire),
            first_step: self.first_step.load(Ordering::Acquire),
            ..self.recent()
        }
    }

    /// The part of the timeline that decides whether a reading is a plain one.
    #[inline]
    fn recent(&self) -> Timeline {
        Timeline {
            latest: self.latest.load(Ordering::Acquire),
            reached: self.policy.shape.tick(self.first.load(Ordering::Acquire)),
            meet: self.meet.load(Ordering::Acquire),
            behind: self.behind.load(Ordering::Acquire),
            ..Timeline::NEW
        }
    }

    /// The window of a reading: the published one, or a new one if the reading moves the time on and does nothing else, as
    /// nearly every one does. `None` where a call has to look closer: at first use, in a forked child, after an event, and
    /// where the time is ahead of the clock.
    #[inline]
    pub(super) fn window_at(&self, now: u64) -> Option<Window> {
        if self.hold_for(now) {
            return Some(self.window());
        }
        // ORDERING: acquires the seed that was there before the window.
        let published = self.reading.load(Ordering::Acquire).wrapping_sub(fork::mark());
        let seen = self.recent();
        if published >= fork::UNIT || !seen.is_plain(now, &self.policy) {
            return None;
        }
        let window = self.window_of(Timeline { latest: now, reached: now, meet: 0, ..seen }, now);
        raise(&self.latest, now);
        change(&self.meet, seen.meet, 0);
        Some(self.publish_window(window, Some(now + fork::mark())))
    }

    /// Writes a timeline and its window, and returns the window. Each word is written only if it changes, so that refusals
    /// write no line that others read.
    pub(super) fn publish(&self, copy: Option<u64>, now: u64, seen: Timeline, next: Timeline) -> Window {
        let window = self.window_of(next, now);
        raise(&self.latest, next.latest);
        raise(&self.jump, next.jump);
        raise(&self.first_step, next.first_step);
        change(&self.meet, seen.meet, next.meet);
        change(&self.behind, seen.behind, next.behind);
        // A reading that is no time cannot be told from another process's.
        let copy = copy.filter(|copy| *copy < fork::UNIT);
        self.publish_window(window, copy.map(|copy| copy + self.process.load(Ordering::Relaxed)))
    }

    #[inline]
    fn window_of(&self, timeline: Timeline, now: u64) -> Window {
        // ORDERING: acquires the floors that were raised before the bound, for the ceiling that is stored.
        let bound = self.bound.load(Ordering::Acquire);
        timeline.window(now, self.seed.load(Ordering::Relaxed), bound, &self.policy)
    }

    /// `reading` is the word.
    #[inline]
    fn publish_window(&self, window: Window, reading: Option<u64>) -> Window {
        let first = raise(&self.first, window.first);
        // ORDERING: releases the floor to whoever loads the ceiling.
        store_new(&self.ceiling, window.ceiling);
        if let Some(reading) = reading {
            // ORDERING: releases all of the above to whoever mints by this reading.
            store_new(&self.reading, reading);
        }
        Window { first, ceiling: window.ceiling }
    }

    /// Makes every word in the thread that builds, as [`AtomicU64`] under loom needs it.
    #[cfg(loom)]
    pub(super) fn touch(&self) {
        self.timeline();
        for word in [&self.reading, &self.ceiling, &self.bound, &self.seed, &self.process] {
            word.load(Ordering::Relaxed);
        }
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
