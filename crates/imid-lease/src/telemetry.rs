//! Observability: metrics through the [`metrics`](https://docs.rs/metrics) facade, and events and spans through
//! [`tracing`](https://docs.rs/tracing), each behind the feature of that name.
//!
//! # Metrics
//!
//! | name | kind | what |
//! | --- | --- | --- |
//! | `imid_lease_held` | gauge | 1 while it has a lane, else 0 |
//! | `imid_lease_lane` | gauge | the lane that was granted last |
//! | `imid_lease_seconds_left` | gauge | how far the ceiling is ahead of the clock |
//! | `imid_lease_lead_seconds` | gauge | how far the latest ID is ahead of the clock; 0 if it is not |
//! | `imid_lease_store_ahead_seconds` | gauge | how far the store's clock is ahead of this process's, negative if it is behind; absent if the store has none |
//! | `imid_lease_weak` | gauge | 1 if the register can lose acknowledged writes, else 0; absent until it was asked |
//! | `imid_lease_renewals_total` | counter | acknowledged writes |
//! | `imid_lease_lost_total` | counter | leases that were lost to other processes |
//! | `imid_lease_register_up` | gauge | 1 if the last call of the register was answered, else 0 |
//! | `imid_lease_refusals_total` | counter | calls that minted nothing, by `reason` |
//! | `imid_lease_observations_refused_total` | counter | IDs that were not observed, by `reason`: `skew` (too far ahead of the clock) or `clock` (which has no usable time) |
//! | `imid_lease_register_seconds` | histogram | how long a call of the register took, by `store`, `call` and `outcome` |
//!
//! All but the histogram have the labels `space` and `holder`. They are set when the lease is opened, before the register has
//! answered, and updated at each renewal and each change, so `imid_lease_seconds_left` is what was left then. A call that waits,
//! such as `generate_within`, counts each of its attempts. Minting counts only refusals: a successful call costs the same as
//! without the feature.
//!
//! The reasons are `opening`, `no_lane`, `clock`, `silent`, `used_up`, `reverted`, `no_space`, `mismatch`, `format`, `closed` and
//! `generator`: the generator itself refuses, because of its clock or of an overload. A forked child counts nothing. The
//! calls are `list`, `read`, `write` and `time`, and the outcomes `ok` and `error`. The store is [`Register::name`].
//!
//! # Events
//!
//! | message | level | when | fields |
//! | --- | --- | --- | --- |
//! | `lane granted` | INFO | it begins to mint in a lane | `lane`, `floor_ms`, `ceiling_ms` |
//! | `lane lost` | WARN | another process has taken the lane | `lane` |
//! | `renewal is late` | WARN | less than a quarter of the horizon is left below the ceiling; once until the next renewal | `left_ms` |
//! | `clock is not followed` | WARN | the clock has jumped; once until it is followed again | `clock_ms`, `believed_ms` |
//! | `register is weak` | WARN | it can lose acknowledged writes; once | `reason` |
//! | `register went back` | ERROR | a record is older than what was acknowledged; minting stops permanently | `key` |
//! | `generator sealed` | INFO | it has stopped minting in the lane | `end_ms` |
//! | `lease panicked` | ERROR | the thread of the lease has terminated, because [`Register::promise`] or a [`Minter`](crate::minter::Minter) panicked; minting continues up to the ceiling | `reason` |
//!
//! Each has the target `imid_lease` and the fields `space` and `holder`.
//!
//! Each call of the register is in a span `register` of the level DEBUG, with the fields `store`, `call`, `key`, `micros` (how
//! long it took) and, if it has failed, `error`. No field contains a password or a URL. An error message from a server can name
//! the user and the host: `password authentication failed for user "chat"`.

use crate::engine::{Config, Grant, Stopped};
use crate::register::{Promise, Register, RegisterError};
use crate::status::State;

