//! The rule of minting a second time: plain numbers, products and comparisons, one thread, no shared code.
//!
//! A **place** counts stamps from 1970: milliseconds times the stamps of a millisecond, plus the counter.

use core::cmp::Ordering;

/// The last millisecond of the format, in May 2109.
pub(super) const LAST_MS: u64 = 4_398_046_511_103;

/// What was set on the builder, limits in milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) is_rolling: bool,
    pub(super) seed: u64,
    /// Its index and its bits. A lane of no bits has all stamps, but belongs to one process from the start.
    pub(super) lane: Option<(u16, u32)>,
    pub(super) max_lead: Option<u64>,
    pub(super) max_rollback: Option<u64>,
    pub(super) max_skew: Option<u64>,
    pub(super) floor: Option<u64>,
    pub(super) ceiling: Option<u64>,
}

impl Settings {
    /// Stamps in a millisecond.
    pub(super) fn capacity(&self) -> u64 {
        4096 / 2_u64.pow(self.lane.map_or(0, |(_, bits)| bits))
    }

    fn lead(&self) -> u64 {
        self.max_lead.unwrap_or(LAST_MS)
    }

    /// The longest run: every stamp of the present millisecond and of the lead, less the latest start.
    pub(super) fn longest_run(&self) -> u64 {
        (self.lead() + 1) * self.capacity() - (self.capacity() - 1)
    }
}

