//! Looking for a lane, and taking it.

use super::hold::{END_OF_TIME_MS, Present, jittered};
use super::{Action, AfterSeal, Engine, FarAhead, Moment, POLL_MS, Step, Stopped};
use crate::record::{LaneRecord, LaneState, MetaRecord, Space, Token};

/// How many attempts to take a lane are remembered.
const MOST_CLAIMS: usize = 16;

/// How many lanes of one list are tried. A process that has lost against two others reads again what they have left.
const MOST_TRIES: u32 = 2;

/// The wait between two lists, for each lane: at first, and at most. All processes that wait for a lane of a space, up to one
/// for each lane, then read it 62 times per second together, however many they are, once they have waited for a while.
const FIRST_WAIT_MS: u64 = 2;
const LONGEST_WAIT_MS: u64 = 16;

/// A list of more lanes than this has a noticeable cost: with twice as many, the first wait for each lane is twice as long.
const MANY_LANES: u64 = 128;

/// The longest wait after a lost race, for the first time. Others are faster, so there are lanes.
const RACE_MS: u64 = 1_000;

/// Returns the least wait between two lists of a space.
fn first_wait_ms(space: &Space) -> u64 {
    (FIRST_WAIT_MS * u64::from(space.lane_count())).max(POLL_MS)
}

/// What a search for a lane knows. It begins anew when a lane was taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// Of each lane, in the order of their numbers. Empty before the first list.
    seen: Vec<Seen>,
    /// The longest horizon of this process and of the records that were listed.
    longest_horizon_ms: u64,
    /// When the lanes were listed, and when to list them again.
    pub(super) listed_at_ms: u64,
    look_at_ms: u64,
    /// A call has had no answer since then, so the time since is not watched: holders may not reach the store either.
    pub(super) is_blind: bool,
    /// How much later than its time-out a lane is taken.
    pause_ms: u64,
    /// How many lists have brought no lane, and of how many all lanes that were tried went to others.
    waits: u32,
    races: u32,
    /// How many lanes of the last list were tried without success.
    tries: u32,
    /// How far the lanes are ahead of the clock, if none was taken because of that.
    pub(super) far_ahead: Option<FarAhead>,
}

/// A record as a list has it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Found {
    text: String,
    /// `None` if it is no lane, or one of another format.
    lane: Option<LaneRecord>,
}

/// The record of a lane as it was read.
#[derive(Clone, Debug)]
struct Seen {
    found: Option<Found>,
    /// When this text was first read.
    since_ms: u64,
    /// Another process has written it since.
    is_stale: bool,
}

/// A lane that could be taken.
struct Candidate {
    lane: u16,
    floor_ms: u64,
    ceiling_ms: u64,
    is_own: bool,
    is_far: bool,
}

