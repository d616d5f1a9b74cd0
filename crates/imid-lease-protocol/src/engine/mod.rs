//! The lease protocol as a pure state machine. It learns what happened and when, and returns what to do next. It has no
//! clock, no thread and no connection.
//!
//! A grant says: "this lane, stamps below the ceiling C". C is written to the register before it is used, by
//! compare-and-set. While the lane is held it only grows, so a holder that is paused, cut off, or has a wrong clock can
//! only mint stamps that no other holder is granted. `ci/rules.sh` takes each rule of the protocol away from this source, and checks that the
//! model (`tests/simulation`) then finds a fault.
//!
//! The loop that drives an engine asks [`poll`](Engine::poll) for the next [`Action`], does it, and tells the outcome
//! with [`reply`](Engine::reply).

pub mod clock_judgement;
pub(crate) mod hold;
mod messages;
mod seek;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::record::{LaneRecord, MetaRecord, Token};
use hold::{Backoff, Present};
pub use messages::{Action, Config, FarAhead, Grant, Moment, Outcome, Phase, Reply, Silence, Stopped, View};
use seek::Search;

/// The least time between two attempts to write.
pub const MIN_GAP_MS: u64 = 100;

/// How often to look for a lane while there is none.
pub const POLL_MS: u64 = 75;

/// What follows a seal.
#[derive(Clone, Debug)]
enum AfterSeal {
    Start(Box<Present>),
    Release,
    Stop(Stopped),
}

#[derive(Clone, Debug)]
enum Step {
    /// Look for a lane at this time.
    Look {
        at_ms: u64,
    },
    Looking,
    /// Take one of the lanes that were read, or wait.
    Choose,
    Taking {
        attempt: u64,
        lane: u16,
        floor_ms: u64,
        record: Box<LaneRecord>,
    },
    /// A lane was taken. Read the description of the space again at this time, before the lane is used.
    Confirm {
        at_ms: u64,
        taken: Box<Present>,
    },
    Confirming(Box<Present>),
    /// The description has changed. Give the lane back, which was not used.
    GiveBack(Box<Present>),
    GivingBack {
        attempt: u64,
    },
    Seal(AfterSeal),
    Sealing(AfterSeal),
    Start,
    /// Have a lane, and raise its ceiling in time.
    Keep,
    /// Tell the generator of a ceiling.
    Raise,
    Renewing,
    /// Read the lane's record at this time.
    Check {
        at_ms: u64,
    },
    Checking,
    /// Write that the lane is free, after so many attempts that have met a record of this grant.
    Release {
        tries: u32,
    },
    Releasing {
        tries: u32,
    },
    CheckRelease {
        tries: u32,
    },
    CheckingRelease {
        tries: u32,
    },
    Stopped(Stopped),
}

/// The engine of one lease.
#[derive(Clone, Debug)]
pub struct Engine {
    config: Config,
    /// The record that describes the space, as it was last read.
    meta: Option<MetaRecord>,
    /// The same as it was read before the last lane was granted.
    proven: Option<MetaRecord>,
    /// What was last acknowledged for each lane.
    acknowledged: BTreeMap<u16, LaneRecord>,
    present: Option<Present>,
    /// The first millisecond after the stamps of all grants.
    used_until_ms: u64,
    acknowledged_at_ms: Option<u64>,
    attempted_at_ms: Option<u64>,
    /// How many lanes were held when they were last listed, and the one that was taken since.
    held_lanes: Option<u32>,
    /// Of all calls, and of writes alone: a store can refuse these and answer reads, as when its disk is full.
    backoff: Backoff,
    write_backoff: Backoff,
    /// When it was last asked for an action: if that is a call, when the call began.
    polled_at_ms: u64,
    /// For the waits. New for each action.
    random: u64,
    /// Whether a lane of this name was tried.
    has_tried_own: bool,
    /// The tokens of the latest attempts to take a lane.
    claims: Vec<Token>,
    is_closing: bool,
    /// Whether it may hold a lane that was not granted: the write that takes it had no answer, or the description is not confirmed.
    may_hold: bool,
    search: Search,
    attempts: u64,
    lost: u64,
    acknowledgements: u64,
    step: Step,
}

