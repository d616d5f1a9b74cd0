//! A generator whose lane comes from a register.

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use imid::clock::{Clock, SystemClock};
use imid::generator::{Batch, GenerateError, Generator, Lane, ObserveError, Stats};
use imid::{MessageId, SessionTag};

use crate::clock::{BelievedClock, until};
use crate::engine::{Grant, MIN_GAP_MS};
use crate::error::{LeaseError, LeaseKind, OpenError, OpenKind};
use crate::handle::Handle;
use crate::lease::{Lease, Minter};
use crate::options::{LaneOptions, Settings, millis};
use crate::register::{FileRegister, Register};
use crate::status::Status;
use crate::telemetry;
use crate::wait::Changes;

/// How long a file can take: the lane of a killed process is free immediately, because it has the same name.
const FILE_PATIENCE: Duration = Duration::from_secs(15);

/// Mints the IDs of one process in a lane granted by a register.
///
/// **Unique** and **monotonic** as the [crate](crate#guarantees) describes, with a table of faults. [`generate`](Self::generate) is
/// **lock-free** while the lane stays the same. The lane changes only after it was lost. Calls then wait for the thread of
/// the lease to start the next generator, which takes microseconds if that thread gets a core.
///
/// | call | blocks | in an async task |
/// | --- | --- | --- |
/// | `generate`, `batch`, `fill`, `observe`, `raise_floor`, `status`, `stats` | no; see above for a change of the lane | call it |
/// | [`open`](Self::open), drop | no: a thread connects, and releases the lane | call it |
/// | [`wait_until_open`](Self::wait_until_open) | at most the given time | [`wait_until_open_async`](Self::wait_until_open_async) |
/// | [`generate_within`](Self::generate_within) | at most the given time | [`generate_async`](Self::generate_async) |
/// | [`close_within`](Self::close_within) | at most the given time | [`close_async`](Self::close_async) |
/// | [`open_file`](Self::open_file) | for a few disk writes | `spawn_blocking` |
///
/// ```
/// use std::time::Duration;
///
/// use imid::{SessionTag, SessionType};
/// use imid_lease::register::MemoryRegister;
/// use imid_lease::{LaneOptions, LeasedGenerator};
///
/// let ids = LeasedGenerator::open(MemoryRegister::new(), LaneOptions::new())?;
/// ids.wait_until_open(Duration::from_secs(15))?;
/// let room = SessionTag::new(SessionType::GROUP, "room-42");
/// assert!(ids.generate(room)? < ids.generate(room)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LeasedGenerator<C = SystemClock, const STRIPES: usize = 1> {
    inner: Arc<Inner<C, STRIPES>>,
    lease: Handle,
}

/// The state that the threads that mint share with the thread of the lease.
struct Inner<C, const STRIPES: usize> {
    /// Mints nothing. Before there is a lane, it remembers which IDs were observed.
    before: LaneGenerator<C, STRIPES>,
    /// The generator of the first lane, if one was granted. Most processes never need another one.
    first: OnceLock<LaneGenerator<C, STRIPES>>,
    /// No further generator starts.
    is_closed: AtomicBool,
    /// How many calls were refused.
    refused: AtomicU64,
    clock: BelievedClock<C>,
    settings: Settings,
}

/// The generator of one grant. It stays when its lane is lost, because a thread may still use it.
struct LaneGenerator<C, const STRIPES: usize> {
    generator: Generator<BelievedClock<C>, STRIPES>,
    /// Set before the generator is closed.
    is_sealed: AtomicBool,
    /// The generator of the next grant. A lane is lost seldom, so a call walks past few.
    next: OnceLock<Box<Self>>,
}

