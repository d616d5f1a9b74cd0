//! A script played on a generator and its model together.

use core::time::Duration;
use std::collections::HashMap;

use imid::clock::{Clock, ManualClock};
use imid::generator::{Batch, GenerateError, Lane};
use imid::{Generator, IdParts, MessageId, SessionTag};

use super::model::{LAST_MS, Model, Observation, Settings, Starts, Verdict};
use super::script::{Face, Return, Run, ScriptedClock, Step, sessions};

/// Where the seed starts each millisecond, as generators without a history show it.
struct Shown {
    settings: Settings,
    found: HashMap<u64, u64>,
}

impl Starts for Shown {
    fn at(&mut self, ms: u64) -> u64 {
        if ms > LAST_MS {
            return 0;
        }
        let fresh = || {
            let settings = Settings { floor: None, ceiling: None, ..self.settings.clone() };
            let id = build::<_, 1>(&settings, ManualClock::new(ms)).generate(SessionTag::from_u32(0).unwrap()).unwrap();
            assert_eq!(id.timestamp_ms(), ms);
            u64::from(id.spin()) % self.settings.capacity()
        };
        *self.found.entry(ms).or_insert_with(fresh)
    }
}

/// A call that was refused and may come back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Refusal {
    /// The time of the clock that the wait ends at.
    until: u64,
    /// Whether the call can be refused again after it.
    again: bool,
}

/// A generator under test, its model, and what its callers have seen.
pub(super) struct Play<'a, const STRIPES: usize> {
    settings: Settings,
    clock: &'a ScriptedClock,
    ids: Generator<&'a ScriptedClock, STRIPES>,
    model: Model,
    starts: Shown,
    /// The last ID of each session, and of all.
    last: HashMap<SessionTag, MessageId>,
    last_of_all: Option<MessageId>,
    /// The greatest ID that was observed.
    observed: Option<MessageId>,
    /// The greatest reading, how far another one came behind it at most, and how far ahead of a reading an ID from
    /// elsewhere was at most.
    latest: u64,
    furthest_step: u64,
    furthest_id: u64,
    awaits_time: bool,
    refused: u64,
}

fn ms(limit: Option<u64>) -> Duration {
    limit.map_or(Duration::MAX, Duration::from_millis)
}

fn build<C: Clock, const STRIPES: usize>(settings: &Settings, clock: C) -> Generator<C, STRIPES> {
    let mut builder = Generator::builder()
        .stripes::<STRIPES>()
        .clock(clock)
        .max_lead(ms(settings.max_lead))
        .max_rollback(ms(settings.max_rollback))
        .max_skew(ms(settings.max_skew))
        .seed(settings.seed);
    if settings.is_rolling {
        builder = builder.rolling();
    }
    if let Some((index, bits)) = settings.lane {
        builder = builder.lane(Lane { index, bits });
    }
    if let Some(ceiling) = settings.ceiling {
        builder = builder.ceiling_ms(ceiling);
    }
    if let Some(floor) = settings.floor {
        builder = builder.floor(MessageId::last_at(floor).unwrap());
    }
    builder.build().unwrap()
}

impl<'a, const STRIPES: usize> Play<'a, STRIPES> {
    pub(super) fn new(settings: Settings, clock: &'a ScriptedClock) -> Self {
        let ids = build(&settings, clock);
        assert_eq!(ids.longest_run() as u64, settings.longest_run());
        let mut play = Self {
            clock,
            ids,
            model: Model::new(settings.clone(), STRIPES),
            starts: Shown { settings: settings.clone(), found: HashMap::new() },
            last: HashMap::new(),
            last_of_all: None,
            observed: settings.floor.map(|ms| MessageId::last_at(ms).unwrap()),
            latest: 0,
            furthest_step: 0,
            furthest_id: 0,
            awaits_time: false,
            refused: 0,
            settings,
        };
        // Without a lane, the first use takes the floor over and starts a seeded distance past it. This use does nothing else.
        // With a lane, the builder has taken the floor over, before any reading of the clock.
        let now = play.reading().expect("scripts begin with a time");
        if let Some(floor) = play.settings.floor {
            play.measure_id();
            if play.settings.lane.is_none() {
                play.ids.raise_floor(MessageId::first_at(floor).unwrap());
                play.model.reached = 0;
                play.adopt(play.model.moved_to(floor + 1, now), Some(now));
            }
        }
        play
    }