impl Engine {
    /// Returns the engine of a lease that looks for a lane.
    pub fn new(config: Config) -> Self {
        Self {
            held_lanes: None,
            config,
            meta: None,
            proven: None,
            acknowledged: BTreeMap::new(),
            present: None,
            used_until_ms: 0,
            acknowledged_at_ms: None,
            attempted_at_ms: None,
            backoff: Backoff::default(),
            write_backoff: Backoff::default(),
            polled_at_ms: 0,
            random: 0,
            has_tried_own: false,
            claims: Vec::new(),
            is_closing: false,
            may_hold: false,
            search: Search::default(),
            attempts: 0,
            lost: 0,
            acknowledgements: 0,
            step: Step::Look { at_ms: 0 },
        }
    }

    /// Gives the lane back as soon as no reply is outstanding.
    pub fn close(&mut self) {
        self.is_closing = true;
    }

    /// Returns what to do now. `random` is new for each call: a copy of the engine, in a cloned machine, must not write
    /// a record that this one takes for its own.
    pub fn poll(&mut self, at: Moment, random: u128) -> Action {
        let token = Token(random as u64);
        self.random = (random >> 64) as u64;
        self.polled_at_ms = at.mono_ms;
        self.used_until_ms = self.used_until_ms.max(at.used_until_ms);
        self.begin_to_close();
        match &self.step {
            Step::Look { at_ms } | Step::Check { at_ms } | Step::Confirm { at_ms, .. } if *at_ms > at.mono_ms => {
                Action::Sleep { until_ms: *at_ms }
            }
            Step::Look { .. } => {
                self.step = Step::Looking;
                Action::List
            }
            Step::Choose => self.take(at, token),
            Step::Seal(then) => {
                self.step = Step::Sealing(then.clone());
                Action::Seal
            }
            Step::Start => {
                self.step = Step::Keep;
                self.present.as_ref().map_or(Action::Done, |present| Action::Start(present.grant()))
            }
            Step::Raise => {
                self.step = Step::Keep;
                self.present.as_ref().map_or(Action::Done, |it| Action::Raise { ceiling_ms: it.ceiling_ms })
            }
            Step::Keep => self.renew(at, token),
            Step::Confirm { taken, .. } => {
                self.step = Step::Confirming(taken.clone());
                Action::Read { key: self.config.space.meta_key() }
            }
            Step::GiveBack(unused) => self.give_back(&unused.clone(), token),
            Step::Check { .. } => self.read_present(Step::Checking),
            Step::Release { tries } => self.release(*tries, token),
            Step::CheckRelease { tries } => self.read_present(Step::CheckingRelease { tries: *tries }),
            Step::Stopped(_) => Action::Done,
            Step::Looking
            | Step::Taking { .. }
            | Step::Confirming(_)
            | Step::GivingBack { .. }
            | Step::Sealing(_)
            | Step::Renewing
            | Step::Checking
            | Step::Releasing { .. }
            | Step::CheckingRelease { .. } => Action::Wait,
        }
    }

