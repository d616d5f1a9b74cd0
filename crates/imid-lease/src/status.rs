//! The state of a lease: what its thread publishes, and what operators and callers see of it.

use std::time::Duration;

use imid_lease_protocol::record::Space;

use crate::clock::{monotonic_ms, until};
use crate::engine::{Config, Engine, FarAhead, Phase, Stopped, View};
use crate::error::{LeaseKind, OpenError, OpenKind};
use crate::record::Name;
use crate::register::Promise;

/// The state of a lease at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// What the lease is doing.
    pub phase: Phase,
    /// The name of the space, unique within its register.
    pub space: Name,
    /// The UUID of the space in this register, or `None` until it is read. All processes of one ID space must show the same UUID.
    /// Each space of a register has its own.
    pub space_id: Option<String>,
    /// The UUID of the register, or `None` until it is read. All spaces of a register show the same one. It is written once, so a
    /// copy of a register has it as well.
    pub register_id: Option<String>,
    /// How many lanes or worker IDs the space has.
    pub lanes: u32,
    /// How many of them were held when this process last listed them, this process's included: when it looked for its lane. `None`
    /// before that.
    pub held_lanes: Option<u32>,
    /// How many milliseconds the store's clock was ahead of this process's when it was last asked, or `None` if the store has
    /// no clock. Negative if it was behind. Beyond [`max_skew`](crate::LaneOptions::max_skew), one of the two is wrong.
    pub store_ahead_ms: Option<i64>,
    /// Whether the register can lose acknowledged writes, and why.
    pub promise: Promise,
    /// The name under which this process holds its lane.
    pub holder: Name,
    /// The latest lane granted, or `None` before the first one.
    pub lane: Option<u16>,
    /// The first Unix millisecond that no ID of this lane may have.
    pub ceiling_ms: Option<u64>,
    /// How far the ceiling is ahead of the clock; zero if it is not.
    pub time_left: Duration,
    /// How far the latest ID is ahead of the clock, as of the last renewal or change; zero if it is not.
    pub lead: Duration,
    /// How long ago the last write was acknowledged.
    pub last_renewal: Option<Duration>,
    /// How many writes were acknowledged.
    pub renewals: u64,
    /// How many leases were lost to other processes.
    pub lost: u64,
    /// The error of the register's last call, if it failed.
    pub last_error: Option<String>,
}

impl Status {
    /// Returns whether a call can mint now, as far as the clock shows: it has a lane, and the ceiling is ahead. A lane that was lost is used
    /// up to its ceiling.
    pub fn can_mint(&self) -> bool {
        matches!(self.phase, Phase::Holding | Phase::Lost) && !self.time_left.is_zero()
    }

    /// Returns whether three quarters of the lanes were held when this process last listed them ([`held_lanes`](Self::held_lanes)). Once
    /// all are, a new process waits, so add lanes first (`imid lane resize`). A space with a single lane is for a single process; this
    /// is `false` for it.
    pub fn is_nearly_full(&self) -> bool {
        self.lanes > 1 && self.held_lanes.is_some_and(|held| held * 4 >= self.lanes * 3)
    }
}

/// How far a lease has got since it was started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    /// The register has not answered.
    Asking,
    /// The store's clock is this many milliseconds ahead of this process's, and nobody has said which of the two is right.
    ClocksDiffer(i64),
    Answered,
}

/// What the thread of a lease publishes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) space: Space,
    /// The name under which the lease is held.
    pub(crate) holder: Name,
    pub(crate) promise: Promise,
    pub(crate) view: View,
    /// The monotonic time of the next call.
    pub(crate) next_ms: u64,
    pub(crate) start: Start,
    pub(crate) register_id: Option<String>,
    pub(crate) store_ahead_ms: Option<i64>,
    /// The error of the last call, if it has failed, and whether it is a permanent one.
    pub(crate) last_error: Option<String>,
    pub(crate) is_refused: bool,
    /// The first Unix millisecond after the last ID; 0 if there is none.
    pub(crate) used_until_ms: u64,
}

