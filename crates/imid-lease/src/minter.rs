//! Leases of other numbers than lanes, for crates that mint something else than message IDs. `imid-snowflake` leases its worker IDs so.
//! An application uses [`LeasedGenerator`](crate::LeasedGenerator).
//!
//! A [`Minter`] mints under the [`Grant`]s of one lease, and [`Leases`] holds those of a process.

use std::time::Duration;

use imid::clock::Clock;
pub use imid_lease_protocol::engine::Grant;
use imid_lease_protocol::record::Space;

pub use crate::clock::BelievedClock;
use crate::clock::until;
use crate::error::{LeaseError, LeaseKind, OpenError, OpenKind};
use crate::handle::Handle;
use crate::lease::Lease;
pub use crate::lease::Minter;
use crate::options::{LaneOptions, OptionsKind};
use crate::record::Name;
use crate::register::{Register, RegisterError};
use crate::status::Status;
use crate::wait::Changes;

/// The numbers that are leased, from 0 to 2^`bits` - 1. They are the same for all processes of a space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbers<'a> {
    /// The name of the space, unless the [options](LaneOptions::space) have one.
    pub space: &'a str,
    /// What they are for, of 1 to 64 of the characters `A-Z`, `a-z`, `0-9`, `-`, `_`, `.` and `:`. A process with another layout is
    /// refused.
    pub layout: &'a str,
    /// At most 16.
    pub bits: u32,
}

/// The leases of one process in a space, which are opened, waited for and closed together. Each has its own thread and register.
///
/// A drop ends them as [`close`](Self::close_within) does, and waits for nothing. In a forked child they have stopped.
#[derive(Debug)]
pub struct Leases {
    handles: Vec<Handle>,
    changes: Changes,
}

impl Leases {
    /// Starts a thread for each minter, which looks for a number immediately. `register` opens the register of each. The space is created
    /// if there is none. The name of each lease is that of the options with a dot and its index.
    ///
    /// # Errors
    /// The options contradict each other, `register` returns an error, or a thread cannot be started.
    pub fn start<R, C>(
        numbers: Numbers<'_>,
        options: &LaneOptions<C>,
        clock: &BelievedClock<C>,
        minters: impl IntoIterator<Item = Box<dyn Minter>>,
        mut register: impl FnMut() -> Result<R, RegisterError>,
    ) -> Result<Self, OpenError>
    where
        R: Register + 'static,
        C: Clock + Clone + Send + Sync + 'static,
    {
        let settings = &options.settings;
        let (_, holder) = settings.check().map_err(OpenKind::Options)?;
        let name = if settings.space.is_empty() { numbers.space } else { &settings.space };
        let refused = |kind: OptionsKind| OpenKind::Options(kind.into());
        let space = Space::new(name, numbers.layout, numbers.bits).map_err(|error| refused(error.into()))?;
        let changes = Changes::new();
        let start = |(index, minter)| {
            let name = Name::parse(&format!("{holder}.{index}")).map_err(|error| refused(error.into()))?;
            let config = settings.config(space.clone(), name);
            let lease = Lease::start(register()?, clock.clone(), config, true, minter, &changes);
            Ok::<_, OpenError>(lease.map_err(OpenKind::Thread)?)
        };
        let handles = minters.into_iter().enumerate().map(start).collect::<Result<_, _>>()?;
        Ok(Self { handles, changes })
    }

    /// Returns whether this process is a forked child of the one that started them.
    #[inline]
    pub fn is_forked(&self) -> bool {
        self.changes.is_forked()
    }

    /// Makes each thread check immediately whether its minter needs a higher ceiling.
    pub fn wake(&self) {
        self.handles.iter().for_each(Handle::wake);
    }

    /// Returns the state of each lease, by the clock with which they were started.
    pub fn status<C: Clock>(&self, clock: &BelievedClock<C>) -> Vec<Status> {
        let now_ms = clock.believed_ms();
        self.handles.iter().map(|lease| lease.state().status_at(now_ms)).collect()
    }

    /// Returns whether all have stopped, permanently.
    pub fn have_stopped(&self) -> bool {
        self.handles.iter().all(|lease| lease.stopped().is_some())
    }

    /// Returns why nothing can be minted, and counts it: why the first lease has no number, or else that all are in use.
    pub fn refusal(&self) -> LeaseError {
        let Some(first) = self.handles.first() else { return LeaseKind::Closed.into() };
        let why_none = || {
            let state = first.state();
            state.why_none().unwrap_or_else(|| LeaseKind::NoLane { retry_after: until(state.next_ms) })
        };
        let kind = if self.is_forked() { LeaseKind::Forked } else { why_none() };
        crate::telemetry::record_refusal(first.constant(), kind);
        kind.into()
    }

    /// Waits until one of them has a number, for at most this time.
    ///
    /// # Errors
    /// As for [`LeasedGenerator::wait_until_open`](crate::LeasedGenerator::wait_until_open), of the first lease.
    pub fn wait_until_open(&self, timeout: Duration) -> Result<(), OpenError> {
        let opened = self.changes.wait(timeout, || self.opened());
        opened.unwrap_or_else(|| Err(self.why_not_open(timeout)))
    }

    /// Does the same in a task of any async runtime, without a time limit. Dropping the future loses nothing.
    ///
    /// # Errors
    /// If waiting does not help, as for [`wait_until_open`](Self::wait_until_open).
    pub async fn wait_until_open_async(&self) -> Result<(), OpenError> {
        self.changes.wait_async(|| self.opened()).await
    }

    /// Ends all leases, and waits for at most this time. Returns whether the register has acknowledged that all numbers are free. Seal
    /// the minters first.
    ///
    /// After a failed call a lease makes no more, and its number stays taken for the horizon. The other leases continue.
    pub fn close_within(&self, timeout: Duration) -> bool {
        self.end();
        self.changes.wait(timeout, || self.ended()).unwrap_or(false)
    }