impl Engine {
    /// Takes all records into account, and takes a lane if there is one.
    pub(super) fn look(&mut self, at: Moment, records: Vec<(String, String)>) {
        let space = &self.config.space;
        let meta_key = space.meta_key();
        let Some((_, text)) = records.iter().find(|(key, _)| *key == meta_key) else {
            if self.proven.is_some() {
                return self.stop(Stopped::Reverted { key: meta_key });
            }
            // Their holders may be alive, and a new space would grant what they have.
            if records.iter().any(|(_, text)| LaneRecord::parse(text).is_ok()) {
                return self.stop(Stopped::Undescribed { key: meta_key });
            }
            return self.stop(Stopped::NoSpace);
        };
        let meta = match MetaRecord::parse(text) {
            Ok(meta) => meta,
            Err(error) => return self.stop(Stopped::Format(error.to_string())),
        };
        let is_expected = meta.layout == space.layout() && meta.bits == space.bits();
        if !is_expected {
            return self.stop(Stopped::Mismatch { layout: meta.layout, bits: meta.bits });
        }
        // A read proves nothing: the register can still lose what it has not acknowledged to anyone.
        if let Some(known) = &self.proven
            && (known.space_id != meta.space_id || meta.version < known.version || meta.era < known.era)
        {
            return self.stop(Stopped::Reverted { key: meta_key });
        }
        if self.meta.as_ref().is_some_and(|read| read.space_id != meta.space_id || read.era != meta.era) {
            // Another space, or the number of lanes was changed and changed back.
            self.search.seen.clear();
        }
        let era = meta.era;
        self.meta = Some(meta);
        self.search.longest_horizon_ms = self.config.horizon_ms;
        let mut found = vec![None; self.config.space.lane_count() as usize];
        for (key, text) in records {
            let record = Found { lane: LaneRecord::parse(&text).ok(), text };
            let horizon_ms = record.lane.as_ref().map_or(0, |lane| lane.horizon_ms);
            self.search.longest_horizon_ms = self.search.longest_horizon_ms.max(horizon_ms);
            if let Some(lane) = self.config.space.lane_of(&key, era) {
                found[usize::from(lane)] = Some(record);
            }
        }
        let blind_ms = if std::mem::take(&mut self.search.is_blind) {
            at.mono_ms.saturating_sub(self.search.listed_at_ms)
        } else {
            0
        };
        for (lane, record) in (0..=u16::MAX).zip(found) {
            if let Err(why) = self.see(at.mono_ms, blind_ms, lane, record) {
                return self.stop(why);
            }
        }
        self.held_lanes = u32::try_from(self.search.seen.iter().filter(|seen| seen.held().is_some()).count()).ok();
        self.search.tries = 0;
        let lanes = u64::from(self.config.space.lane_count());
        let wait_ms = self.grown(first_wait_ms(&self.config.space) * lanes.div_ceil(MANY_LANES), self.search.waits);
        self.search.waits = self.search.waits.saturating_add(1);
        self.search.look_at_ms = at.mono_ms + wait_ms / 2 + jittered(self.random, wait_ms / 2);
        // Those who have waited for the same lanes do not all try at the same moment.
        self.search.pause_ms = jittered(self.random.rotate_left(32), lanes.min(RACE_MS) / 2);
        self.step = Step::Choose;
    }

    /// Returns a wait that doubles each time.
    fn grown(&self, first_ms: u64, times: u32) -> u64 {
        let lanes = u64::from(self.config.space.lane_count());
        let longest_ms = (LONGEST_WAIT_MS * lanes).min(self.config.horizon_ms / 5 * 4);
        first_ms.saturating_mul(1 << times.min(16)).min(longest_ms).max(POLL_MS)
    }

    /// Another process was faster. Tries another lane of the same list, if enough of them are left that a third one is
    /// unlikely to choose the same; or reads all lanes again.
    pub(super) fn lost_race(&mut self, at: Moment, lane: u16) {
        self.search.tries += 1;
        if let Some(seen) = self.search.seen.get_mut(usize::from(lane)) {
            seen.is_stale = true;
        }
        let left = self.candidates(at).count() as u64;
        let lanes = u64::from(self.config.space.lane_count());
        let is_own_left = self.candidates(at).any(|candidate| candidate.is_own);
        if is_own_left || self.search.tries < MOST_TRIES && left * 8 >= lanes {
            self.step = Step::Choose;
            return;
        }
        let wait_ms = self.grown(lanes.min(RACE_MS) / 2, self.search.races);
        self.search.races += 1;
        self.step = Step::Look { at_ms: at.mono_ms + jittered(self.random, wait_ms) };
    }

    /// A lane was taken.
    pub(super) fn taken(&mut self, at: Moment, lane: u16, floor_ms: u64, record: LaneRecord, attempt: u64) {
        let taken = Present {
            lane,
            floor_ms,
            ceiling_ms: record.ceiling_ms,
            since_ms: at.mono_ms,
            attempts: vec![(attempt, record.clone())],
            room_ms: 0,
            is_lost: false,
            record,
        };
        // Until the lane is granted.
        self.may_hold = true;
        self.acknowledged_at_ms = Some(at.mono_ms);
        self.acknowledgements += 1;
        let was_held = self.search.seen.get(usize::from(lane)).is_some_and(|seen| seen.held().is_some());
        self.held_lanes = self.held_lanes.map(|held| held + u32::from(!was_held));
        // All lanes are listed again before the next one is taken, and take much memory.
        self.search = Search::default();
        self.step = Step::Confirm { at_ms: at.mono_ms, taken: Box::new(taken) };
    }