    /// Lets the model know what only the seed decides: by how much the time that was reached lies past its least.
    fn adopt(&mut self, seen: Observation, at: Option<u64>) {
        let Observation::Reaches(least, most) = seen else { panic!("{seen:?}") };
        let behind = u64::try_from(self.ids.stats().behind.as_millis()).unwrap();
        let reached = match self.reading() {
            Some(now) if behind > 0 => now + behind,
            _ => least,
        };
        assert!((least..=most).contains(&reached), "reached {reached}, expected {least} to {most}");
        match at {
            Some(now) => self.model.jumped(now, reached),
            None => self.model.reached = reached,
        }
    }

    fn reading(&self) -> Option<u64> {
        match self.clock.0.get() {
            Face::Time(ms) => Some(ms),
            Face::Before1970 | Face::Absent => None,
        }
    }

    pub(super) fn step(&mut self, step: Step) {
        let shown = self.reading().unwrap_or(1_000_000_000_000);
        match step {
            Step::Forward(by) => self.clock.0.set(Face::Time(shown.saturating_add(by))),
            Step::Back(by) => self.clock.0.set(Face::Time(shown.saturating_sub(by))),
            Step::Show(face) => self.clock.0.set(face),
            Step::Mint(session, run, comeback) => {
                let (run, fill) = match run {
                    Run::One => (None, false),
                    Run::Of { ms, more, fill } => (Some(ms * self.settings.capacity() + more), fill),
                    Run::Longest(more) => (Some(self.settings.longest_run().saturating_add_signed(more)), false),
                };
                let refusal = self.mint(session, run, fill);
                if let Some(refusal) = refusal {
                    self.come_back(refusal, comeback, |play| play.mint(session, run, false));
                }
            }
            // Nothing that moves the time matters to a closed generator.
            Step::Observe { .. } | Step::Floor { .. } if self.model.closed => {}
            Step::Observe { ahead, spin } => {
                self.observe(self.model.reached.min(LAST_MS).saturating_add_signed(ahead).min(LAST_MS), spin);
            }
            Step::Floor { ahead, spin } => {
                self.raise_floor(self.model.reached.min(LAST_MS).saturating_add_signed(ahead).min(LAST_MS), spin);
            }
            Step::Ceiling { ahead } => {
                let ms = self.model.reached.saturating_add_signed(ahead);
                self.ids.raise_ceiling_ms(ms);
                self.model.raise_ceiling(ms);
            }
            Step::Close => self.close(),
        }
    }

    /// A `run` of `None` is a call of `generate`.
    fn mint(&mut self, session: usize, run: Option<u64>, fill: bool) -> Option<Refusal> {
        let session = sessions()[session];
        let stripe = session.session_hash().to_u32() as usize % STRIPES;
        // No call can ask for more than a `usize`.
        let run = run.map(|length| length.min(usize::MAX as u64));
        let length = run.unwrap_or(1);
        if length == 0 {
            assert_eq!(self.ids.batch(session, 0).unwrap().len(), 0);
            return None;
        }
        let seen = match run {
            None => self.ids.generate(session).map(|id| (id, id)),
            Some(length) if fill && length < 100_000 => self.fill(session, length as usize),
            Some(length) => self.ids.batch(session, length as usize).map(|batch| ends(batch, length)),
        };
        let reading = self.reading();
        let verdict = self.model.mint(reading, stripe, length, &mut self.starts);
        self.note(reading, verdict);
        self.compare(session, length, verdict, seen)
    }