impl LeasedGenerator {
    /// Opens a generator for the only process that mints, with its own file as the register. There is nothing to configure.
    ///
    /// After a crash no ID is repeated, whatever the clock shows, because the next process starts after everything this one can
    /// have minted. That can be ahead of the clock by the horizon, 10 s.
    ///
    /// It waits until the lease is on disk. [Close](Self::close) it before the process exits or reopens the file: a drop does not
    /// wait, and the next start then continues after the lease.
    ///
    /// ```
    /// use imid::{SessionTag, SessionType};
    /// use imid_lease::LeasedGenerator;
    ///
    /// # let folder = std::env::temp_dir().join(format!("imid-lease-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("ids");
    /// let ids = LeasedGenerator::open_file(&path)?;
    /// let id = ids.generate(SessionTag::new(SessionType::GROUP, "room-42"))?;
    /// # ids.close_within(std::time::Duration::MAX);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Another process uses the file. The file or its folder cannot be used: see [`FileRegister::owned`].
    ///
    /// Or the lease is far ahead of the clock ([`OpenError::is_clock`]). If this clock is right, an earlier one was ahead. Wait
    /// until time catches up, or mint as far ahead as the file says:
    ///
    /// ```
    /// # use imid_lease::OpenError;
    /// use std::time::Duration;
    ///
    /// use imid_lease::register::FileRegister;
    /// use imid_lease::{LaneOptions, LeasedGenerator};
    ///
    /// # fn open(path: &std::path::Path) -> Result<LeasedGenerator, OpenError> {
    /// let options = LaneOptions::new().lane_bits(0).holder("owner").accept_far_lanes();
    /// let ids = LeasedGenerator::open(FileRegister::owned(path)?, options)?;
    /// ids.wait_until_open(Duration::from_secs(15))?;
    /// # Ok(ids)
    /// # }
    /// ```
    pub fn open_file(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let ids = Self::open(FileRegister::owned(path)?, LaneOptions::new().lane_bits(0).holder("owner"))?;
        let opened = ids.wait_until_open(FILE_PATIENCE);
        if opened.is_err() {
            // Lets the file go, so that the caller can open it in another way.
            ids.close_within(FILE_PATIENCE);
        }
        opened.map(|()| ids)
    }
}

impl<C, const STRIPES: usize> LeasedGenerator<C, STRIPES> {
    /// Returns the clock from the options. The generator follows it as far as it is credible ([`max_skew`](LaneOptions::max_skew)).
    pub fn clock(&self) -> &C {
        self.inner.clock.application()
    }
}

