//! Why a lease could not be opened, and why an ID was not minted.

use std::time::Duration;

use imid::generator::{BuildError, GenerateError};
use thiserror::Error;

use crate::engine::Stopped;
use crate::options::OptionsError;
use crate::register::RegisterError;

/// No ID was minted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct LeaseError(#[from] LeaseKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum LeaseKind {
    #[error(transparent)]
    Generate(GenerateError),
    #[error("no lane yet, because the register has not answered: retry in {} ms", .retry_after.as_millis())]
    Opening { retry_after: Duration },
    #[error("no lane is free: retry in {} ms", .retry_after.as_millis())]
    NoLane { retry_after: Duration },
    #[error(
        "lanes are too far ahead of the clock: correct the clock, or accept the lead with LaneOptions::accept_far_lanes"
    )]
    Clock { retry_after: Duration },
    /// Of worker IDs, which have no such option. A variant of its own, because a flag would make the error greater.
    #[error("worker IDs are too far ahead of the clock: correct the clock")]
    WorkerClock { retry_after: Duration },
    #[error("{}", differ((*.store_ahead_s).into()))]
    ClocksDiffer { store_ahead_s: i32 },
    #[error("lease has run out and the register does not answer: retry in {} ms", .retry_after.as_millis())]
    Silent { retry_after: Duration },
    #[error("lease is used up until its next renewal: retry in {} ms", .retry_after.as_millis())]
    UsedUp { retry_after: Duration },
    #[error("register went back to an earlier state: run a recovery while no process uses it, then restart")]
    Reverted,
    #[error("register has no such space: if it was lost, recover it, otherwise create it once with `imid lane create`")]
    NoSpace,
    #[error("register has another layout or another number of lanes: restart with its settings")]
    Mismatch,
    #[error("register has records of another format: restart with the version that wrote them")]
    Format,
    #[error("closed, or ended by a panic of its thread: open another one")]
    Closed,
    #[error("lease belongs to the parent process: open another one after the fork")]
    Forked,
}

impl LeaseError {
    /// Returns how long to wait until the same call can succeed.
    ///
    /// `None` if waiting does not help: the generator is closed or belongs to the parent process, the register went back or has
    /// other settings, or the [error of the generator](Self::generate_error) has no such time.
    pub const fn retry_after(self) -> Option<Duration> {
        match self.0 {
            LeaseKind::Generate(error) => error.retry_after(),
            LeaseKind::Opening { retry_after }
            | LeaseKind::NoLane { retry_after }
            | LeaseKind::Clock { retry_after }
            | LeaseKind::WorkerClock { retry_after }
            | LeaseKind::Silent { retry_after }
            | LeaseKind::UsedUp { retry_after } => Some(retry_after),
            // The store's time is asked for again as often.
            LeaseKind::ClocksDiffer { .. } => Some(Duration::from_secs(1)),
            _ => None,
        }
    }

    /// Returns the generator's error, if the lease is not the reason.
    pub const fn generate_error(self) -> Option<GenerateError> {
        match self.0 {
            LeaseKind::Generate(error) => Some(error),
            _ => None,
        }
    }

    /// Returns whether no lane or worker ID can be used now: other processes hold all lanes, or the generators of this
    /// process have all of its worker IDs.
    pub const fn is_no_lane(self) -> bool {
        matches!(self.0, LeaseKind::NoLane { .. })
    }

    /// Returns whether no lane was taken because of a clock: all free lanes are far ahead of it
    /// ([`LaneOptions::accept_far_lanes`](crate::LaneOptions::accept_far_lanes)), or it differs from the store's
    /// ([`LaneOptions::trust`](crate::LaneOptions::trust)).
    pub const fn is_clock(self) -> bool {
        matches!(self.0, LeaseKind::Clock { .. } | LeaseKind::WorkerClock { .. } | LeaseKind::ClocksDiffer { .. })
    }

    /// Returns whether there is no lane yet, or the ceiling is reached, because the register does not answer.
    pub const fn is_register(self) -> bool {
        matches!(self.0, LeaseKind::Opening { .. } | LeaseKind::Silent { .. })
    }

    /// Returns whether the ceiling is reached and will soon be raised. A large run or an observed ID can use up a lease.
    pub const fn is_used_up(self) -> bool {
        matches!(self.0, LeaseKind::UsedUp { .. })
    }