    /// Takes the description into account that was read after a lane was taken. What an operator has changed since the list is in it alone:
    /// the first write of a lane finds no record, and a list is not of one moment.
    pub(super) fn confirm(&mut self, taken: Box<Present>, text: Option<&str>) {
        if text.map(MetaRecord::parse).and_then(Result::ok) != self.meta {
            self.step = Step::GiveBack(taken);
            return;
        }
        if self.proven.as_ref().map(|proven| proven.era) != self.meta.as_ref().map(|meta| meta.era) {
            self.acknowledged.clear();
        }
        self.proven.clone_from(&self.meta);
        self.acknowledged.insert(taken.lane, taken.record.clone());
        self.may_hold = false;
        self.step = Step::Seal(AfterSeal::Start(taken));
    }

    /// Tries to give a lane back that was taken and not used.
    pub(super) fn give_back(&mut self, lane: &Present, token: Token) -> Action {
        let record = LaneRecord {
            version: lane.record.version + 1,
            token,
            ceiling_ms: lane.floor_ms,
            state: LaneState::Free,
            ..lane.record.clone()
        };
        self.attempts += 1;
        let attempt = self.attempts;
        self.step = Step::GivingBack { attempt };
        let (seen, value) = (Some(lane.record.to_string()), record.to_string());
        Action::Write { attempt, key: self.lane_key(lane.lane), seen, value }
    }

    /// Notes one record as it was read. This much of the time since the list before it was not watched.
    fn see(&mut self, mono_ms: u64, blind_ms: u64, lane: u16, found: Option<Found>) -> Result<(), Stopped> {
        let is_foreign = found.as_ref().is_some_and(|found| found.lane.is_none());
        if !is_foreign && self.reverted(lane, found.as_ref().and_then(|found| found.lane.as_ref())) {
            return Err(Stopped::Reverted { key: self.lane_key(lane) });
        }
        let since_ms = match self.search.seen.get(usize::from(lane)) {
            Some(seen) if !seen.is_stale && seen.found == found => (seen.since_ms + blind_ms).min(mono_ms),
            _ => mono_ms,
        };
        let seen = Seen { found, since_ms, is_stale: false };
        match self.search.seen.get_mut(usize::from(lane)) {
            Some(before) => *before = seen,
            // All lanes are seen in their order.
            None => self.search.seen.push(seen),
        }
        Ok(())
    }

    /// Returns whether a record is older than what was acknowledged, or takes its place.
    pub(super) fn reverted(&self, lane: u16, found: Option<&LaneRecord>) -> bool {
        let era = |meta: &Option<MetaRecord>| meta.as_ref().map(|meta| meta.era);
        if era(&self.meta) != era(&self.proven) {
            return false;
        }
        let Some(known) = self.acknowledged.get(&lane) else { return false };
        found.is_none_or(|found| {
            found.version < known.version
                || found.ceiling_ms < known.ceiling_ms
                || found.version == known.version && found.token != known.token
        })
    }