impl<C, const STRIPES: usize> LeasedGenerator<C, STRIPES>
where
    C: Clock + Clone + Send + Sync,
{
    /// Opens a generator. It returns immediately, in the phase [seeking](crate::Phase::Seeking): a thread looks for a lane, and
    /// keeps the lease until the generator is dropped. Until there is a lane, each call returns an error with
    /// [`retry_after`](LeaseError::retry_after).
    ///
    /// # Errors
    /// The options contradict each other, or the thread cannot be started.
    pub fn open<R: Register + 'static>(register: R, options: LaneOptions<C, STRIPES>) -> Result<Self, OpenError>
    where
        C: 'static,
    {
        let LaneOptions { clock, settings } = options;
        let (space, name) = settings.check().map_err(OpenKind::Options)?;
        let clock = BelievedClock::new(clock, millis(settings.max_skew), settings.trusted);
        // This also finds invalid settings, which the thread could not report.
        let before = build(&clock, &settings, Grant { lane: 0, floor_ms: 0, ceiling_ms: 0 })?;
        let inner = Arc::new(Inner {
            before,
            first: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            refused: AtomicU64::new(0),
            clock: clock.clone(),
            settings: settings.clone(),
        });
        let config = settings.config(space, name);
        let creates_missing = settings.create_missing;
        let minter = Box::new(LaneMinter(Arc::clone(&inner)));
        let lease = Lease::start(register, clock, config, creates_missing, minter, &Changes::new());
        Ok(Self { inner, lease: lease.map_err(OpenKind::Thread)? })
    }

    /// Waits until there is a lane, for at most this time.
    ///
    /// # Errors
    /// - The register does not answer, or has no free lane, within this time. The search continues, so you can call again.
    /// - Immediately, if the register is for another layout or number of lanes, or refuses this process permanently, as with a
    ///   wrong password. [`OpenError::is_permanent`] identifies these errors.
    pub fn wait_until_open(&self, timeout: Duration) -> Result<(), OpenError> {
        self.lease.wait_until_open(timeout)
    }

    /// Does what [`wait_until_open`](Self::wait_until_open) does in a task of any async runtime, without a time limit: the caller has
    /// one, such as `tokio::time::timeout`. Dropping the future loses nothing: the search continues.
    ///
    /// # Errors
    /// If waiting does not help ([`OpenError::is_permanent`]), as for [`wait_until_open`](Self::wait_until_open).
    pub async fn wait_until_open_async(&self) -> Result<(), OpenError> {
        self.lease.wait_until_open_async().await
    }

    /// Mints a session's next ID. **Lock-free** while the lane stays the same; **never waits for the register**.
    ///
    /// # Errors
    /// There is no lane yet, or the lease is used up and cannot be renewed, for now or permanently ([`LeaseError`]). Otherwise as
    /// for [`imid::Generator::generate`].
    #[inline]
    pub fn generate(&self, session: SessionTag) -> Result<MessageId, LeaseError> {
        self.mint(|generator| generator.generate(session))
    }

    /// Mints a session's next ID. If there is no lane, or the lease is used up, it waits for at most `timeout` until that changes.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate). What only the generator refuses ([`LeaseError::generate_error`]), as under overload, is an
    /// error immediately, and so is what does not pass ([`LeaseError::retry_after`] is `None`).
    pub fn generate_within(&self, session: SessionTag, timeout: Duration) -> Result<MessageId, LeaseError> {
        let minted = self.lease.changes().wait(timeout, || self.minted(session));
        minted.unwrap_or_else(|| self.generate(session))
    }

    /// Does what [`generate_within`](Self::generate_within) does in a task of any async runtime, without a time limit: the caller has
    /// one. Dropping the future loses no ID: the poll that mints is the one that completes it.
    ///
    /// ```
    /// # use imid::{SessionTag, SessionType};
    /// # use imid_lease::register::MemoryRegister;
    /// # use imid_lease::{LaneOptions, LeasedGenerator};
    /// use std::time::Duration;
    ///
    /// use tokio::time::timeout;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let ids = LeasedGenerator::open(MemoryRegister::new(), LaneOptions::new())?;
    /// timeout(Duration::from_secs(15), ids.wait_until_open_async()).await??;
    /// let room = SessionTag::new(SessionType::GROUP, "room-42");
    /// let id = timeout(Duration::from_secs(1), ids.generate_async(room)).await??;
    /// # assert_eq!(id.session_tag(), room);
    /// assert!(timeout(Duration::from_secs(5), ids.close_async()).await?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`generate_within`](Self::generate_within).
    pub async fn generate_async(&self, session: SessionTag) -> Result<MessageId, LeaseError> {
        self.lease.changes().wait_async(|| self.minted(session)).await
    }

    /// Mints an ID, or says why it cannot; `None` if the thread of the lease announces when it can.
    fn minted(&self, session: SessionTag) -> Option<Result<MessageId, LeaseError>> {
        match self.generate(session) {
            Err(error) if error.retry_after().is_some() && error.generate_error().is_none() => None,
            minted => Some(minted),
        }
    }

    /// Takes a run of `n` consecutive IDs of a session in one atomic step, all or nothing. With 0 the run is empty.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate), with the limits applied to the last ID of the run, and if the run is longer than
    /// [`max_lead`](LaneOptions::max_lead) allows, as for [`imid::Generator::batch`].
    #[inline]
    pub fn batch(&self, session: SessionTag, n: usize) -> Result<Batch, LeaseError> {
        self.mint(|generator| generator.batch(session, n))
    }

    /// Fills a slice with the IDs of one [`batch`](Self::batch), all or nothing.
    ///
    /// # Errors
    /// As for [`batch`](Self::batch). The slice is then unchanged.
    #[inline]
    pub fn fill(&self, session: SessionTag, ids: &mut [MessageId]) -> Result<(), LeaseError> {
        self.mint(|generator| generator.fill(session, ids))
    }

    /// Makes every later ID, of every session, sort after an ID from a host that you trust: see [`imid::Generator::observe`].
    ///
    /// # Errors
    /// The ID is more than [`max_skew`](LaneOptions::max_skew) ahead of the clock, or the clock has no usable time. The generator
    /// is then unchanged.
    #[inline]
    pub fn observe(&self, id: MessageId) -> Result<(), ObserveError> {
        self.on_last(|generator| generator.observe(id)).inspect_err(|error| self.note_refused_observation(*error))
    }

    /// Does what [`observe`](Self::observe) does, with your own limit, for IDs that a client sends: see
    /// [`imid::Generator::observe_limited`].
    ///
    /// # Errors
    /// As for [`observe`](Self::observe), with the lesser of `limit` and `max_skew`.
    #[inline]
    pub fn observe_limited(&self, id: MessageId, limit: Duration) -> Result<(), ObserveError> {
        self.on_last(|generator| generator.observe_limited(id, limit))
            .inspect_err(|error| self.note_refused_observation(*error))
    }

    /// Makes every later ID, of every session, sort after one that is trusted, however far ahead it is: see
    /// [`imid::Generator::raise_floor`]. The floor outlives a change of the lane.
    ///
    /// If the ID is past the lease's ceiling, calls return an error with [`retry_after`](LeaseError::retry_after) until a renewal
    /// has raised the ceiling past it.
    pub fn raise_floor(&self, id: MessageId) {
        self.raise_floor_ms(id.timestamp_ms() + 1);
    }

    /// Raises the first millisecond since 1970 that a later ID may have, as [`raise_floor`](Self::raise_floor) does.
    pub fn raise_floor_ms(&self, timestamp_ms: u64) {
        let raised = self.on_last(|generator| {
            generator.raise_floor_ms(timestamp_ms);
            Ok::<_, Infallible>(())
        });
        let Ok(()) = raised;
    }

    /// Returns the longest run that [`batch`](Self::batch) and [`fill`](Self::fill) can grant.
    pub fn longest_run(&self) -> usize {
        self.inner.before.generator.longest_run()
    }

    /// Returns the generator's state, for monitoring: see [`Stats`]. [`status`](Self::status) has the lease's.
    pub fn stats(&self) -> Stats {
        let mut stats = self.inner.last().unwrap_or(&self.inner.before).generator.stats();
        stats.refused = self.inner.refused.load(Ordering::Relaxed);
        stats
    }

    #[cold]
    fn note_refused_observation(&self, error: ObserveError) {
        // In a forked child, another thread may have held a lock of the recorder.
        if !self.lease.is_forked() {
            telemetry::record_refused_observation(self.lease.constant(), error);
        }
    }

    /// Does this with the last generator, or with the next one if the lane changes in the meantime.
    fn on_last<E>(&self, observe: impl Fn(&Generator<BelievedClock<C>, STRIPES>) -> Result<(), E>) -> Result<(), E> {
        loop {
            let granted = self.inner.last().unwrap_or(&self.inner.before);
            observe(&granted.generator)?;
            // ORDERING: with the fence in `seal`: either this sees the seal, or the thread sees what was observed.
            fence(Ordering::SeqCst);
            if !granted.is_sealed.load(Ordering::Relaxed) || self.stays_last(granted) {
                return Ok(());
            }
        }
    }

    /// Returns the lease's state, for operators. In a forked child the lease has [stopped](crate::Phase::Stopped).
    pub fn status(&self) -> Status {
        self.lease.state().status_at(self.inner.clock.believed_ms())
    }

    /// Waits until the lease has [stopped](crate::Phase::Stopped), for at most `timeout`, and returns why: it was closed, the
    /// register went back to an earlier state or has other settings, or its thread panicked. `None` if it is still running.
    ///
    /// A stopped lease never starts again. If the register went back ([`is_reverted`](LeaseError::is_reverted)), do not restart the
    /// process before the register is [recovered](crate::admin::recover): a process that starts cannot tell that it went back.
    pub fn stopped_within(&self, timeout: Duration) -> Option<LeaseError> {
        self.lease.changes().wait(timeout, || self.why_ended())
    }

    /// Waits until the lease has [stopped](crate::Phase::Stopped), in a task of any async runtime, and returns why, as
    /// [`stopped_within`](Self::stopped_within) does. Dropping the future stops nothing.
    ///
    /// ```no_run
    /// # async fn run(ids: imid_lease::LeasedGenerator) {
    /// // Beside the server of the application.
    /// let why = ids.stopped_async().await;
    /// eprintln!("cannot mint anymore: {why}");
    /// # }
    /// ```
    pub async fn stopped_async(&self) -> LeaseError {
        self.lease.changes().wait_async(|| self.why_ended()).await
    }

    /// Waits until only a restart of the process helps, for at most `timeout`, and returns why. As [`stopped_within`](Self::stopped_within),
    /// but not while the register has gone back ([`is_reverted`](LeaseError::is_reverted)): answer 503 then, and do not exit.
    pub fn needs_restart_within(&self, timeout: Duration) -> Option<LeaseError> {
        self.lease.changes().wait(timeout, || self.why_restart())
    }

    /// Does what [`needs_restart_within`](Self::needs_restart_within) does in a task of any async runtime, without a time limit.
    ///
    /// ```no_run
    /// # async fn run(ids: imid_lease::LeasedGenerator) {
    /// // Beside the server of the application.
    /// let why = ids.needs_restart_async().await;
    /// eprintln!("cannot mint anymore, a supervisor restarts this process: {why}");
    /// # }
    /// ```
    pub async fn needs_restart_async(&self) -> LeaseError {
        self.lease.changes().wait_async(|| self.why_restart()).await
    }

    fn why_restart(&self) -> Option<LeaseError> {
        self.why_ended().filter(|why| !why.is_reverted())
    }

    fn why_ended(&self) -> Option<LeaseError> {
        self.lease.stopped().is_some().then(|| self.why_stopped().into())
    }

    /// Releases the lane, and waits for at most `timeout`. Returns whether the register acknowledged it; also `true` if there was
    /// no lane.
    ///
    /// The generator stops immediately: later calls return an error ([`LeaseError::is_closed`]). Then one or two writes tell the
    /// register where the lane's next holder starts. After a call without an answer it gives up, and the lane stays taken for the
    /// horizon. In a forked child this does nothing and returns `false`.
    ///
    /// Dropping the generator does the same without waiting, so if the program exits right after, the writes may not happen.
    pub fn close_within(&self, timeout: Duration) -> bool {
        self.end();
        self.lease.changes().wait(timeout, || self.lease.ended()).unwrap_or(false)
    }

    /// Does what [`close_within`](Self::close_within) does in a task of any async runtime, without a time limit: it ends as soon as
    /// [`close`](Self::close) does.
    ///
    /// It starts when the future is first polled. Dropping the future after that stops nothing: the thread of the lease
    /// releases the lane.
    pub async fn close_async(&self) -> bool {
        self.end();
        self.lease.changes().wait_async(|| self.lease.ended()).await
    }

    /// Releases the lane, as [`close_within`](Self::close_within) does, and waits for the calls that are under way and for the release,
    /// usually one each. A call takes at most the call time limit, 2 s by default, or up to five of them if it has to connect.
    pub fn close(&self) {
        self.close_within(Duration::MAX);
    }

    fn end(&self) {
        if !self.lease.is_forked() {
            self.inner.close();
            self.lease.end();
        }
    }

    #[inline]
    fn mint<T>(
        &self,
        mut mint: impl FnMut(&Generator<BelievedClock<C>, STRIPES>) -> Result<T, GenerateError>,
    ) -> Result<T, LeaseError> {
        if let Some(granted) = self.running()
            && let Ok(minted) = mint(&granted.generator)
        {
            return Ok(minted);
        }
        self.try_again(mint)
    }

    /// Returns the generator that mints now.
    #[inline]
    fn running(&self) -> Option<&LaneGenerator<C, STRIPES>> {
        let first = self.inner.first.get()?;
        // ORDERING: a hint. A generator that is closed mints nothing, and the call looks again.
        if first.is_sealed.load(Ordering::Relaxed) { self.inner.last() } else { Some(first) }
    }

    /// Returns whether the generator that was the last one stays the last one, after it was sealed. Waits for the next
    /// one.
    #[cold]
    #[inline(never)]
    fn stays_last(&self, granted: &LaneGenerator<C, STRIPES>) -> bool {
        while self.inner.is_last(granted) {
            if self.inner.is_closed.load(Ordering::Relaxed) || self.lease.stopped().is_some() {
                return self.inner.is_last(granted);
            }
            thread::yield_now();
        }
        false
    }

    /// Tries again with the generator that is now the last one, and says why it does not work.
    #[cold]
    #[inline(never)]
    fn try_again<T>(
        &self,
        mint: impl FnMut(&Generator<BelievedClock<C>, STRIPES>) -> Result<T, GenerateError>,
    ) -> Result<T, LeaseError> {
        self.retry(mint).map_err(|kind| self.refuse(kind))
    }

    /// Counts a refusal.
    fn refuse(&self, kind: LeaseKind) -> LeaseError {
        self.inner.refused.fetch_add(1, Ordering::Relaxed);
        telemetry::record_refusal(self.lease.constant(), kind);
        kind.into()
    }

    fn retry<T>(
        &self,
        mut mint: impl FnMut(&Generator<BelievedClock<C>, STRIPES>) -> Result<T, GenerateError>,
    ) -> Result<T, LeaseKind> {
        let mut waited = false;
        loop {
            let Some(granted) = self.inner.last() else { return Err(self.why_no_room()) };
            let error = match mint(&granted.generator) {
                Ok(minted) => return Ok(minted),
                Err(error) => error,
            };
            if error.is_forked() {
                return Err(LeaseKind::Forked);
            }
            if error.is_closed() {
                if self.stays_last(granted) {
                    return Err(self.why_stopped());
                }
            } else if error.is_ceiling() {
                // The thread of the lease may have raised it since.
                if waited {
                    self.lease.wake();
                    return Err(self.why_no_room());
                }
                waited = true;
            } else {
                return Err(LeaseKind::Generate(error));
            }
        }
    }

    fn why_stopped(&self) -> LeaseKind {
        if self.lease.is_forked() {
            return LeaseKind::Forked;
        }
        self.lease.stopped().as_ref().map_or(LeaseKind::Closed, LeaseKind::from)
    }

    fn why_no_room(&self) -> LeaseKind {
        if self.lease.is_forked() {
            return LeaseKind::Forked;
        }
        if self.inner.is_closed.load(Ordering::Relaxed) {
            return self.why_stopped();
        }
        let is_below_floor = self.inner.last().is_some_and(|granted| {
            let stats = granted.generator.stats();
            stats.behind > stats.lead
        });
        let state = self.lease.state();
        // The thread was woken, and renews the lease as soon as the attempt before is old enough: but only for IDs that were minted, not
        // for a floor, which can be as far ahead as a caller likes.
        let early_ms = state.view.attempted_at_ms.unwrap_or(0) + MIN_GAP_MS;
        let regular_ms = state.view.acknowledged_at_ms.unwrap_or(0) + millis(self.inner.settings.horizon) / 4;
        let renews_ms = if is_below_floor { early_ms.max(regular_ms) } else { early_ms };
        state.why_none().unwrap_or_else(|| LeaseKind::UsedUp { retry_after: until(renews_ms) })
    }
}

