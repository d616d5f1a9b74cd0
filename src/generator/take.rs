//! The shared words, and the step that mints.
//!
//! What a call must know of the time depends only on the reading of the clock. So the first call with a new reading
//! computes it, and publishes it in the [`Words`] `reading`, `first` and `ceiling`. A call that mints compares the
//! reading, checks that the stripe's `free` is between the two others, and adds one to `free`.
//!
//! Why old and torn views do no harm:
//! - One word makes IDs distinct and ordered: a stripe's `free`. It changes only by read-modify-write, and only grows. All
//!   threads agree on the order of its values. If a call happens before another one, its value comes first (coherence,
//!   C++20 [intro.races]).
//! - `first` only grows. So an observed ID or a floor comes before all IDs whose calls begin later.
//! - `bound` only grows. So an old `ceiling` is below a later bound. The limit of the lead can shrink: a late thread can use
//!   the limit of a moment ago.
//! - Each stamp is compared with the ceiling after it was taken. At or past the ceiling, it is compared with a new one, or
//!   dropped.

use super::error::{GenerateKind, ObserveError};
use super::policy::Policy;
use super::refusal::Asked;
use super::seed;
use super::timeline::{Timeline, Window, fresh};
use super::words::{NOT_STARTED, Words, raise};
use crate::clock::{Clock, ClockError};
use crate::fork;
use crate::stamp::Origin;
use crate::sync::{AtomicU64, Ordering};

/// The bit of a stripe's `free` that says that the generator is closed. It is past every ceiling, and additions do not
/// wrap.
const CLOSED: u64 = 1 << 63;

/// Two cache lines: the prefetcher of x86-64 fetches lines in pairs.
#[repr(align(128))]
pub(crate) struct Stripe {
    /// The least compact stamp that has not been taken.
    free: AtomicU64,
    /// How many calls were refused.
    refused: AtomicU64,
}

/// Everything of a generator but its clock.
pub(crate) struct Core<const STRIPES: usize> {
    words: Words,
    /// Whether a lane was set. The stamps then belong to one process.
    has_lane: bool,
    /// The seed that the builder was given. With `None` each process draws its own.
    fixed_seed: Option<u64>,
    stripes: [Stripe; STRIPES],
}

impl<const STRIPES: usize> Core<STRIPES> {
    /// `floor` is the tick of an ID that every stamp must come after, `ceiling` the first tick that no stamp may have.
    pub(crate) const fn new(
        policy: Policy,
        has_lane: bool,
        fixed_seed: Option<u64>,
        floor: Option<u64>,
        ceiling: Option<u64>,
    ) -> Self {
        const { assert!(STRIPES > 0, "a generator has at least one stripe") };
        let floor = match floor {
            Some(tick) => tick + 1,
            None => 0,
        };
        let bound = policy.bound(match ceiling {
            Some(tick) => tick,
            None => u64::MAX,
        });
        Self {
            words: Words::new(policy, floor, bound),
            has_lane,
            fixed_seed,
            stripes: [const { Stripe { free: AtomicU64::new(0), refused: AtomicU64::new(0) } }; STRIPES],
        }
    }

    #[inline]
    pub(crate) const fn policy(&self) -> &Policy {
        &self.words.policy
    }

    /// Binds a lane to this process. A child that is forked before the first ID then refuses, too.
    pub(crate) fn bind_lane(&self) {
        if self.has_lane {
            let _ = self.begin(None);
        }
    }

    /// Takes `run` consecutive compact stamps of the stripe that `key` selects, and returns the first.
    #[inline]
    pub(crate) fn take(&self, key: u32, run: u64, clock: &impl Clock) -> Result<u64, GenerateKind> {
        let stripe = &self.stripes[key as usize % STRIPES];
        let reading = clock.now_ms().ok();
        // Loaded here, so that the processor fetches it together with the words if they come from memory. An old `free`
        // does no harm: the stamp that is taken is checked again.
        let free = stripe.free.load(Ordering::Relaxed);
        if let Some(now) = reading
            && self.words.hold_for(now)
        {
            let Window { first, ceiling } = self.words.window();
            if first <= free && free + run <= ceiling {
                if run == 1 {
                    // An addition needs no retry when threads compete. Others may have added since the load, so the
                    // stamp is checked again. The check before the addition limits the dropped stamps to one per
                    // thread. A run uses the exchange, because a dropped run would waste many stamps.
                    // ORDERING: as in `exchange`.
                    let taken = stripe.free.fetch_add(1, Ordering::Release);
                    if taken < ceiling || self.allows_now(taken, clock) {
                        return Ok(taken);
                    }
                } else if stripe.exchange(free, free, run) {
                    return Ok(free);
                }
            }
        }
        self.take_out_of_line(stripe, run, clock, reading)
    }