    /// Tries to take the best lane, or waits.
    pub(super) fn take(&mut self, at: Moment, token: Token) -> Action {
        let best = self.best(at, token);
        self.search.far_ahead = best.is_none().then(|| self.find_far_ahead(at)).flatten();
        let Some(Candidate { lane, floor_ms, ceiling_ms, is_own, .. }) = best else {
            if self.search.look_at_ms <= at.mono_ms {
                self.step = Step::Looking;
                return Action::List;
            }
            return Action::Sleep { until_ms: self.next_chance_ms(at) };
        };
        let seen = &self.search.seen[usize::from(lane)];
        let record = LaneRecord {
            version: seen.record().map_or(0, |record| record.version) + 1,
            token,
            holder: self.config.name.clone(),
            horizon_ms: self.config.horizon_ms,
            ceiling_ms,
            state: LaneState::Held,
        };
        let text = seen.found.as_ref().map(|found| found.text.clone());
        self.has_tried_own |= is_own;
        self.claims.push(token);
        if self.claims.len() > MOST_CLAIMS {
            self.claims.remove(0);
        }
        self.attempts += 1;
        self.attempted_at_ms = Some(at.mono_ms);
        let (attempt, value) = (self.attempts, record.to_string());
        self.step = Step::Taking { attempt, lane, floor_ms, record: Box::new(record) };
        Action::Write { attempt, key: self.lane_key(lane), seen: text, value }
    }