impl<C, const STRIPES: usize> fmt::Debug for LeasedGenerator<C, STRIPES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeasedGenerator")
            .field("stripes", &STRIPES)
            .field("lane_bits", &self.inner.settings.lane_bits)
            .field("phase", &self.lease.state().view.phase)
            .finish_non_exhaustive()
    }
}

impl<C: Clock + Clone, const STRIPES: usize> Inner<C, STRIPES> {
    /// Returns the generator of the last grant.
    #[inline]
    fn last(&self) -> Option<&LaneGenerator<C, STRIPES>> {
        let mut last = self.first.get()?;
        while let Some(next) = last.next.get() {
            last = next;
        }
        Some(last)
    }

    /// Returns whether no generator was granted after this one.
    fn is_last(&self, granted: &LaneGenerator<C, STRIPES>) -> bool {
        self.last().is_none_or(|last| std::ptr::eq(last, granted))
    }

    /// Adds the generator of a grant. Only one thread does, so its place is free.
    fn add(&self, granted: LaneGenerator<C, STRIPES>) {
        let _ = match self.last() {
            None => self.first.set(granted).is_ok(),
            Some(last) => last.next.set(Box::new(granted)).is_ok(),
        };
    }

    /// Seals the generator, and lets no other one start.
    fn close(&self) {
        // ORDERING: with `start`: either this sees the new generator, or `start` sees the flag.
        self.is_closed.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.seal();
    }