    /// Takes stamps where the stripe's `free` is outside the window, or where the reading has no window yet.
    #[inline(never)]
    fn take_out_of_line(
        &self,
        stripe: &Stripe,
        run: u64,
        clock: &impl Clock,
        reading: Option<u64>,
    ) -> Result<u64, GenerateKind> {
        if let Some(now) = reading
            && clock.accepts(now)
            && let Some(window) = self.words.window_at(now)
        {
            let mut free = stripe.free.load(Ordering::Relaxed);
            while let Some(first) = window.fit(free, run, &self.words.policy) {
                if stripe.exchange(free, first, run) {
                    return Ok(first);
                }
                free = stripe.free.load(Ordering::Relaxed);
            }
        }
        self.take_by_real_clock(stripe, run, clock)
    }

    /// Takes stamps by the real clock, or refuses them.
    ///
    /// The words are loaded before the clock is read. So the readings that they hold were made before this one, and
    /// this one is behind them only if the clock stepped back. A refusal was correct at this reading, even if the
    /// thread was paused before or after it.
    #[cold]
    #[inline(never)]
    fn take_by_real_clock(&self, stripe: &Stripe, run: u64, clock: &impl Clock) -> Result<u64, GenerateKind> {
        let refused = |kind| {
            stripe.refused.fetch_add(1, Ordering::Relaxed);
            Err(kind)
        };
        loop {
            let free = stripe.free.load(Ordering::Acquire);
            if free >= CLOSED {
                return refused(GenerateKind::Closed);
            }
            let (timeline, now, window) = match self.read(clock) {
                Ok(read) => read,
                Err(kind) => return refused(kind),
            };
            if self.words.policy.shape.tick(window.first) > timeline.reached {
                // Another thread has moved the time since the words were loaded.
                continue;
            }
            match window.fit(free, run, &self.words.policy) {
                Some(first) if stripe.exchange(free, first, run) => return Ok(first),
                Some(_) => {}
                None => {
                    let asked = Asked { free, run, unissued: self.unissued() };
                    let (seed, bound) =
                        (self.words.seed.load(Ordering::Relaxed), self.words.bound.load(Ordering::Relaxed));
                    return refused(timeline.refuse(now, asked, seed, bound, &self.words.policy).into());
                }
            }
        }
    }

    /// Reads the real clock, and publishes the window of that reading.
    fn read(&self, clock: &impl Clock) -> Result<(Timeline, u64, Window), GenerateKind> {
        if self.words.process.load(Ordering::Acquire) != fork::mark() {
            self.begin(self.settled(clock))?;
        }
        let timeline = self.words.timeline();
        // What the next calls will read. A copied clock can be older than the real one. The window then holds for the
        // copy.
        let copy = clock.now_ms().ok();
        let now = self.believed(timeline, self.words.policy.max_advance(), clock)?;
        let next = timeline
            .after(now, &self.words.policy, || self.unissued())
            .map_err(|behind| GenerateKind::Rollback { max: self.words.policy.max_rollback, found: behind.0 })?;
        Ok((next, now, self.words.publish(copy, now, timeline, next)))
    }

    /// Reads the real clock. If the reading is more than `max_advance` ahead of the last one, the lesser of two readings
    /// counts.
    fn believed(&self, known: Timeline, max_advance: u64, clock: &impl Clock) -> Result<u64, ClockError> {
        let mut now = clock.refresh()?;
        if known.is_far_ahead(now, max_advance) {
            now = now.min(clock.refresh()?);
        }
        if now > self.words.policy.shape.last_tick() {
            return Err(ClockError::past_2109(now));
        }
        Ok(now)
    }

    /// Reads the real clock for an event that moves the time: the greater of two readings counts, too, because the lead of
    /// the event is measured from it.
    fn settled(&self, clock: &impl Clock) -> Option<u64> {
        let read = || self.believed(self.words.timeline(), self.words.policy.max_advance(), clock).ok();
        read().max(read())
    }