    /// Returns whether the register went back to an earlier state, as after a restored backup. This process will never mint again.
    pub const fn is_reverted(self) -> bool {
        matches!(self.0, LeaseKind::Reverted)
    }

    /// Returns whether the space, or the record that describes it, is not in the register: it was never created, or it was lost.
    pub const fn is_no_space(self) -> bool {
        matches!(self.0, LeaseKind::NoSpace)
    }

    /// Returns whether the register is for another layout, another number of lanes, or another version of this crate.
    pub const fn is_mismatch(self) -> bool {
        matches!(self.0, LeaseKind::Mismatch | LeaseKind::Format)
    }

    /// Returns whether the lease was closed, or terminated because foreign code in its thread panicked.
    pub const fn is_closed(self) -> bool {
        matches!(self.0, LeaseKind::Closed)
    }

    /// Returns whether the process is a forked child, and the lease belongs to the parent.
    pub const fn is_forked(self) -> bool {
        matches!(self.0, LeaseKind::Forked)
    }
}

impl From<&Stopped> for LeaseKind {
    fn from(stopped: &Stopped) -> Self {
        match stopped {
            Stopped::Reverted { .. } => Self::Reverted,
            Stopped::NoSpace | Stopped::Undescribed { .. } => Self::NoSpace,
            Stopped::Mismatch { .. } => Self::Mismatch,
            Stopped::Format(_) => Self::Format,
            Stopped::Closed => Self::Closed,
        }
    }
}

/// A lease could not be opened.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct OpenError(#[from] OpenKind);

#[derive(Debug, Error)]
pub(crate) enum OpenKind {
    #[error(transparent)]
    Options(#[from] OptionsError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("cannot open the register")]
    Register(#[from] RegisterError),
    #[error("expected a register of layout {expected}, found {found}")]
    Mismatch { expected: String, found: String },
    #[error("cannot read the register: {0}")]
    Format(String),
    #[error("no lane is free: {held} of {lanes} are held")]
    NoLane { held: u32, lanes: u32 },
    #[error(
        "expected lanes at most {} s ahead of the clock, found {} s: correct the clock{}",
        seconds(*.most_ms), seconds(*.found_ms), or_accept(*.can_accept)
    )]
    Clock { most_ms: u64, found_ms: u64, can_accept: bool },
    #[error(
        "expected a free lane at most {} s ahead of the clock, found one {} s ahead, and {held} of {lanes} are held: wait for \
         one of them{}",
        seconds(*.most_ms), seconds(*.found_ms), or_accept(*.can_accept)
    )]
    NoNearLane { most_ms: u64, found_ms: u64, held: u32, lanes: u32, can_accept: bool },
    #[error("{}", differ(*.store_ahead_s))]
    ClocksDiffer { store_ahead_s: i64 },
    #[error("register did not answer in {} ms: {cause}", .waited.as_millis())]
    Silent { waited: Duration, cause: String },
    #[error("register refuses this process: {0}")]
    Refused(String),
    #[error("lease is closed")]
    Closed,
    #[error("lease belongs to the parent process: open another one after the fork")]
    Forked,
    #[error("register went back while it was opened, at {0}")]
    Reverted(String),
    #[error(
        "register has no space {0:?}: if it was lost, recover it, otherwise create it once with `imid lane create` or \
         admin::create"
    )]
    NoSpace(String),
    #[error("register has lanes and no record {0} that describes them: it was deleted or lost, see `imid lane create`")]
    Undescribed(String),
    #[error("cannot start the thread of the lease")]
    Thread(#[source] std::io::Error),
}

/// What to do about two clocks that differ.
fn differ(store_ahead_s: i64) -> String {
    let (by, is) = (store_ahead_s.unsigned_abs(), if store_ahead_s < 0 { "behind" } else { "ahead of" });
    format!(
        "store's clock is {by} s {is} this process's: correct the wrong one, or name the right one with the option `trust`"
    )
}

/// How to continue where lanes are far ahead of the clock. Worker IDs have no such setting.
fn or_accept(can_accept: bool) -> &'static str {
    if can_accept { ", or accept the lead with LaneOptions::accept_far_lanes" } else { "" }
}

