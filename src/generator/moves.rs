//! The events that move the time of a generator: its start, a fork, an ID from elsewhere, and a floor.
//!
//! They only move the time later, and withdraw the published reading. The next call that mints then reads the real clock, and
//! computes how the time continues.

use super::error::{GenerateKind, ObserveError};
use super::policy::Policy;
use super::published::{NOT_STARTED, raise};
use super::slew::fresh;
use super::stripe::Core;
use crate::clock::{Clock, ClockError};
use crate::fork;
use crate::seed;
use crate::stamp::Origin;
use crate::sync::Ordering;

impl<const STRIPES: usize> Core<STRIPES> {
    /// Binds a lane to this process. A child that is forked before the first ID then refuses as well.
    pub(crate) fn bind_lane(&self) {
        if self.has_lane {
            let _ = self.begin(None);
        }
    }

    /// Takes the seed of this process. A forked child then begins after the millisecond of the last stamp that it
    /// inherited.
    ///
    /// Several threads can do this concurrently. The seed of the last one stays, and `first` only grows.
    #[cold]
    pub(super) fn begin(&self, now: Option<u64>) -> Result<(), GenerateKind> {
        let published = &self.published;
        let process = fork::watch();
        let known = published.process.load(Ordering::Acquire);
        if known == process {
            return Ok(());
        }
        let forked = known != NOT_STARTED;
        if forked && self.has_lane {
            return Err(GenerateKind::Forked);
        }
        let seed = match self.fixed_seed {
            Some(seed) if !forked => seed,
            _ => seed::draw(published.seed.load(Ordering::Relaxed)),
        };
        published.seed.store(seed, Ordering::Relaxed);
        // Also past the time reached: if no ID of it was minted before the fork, each sibling would mint the first one.
        let mut inherited = 0;
        if forked {
            inherited = self.unissued().max(self.reached() + 1);
            self.leave_the_parents_counters(inherited, seed);
        }
        self.start_at(inherited.max(published.floor.load(Ordering::Relaxed)), now);
        // ORDERING: releases the seed and the floor to threads that find the mark.
        published.process.store(process, Ordering::Release);
        Ok(())
    }

    /// A rolling start continues from the counter of the last stamp. Parent and children have the same one, and would
    /// meet in every stamp, so each child begins `tick` at a seeded counter. Other starts do not depend on the last stamp.
    fn leave_the_parents_counters(&self, tick: u64, seed: u64) {
        let Policy { shape, origin, .. } = self.published.policy;
        if matches!(origin, Origin::Rolling) {
            let start = Origin::Below(shape.capacity()).start(tick, 0, seed, &shape);
            for stripe in &self.stripes {
                raise(&stripe.free, shape.first_of(tick) | start);
            }
        }
    }

    /// Makes every later stamp have at least this tick.
    fn start_at(&self, tick: u64, now: Option<u64>) {
        let seed = self.published.seed.load(Ordering::Relaxed);
        let tick = now.map_or(tick, |now| {
            let timeline = self.published.timeline();
            let tick = timeline.spread(tick, now, seed);
            // Behind a floor that is too far ahead, calls are refused until the clock is corrected. A `meet` from the wrong
            // reading would then take the time half of the way past the clock.
            if tick > now && timeline.distance_behind(now) <= self.published.policy.max_rollback {
                let meet = timeline.meet_after_jump(tick, now);
                raise(&self.published.jump, meet);
                // Time continues from here, and not from the next ID. Otherwise hosts without load would all put their
                // first IDs into one millisecond.
                raise(&self.published.meet, meet);
            }
            tick
        });
        raise(&self.published.first, fresh(tick, seed, &self.published.policy));
        // The next call reads the real clock, and computes how time continues from here.
        self.published.read.store(NOT_STARTED, Ordering::Release);
    }

    /// Makes every later stamp come after `tick`.
    #[inline]
    pub(crate) fn observe(&self, tick: u64, max_skew: u64, clock: &impl Clock) -> Result<(), ObserveError> {
        // Later stamps are at this time or after it, whatever the clock does.
        if tick < self.published.policy.shape.tick(self.published.first.load(Ordering::Relaxed)) {
            return Ok(());
        }
        self.observe_out_of_line(tick, max_skew, clock)
    }

    #[inline(never)]
    fn observe_out_of_line(&self, tick: u64, max_skew: u64, clock: &impl Clock) -> Result<(), ObserveError> {
        // Skew is measured from readings, and not from the time reached. Otherwise a chain of IDs that are each a
        // little ahead would move the generator away from the clock without bound.
        let known = self.published.timeline();
        let ahead = |now: u64| tick.saturating_sub(now.max(known.top));
        // A wild reading must not let an ID past a limit that is less than the skew.
        let max_advance = self.published.policy.max_advance().min(max_skew);
        // A clock that fails is read once more, as before every refusal.
        let mut now = clock.now_ms().or_else(|_| clock.refresh())?;
        if ahead(now) > max_skew || known.is_far_ahead(now, max_advance) || !clock.accepts(now) {
            now = self.believed(known, max_advance, clock)?;
        }
        if now > self.published.policy.shape.last_tick() {
            return Err(ClockError::past_2109(now).into());
        }
        if ahead(now) > max_skew {
            // From the clock as it is, so that the excess is the wait.
            return Err(ObserveError::skew(max_skew, tick - now));
        }
        self.follow(tick + 1, Some(now.max(known.top)));
        Ok(())
    }

    /// Makes every later stamp have at least this tick, which is trusted.
    pub(crate) fn raise_floor(&self, tick: u64, clock: &impl Clock) {
        let tick = self.published.policy.floor(tick);
        // A floor that the time has passed changes nothing.
        if tick > self.published.policy.shape.tick(self.published.first.load(Ordering::Relaxed)) {
            raise(&self.published.floor, tick);
            self.follow(tick, self.settled(clock));
        }
    }

    fn follow(&self, tick: u64, now: Option<u64>) {
        // The spread needs a seed. A child without its own lane gets an error here, and raises `first` all the
        // same.
        let _ = self.begin(now);
        self.start_at(tick, now);
    }

    /// Reads the real clock for an event that moves the time: the greater of two readings counts as well, because the lead of
    /// the event is measured from it.
    pub(super) fn settled(&self, clock: &impl Clock) -> Option<u64> {
        let read = || self.believed(self.published.timeline(), self.published.policy.max_advance(), clock).ok();
        read().max(read())
    }
}