    /// Returns whether the real clock allows a stamp that has been taken. A thread that was paused before it took the
    /// stamp has an old ceiling. The stamp must not be below `first` either, because a floor may have been raised past
    /// it.
    #[cold]
    #[inline(never)]
    fn allows_now(&self, taken: u64, clock: &impl Clock) -> bool {
        self.read(clock).is_ok_and(|(_, _, window)| window.first <= taken && taken < window.ceiling)
    }

    /// Takes the seed of this process. A forked child then begins after the millisecond of the last stamp that it
    /// inherited.
    ///
    /// Several threads can do this at once. The seed of the last one stays, and `first` only grows.
    #[cold]
    fn begin(&self, now: Option<u64>) -> Result<(), GenerateKind> {
        let words = &self.words;
        let process = fork::watch();
        let known = words.process.load(Ordering::Acquire);
        if known == process {
            return Ok(());
        }
        let forked = known != NOT_STARTED;
        if forked && self.has_lane {
            return Err(GenerateKind::Forked);
        }
        let seed = match self.fixed_seed {
            Some(seed) if !forked => seed,
            _ => seed::draw(words.seed.load(Ordering::Relaxed)),
        };
        words.seed.store(seed, Ordering::Relaxed);
        // Past the time reached, too: if no ID of it was minted before the fork, each sibling would mint the first one.
        let inherited = if forked { self.unissued().max(self.reached() + 1) } else { 0 };
        if forked {
            self.leave_the_parents_counters(inherited, seed);
        }
        self.start_at(inherited.max(words.floor.load(Ordering::Relaxed)), now);
        // ORDERING: releases the seed and the floor to threads that find the mark.
        words.process.store(process, Ordering::Release);
        Ok(())
    }

    /// A rolling start goes on from the counter of the last stamp. Parent and children have the same one, and would
    /// meet in every stamp. So each child begins `tick` at a seeded counter. Other starts do not depend on the last
    /// stamp.
    fn leave_the_parents_counters(&self, tick: u64, seed: u64) {
        let Policy { shape, origin: Origin::Rolling, .. } = self.words.policy else { return };
        let start = Origin::Below(shape.capacity()).start(tick, 0, seed, &shape);
        for stripe in &self.stripes {
            raise(&stripe.free, shape.first_of(tick) | start);
        }
    }

    /// Makes every later stamp have at least this tick.
    fn start_at(&self, tick: u64, now: Option<u64>) {
        let seed = self.words.seed.load(Ordering::Relaxed);
        let tick = now.map_or(tick, |now| {
            let timeline = self.words.timeline();
            let tick = timeline.spread(tick, now, seed);
            // Further ahead, calls are refused until the clock is corrected. A `meet` from the wrong reading would then
            // take the time half of the way past the clock.
            let most = self.words.policy.max_rollback.max(self.words.policy.max_skew);
            if tick > now && tick > timeline.reached && tick - now <= most {
                let meet = timeline.meet_after_jump(tick, now);
                raise(&self.words.jump, meet);
                // The time goes on from here, and not from the next ID. Otherwise hosts without load would all put their
                // first IDs into one millisecond.
                raise(&self.words.meet, meet);
            }
            tick
        });
        raise(&self.words.first, fresh(tick, seed, &self.words.policy));
        // The next call reads the real clock, and computes how time goes on from here.
        self.words.reading.store(NOT_STARTED, Ordering::Release);
    }

    /// Makes every later stamp come after `tick`.
    #[inline]
    pub(crate) fn observe(&self, tick: u64, max_skew: u64, clock: &impl Clock) -> Result<(), ObserveError> {
        // Later stamps are at this time or after it, whatever the clock does.
        if tick < self.words.policy.shape.tick(self.words.first.load(Ordering::Relaxed)) {
            return Ok(());
        }
        self.observe_out_of_line(tick, max_skew, clock)
    }