/// Seconds with a fraction.
#[expect(clippy::cast_precision_loss, reason = "for people")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

impl OpenError {
    /// Returns whether the settings contradict each other, or one of them is out of range.
    pub const fn is_options(&self) -> bool {
        matches!(self.0, OpenKind::Options(_) | OpenKind::Build(_))
    }

    /// Returns whether the register cannot be opened, did not answer in time, or refuses this process.
    pub const fn is_register(&self) -> bool {
        matches!(self.0, OpenKind::Register(_) | OpenKind::Silent { .. } | OpenKind::Refused(_))
    }

    /// Returns whether waiting does not help. Only two conditions can resolve themselves: a register that does not answer, and lanes
    /// that are all held. A clock that is wrong can be corrected, but not by waiting here.
    pub const fn is_permanent(&self) -> bool {
        match &self.0 {
            OpenKind::Silent { .. } | OpenKind::NoLane { .. } | OpenKind::NoNearLane { .. } => false,
            OpenKind::Register(error) => error.is_permanent(),
            _ => true,
        }
    }

    /// Returns whether the register is for another layout, another number of lanes, or another version of this crate.
    pub const fn is_mismatch(&self) -> bool {
        matches!(self.0, OpenKind::Mismatch { .. } | OpenKind::Format(_))
    }

    /// Returns whether all lanes, or all that no process holds, are further ahead of the clock than the horizon and
    /// [`max_skew`](crate::LaneOptions::max_skew) explain. This clock is behind, or another process has minted with a clock
    /// that was ahead. [`accept_far_lanes`](crate::LaneOptions::accept_far_lanes) accepts it; [`LeasedGenerator::open_file`] shows how for a file.
    /// Or this clock and the store's differ by more than `max_skew`, and [`trust`](crate::LaneOptions::trust) names neither.
    ///
    /// [`LeasedGenerator::open_file`]: crate::LeasedGenerator::open_file
    pub const fn is_clock(&self) -> bool {
        matches!(self.0, OpenKind::Clock { .. } | OpenKind::NoNearLane { .. } | OpenKind::ClocksDiffer { .. })
    }

    /// Returns whether the register went back to an earlier state while it was opened.
    pub const fn is_reverted(&self) -> bool {
        matches!(self.0, OpenKind::Reverted(_))
    }

    /// Returns whether the space, or the record that describes it, is not in the register: it was never created, or it was lost.
    pub const fn is_no_space(&self) -> bool {
        matches!(self.0, OpenKind::NoSpace(_) | OpenKind::Undescribed(_))
    }

    /// Returns whether other processes hold all lanes.
    pub const fn is_no_lane(&self) -> bool {
        matches!(self.0, OpenKind::NoLane { .. })
    }

    /// Returns whether the lease was closed while it was being opened.
    pub const fn is_closed(&self) -> bool {
        matches!(self.0, OpenKind::Closed)
    }

    /// Returns whether the process is a forked child, and the lease belongs to the parent.
    pub const fn is_forked(&self) -> bool {
        matches!(self.0, OpenKind::Forked)
    }
}

