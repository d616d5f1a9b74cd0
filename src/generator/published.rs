//! The words that all stripes share, and how a reading of the clock is published in them.

use super::policy::Policy;
use super::slew::{Timeline, Window};
use crate::fork;
use crate::sync::{AtomicU64, Ordering};

/// The value of a word without a mark. It is not 0, because a child has the mark 0 until something asks for one, and it
/// is greater than every sum of a mark and a reading.
pub(super) const NOT_STARTED: u64 = u64::MAX;

/// What all stripes share.
///
/// The first call of a millisecond uses the first cache line, and reads the policy in the second one. A program that
/// mints now and then finds them in memory and not in a cache. Each further line or page costs it more than the
/// arithmetic.
#[repr(C, align(256))]
pub(super) struct Published {
    /// The reading of the clock that `first` and `end` hold for, plus the mark of the process ([`fork::mark`]).
    pub(super) read: AtomicU64,
    /// The least stamp that a new ID may have; its tick is the time reached.
    pub(super) first: AtomicU64,
    /// The first stamp past the limit, or the ceiling if that was less.
    pub(super) end: AtomicU64,
    /// The first stamp that no ID may have, whatever the time.
    pub(super) ceiling: AtomicU64,
    /// What the fresh counters are mixed from.
    pub(super) seed: AtomicU64,
    /// See [`Timeline`].
    pub(super) top: AtomicU64,
    pub(super) meet: AtomicU64,
    pub(super) extra: AtomicU64,
    pub(super) policy: Policy,
    /// The mark of the process that took the seed, or [`NOT_STARTED`].
    pub(super) process: AtomicU64,
    /// See [`Timeline`].
    pub(super) floor: AtomicU64,
    pub(super) jump: AtomicU64,
    pub(super) steps: AtomicU64,
}

#[cfg(not(loom))]
const _: () =
    assert!(core::mem::offset_of!(Published, policy) == 64, "the words of a new millisecond are one cache line");
#[cfg(not(loom))]
const _: () = assert!(core::mem::offset_of!(Published, process) <= 128, "the policy is in the next one");

impl Published {
    /// Returns the words of a generator that has not started. `floor` is the least tick after the builder's, `ceiling`
    /// the first stamp that no ID may have.
    pub(super) const fn new(policy: Policy, floor: u64, ceiling: u64) -> Self {
        Self {
            read: AtomicU64::new(NOT_STARTED),
            first: AtomicU64::new(0),
            end: AtomicU64::new(0),
            ceiling: AtomicU64::new(ceiling),
            seed: AtomicU64::new(0),
            top: AtomicU64::new(0),
            meet: AtomicU64::new(0),
            extra: AtomicU64::new(0),
            policy,
            process: AtomicU64::new(NOT_STARTED),
            floor: AtomicU64::new(floor),
            jump: AtomicU64::new(0),
            steps: AtomicU64::new(0),
        }
    }

    /// Returns whether the window holds for this reading in this process. The second comparison covers the first use
    /// and a fork. The first one is for a broken clock: in a child, a reading past 2109 can sum to the word of the
    /// parent.
    #[inline]
    pub(super) fn hold_for(&self, now: u64) -> bool {
        // ORDERING: acquires the window that `publish` stored before it.
        now < fork::UNIT && self.read.load(Ordering::Acquire) == fork::mark() + now
    }

    #[inline]
    pub(super) fn window(&self) -> Window {
        // ORDERING: the `end` first. A ceiling can be raised after a floor. A thread that mints below the new ceiling
        // must see the floor, because stamps between the old ceiling and the floor can belong to another generator.
        let end = self.end.load(Ordering::Acquire);
        Window { first: self.first.load(Ordering::Relaxed), end }
    }

    /// Returns the timeline as this thread sees it.
    pub(super) fn timeline(&self) -> Timeline {
        // ORDERING: acquires, so that the clock is read after them, and is not behind the readings that they hold.
        Timeline {
            floor: self.floor.load(Ordering::Acquire),
            jump: self.jump.load(Ordering::Acquire),
            steps: self.steps.load(Ordering::Acquire),
            ..self.recent()
        }
    }

    /// Returns the part of the timeline that decides whether a reading is a plain one.
    #[inline]
    fn recent(&self) -> Timeline {
        Timeline {
            top: self.top.load(Ordering::Acquire),
            reached: self.policy.shape.tick(self.first.load(Ordering::Acquire)),
            meet: self.meet.load(Ordering::Acquire),
            extra: self.extra.load(Ordering::Acquire),
            ..Timeline::NEW
        }
    }

    /// Returns the window of a reading: the published one, or a new one if the reading is plain. `None` at first use,
    /// in a forked child, after an event, and while the time is ahead of the clock: then the caller has to read the
    /// real clock.
    #[expect(clippy::inline_always, reason = "the first call of each millisecond pays for a call of it")]
    #[inline(always)]
    pub(super) fn window_at(&self, now: u64) -> Option<Window> {
        if self.hold_for(now) {
            return Some(self.window());
        }
        // ORDERING: acquires the seed that was there before the window.
        let published = self.read.load(Ordering::Acquire).wrapping_sub(fork::mark());
        let seen = self.recent();
        if published >= fork::UNIT || !seen.is_plain(now, &self.policy) {
            return None;
        }
        let window = self.window_of(Timeline { reached: now, ..seen }, now);
        raise(&self.top, now);
        change(&self.meet, seen.meet, 0);
        Some(self.publish_window(window, Some(now + fork::mark())))
    }