/// Calls a register, and reports how long the call took.
pub(crate) fn call<R: Register, T>(
    register: &mut R,
    name: &'static str,
    key: &str,
    call: impl FnOnce(&mut R) -> Result<T, RegisterError>,
) -> Result<T, RegisterError> {
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    let (started, store) = (std::time::Instant::now(), register.name());
    #[cfg(feature = "tracing")]
    let span = {
        use tracing::field::Empty;
        tracing::debug_span!(target: "imid_lease", "register", store, call = name, key, micros = Empty, error = Empty)
    };
    #[cfg(feature = "tracing")]
    let _entered = span.enter();
    let result = call(register);
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    let took = started.elapsed();
    #[cfg(feature = "tracing")]
    {
        span.record("micros", u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        if let Err(error) = &result {
            span.record("error", tracing::field::display(format_args!("{error:#}")));
        }
    }
    #[cfg(feature = "metrics")]
    {
        let outcome = if result.is_ok() { "ok" } else { "error" };
        let labels = [("store", store), ("call", name), ("outcome", outcome)];
        metrics::histogram!("imid_lease_register_seconds", &labels).record(took.as_secs_f64());
    }
    #[cfg(not(feature = "tracing"))]
    let _ = key;
    #[cfg(not(any(feature = "metrics", feature = "tracing")))]
    let _ = name;
    result
}

pub(crate) use gauges::{record_lease, record_refusal, record_refused_observation};

#[cfg(feature = "metrics")]
mod gauges {
    use imid::generator::ObserveError;
    use metrics::{Label, counter, gauge};

    use crate::engine::Phase;
    use crate::error::LeaseKind;
    use crate::record::Name;
    use crate::register::Promise;
    use crate::status::{Start, State};

    fn labels(space: &Name, holder: &Name) -> [Label; 2] {
        [Label::new("space", space.to_string()), Label::new("holder", holder.to_string())]
    }

    /// Publishes the state of a lease.
    pub(crate) fn record_lease(state: &State, now_ms: impl FnOnce() -> Option<u64>) {
        let status = state.status_at(now_ms());
        let labels = labels(&status.space, &status.holder);
        gauge!("imid_lease_held", labels.iter()).set(flag(status.phase == Phase::Holding));
        if let Some(lane) = status.lane {
            gauge!("imid_lease_lane", labels.iter()).set(f64::from(lane));
        }
        gauge!("imid_lease_seconds_left", labels.iter()).set(status.time_left.as_secs_f64());
        gauge!("imid_lease_lead_seconds", labels.iter()).set(status.lead.as_secs_f64());
        if let Some(ahead_ms) = status.store_ahead_ms {
            #[expect(clippy::cast_precision_loss, reason = "for people")]
            gauge!("imid_lease_store_ahead_seconds", labels.iter()).set(ahead_ms as f64 / 1_000.0);
        }
        // The settings of a server are not known before its first answer.
        if state.start == Start::Answered {
            gauge!("imid_lease_weak", labels.iter()).set(flag(status.promise != Promise::Strong));
        }
        counter!("imid_lease_renewals_total", labels.iter()).absolute(status.renewals);
        counter!("imid_lease_lost_total", labels.iter()).absolute(status.lost);
        gauge!("imid_lease_register_up", labels.iter()).set(flag(status.last_error.is_none()));
    }

    /// Counts a call that minted nothing.
    pub(crate) fn record_refusal(lease: &State, kind: LeaseKind) {
        let Some(reason) = reason(kind) else { return };
        let [space, holder] = labels(lease.space.name(), &lease.holder);
        let labels = [space, holder, Label::from_static_parts("reason", reason)];
        counter!("imid_lease_refusals_total", labels.iter()).increment(1);
    }

    /// Counts an ID that was not observed. The process is not a forked child.
    pub(crate) fn record_refused_observation(lease: &State, error: ObserveError) {
        let reason = if error.is_skew() { "skew" } else { "clock" };
        let [space, holder] = labels(lease.space.name(), &lease.holder);
        let labels = [space, holder, Label::from_static_parts("reason", reason)];
        counter!("imid_lease_observations_refused_total", labels.iter()).increment(1);
    }

    /// Returns the label of a refusal; `None` in a forked child, where another thread may have held a lock of the recorder.
    const fn reason(kind: LeaseKind) -> Option<&'static str> {
        Some(match kind {
            LeaseKind::Generate(_) => "generator",
            LeaseKind::Opening { .. } => "opening",
            LeaseKind::NoLane { .. } => "no_lane",
            LeaseKind::Clock { .. } | LeaseKind::WorkerClock { .. } | LeaseKind::ClocksDiffer { .. } => "clock",
            LeaseKind::Silent { .. } => "silent",
            LeaseKind::UsedUp { .. } => "used_up",
            LeaseKind::Reverted => "reverted",
            LeaseKind::NoSpace => "no_space",
            LeaseKind::Mismatch => "mismatch",
            LeaseKind::Format => "format",
            LeaseKind::Closed => "closed",
            LeaseKind::Forked => return None,
        })
    }

    fn flag(value: bool) -> f64 {
        if value { 1.0 } else { 0.0 }
    }
}