impl From<RegisterError> for OpenError {
    fn from(error: RegisterError) -> Self {
        Self(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_error_says_what_is_missing_and_when_to_come_back() {
        let retry_after = Duration::from_millis(250);
        for (kind, words) in [
            (LeaseKind::Opening { retry_after }, "no lane yet, because the register has not answered: retry in 250 ms"),
            (LeaseKind::NoLane { retry_after }, "no lane is free: retry in 250 ms"),
            (
                LeaseKind::Clock { retry_after },
                "lanes are too far ahead of the clock: correct the clock, or accept the lead with LaneOptions::accept_far_lanes",
            ),
            (LeaseKind::WorkerClock { retry_after }, "worker IDs are too far ahead of the clock: correct the clock"),
            (LeaseKind::Silent { retry_after }, "lease has run out and the register does not answer: retry in 250 ms"),
            (LeaseKind::UsedUp { retry_after }, "lease is used up until its next renewal: retry in 250 ms"),
        ] {
            let error = LeaseError::from(kind);
            assert_eq!(error.to_string(), words);
            assert_eq!(error.retry_after(), Some(retry_after));
            let kinds = [error.is_no_lane(), error.is_register(), error.is_used_up(), error.is_clock()];
            assert_eq!(kinds.into_iter().filter(|is| *is).count(), 1, "{words}");
        }
        let differ = LeaseError::from(LeaseKind::ClocksDiffer { store_ahead_s: -7 });
        let words = "store's clock is 7 s behind this process's: correct the wrong one, or name the right one with the option `trust`";
        assert_eq!((differ.to_string().as_str(), differ.is_clock()), (words, true));
        assert_eq!(differ.retry_after(), Some(Duration::from_secs(1)));
        for (kind, words) in [
            (
                LeaseKind::Reverted,
                "register went back to an earlier state: run a recovery while no process uses it, then restart",
            ),
            (
                LeaseKind::NoSpace,
                "register has no such space: if it was lost, recover it, otherwise create it once with `imid lane create`",
            ),
            (LeaseKind::Mismatch, "register has another layout or another number of lanes: restart with its settings"),
            (LeaseKind::Format, "register has records of another format: restart with the version that wrote them"),
            (LeaseKind::Closed, "closed, or ended by a panic of its thread: open another one"),
            (LeaseKind::Forked, "lease belongs to the parent process: open another one after the fork"),
        ] {
            let error = LeaseError::from(kind);
            assert_eq!(error.to_string(), words);
            assert_eq!((error.retry_after(), error.generate_error()), (None, None));
            let kinds =
                [error.is_reverted(), error.is_no_space(), error.is_mismatch(), error.is_closed(), error.is_forked()];
            assert_eq!(kinds.into_iter().filter(|is| *is).count(), 1, "{words}");
        }
    }

    #[test]
    fn an_open_error_says_what_was_expected() {
        let io = || std::io::Error::other("no room");
        for (kind, words, is_register) in [
            (OpenKind::Register(RegisterError::new("no file")), "cannot open the register", true),
            (
                OpenKind::Mismatch { expected: "a".into(), found: "b".into() },
                "expected a register of layout a, found b",
                false,
            ),
            (OpenKind::Format("no version".into()), "cannot read the register: no version", false),
            (OpenKind::NoLane { held: 4, lanes: 4 }, "no lane is free: 4 of 4 are held", false),
            (
                OpenKind::Clock { most_ms: 15_000, found_ms: 3_600_500, can_accept: false },
                "expected lanes at most 15 s ahead of the clock, found 3600.5 s: correct the clock",
                false,
            ),
            (
                OpenKind::NoNearLane { most_ms: 15_000, found_ms: 3_600_500, held: 1, lanes: 2, can_accept: true },
                "expected a free lane at most 15 s ahead of the clock, found one 3600.5 s ahead, and 1 of 2 are held: wait for \
                 one of them, or accept the lead with LaneOptions::accept_far_lanes",
                false,
            ),
            (
                OpenKind::Silent { waited: Duration::from_secs(1), cause: "refused".into() },
                "register did not answer in 1000 ms: refused",
                true,
            ),
            (OpenKind::Refused("no such user".into()), "register refuses this process: no such user", true),
            (
                OpenKind::ClocksDiffer { store_ahead_s: 3_600 },
                "store's clock is 3600 s ahead of this process's: correct the wrong one, or name the right one with the option `trust`",
                false,
            ),
            (OpenKind::Closed, "lease is closed", false),
            (OpenKind::Forked, "lease belongs to the parent process: open another one after the fork", false),
            (OpenKind::Reverted("lanes/meta".into()), "register went back while it was opened, at lanes/meta", false),
            (
                OpenKind::NoSpace("lanes".into()),
                "register has no space \"lanes\": if it was lost, recover it, otherwise create it once with `imid lane create` or admin::create",
                false,
            ),
            (
                OpenKind::Undescribed("lanes/meta".into()),
                "register has lanes and no record lanes/meta that describes them: it was deleted or lost, see `imid lane create`",
                false,
            ),
            (OpenKind::Thread(io()), "cannot start the thread of the lease", false),
        ] {
            let error = OpenError::from(kind);
            assert_eq!((error.to_string().as_str(), error.is_register()), (words, is_register));
        }
        let error = OpenError::from(RegisterError::new("cannot lock ids"));
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("cannot lock ids"), "a report that follows the sources has the cause once");
    }
}