/// What a call must do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Mints the run that starts at this place.
    Mint(u64),
    NoTime,
    RunTooLong,
    Exhausted,
    Ceiling,
    Closed,
    /// As said, and the wait in milliseconds.
    Rollback(u64),
    /// The same. The generator may find only a part of a wait of more than a second.
    Overload(u64),
    /// The ID after which one was wanted is too far ahead. As said, and the wait.
    Skew(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Observation {
    /// The time reached is now at least the first millisecond and at most the second.
    Reaches(u64, u64),
    NoTime,
    /// As said, and how far ahead, in milliseconds.
    TooFarAhead(u64),
}

#[derive(Clone, Debug)]
pub(super) struct Model {
    settings: Settings,
    /// The greatest reading.
    pub(super) latest: u64,
    /// The time reached: no stamp comes before this millisecond.
    pub(super) reached: u64,
    /// At this reading the clock has caught up with the time reached.
    meet: u64,
    /// The greatest such reading that an ID from elsewhere asked for.
    jump: u64,
    /// The greatest such reading that a step of the clock asked for, when it was not behind before.
    first_step: u64,
    /// What steps of the clock still grant.
    behind: u64,
    /// The millisecond after the greatest floor.
    floor: u64,
    /// The first millisecond without IDs.
    ceiling: u64,
    pub(super) closed: bool,
    /// Of each stripe, the place after the last stamp.
    free: Vec<u64>,
    /// Of each stripe, the reading at which the clock has caught up with where it was moved.
    moved: Vec<u64>,
}

/// The counter at which a millisecond starts.
pub(super) trait Starts {
    fn at(&mut self, ms: u64) -> u64;
}

impl Model {
    pub(super) fn new(settings: Settings, stripes: usize) -> Self {
        let floor = settings.floor.map_or(0, |ms| ms + 1);
        let ceiling = settings.ceiling.map_or(LAST_MS + 1, |ms| ms.min(LAST_MS + 1));
        Self {
            settings,
            latest: 0,
            reached: floor,
            meet: 0,
            jump: 0,
            first_step: 0,
            behind: 0,
            floor,
            ceiling,
            closed: false,
            free: vec![0; stripes],
            moved: vec![0; stripes],
        }
    }

    /// `reading` is what the clock shows, if it shows a time.
    pub(super) fn mint(&mut self, reading: Option<u64>, stripe: usize, run: u64, starts: &mut impl Starts) -> Verdict {
        if run > self.settings.longest_run() {
            return Verdict::RunTooLong;
        }
        match self.begin(reading) {
            Ok(now) => self.take(now, stripe, run, starts),
            Err(refused) => refused,
        }
    }

    fn begin(&mut self, reading: Option<u64>) -> Result<u64, Verdict> {
        if self.closed {
            return Err(Verdict::Closed);
        }
        let Some(now) = usable(reading) else { return Err(Verdict::NoTime) };
        if let Some(max) = self.settings.max_rollback {
            let behind = self.distance_behind(now);
            if behind > max {
                return Err(Verdict::Rollback(behind - max));
            }
        }
        self.read(now);
        Ok(now)
    }

    /// One stamp that comes after the spin `after.1` of the millisecond `after.0`.
    pub(super) fn mint_after(
        &mut self,
        reading: Option<u64>,
        stripe: usize,
        after: (u64, u64),
        starts: &mut impl Starts,
    ) -> Verdict {
        let now = match self.begin(reading) {
            Ok(now) => now,
            Err(refused) => return refused,
        };
        let (capacity, (ms, spin)) = (self.settings.capacity(), after);
        let own = self.settings.lane.map_or(0, |(index, _)| u64::from(index));
        // The least place of the lane that is greater than it.
        let past = match (spin / capacity).cmp(&own) {
            Ordering::Less => ms * capacity,
            Ordering::Equal => ms * capacity + spin % capacity + 1,
            Ordering::Greater => (ms + 1) * capacity,
        };
        let (next, ..) = self.try_run(now, stripe, 1, starts);
        if next >= past {
            return self.take(now, stripe, 1, starts);
        }
        // Of a host without a lane, the next millisecond.
        let to_ms = if self.settings.lane.is_some() { past / capacity } else { ms + 1 };
        if let Some(max) = self.settings.max_skew
            && ms > self.latest + max
        {
            return Verdict::Skew(ms - max - now);
        }
        if to_ms > LAST_MS {
            return Verdict::Exhausted;
        }
        if to_ms >= self.ceiling {
            return Verdict::Ceiling;
        }
        let start = if self.settings.is_rolling { self.free[stripe] % capacity } else { starts.at(to_ms) };
        let place = (to_ms * capacity + start).max(past);
        // Half speed from here.
        let meet = (2 * to_ms).saturating_sub(self.latest);
        self.moved[stripe] = self.moved[stripe].max(meet);
        self.free[stripe] = place + 1;
        Verdict::Mint(place)
    }

    fn take(&mut self, now: u64, stripe: usize, run: u64, starts: &mut impl Starts) -> Verdict {
        let capacity = self.settings.capacity();
        let (first, past_granted, past_lead) = self.try_run(now, stripe, run, starts);
        if first + run <= self.ceiling * capacity && (past_granted == 0 || past_lead == 0) {
            self.free[stripe] = first + run;
            return Verdict::Mint(first);
        }
        self.wait(now, stripe, run, starts)
    }

    /// Where a run would start, and by how many milliseconds it ends past what the time reached grants, and past what the
    /// clock grants.
    fn try_run(&self, now: u64, stripe: usize, run: u64, starts: &mut impl Starts) -> (u64, u64, u64) {
        let (capacity, free) = (self.settings.capacity(), self.free[stripe]);
        let start = if self.settings.is_rolling { free % capacity } else { starts.at(self.reached) };
        let first = free.max(self.reached * capacity + start);
        // Four milliseconds are granted beyond the time reached, if the lead has as many.
        let lead = self.settings.lead();
        let last_ms = (first + run - 1) / capacity;
        let granted = (self.reached + lead.min(4)).max(self.granted_by_move(now, stripe).unwrap_or(0));
        let granted = last_ms.saturating_sub(granted);
        (first, granted, last_ms.saturating_sub(now + self.behind + lead))
    }

    /// The last millisecond that a moved stripe may use, until the clock has caught up with it.
    fn granted_by_move(&self, now: u64, stripe: usize) -> Option<u64> {
        self.granted_at(now + self.behind, stripe)
    }

    fn granted_at(&self, now: u64, stripe: usize) -> Option<u64> {
        let meet = self.moved[stripe];
        (now < meet).then(|| now + (meet - now) / 2 + self.settings.lead().min(4))
    }

    /// Whether a fresh run is too long for what the time reached can grant.
    fn is_past_grace(&self, stripe: usize, run: u64) -> bool {
        let capacity = self.settings.capacity();
        let start = if self.settings.is_rolling { self.free[stripe] % capacity } else { 0 };
        (start + run - 1) / capacity > self.settings.lead().min(4)
    }

    /// Looks for the first later reading at which the run fits.
    fn wait(&self, now: u64, stripe: usize, run: u64, starts: &mut impl Starts) -> Verdict {
        let (capacity, mut at) = (self.settings.capacity(), now);
        for tries in 0.. {
            if tries == 20_000 {
                // More than the generator tries.
                return Verdict::Overload(at - now);
            }
            let mut later = self.clone();
            later.read(at);
            let (first, past_granted, past_lead) = later.try_run(at, stripe, run, starts);
            if at > LAST_MS {
                return Verdict::Exhausted;
            }
            if first + run > self.ceiling * capacity {
                // A fresh run starts earlier once the clock is no longer behind.
                if first > self.free[stripe] && at < self.reached {
                    at = self.reached;
                    continue;
                }
                let is_end = first + run > (LAST_MS + 1) * capacity;
                return if is_end { Verdict::Exhausted } else { Verdict::Ceiling };
            }
            if past_granted == 0 || past_lead == 0 {
                return Verdict::Overload(at - now);
            }
            // One by one at first. A run that is longer than all that the time reached can grant waits for the clock.
            let at_before = at;
            at += match at - now {
                0..40 => 1,
                _ if later.granted_by_move(at, stripe).is_some() && at - now < 2_000 => 1,
                _ if first > self.free[stripe] && self.is_past_grace(stripe, run) => past_lead.max(2) - 1,
                _ => past_lead.min(past_granted),
            };
            // The time reached stands still until half speed takes it further. Until then only the clock's limit moves.
            if later.reached == self.reached && later.granted_by_move(at_before, stripe).is_none() {
                let goes_on = (2 * self.reached).saturating_sub(self.meet);
                at = at.max(goes_on.min(at_before + past_lead.max(2) - 1));
            }
            // Past the greatest reading, the time has gone on by less.
            if (at_before..at).contains(&self.latest) {
                at = self.latest + 1;
            }
            // From there on the clock is no longer behind.
            if (at_before..at).contains(&self.reached) && at_before < self.reached {
                at = self.reached;
            }
        }
        unreachable!()
    }

    /// A reading that is not too far behind.
    fn read(&mut self, now: u64) {
        let step_back = self.latest.saturating_sub(now);
        // Past its greatest reading, the clock has moved on by what it is past that.
        if now > self.latest {
            self.meet = self.meet.min((2 * self.reached + 1).saturating_sub(self.latest));
        }
        if step_back > 0 {
            // How far the time is ahead, without half of the way that IDs from elsewhere have still to go.
            let elsewhere = (self.jump + 8).saturating_sub(self.latest).div_ceil(2);
            self.behind = self.behind.max(step_back).max(self.reached.saturating_sub(now + elsewhere));
        } else if now > self.latest {
            // What is left is the way to the first whole millisecond without a stamp.
            let capacity = self.settings.capacity();
            let by_load = |stripe: usize| {
                let past = self.free[stripe].div_ceil(capacity);
                // What a move grants is not load.
                if self.granted_at(now, stripe).is_some_and(|granted| past <= granted + 1) { 0 } else { past }
            };
            let unissued = (0..self.free.len()).map(by_load).max().unwrap_or(0);
            self.behind = self.behind.min(unissued.saturating_sub(now));
            self.latest = now;
        }
        if now >= self.reached {
            self.meet = 0;
        } else if self.time(now) < self.reached {
            let mut meet = now + 2 * (self.reached - now);
            if step_back > 0 {
                // Half speed from here, but two steps at most beyond what else has moved the time, or one step beyond an
                // earlier step.
                if self.reached == self.latest {
                    self.first_step = self.first_step.max(meet);
                }
                let two = (now + step_back).max(self.jump) + 2 * step_back;
                meet = meet.min(two.max(self.first_step + step_back));
            } else {
                meet = self.after_jump(now, self.reached);
                self.jump = self.jump.max(meet);
            }
            self.meet = self.meet.max(meet);
        }
        self.reached = self.reached.max(self.time(now));
    }

    /// The reading at which the clock has caught up with a time that was moved from elsewhere. A move by 64 ms or less is
    /// followed by a pause of 8 ms.
    fn after_jump(&self, now: u64, reached: u64) -> u64 {
        let pause = if reached <= self.time(now) + 64 { 8 } else { 0 };
        (2 * reached).saturating_sub(now + pause)
    }

    fn time(&self, now: u64) -> u64 {
        now + self.meet.saturating_sub(now) / 2
    }

    pub(super) fn observe(&self, reading: Option<u64>, ms: u64) -> Observation {
        if ms < self.reached {
            return Observation::Reaches(self.reached, self.reached);
        }
        let Some(now) = usable(reading) else { return Observation::NoTime };
        let greatest = now.max(self.latest);
        if self.settings.max_skew.is_some_and(|max| ms > greatest + max) {
            return Observation::TooFarAhead(ms - now);
        }
        self.moved_to(ms + 1, greatest)
    }

    /// What a trusted ID of this millisecond does.
    pub(super) fn raise_floor(&mut self, reading: Option<u64>, ms: u64) -> Observation {
        if ms < self.reached {
            return Observation::Reaches(self.reached, self.reached);
        }
        self.floor = self.floor.max(ms + 1);
        match usable(reading) {
            Some(now) => self.moved_to(ms + 1, now),
            None => Observation::Reaches(ms + 1, ms + 1),
        }
    }

    /// Hosts spread by a quarter of the way, and by 16 ms at most.
    pub(super) fn moved_to(&self, ms: u64, now: u64) -> Observation {
        let way = ms.saturating_sub(self.reached.max(self.time(now)));
        Observation::Reaches(ms, ms + (way / 4).min(16))
    }

    /// How far a reading is behind the greatest one, or behind a floor that is past that.
    fn distance_behind(&self, now: u64) -> u64 {
        self.latest.max(self.floor.saturating_sub(1)).saturating_sub(now)
    }

    /// The time reached moved from elsewhere, at this reading. If it is too far behind a floor, it is wrong, and says nothing about
    /// when the clock has caught up.
    pub(super) fn jumped(&mut self, now: u64, reached: u64) {
        // A limit that is lifted is all of time.
        let most = self.settings.max_rollback.unwrap_or(LAST_MS);
        if reached > now && reached > self.reached && self.distance_behind(now) <= most {
            let meet = self.after_jump(now, reached);
            (self.jump, self.meet) = (self.jump.max(meet), self.meet.max(meet));
        }
        self.reached = reached;
    }

    pub(super) fn raise_ceiling(&mut self, ms: u64) {
        self.ceiling = self.ceiling.max(ms.min(LAST_MS + 1));
    }

    /// The millisecond after the last place that was taken.
    pub(super) fn close(&mut self) -> Option<u64> {
        self.closed = true;
        let last = self.free.iter().max().and_then(|free| free.checked_sub(1));
        last.map(|last| last / self.settings.capacity() + 1)
    }
}

fn usable(reading: Option<u64>) -> Option<u64> {
    reading.filter(|now| *now <= LAST_MS)
}