    #[inline(never)]
    fn observe_out_of_line(&self, tick: u64, max_skew: u64, clock: &impl Clock) -> Result<(), ObserveError> {
        // Skew is measured from readings, and not from the time reached. Otherwise a chain of IDs that are each a
        // little ahead would move the generator away from the clock without bound.
        let known = self.words.timeline();
        let ahead = |now: u64| tick.saturating_sub(now.max(known.latest));
        // A wild reading must not let an ID past a limit that is less than the skew.
        let max_advance = self.words.policy.max_advance().min(max_skew);
        let mut now = clock.now_ms()?;
        if ahead(now) > max_skew || known.is_far_ahead(now, max_advance) || !clock.accepts(now) {
            now = self.believed(known, max_advance, clock)?;
        }
        if now > self.words.policy.shape.last_tick() {
            return Err(ClockError::past_2109(now).into());
        }
        if ahead(now) > max_skew {
            return Err(ObserveError::skew(max_skew, ahead(now)));
        }
        self.follow(tick + 1, Some(now.max(known.latest)));
        Ok(())
    }

    /// Makes every later stamp come after `tick`, which is trusted.
    pub(crate) fn raise_floor(&self, tick: u64, clock: &impl Clock) {
        // A floor that the time has passed changes nothing.
        if tick >= self.words.policy.shape.tick(self.words.first.load(Ordering::Relaxed)) {
            raise(&self.words.floor, tick + 1);
            self.follow(tick + 1, self.settled(clock));
        }
    }

    fn follow(&self, tick: u64, now: Option<u64>) {
        // The spread needs a seed. A child that has no lane of its own gets an error here, and raises `first` all the
        // same.
        let _ = self.begin(now);
        self.start_at(tick, now);
    }

    /// Raises the first tick that no stamp may have.
    pub(crate) fn raise_ceiling(&self, tick: u64) {
        // ORDERING: releases the floors that were raised before.
        self.words.bound.fetch_max(self.words.policy.bound(tick), Ordering::Release);
    }

    /// Closes the generator, and returns a stamp that is at least as great as each one taken.
    pub(crate) fn close(&self) -> Option<u64> {
        // A thread that is paused before its addition now gets a stamp past every ceiling. The exchange of a paused
        // thread fails.
        let free = |stripe: &Stripe| stripe.free.fetch_or(CLOSED, Ordering::AcqRel) & !CLOSED;
        let end = self.stripes.iter().map(free).max();
        // A stamp that was dropped can be past the bound. An issued one is not.
        // ORDERING: after `free`, which acquires the bound of each issued stamp.
        let bound = self.words.bound.load(Ordering::Acquire);
        end.and_then(|end| end.min(bound).checked_sub(1))
    }

    /// Returns the first tick after every stamp that was taken.
    fn unissued(&self) -> u64 {
        self.last_tick().map_or(0, |last| last + 1)
    }

    /// Returns the tick of the greatest stamp taken, over all stripes; `None` before the first.
    pub(crate) fn last_tick(&self) -> Option<u64> {
        let free = self.stripes.iter().map(|stripe| stripe.free.load(Ordering::Relaxed) & !CLOSED).max();
        free.and_then(|free| free.checked_sub(1)).map(|last| self.words.policy.shape.tick(last))
    }

    /// Returns how many calls were refused.
    pub(crate) fn refused(&self) -> u64 {
        self.stripes.iter().fold(0, |sum, stripe| sum.wrapping_add(stripe.refused.load(Ordering::Relaxed)))
    }

    /// Returns the time reached.
    pub(crate) fn reached(&self) -> u64 {
        self.words.policy.shape.tick(self.words.first.load(Ordering::Relaxed))
    }

    /// Copies each word, as the kernel copies the memory of a process that forks. Other threads go on in the meantime.
    /// A read-modify-write sees the word as it is, and a load could see it as it was.
    #[cfg(loom)]
    pub(crate) fn copy(&self) -> Self {
        let copy = |word: &AtomicU64| AtomicU64::new(word.fetch_max(0, Ordering::Relaxed));
        Self {
            words: self.words.copy(),
            stripes: self
                .stripes
                .each_ref()
                .map(|stripe| Stripe { free: copy(&stripe.free), refused: copy(&stripe.refused) }),
            ..*self
        }
    }

    /// Makes every word in the thread that builds: see the note in src/sync.rs.
    #[cfg(loom)]
    pub(crate) fn touch(&self) {
        self.words.touch();
        self.last_tick();
        self.refused();
    }
}

impl Stripe {
    /// Moves `free` past the run, if no other thread has moved it.
    #[inline]
    fn exchange(&self, free: u64, first: u64, run: u64) -> bool {
        // ORDERING: releases the bound that allowed the run to `close`, which compares its end with the bound.
        self.free.compare_exchange(free, first + run, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}