impl State {
    pub(crate) fn new(config: &Config, promise: Promise) -> Self {
        Self {
            space: config.space.clone(),
            holder: config.name.clone(),
            promise,
            view: Engine::new(config.clone()).view(),
            next_ms: 0,
            start: Start::Asking,
            register_id: None,
            store_ahead_ms: None,
            last_error: None,
            is_refused: false,
            used_until_ms: 0,
        }
    }

    /// Returns the same state after its end.
    pub(crate) fn stopped(&self) -> Self {
        let view = View { phase: Phase::Stopped, stopped: Some(Stopped::Closed), ..self.view.clone() };
        Self { view, ..self.clone() }
    }

    /// Returns why there is no lane or worker ID, or no room in it; `None` if its process has one that it can use.
    pub(crate) fn why_none(&self) -> Option<LeaseKind> {
        let retry_after = until(self.next_ms);
        Some(match (&self.view.stopped, self.view.phase, &self.last_error) {
            (Some(stopped), ..) => stopped.into(),
            (_, Phase::Seeking, _) if let Start::ClocksDiffer(store_ahead_ms) = self.start => {
                LeaseKind::ClocksDiffer { store_ahead_s: (store_ahead_ms / 1_000).try_into().unwrap_or(i32::MAX) }
            }
            (_, Phase::Seeking, _) if self.start != Start::Answered => LeaseKind::Opening { retry_after },
            (_, Phase::Seeking, None) if self.view.far_ahead.is_some() && self.space.has_generator_lanes() => {
                LeaseKind::Clock { retry_after }
            }
            (_, Phase::Seeking, None) if self.view.far_ahead.is_some() => LeaseKind::WorkerClock { retry_after },
            (_, _, Some(_)) => LeaseKind::Silent { retry_after },
            (_, Phase::Holding, None) => return None,
            _ => LeaseKind::NoLane { retry_after: until(self.view.next_time_out_ms.unwrap_or(0).max(self.next_ms)) },
        })
    }

    /// Returns whether it does not help to wait for a lane: the register refuses this process, or a clock is wrong.
    pub(crate) fn is_vain(&self) -> bool {
        let differs = matches!(self.start, Start::ClocksDiffer(_));
        self.is_refused || differs || self.view.far_ahead.is_some_and(|far| far.are_all)
    }

    /// Returns why a lease is not open after this wait.
    pub(crate) fn why_not_open(&self, waited: Duration) -> OpenError {
        let (space, held) = (&self.space, self.view.held_lanes.unwrap_or(0));
        let kind = match (&self.view.stopped, &self.last_error) {
            (Some(Stopped::Mismatch { layout, bits }), _) => OpenKind::Mismatch {
                expected: format!("{} with {} lane bits", space.layout(), space.bits()),
                found: format!("{layout} with {bits} lane bits"),
            },
            (Some(Stopped::Format(error)), _) => OpenKind::Format(error.clone()),
            (Some(Stopped::Reverted { key }), _) => OpenKind::Reverted(key.clone()),
            (Some(Stopped::NoSpace), _) => OpenKind::NoSpace(space.name().to_string()),
            (Some(Stopped::Undescribed { key }), _) => OpenKind::Undescribed(key.clone()),
            (Some(Stopped::Closed), _) => OpenKind::Closed,
            (None, _) if let Start::ClocksDiffer(store_ahead_ms) = self.start => {
                OpenKind::ClocksDiffer { store_ahead_s: store_ahead_ms / 1_000 }
            }
            (None, Some(cause)) if self.is_refused => OpenKind::Refused(cause.clone()),
            (None, Some(cause)) => OpenKind::Silent { waited, cause: cause.clone() },
            (None, None) if let Some(FarAhead { found_ms, most_ms, are_all }) = self.view.far_ahead => {
                let lanes = space.lane_count();
                let can_accept = space.has_generator_lanes();
                if are_all {
                    OpenKind::Clock { most_ms, found_ms, can_accept }
                } else {
                    OpenKind::NoNearLane { most_ms, found_ms, held, lanes, can_accept }
                }
            }
            (None, None) if self.start == Start::Asking => {
                OpenKind::Silent { waited, cause: "its first call is still under way".into() }
            }
            (None, None) => OpenKind::NoLane { held, lanes: space.lane_count() },
        };
        kind.into()
    }