    /// Does the same in a task of any async runtime, without a time limit, once the future was polled. Dropping it then stops nothing.
    pub async fn close_async(&self) -> bool {
        self.end();
        self.changes.wait_async(|| self.ended()).await
    }

    fn end(&self) {
        self.handles.iter().for_each(Handle::end);
    }

    fn ended(&self) -> Option<bool> {
        self.handles.iter().try_fold(true, |all, lease| Some(lease.ended()? && all))
    }

    fn opened(&self) -> Option<Result<(), OpenError>> {
        if self.handles.iter().any(Handle::has_lane) {
            return Some(Ok(()));
        }
        self.handles.first().map_or_else(|| Some(Err(OpenKind::Closed.into())), Handle::opened)
    }

    fn why_not_open(&self, waited: Duration) -> OpenError {
        self.handles.first().map_or_else(|| OpenKind::Closed.into(), |lease| lease.state().why_not_open(waited))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::record::LaneState;
    use crate::register::{MemoryRegister, Promise};

    /// Mints nothing.
    struct Idle;

    impl Minter for Idle {
        fn used_until_ms(&self) -> u64 {
            0
        }

        fn start(&mut self, _: Grant) {}

        fn raise(&mut self, _: u64) {}

        fn seal(&mut self) -> u64 {
            0
        }
    }

    const MINUTE: Duration = Duration::from_secs(60);

    fn start(options: &LaneOptions, register: &MemoryRegister, bits: u32, count: usize) -> Result<Leases, OpenError> {
        let numbers = Numbers { space: "tickets", layout: "ticket-3", bits };
        let minters = (0..count).map(|_| Box::new(Idle) as Box<dyn Minter>);
        Leases::start(numbers, options, &BelievedClock::of(options), minters, || Ok(register.clone()))
    }

    #[test]
    fn each_lease_has_a_name_of_its_own_and_all_are_waited_for_and_closed_together() {
        let (register, options) = (MemoryRegister::new(), LaneOptions::new().holder("web-3"));
        let leases = start(&options, &register, 2, 3).unwrap();
        leases.wait_until_open(MINUTE).unwrap();
        let clock = BelievedClock::of(&options);
        let held = || leases.status(&clock).iter().filter(|status| status.can_mint()).count();
        assert_eq!(leases.changes.wait(MINUTE, || (held() == 3).then_some(())), Some(()));
        let names: Vec<_> = leases.status(&clock).iter().map(|status| status.holder.to_string()).collect();
        assert_eq!(names, ["web-3.0", "web-3.1", "web-3.2"]);
        assert!(leases.refusal().is_no_lane() && !leases.have_stopped());
        let view = crate::admin::view(&mut register.clone(), "tickets").unwrap();
        assert_eq!((view.meta.layout.as_str(), view.meta.bits), ("ticket-3", 2));
        assert!(leases.close_within(MINUTE) && leases.have_stopped() && leases.refusal().is_closed());
        assert!(leases.wait_until_open(MINUTE).unwrap_err().is_closed());
    }

    /// A register whose writes fail while the flag is set.
    struct Fails(MemoryRegister, Arc<AtomicBool>);

    impl Register for Fails {
        fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
            self.0.read(key)
        }

        fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
            self.0.list(prefix)
        }

        fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
            if self.1.load(Ordering::Relaxed) {
                return Err(RegisterError::new("away"));
            }
            self.0.compare_and_set(key, seen, value)
        }

        fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
            self.0.now_ms()
        }

        fn promise(&self) -> Promise {
            self.0.promise()
        }
    }

    #[test]
    fn one_connection_that_fails_at_a_close_keeps_no_other_number_taken() {
        let (register, options) = (MemoryRegister::new(), LaneOptions::new());
        let (clock, fails) = (BelievedClock::of(&options), Arc::new(AtomicBool::new(false)));
        let minters = (0..16).map(|_| Box::new(Idle) as Box<dyn Minter>);
        let mut flags = std::iter::once(Arc::clone(&fails)).chain(std::iter::repeat_with(Arc::default));
        let open = || Ok(Fails(register.clone(), flags.next().unwrap_or_default()));
        let numbers = Numbers { space: "tickets", layout: "ticket-3", bits: 4 };
        let leases = Leases::start(numbers, &options, &clock, minters, open).unwrap();
        let held = || leases.status(&clock).iter().filter(|status| status.can_mint()).count();
        assert_eq!(leases.changes.wait(MINUTE, || (held() == 16).then_some(())), Some(()));
        fails.store(true, Ordering::Relaxed);
        assert!(!leases.close_within(MINUTE), "one is not free");
        let lanes = crate::admin::view(&mut register.clone(), "tickets").unwrap().lanes;
        let states = lanes.into_iter().map(|lane| lane.record.unwrap().unwrap().state);
        assert_eq!(states.filter(|state| *state == LaneState::Free).count(), 15);
    }

    #[test]
    fn what_cannot_be_leased_is_an_error() {
        let register = MemoryRegister::new();
        for (options, bits) in [
            (LaneOptions::new().holder("a".repeat(63)), 2),
            (LaneOptions::new().space("A b"), 2),
            (LaneOptions::new().horizon(Duration::ZERO), 2),
            (LaneOptions::new(), 17),
        ] {
            assert!(start(&options, &register, bits, 1).unwrap_err().is_options(), "{options:?} {bits}");
        }
        assert!(start(&LaneOptions::new(), &register, 2, 0).unwrap().wait_until_open(MINUTE).unwrap_err().is_closed());
    }
}