    fn compare(
        &mut self,
        session: SessionTag,
        length: u64,
        verdict: Verdict,
        seen: Result<(MessageId, MessageId), GenerateError>,
    ) -> Option<Refusal> {
        match (verdict, seen) {
            (Verdict::Mint(first), Ok((from, to))) => {
                assert_eq!(self.place(from), first, "of a run of {length}");
                assert_eq!(self.place(to), first + (length - 1));
                self.minted(session, from, to);
            }
            (Verdict::RunTooLong, Err(error)) if error.is_run_too_long() => assert_eq!(error.retry_after(), None),
            (Verdict::NoTime, Err(error)) if error.is_clock() => return self.refused(&error, None),
            (Verdict::Exhausted, Err(error)) if error.is_exhausted() => return self.refused(&error, None),
            (Verdict::Ceiling, Err(error)) if error.is_ceiling() => return self.refused(&error, None),
            (Verdict::Closed, Err(error)) if error.is_closed() => return self.refused(&error, None),
            (Verdict::Rollback(wait), Err(error)) if error.is_rollback() => return self.refused(&error, Some(wait)),
            (Verdict::Overload(wait), Err(error)) if error.is_overload() => return self.refused(&error, wait),
            (expected, found) => panic!("a run of {length}: expected {expected:?}, found {found:?}"),
        }
        None
    }

    /// Keeps how far the readings were taken back, except those that the model refuses.
    fn note(&mut self, reading: Option<u64>, verdict: Verdict) {
        let ignored = matches!(verdict, Verdict::NoTime | Verdict::Rollback(_) | Verdict::RunTooLong | Verdict::Closed);
        if let Some(now) = reading
            && !ignored
        {
            if core::mem::take(&mut self.awaits_time) {
                self.measure_id();
            }
            self.latest = self.latest.max(now);
            self.furthest_step = self.furthest_step.max(self.latest - now);
        }
    }

    fn fill(&self, session: SessionTag, length: usize) -> Result<(MessageId, MessageId), GenerateError> {
        let mut ids = vec![MessageId::MIN; length];
        let filled = self.ids.fill(session, &mut ids);
        if filled.is_err() {
            assert!(ids.iter().all(|id| *id == MessageId::MIN), "a refused fill leaves the slice as it was");
        }
        assert!(filled.is_err() || ids.is_sorted_by(|a, b| a < b));
        filled.map(|()| (ids[0], ids[length - 1]))
    }

    fn refused(&mut self, error: &GenerateError, wait: Option<u64>) -> Option<Refusal> {
        let found = error.retry_after().map(|found| u64::try_from(found.as_millis()).unwrap());
        // Where more than load is ahead of the clock, what is found can be a part of the wait.
        let is_part = error.is_overload() && wait.is_none();
        assert!(if is_part { found >= Some(1) } else { found == wait }, "{error}: expected {wait:?}");
        self.refused += 1;
        let (now, found) = (self.reading()?, found?);
        // Where the clock was too far back, there may be an overload as well.
        Some(Refusal { until: now + found, again: is_part || error.is_rollback() })
    }

    /// Milliseconds times capacity plus counter; the lane must be ours.
    fn place(&self, id: MessageId) -> u64 {
        let capacity = self.settings.capacity();
        let spin = u64::from(id.spin());
        assert_eq!(
            spin / capacity,
            self.settings.lane.map_or(0, |(index, _)| u64::from(index)),
            "{id}: another host's lane"
        );
        id.timestamp_ms() * capacity + spin % capacity
    }

    /// What holds whatever the model says.
    fn minted(&mut self, session: SessionTag, from: MessageId, to: MessageId) {
        let now = self.reading().expect("nothing is minted without a time");

        assert!(from.is_in(session) && to.is_in(session));
        assert!(self.last.get(&session).is_none_or(|last| *last < from), "not after the session's last");
        assert!(STRIPES > 1 || self.last_of_all.is_none_or(|last| last < from), "not after the last of all");
        assert!(self.observed.is_none_or(|observed| observed < from), "not after what was observed");
        assert!(from.timestamp_ms() >= now, "older than the clock");
        let allowed = 2 * self.furthest_step + self.furthest_id + self.settings.max_lead.unwrap_or(LAST_MS);
        assert!(to.timestamp_ms() <= now + allowed, "further ahead than the limits allow");
        assert!(from.timestamp_ms() >= self.settings.floor.map_or(0, |ms| ms + 1), "not after the floor");
        self.last.insert(session, to);
        self.last_of_all = Some(to);
    }