    /// Ends the running generator, and returns the first millisecond after each of its stamps; 0 if there is none.
    fn seal(&self) -> u64 {
        let Some(granted) = self.last() else { return 0 };
        granted.is_sealed.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        granted.generator.close().unwrap_or(0)
    }
}

impl<C, const STRIPES: usize> Drop for Inner<C, STRIPES> {
    /// One after another: the drop of a long list would go as deep.
    fn drop(&mut self) {
        let mut next = self.first.get_mut().and_then(|first| first.next.take());
        while let Some(mut granted) = next {
            next = granted.next.take();
        }
    }
}

/// Builds the generator of a grant.
fn build<C: Clock + Clone, const STRIPES: usize>(
    clock: &BelievedClock<C>,
    settings: &Settings,
    grant: Grant,
) -> Result<LaneGenerator<C, STRIPES>, OpenError> {
    let mut builder = Generator::builder()
        .stripes()
        .clock(clock.clone())
        .max_lead(settings.max_lead)
        .max_skew(settings.max_skew)
        .lane(Lane { index: grant.lane, bits: settings.lane_bits })
        .floor_ms(grant.floor_ms)
        .ceiling_ms(grant.ceiling_ms);
    if settings.accept_far_lanes {
        // A lane that is far ahead looks to its generator like a clock that has stepped back as far.
        builder = builder.max_rollback(Duration::MAX);
    }
    Ok(LaneGenerator {
        generator: builder.build().map_err(OpenKind::Build)?,
        is_sealed: AtomicBool::new(false),
        next: OnceLock::new(),
    })
}