    /// Writes a timeline and its window, and returns the window. A word is written only if it changes, so refused calls
    /// do not take the cache line from other threads.
    pub(super) fn publish(&self, copy: Option<u64>, now: u64, seen: Timeline, next: Timeline) -> Window {
        let window = self.window_of(next, now);
        raise(&self.top, next.top);
        raise(&self.jump, next.jump);
        raise(&self.steps, next.steps);
        change(&self.meet, seen.meet, next.meet);
        change(&self.extra, seen.extra, next.extra);
        // With a reading past 2109 the sum could be another process's.
        let copy = copy.filter(|copy| *copy < fork::UNIT);
        self.publish_window(window, copy.map(|copy| copy + self.process.load(Ordering::Relaxed)))
    }

    #[inline]
    fn window_of(&self, timeline: Timeline, now: u64) -> Window {
        // ORDERING: acquires the floors that were raised before the ceiling, for the `end` that is stored.
        let ceiling = self.ceiling.load(Ordering::Acquire);
        timeline.window(now, self.seed.load(Ordering::Relaxed), ceiling, &self.policy)
    }

    /// Writes a window. `reading` is the value of the word, or `None` if the window is not for later calls.
    #[inline]
    fn publish_window(&self, window: Window, reading: Option<u64>) -> Window {
        let first = raise(&self.first, window.first);
        // ORDERING: releases the floor to threads that load the `end`.
        store_new(&self.end, window.end);
        if let Some(reading) = reading {
            // ORDERING: releases all of the above to threads that mint by this reading.
            store_new(&self.read, reading);
        }
        Window { first, end: window.end }
    }
}

/// Raises a word, and returns the greater one of its old value and `value`.
#[inline]
pub(super) fn raise(word: &AtomicU64, value: u64) -> u64 {
    let seen = word.load(Ordering::Relaxed);
    if seen >= value {
        return seen;
    }
    // ORDERING: releases the reading of the clock to `timeline`.
    word.fetch_max(value, Ordering::Release).max(value)
}

/// Raises a word, or lowers it if it still has the value that was seen. If another thread has changed it, the clock may
/// have stepped back again, and the next reading decides.
fn change(word: &AtomicU64, seen: u64, value: u64) {
    if value > seen {
        raise(word, value);
    } else if value < seen {
        let _ = word.compare_exchange(seen, value, Ordering::Release, Ordering::Relaxed);
    }
}

/// Stores a value if the word does not have it.
#[inline]
fn store_new(word: &AtomicU64, value: u64) {
    if word.load(Ordering::Relaxed) != value {
        word.store(value, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::generator::slew::tests::{END, IDLE, T, policy};

    #[test]
    fn a_word_is_lowered_only_if_no_other_thread_has_changed_it() {
        for (found, seen, value, expected) in
            [(9, 9, 3, 3), (9, 5, 3, 9), (9, 5, 7, 9), (9, 5, 12, 12), (9, 9, 9, 9), (5, 9, 9, 5)]
        {
            let word = AtomicU64::new(found);
            change(&word, seen, value);
            assert_eq!(word.into_inner(), expected, "{found}, of which {seen} was seen, to {value}");
        }
    }

    /// What `window_at` does without the arithmetic, because the reading is plain.
    #[test]
    fn a_plain_reading_is_published_as_the_arithmetic_has_it() {
        for (reached, meet, now) in [(T, 0, T + 1), (T, T + 1, T + 1), (T + 5, T + 7, T + 9), (T + 3, T, T + 900)] {
            let seen = Timeline { reached, meet, ..IDLE };
            let published = Published::new(policy(), 0, END);
            published.process.store(fork::watch(), Ordering::Relaxed);
            published.publish(Some(T), T, Timeline::NEW, seen);
            let next = seen.after(now, &policy(), || 0).unwrap();
            assert_eq!(published.window_at(now), Some(next.window(now, 0, END, &policy())), "{seen:?} at {now}");
            assert_eq!(published.timeline(), next, "{seen:?} at {now}");
            assert!(published.hold_for(now));
        }
    }

    /// As a parent with the mark after the child's would have written it at a reading of the present.
    #[test]
    fn a_window_does_not_hold_for_a_reading_past_2109() {
        let published = Published::new(policy(), 0, END);
        for past in [fork::UNIT, fork::UNIT + T] {
            published.read.store(fork::watch() + past, Ordering::Relaxed);
            assert!(!published.hold_for(past));
        }
    }

    /// The mark of another process is a multiple of that away.
    #[test]
    fn a_copied_reading_past_2109_is_not_published() {
        for (copy, reading) in [
            (None, NOT_STARTED),
            (Some(T), 7 * fork::UNIT + T),
            (Some(fork::UNIT), NOT_STARTED),
            (Some(u64::MAX), NOT_STARTED),
        ] {
            let published = Published::new(policy(), 0, END);
            published.process.store(7 * fork::UNIT, Ordering::Relaxed);
            published.publish(copy, T, IDLE, IDLE);
            assert_eq!(published.read.into_inner(), reading, "{copy:?}");
        }
    }
}