    /// Refused until `retry_after` is over, and then no more, unless it is a part of the wait.
    fn come_back(&mut self, refusal: Refusal, comeback: Return, mint: impl Fn(&mut Self) -> Option<Refusal>) {
        if matches!(comeback, Return::Never) || refusal.until > LAST_MS {
            return;
        }
        if matches!(comeback, Return::Early) {
            self.clock.0.set(Face::Time(refusal.until - 1));
            // This reading moves the time on, so the wait can be longer after it.
            let refused = self.refused;
            mint(self);
            assert!(self.refused == refused + 1, "refused until the wait is over");
            return;
        }
        self.clock.0.set(Face::Time(refusal.until));
        let refused = mint(self);
        assert!(refused.is_none() || refusal.again, "refused after the wait");
    }

    fn observe(&mut self, time: u64, spin: u16) {
        let id = MessageId::try_from_parts(IdParts { timestamp_ms: time, spin, session_tag: sessions()[0] }).unwrap();
        let seen = self.ids.observe(id);
        match (self.model.observe(self.reading(), time), seen) {
            (reaches @ Observation::Reaches(..), Ok(())) => {
                self.follow(id, reaches, self.reading().map(|now| now.max(self.model.latest)));
            }
            (Observation::NoTime, Err(error)) => assert!(!error.is_skew()),
            (Observation::TooFarAhead(ahead), Err(error)) => {
                assert_eq!(error.ahead(), Some(Duration::from_millis(ahead)));
            }
            (expected, found) => panic!("expected {expected:?}, found {found:?}"),
        }
    }

    fn raise_floor(&mut self, time: u64, spin: u16) {
        let id = MessageId::try_from_parts(IdParts { timestamp_ms: time, spin, session_tag: sessions()[0] }).unwrap();
        self.ids.raise_floor(id);
        let reaches = self.model.raise_floor(self.reading(), time);
        self.follow(id, reaches, self.reading());
    }

    fn follow(&mut self, id: MessageId, reaches: Observation, at: Option<u64>) {
        self.observed = self.observed.max(Some(id));
        self.adopt(reaches, at.filter(|now| *now <= LAST_MS));
        // Without a time, the way to it counts from the next one.
        self.awaits_time = self.reading().is_none_or(|now| now > LAST_MS);
        if !self.awaits_time {
            self.measure_id();
        }
    }

    fn measure_id(&mut self) {
        let (Some(id), Some(now)) = (self.observed, self.reading()) else { return };
        self.latest = self.latest.max(now);
        self.furthest_id = self.furthest_id.max((id.timestamp_ms() + 17).saturating_sub(now));
    }

    fn close(&mut self) {
        let end = self.ids.close();
        assert_eq!(end, self.model.close());
        assert!(self.last.values().all(|last| last.timestamp_ms() < end.unwrap()));
        assert_eq!(self.ids.close(), end, "the second time");
    }

    pub(super) fn finish(&self) {
        let stats = self.ids.stats();
        assert_eq!(stats.refused, self.refused);
    }
}

/// The first and the last ID of a batch; each between, where there are not too many.
fn ends(mut batch: Batch, length: u64) -> (MessageId, MessageId) {
    assert_eq!(batch.len() as u64, length);
    if length > 100_000 {
        let first = batch.next().unwrap();
        return (first, batch.next_back().unwrap());
    }
    let ids: Vec<_> = batch.collect();
    assert!(ids.len() as u64 == length && ids.is_sorted_by(|a, b| a < b));
    (ids[0], ids[ids.len() - 1])
}