/// The part of a generator that the thread of the lease drives.
struct LaneMinter<C, const STRIPES: usize>(Arc<Inner<C, STRIPES>>);

impl<C: Clock + Clone + Send + Sync, const STRIPES: usize> Minter for LaneMinter<C, STRIPES> {
    fn used_until_ms(&self) -> u64 {
        let Some(granted) = self.0.last() else { return 0 };
        // The last stamp is not after the clock, or as far ahead of it as its lead.
        let lead = millis(granted.generator.stats().lead);
        if lead == 0 { 0 } else { granted.generator.clock().refresh().map_or(0, |now| now + lead + 1) }
    }

    fn start(&mut self, grant: Grant) {
        let last = self.0.last();
        if last.is_none() {
            self.0.before.is_sealed.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
        // IDs that the previous generator has observed, and its floors, also hold for this one.
        let before = &last.unwrap_or(&self.0.before).generator;
        // Also where the time reached is not ahead: the clock can step back before the first reading of the new generator.
        let now = || before.clock().refresh().unwrap_or(0);
        let (now_ms, behind) = (now(), millis(before.stats().behind));
        let reached_ms = now_ms.max(now()) + behind;
        let grant = Grant { floor_ms: grant.floor_ms.max(reached_ms), ..grant };
        let Ok(granted) = build(&self.0.clock, &self.0.settings, grant) else {
            // `open` has built one with the same settings. Callers would wait for this one forever.
            return self.0.close();
        };
        self.0.add(granted);
        fence(Ordering::SeqCst);
        if self.0.is_closed.load(Ordering::SeqCst) {
            self.0.seal();
        }
    }

    fn raise(&mut self, ceiling_ms: u64) {
        if let Some(granted) = self.0.last() {
            granted.generator.raise_ceiling_ms(ceiling_ms);
        }
    }

    fn seal(&mut self) -> u64 {
        self.0.seal()
    }
}