    /// Takes a reply into account. The reply may come after the engine has given up waiting for it
    /// ([`Outcome::Unknown`]).
    pub fn reply(&mut self, at: Moment, reply: Reply) {
        self.used_until_ms = self.used_until_ms.max(at.used_until_ms);
        match reply {
            Reply::Listed(listed) => {
                if !matches!(self.step, Step::Looking) {
                    return;
                }
                self.backoff.note(listed.is_ok());
                self.search.is_blind |= listed.is_err();
                match listed {
                    Ok(records) => {
                        self.look(at, records);
                        self.search.listed_at_ms = at.mono_ms;
                    }
                    Err(_) => self.step = Step::Look { at_ms: at.mono_ms + self.gap_ms(at, self.backoff) },
                }
            }
            Reply::Read(read) => {
                self.backoff.note(read.is_ok());
                let again_ms = at.mono_ms + self.gap_ms(at, self.backoff);
                match (&self.step, read) {
                    (Step::Checking, Ok(text)) => self.check(at, text.as_deref()),
                    (Step::Checking, Err(_)) => self.step = Step::Check { at_ms: again_ms },
                    (Step::Confirming(taken), Ok(text)) => self.confirm(taken.clone(), text.as_deref()),
                    (Step::Confirming(taken), Err(_)) => {
                        self.step = Step::Confirm { at_ms: again_ms, taken: taken.clone() };
                    }
                    (Step::CheckingRelease { tries }, Ok(text)) => self.check_release(*tries + 1, text.as_deref()),
                    (Step::CheckingRelease { .. }, Err(_)) => self.step = Step::Stopped(Stopped::Closed),
                    _ => {}
                }
            }
            Reply::Written { attempt, outcome } => self.written(at, attempt, outcome),
            Reply::Sealed { end_ms } => self.sealed(at, end_ms),
        }
    }

    fn written(&mut self, at: Moment, attempt: u64, outcome: Outcome) {
        let is_awaited = match &self.step {
            Step::GivingBack { attempt: awaited } | Step::Taking { attempt: awaited, .. } => *awaited == attempt,
            Step::Renewing | Step::Releasing { .. } => {
                self.present.as_ref().and_then(Present::last_attempt) == Some(attempt)
            }
            _ => false,
        };
        if !is_awaited {
            if outcome == Outcome::Acknowledged {
                self.acknowledged_late(attempt);
            }
            return;
        }
        self.backoff.note(outcome != Outcome::Unknown);
        self.write_backoff.note(outcome != Outcome::Unknown);
        let again_ms = at.mono_ms + self.gap_ms(at, self.write_backoff);
        match std::mem::replace(&mut self.step, Step::Keep) {
            // If it was not given back, others wait for its horizon.
            Step::GivingBack { .. } => {
                let is_unknown = outcome == Outcome::Unknown;
                self.may_hold = is_unknown;
                self.step = Step::Look { at_ms: if is_unknown { again_ms } else { at.mono_ms } };
            }
            Step::Taking { lane, floor_ms, record, .. } => {
                if outcome == Outcome::Acknowledged {
                    self.taken(at, lane, floor_ms, *record, attempt);
                } else if outcome == Outcome::Conflict {
                    self.lost_race(at, lane);
                } else {
                    self.may_hold = true;
                    self.search.is_blind = true;
                    self.step = Step::Look { at_ms: again_ms };
                }
            }
            Step::Renewing => match outcome {
                Outcome::Acknowledged => self.acknowledge(at, attempt),
                Outcome::Conflict => self.step = Step::Check { at_ms: at.mono_ms },
                Outcome::Unknown => self.step = Step::Check { at_ms: again_ms },
            },
            Step::Releasing { tries } => {
                if outcome == Outcome::Conflict {
                    self.step = Step::CheckRelease { tries };
                } else {
                    if let (Outcome::Acknowledged, Some(present)) = (outcome, &mut self.present) {
                        (present.is_lost, self.may_hold) = (true, false);
                    }
                    self.step = Step::Stopped(Stopped::Closed);
                }
            }
            other => self.step = other,
        }
    }

    fn sealed(&mut self, at: Moment, end_ms: u64) {
        self.used_until_ms = self.used_until_ms.max(end_ms);
        let Step::Sealing(then) = std::mem::replace(&mut self.step, Step::Keep) else { return };
        match then {
            AfterSeal::Start(mut taken) => {
                taken.floor_ms = taken.floor_ms.max(self.used_until_ms);
                let start_ms = taken.floor_ms.max(at.now_ms.unwrap_or(0));
                taken.room_ms = taken.ceiling_ms.saturating_sub(start_ms);
                self.present = Some(*taken);
                self.has_tried_own = true;
                self.step = Step::Start;
            }
            AfterSeal::Release => self.step = Step::Release { tries: 0 },
            AfterSeal::Stop(why) => self.step = Step::Stopped(why),
        }
    }