#[cfg(not(feature = "metrics"))]
mod gauges {
    use imid::generator::ObserveError;

    use crate::error::LeaseKind;
    use crate::status::State;

    pub(crate) fn record_lease(_: &State, _: impl FnOnce() -> Option<u64>) {}

    pub(crate) fn record_refused_observation(_: &State, _: ObserveError) {}

    pub(crate) fn record_refusal(_: &State, _: LeaseKind) {}
}

/// An event that was not reported yet. It is given the space and the holder.
type Event = Box<dyn FnOnce(&str, &str) + Send>;

/// The events of one lease, and which of them were reported.
///
/// Only [`tell`](Self::tell) reports them, because a subscriber is foreign code: it may mint.
#[expect(clippy::struct_excessive_bools, reason = "one for each event that is told once")]
pub(crate) struct Told {
    space: String,
    holder: String,
    /// A renewal is late if less is left.
    least_ms: u64,
    lost: u64,
    is_late: bool,
    is_off: bool,
    is_weak: bool,
    is_reverted: bool,
    events: Vec<Event>,
}

/// Notes an event with these fields, in the order in which they are told.
macro_rules! note {
    ($told:expr, $level:ident, $message:literal, $($field:ident),*) => {{
        #[cfg(feature = "tracing")]
        $told.events.push(Box::new(move |space, holder| {
            tracing::$level!(target: "imid_lease", space, holder, $($field,)* $message);
        }));
        #[cfg(not(feature = "tracing"))]
        let _ = (&$told.events, $message, $($field),*);
    }};
}

/// Returns whether something is so and was not so before.
fn begins(was: &mut bool, is: bool) -> bool {
    !std::mem::replace(was, is) && is
}

impl Told {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            space: config.space.name().to_string(),
            holder: config.name.to_string(),
            least_ms: config.horizon_ms / 4,
            lost: 0,
            is_late: false,
            is_off: false,
            is_weak: false,
            is_reverted: false,
            events: Vec::new(),
        }
    }

    /// Tells what has happened. The caller holds no lock, and no call of this process waits for its thread.
    pub(crate) fn tell(&mut self) {
        for event in std::mem::take(&mut self.events) {
            event(&self.space, &self.holder);
        }
    }

    pub(crate) fn panicked(&mut self, reason: String) {
        note!(self, error, "lease panicked", reason);
    }

    pub(crate) fn granted(&mut self, Grant { lane, floor_ms, ceiling_ms }: Grant) {
        note!(self, info, "lane granted", lane, floor_ms, ceiling_ms);
    }

    pub(crate) fn sealed(&mut self, end_ms: u64) {
        note!(self, info, "generator sealed", end_ms);
    }

    /// Takes the time into account that is left below the ceiling of a lane that is held.
    pub(crate) fn left(&mut self, left_ms: Option<u64>) {
        if begins(&mut self.is_late, left_ms.is_some_and(|left| left < self.least_ms)) {
            note!(self, warn, "renewal is late", left_ms);
        }
    }

    /// Takes the reading of a clock into account that is not followed, and the time that is believed instead.
    pub(crate) fn clock(&mut self, not_followed: Option<(u64, u64)>) {
        let is_off = begins(&mut self.is_off, not_followed.is_some());
        if let Some((clock_ms, believed_ms)) = not_followed.filter(|_| is_off) {
            note!(self, warn, "clock is not followed", clock_ms, believed_ms);
        }
    }

    pub(crate) fn state(&mut self, State { promise, view, .. }: &State) {
        if std::mem::replace(&mut self.lost, view.lost) < view.lost {
            let lane = view.grant.map(|grant| grant.lane);
            note!(self, warn, "lane lost", lane);
        }
        if let Promise::Weak(reason) = promise
            && begins(&mut self.is_weak, true)
        {
            let reason = reason.to_string();
            note!(self, warn, "register is weak", reason);
        }
        if let Some(Stopped::Reverted { key }) = &view.stopped
            && begins(&mut self.is_reverted, true)
        {
            let key = key.clone();
            note!(self, error, "register went back", key);
        }
    }
}