    /// Returns the status at this time.
    pub(crate) fn status_at(&self, now_ms: Option<u64>) -> Status {
        let View { phase, grant, held_lanes, acknowledgements, lost, .. } = self.view;
        let ceiling_ms = grant.map(|grant| grant.ceiling_ms);
        let left_ms = ceiling_ms.zip(now_ms).map_or(0, |(ceiling, now)| ceiling.saturating_sub(now));
        let ago = |then: u64| Duration::from_millis(monotonic_ms().saturating_sub(then));
        Status {
            phase,
            space: self.space.name().clone(),
            space_id: self.view.space_id.clone(),
            register_id: self.register_id.clone(),
            lanes: self.space.lane_count(),
            held_lanes,
            store_ahead_ms: self.store_ahead_ms,
            promise: self.promise.clone(),
            holder: self.holder.clone(),
            lane: grant.map(|grant| grant.lane),
            ceiling_ms,
            time_left: Duration::from_millis(left_ms),
            // The last ID is in the millisecond before.
            lead: Duration::from_millis(now_ms.map_or(0, |now| self.used_until_ms.saturating_sub(now + 1))),
            last_renewal: self.view.acknowledged_at_ms.map(ago),
            renewals: acknowledgements,
            lost,
            last_error: self.last_error.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Grant;
    use crate::options::LaneOptions;

    fn state(bits: u32) -> State {
        let settings = LaneOptions::new().lane_bits(bits).settings;
        let (space, name) = settings.check().unwrap();
        State::new(&settings.config(space, name), Promise::Strong)
    }

    fn status(bits: u32) -> Status {
        state(bits).status_at(None)
    }

    #[test]
    fn the_lead_and_the_time_left_are_those_of_the_last_id_and_of_the_ceiling() {
        let mut state = state(4);
        state.used_until_ms = 1_006;
        state.view.grant = Some(Grant { lane: 0, floor_ms: 0, ceiling_ms: 1_030 });
        for (now_ms, lead_ms, left_ms) in [(1_000, 5, 30), (1_004, 1, 26), (1_005, 0, 25), (2_000, 0, 0)] {
            let status = state.status_at(Some(now_ms));
            let expected = (Duration::from_millis(lead_ms), Duration::from_millis(left_ms));
            assert_eq!((status.lead, status.time_left), expected, "at {now_ms}");
        }
        let status = state.status_at(None);
        assert_eq!((status.lead, status.time_left, status.last_renewal), (Duration::ZERO, Duration::ZERO, None));
    }

    #[test]
    fn a_lease_can_mint_while_its_ceiling_is_ahead() {
        for (phase, left_ms, can_mint) in [
            (Phase::Holding, 1, true),
            (Phase::Lost, 1, true),
            (Phase::Holding, 0, false),
            (Phase::Seeking, 1, false),
            (Phase::Stopped, 1, false),
        ] {
            let status = Status { phase, time_left: Duration::from_millis(left_ms), ..status(4) };
            assert_eq!(status.can_mint(), can_mint, "{phase:?} {left_ms}");
        }
    }

    #[test]
    fn a_space_is_nearly_full_at_three_quarters() {
        for (bits, held, is_nearly_full) in [
            (4, Some(12), true),
            (4, Some(11), false),
            (4, None, false),
            (1, Some(1), false),
            (1, Some(2), true),
            (0, Some(1), false),
        ] {
            let status = Status { held_lanes: held, ..status(bits) };
            assert_eq!(status.is_nearly_full(), is_nearly_full, "{bits} bits, {held:?} held");
        }
    }

    #[test]
    fn why_there_is_no_lane_is_what_stands_in_the_way_first() {
        crate::clock::SCRIPTED_MS.set(Some(1_000));
        let lanes = state(4);
        let space = Space::new("workers", "snowflake", 4).unwrap();
        let settings = LaneOptions::new().settings;
        let workers = State::new(&settings.config(space, Name::parse("a").unwrap()), Promise::Strong);
        let far = Some(FarAhead { found_ms: 9_000, most_ms: 100, are_all: true });
        let wait = |retry_after_ms| Duration::from_millis(retry_after_ms);
        let (silent, retry_after) = (Some("down"), wait(500));
        let opening = Some(LeaseKind::Opening { retry_after });
        let is_silent = Some(LeaseKind::Silent { retry_after });
        let no_lane = |ms| Some(LeaseKind::NoLane { retry_after: wait(ms) });
        let differ = Some(LeaseKind::ClocksDiffer { store_ahead_s: -9 });
        let (clock, worker_clock) = (LeaseKind::Clock { retry_after }, LeaseKind::WorkerClock { retry_after });
        for (kind, phase, start, error, far_ahead, time_out_ms, expected) in [
            (&lanes, Phase::Seeking, Start::Asking, None, None, None, opening),
            (&lanes, Phase::Seeking, Start::ClocksDiffer(-9_000), silent, far, None, differ),
            (&lanes, Phase::Seeking, Start::Answered, None, far, None, Some(clock)),
            (&workers, Phase::Seeking, Start::Answered, None, far, None, Some(worker_clock)),
            (&lanes, Phase::Seeking, Start::Answered, silent, far, None, is_silent),
            (&lanes, Phase::Seeking, Start::Answered, None, None, None, no_lane(500)),
            (&workers, Phase::Seeking, Start::Answered, None, None, None, no_lane(500)),
            (&lanes, Phase::Seeking, Start::Answered, None, None, Some(1_200), no_lane(500)),
            (&lanes, Phase::Seeking, Start::Answered, None, None, Some(3_000), no_lane(2_000)),
            (&lanes, Phase::Holding, Start::Answered, None, far, None, None),
            (&lanes, Phase::Holding, Start::Asking, None, None, None, None),
            (&lanes, Phase::Holding, Start::Answered, silent, None, None, is_silent),
            (&lanes, Phase::Lost, Start::Answered, None, far, None, no_lane(500)),
        ] {
            let view = View { phase, far_ahead, next_time_out_ms: time_out_ms, ..kind.view.clone() };
            let last_error = error.map(String::from);
            let mut state = State { start, next_ms: 1_500, view, last_error, ..kind.clone() };
            let case = format!("{phase:?}, {start:?}, {error:?}, {far_ahead:?}, {time_out_ms:?}");
            assert_eq!(state.why_none(), expected, "{case}");
            // Its end comes before all of these.
            state.view.stopped = Some(Stopped::Reverted { key: "lanes/1/00000".into() });
            assert_eq!(state.why_none(), Some(LeaseKind::Reverted), "{case}");
        }
    }

    #[test]
    fn why_a_lease_is_not_open_is_what_stands_in_the_way_first() {
        let state = state(4);
        let far = |are_all| Some(FarAhead { found_ms: 9_000, most_ms: 100, are_all });
        let silent = "register did not answer in 250 ms: ";
        let no_answer = format!("{silent}its first call is still under way");
        let accept = ", or accept the lead with LaneOptions::accept_far_lanes";
        let no_near_lane = format!(
            "expected a free lane at most 0.1 s ahead of the clock, found one 9 s ahead, and 3 of 16 are held: wait for one of \
             them{accept}"
        );
        let all_far = format!("expected lanes at most 0.1 s ahead of the clock, found 9 s: correct the clock{accept}");
        for (error, is_refused, far_ahead, start, expected) in [
            (Some("down"), true, far(true), Start::Asking, "register refuses this process: down"),
            (Some("down"), false, far(true), Start::Asking, &format!("{silent}down")),
            (None, true, far(true), Start::Asking, &all_far),
            (None, false, far(false), Start::Answered, &no_near_lane),
            (None, false, None, Start::ClocksDiffer(3_600_000), "store's clock is 3600 s ahead of this process's"),
            (None, false, None, Start::Asking, &no_answer),
            (None, false, None, Start::Answered, "no lane is free: 3 of 16 are held"),
        ] {
            let view = View { far_ahead, held_lanes: Some(3), ..state.view.clone() };
            let last_error = error.map(String::from);
            let mut state = State { view, start, last_error, is_refused, ..state.clone() };
            let why = |state: &State| state.why_not_open(Duration::from_millis(250)).to_string();
            assert!(why(&state).starts_with(expected), "{}", why(&state));
            state.view.stopped = Some(Stopped::Reverted { key: "lanes/1/00000".into() });
            assert_eq!(why(&state), "register went back while it was opened, at lanes/1/00000");
        }
    }
}
