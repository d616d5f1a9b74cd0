//! The rule of minting a second time: plain numbers, products and comparisons, one thread, no shared code.
//!
//! A **place** counts stamps from 1970: milliseconds times the stamps of a millisecond, plus the counter.

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
    /// As said, and the wait if only load is ahead of the clock.
    Overload(Option<u64>),
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
    /// The greatest such reading that steps of the clock may ask for.
    steps: u64,
    /// What steps of the clock still grant.
    behind: u64,
    /// The millisecond after the greatest floor.
    floor: u64,
    /// The first millisecond without IDs.
    ceiling: u64,
    pub(super) closed: bool,
    /// Of each stripe, the place after the last stamp.
    free: Vec<u64>,
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
            steps: 0,
            behind: 0,
            floor,
            ceiling,
            closed: false,
            free: vec![0; stripes],
        }
    }

    /// `reading` is what the clock shows, if it shows a time.
    pub(super) fn mint(&mut self, reading: Option<u64>, stripe: usize, run: u64, starts: &mut impl Starts) -> Verdict {
        if run > self.settings.longest_run() {
            return Verdict::RunTooLong;
        }
        if self.closed {
            return Verdict::Closed;
        }
        let Some(now) = usable(reading) else { return Verdict::NoTime };
        if let Some(max) = self.settings.max_rollback {
            let behind = self.distance_behind(now);
            if behind > max {
                return Verdict::Rollback(behind - max);
            }
        }
        self.read(now);
        self.take(now, stripe, run, starts)
    }

    fn take(&mut self, now: u64, stripe: usize, run: u64, starts: &mut impl Starts) -> Verdict {
        let (capacity, free) = (self.settings.capacity(), self.free[stripe]);
        let start = if self.settings.is_rolling { free % capacity } else { starts.at(self.reached) };
        let first = free.max(self.reached * capacity + start);
        let last_ms = (first + run - 1) / capacity;
        if last_ms >= self.ceiling {
            return if last_ms > LAST_MS { Verdict::Exhausted } else { Verdict::Ceiling };
        }
        // Four milliseconds are granted beyond the time reached, if the lead has as many.
        let lead = self.settings.lead();
        let by_clock = now + self.behind + lead;
        if last_ms <= by_clock || last_ms <= self.reached + lead.min(4) {
            self.free[stripe] = first + run;
            return Verdict::Mint(first);
        }
        let is_by_load = self.reached == now && self.behind == 0;
        Verdict::Overload(is_by_load.then(|| last_ms - by_clock))
    }

    /// A reading that is not too far behind.
    fn read(&mut self, now: u64) {
        let step_back = self.latest.saturating_sub(now);
        // Past its greatest reading, the clock has moved on by what it is past that.
        if now > self.latest {
            self.meet = self.meet.min((2 * self.reached + 1).saturating_sub(self.latest));
        }
        if step_back > 0 {
            self.steps = self.steps.max(self.latest.max(self.jump) + 2 * step_back);
            // How far the time is ahead, without half of the way that IDs from elsewhere have still to go.
            let elsewhere = (self.jump + 8).saturating_sub(self.latest).div_ceil(2);
            self.behind = self.behind.max(step_back).max(self.reached.saturating_sub(now + elsewhere));
        } else if now > self.latest {
            // What is left is the way to the first whole millisecond without a stamp.
            let capacity = self.settings.capacity();
            let unissued = self.free.iter().map(|free| free.div_ceil(capacity)).max().unwrap_or(0);
            self.behind = self.behind.min(unissued.saturating_sub(now));
            self.latest = now;
        }
        if now >= self.reached {
            self.meet = 0;
        } else if self.time(now) < self.reached {
            let mut meet = now + 2 * (self.reached - now);
            if step_back > 0 {
                // Half speed from here, but no more than two of the greatest step beyond what else has moved the time.
                meet = meet.min(self.steps);
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