    /// Returns one of the lanes that are not ahead of the clock, by chance: processes that start together must not all try the
    /// same one. Without such a lane, returns the one that is least ahead, and one that is far ahead only if there is no other.
    /// A process that has lost a race takes its own lane, for which no one else competes.
    fn best(&self, at: Moment, token: Token) -> Option<Candidate> {
        let mix = |lane: u16| (token.0 ^ u64::from(lane)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let now_ms = at.now_ms.unwrap_or(0);
        self.candidates(at).min_by_key(|it| {
            let is_wanted = self.search.tries > 0 && it.is_own;
            (!is_wanted, it.is_far, it.floor_ms.max(now_ms), mix(it.lane))
        })
    }

    fn candidates(&self, at: Moment) -> impl Iterator<Item = Candidate> {
        let accepts_far = self.accepts_far(at);
        let seen = (0..=u16::MAX).zip(&self.search.seen);
        seen.filter_map(move |(lane, seen)| self.candidate(at, lane, seen, accepts_far))
    }

    fn candidate(&self, at: Moment, lane: u16, seen: &Seen, accepts_far: bool) -> Option<Candidate> {
        let floor_ms = self.floor_of(seen)?;
        let is_own = self.is_own(seen);
        // A lane that has timed out while this process waits is tried a little later.
        let is_taken = seen.is_taken(at)
            || self.search.listed_at_ms < at.mono_ms && seen.is_taken(at.before(self.search.pause_ms));
        if seen.is_stale || is_taken && !is_own {
            return None;
        }
        let is_far = self.far_of(at, seen).is_some();
        if is_far && !accepts_far {
            return None;
        }
        let ceiling_ms = self.raise(at, floor_ms, floor_ms, seen.unchanged_ms(at));
        // Nobody has minted above the floor of the space here, which is ahead of the clock after a recovery.
        let is_unused = self.meta.as_ref().is_some_and(|meta| meta.floor_ms == floor_ms);
        let least_ms = if is_unused && (!is_far || self.config.any_lead) {
            floor_ms.saturating_add(self.config.horizon_ms / 4).min(END_OF_TIME_MS)
        } else {
            0
        };
        let ceiling_ms = ceiling_ms.max(least_ms);
        if ceiling_ms <= floor_ms.max(self.used_until_ms) {
            return None;
        }
        Some(Candidate { lane, floor_ms, ceiling_ms, is_own: is_taken && is_own, is_far })
    }

    /// Returns whether this process holds the lane, as far as the record says.
    fn is_own(&self, seen: &Seen) -> bool {
        seen.record().is_some_and(|record| {
            // An attempt to take it can have succeeded without an answer.
            let is_claimed = self.claims.contains(&record.token);
            is_claimed || !self.has_tried_own && record.holder == self.config.name
        })
    }

    /// Returns where the next holder of a lane starts; `None` if no process may take it.
    fn floor_of(&self, seen: &Seen) -> Option<u64> {
        let floor_ms = self.meta.as_ref().map_or(0, |meta| meta.floor_ms);
        match seen.record() {
            Some(record) if record.state == LaneState::Closed => None,
            // The first write of a lane can be from before a recovery, and arrive after it.
            Some(record) => Some(record.ceiling_ms.max(floor_ms)),
            None if seen.is_foreign() => None,
            None => Some(floor_ms),
        }
    }

    /// Returns how far a lane is ahead of the clock, and how far it may be, if it is further than clocks within the skew explain: a lane
    /// that was created or recovered begins a horizon and a skew ahead, its holders raise it further, and this clock can be behind.
    fn far_of(&self, at: Moment, seen: &Seen) -> Option<(u64, u64)> {
        let most_ms = self.search.longest_horizon_ms.saturating_add(self.config.max_skew_ms.saturating_mul(4));
        let lead_ms = self.floor_of(seen)?.saturating_sub(at.now_ms?);
        (lead_ms > most_ms).then_some((lead_ms, most_ms))
    }

    /// Returns whether all lanes are far ahead of the clock: this process's own clock is behind, or one was ahead.
    fn are_all_far(&self, at: Moment) -> bool {
        let mut usable = self.search.seen.iter().filter(|seen| self.floor_of(seen).is_some());
        usable.all(|seen| self.far_of(at, seen).is_some())
    }

    /// Returns whether it takes a lane that is far ahead of the clock. The user decides at the start. Later it continues minting,
    /// unless a near lane can become free.
    fn accepts_far(&self, at: Moment) -> bool {
        self.config.any_lead || self.present.is_some() && self.are_all_far(at)
    }

    /// Returns how far the lanes are ahead of the clock, if all of them are far ahead, or all that no one holds. A process that
    /// has minted is not told.
    fn find_far_ahead(&self, at: Moment) -> Option<FarAhead> {
        if self.config.any_lead || self.present.is_some() {
            return None;
        }
        let are_all = self.are_all_far(at);
        let usable = self.search.seen.iter().filter(|seen| self.floor_of(seen).is_some());
        let free = usable.filter(|seen| are_all || !seen.is_taken(at) || self.is_own(seen));
        // `None` of a single near lane is less than each lead.
        let (found_ms, most_ms) = free.map(|seen| self.far_of(at, seen)).min().flatten()?;
        Some(FarAhead { found_ms, most_ms, are_all })
    }

    /// Returns when a lane can be taken, or when to list the lanes again.
    fn next_chance_ms(&self, at: Moment) -> u64 {
        let chances = self.time_outs().map(|end| end.saturating_add(self.search.pause_ms));
        chances
            .filter(|end| *end > at.mono_ms)
            .min()
            .map_or(self.search.look_at_ms, |end| end.min(self.search.look_at_ms))
    }

    /// Returns when the next lane can be taken at the earliest, if no process gives one back before.
    pub fn next_time_out_ms(&self) -> Option<u64> {
        self.time_outs().min()
    }

    /// Returns when each lane that is held can be taken, unless its holder renews it.
    fn time_outs(&self) -> impl Iterator<Item = u64> {
        let watched = self.search.seen.iter().filter(|seen| !seen.is_stale);
        watched.filter_map(|seen| Some(seen.since_ms.saturating_add(seen.held()?.horizon_ms)))
    }
}

impl Seen {
    fn record(&self) -> Option<&LaneRecord> {
        self.found.as_ref()?.lane.as_ref()
    }

    /// Returns whether there is a record of another format.
    fn is_foreign(&self) -> bool {
        self.found.as_ref().is_some_and(|found| found.lane.is_none())
    }

    pub(super) fn held(&self) -> Option<&LaneRecord> {
        self.record().filter(|lane| lane.state == LaneState::Held)
    }

    fn unchanged_ms(&self, at: Moment) -> u64 {
        at.mono_ms.saturating_sub(self.since_ms)
    }

    /// Returns whether a holder has the lane, and has not been silent for its horizon. After that it can mint nothing until
    /// it renews the lane.
    fn is_taken(&self, at: Moment) -> bool {
        self.held().is_some_and(|record| self.unchanged_ms(at) < record.horizon_ms)
    }
}