    /// Begins to give the lane back, if the engine was closed and no reply is outstanding.
    fn begin_to_close(&mut self) {
        let is_busy = self.is_waiting() || matches!(self.step, Step::Sealing(_) | Step::GiveBack(_));
        if !self.is_closing || is_busy || self.stopped().is_some() {
            return;
        }
        // The lane was taken and not used. One that was not lost has nothing before it.
        if let Step::Seal(AfterSeal::Start(taken)) | Step::Confirm { taken, .. } = &self.step {
            self.present = Some((**taken).clone());
        }
        let holds = self.present.as_ref().is_some_and(|present| !present.is_lost);
        self.step = Step::Seal(if holds { AfterSeal::Release } else { AfterSeal::Stop(Stopped::Closed) });
    }

    fn lane_key(&self, lane: u16) -> String {
        self.config.space.lane_key(self.meta.as_ref().map_or(0, |meta| meta.era), lane)
    }

    fn stop(&mut self, why: Stopped) {
        self.step = Step::Seal(AfterSeal::Stop(why));
    }

    /// Returns what the lease is doing.
    pub fn phase(&self) -> Phase {
        match &self.present {
            _ if self.stopped().is_some() => Phase::Stopped,
            None => Phase::Seeking,
            Some(present) if present.is_lost => Phase::Lost,
            Some(_) => Phase::Holding,
        }
    }

    /// Returns why it has stopped, or stops.
    pub fn stopped(&self) -> Option<&Stopped> {
        match &self.step {
            Step::Stopped(why) | Step::Seal(AfterSeal::Stop(why)) | Step::Sealing(AfterSeal::Stop(why)) => Some(why),
            Step::Seal(AfterSeal::Release)
            | Step::Sealing(AfterSeal::Release)
            | Step::Release { .. }
            | Step::Releasing { .. }
            | Step::CheckRelease { .. }
            | Step::CheckingRelease { .. } => Some(&Stopped::Closed),
            _ => None,
        }
    }

    /// Returns the lane that was granted last.
    pub fn grant(&self) -> Option<Grant> {
        self.present.as_ref().map(Present::grant)
    }

    /// Returns whether no lane is held in the register for it, as far as it knows.
    pub fn is_given_back(&self) -> bool {
        !self.may_hold && self.present.as_ref().is_none_or(|present| present.is_lost)
    }

    /// Returns whether the generator before is sealed, and the next one must start immediately.
    pub fn starts(&self) -> bool {
        matches!(self.step, Step::Start)
    }

    /// Returns whether it has stopped and nothing is left to do.
    pub fn is_done(&self) -> bool {
        matches!(self.step, Step::Stopped(_))
    }

    /// Returns how many attempts to write it has made.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// Returns its settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns whether it waits for a reply.
    pub fn is_waiting(&self) -> bool {
        matches!(
            self.step,
            Step::Looking
                | Step::Taking { .. }
                | Step::Confirming(_)
                | Step::GivingBack { .. }
                | Step::Renewing
                | Step::Checking
                | Step::Releasing { .. }
                | Step::CheckingRelease { .. }
        )
    }

    /// Returns the lease as the engine sees it.
    pub fn view(&self) -> View {
        View {
            phase: self.phase(),
            stopped: self.stopped().cloned(),
            grant: self.grant(),
            space_id: self.meta.as_ref().map(|meta| meta.space_id.clone()),
            held_lanes: self.held_lanes,
            next_time_out_ms: self.next_time_out_ms(),
            far_ahead: self.search.far_ahead,
            is_given_back: self.is_given_back(),
            acknowledged_at_ms: self.acknowledged_at_ms,
            attempted_at_ms: self.attempted_at_ms,
            acknowledgements: self.acknowledgements,
            lost: self.lost,
        }
    }

    /// Returns how many leases were lost, and how many writes acknowledged.
    pub fn counts(&self) -> (u64, u64) {
        (self.lost, self.acknowledgements)
    }
}
