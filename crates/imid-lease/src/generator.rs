//! A generator whose lane comes from a register.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread;
use std::time::Duration;

use imid::clock::{Clock, SystemClock};
use imid::generator::{Batch, GenerateError, Generator, Lane, ObserveError};
use imid::{IdParts, MessageId, SessionTag};

use crate::chain::Chain;
use crate::clock::{BelievedClock, monotonic_ms};
use crate::engine::{Grant, MIN_GAP_MS, Stopped};
use crate::error::{LeaseError, LeaseKind, OpenError, OpenKind};
use crate::keeper::{Keeper, Lease, State, Tenant};
use crate::options::{Options, Settings, millis};
use crate::register::{FileRegister, Register};
use crate::status::{Phase, Status};
use crate::wait::retry_within;

/// Mints the IDs of one process in a lane that a register grants.
///
/// **Unique**: no two IDs are equal, whatever clocks, networks and processes do, while the register keeps its promises.
/// **Lock-free**, **never blocks** and **monotonic** as [`imid::Generator`] is, also when the lane changes.
///
/// | event | what happens |
/// | --- | --- |
/// | the register does not answer | minting goes on up to the ceiling: for three quarters of the horizon at least. Then an error with `retry_after` |
/// | the process is paused, and another one takes its lane | IDs below the ceiling are still unique; then it takes another lane |
/// | the clock jumps by more than `max_skew` | the jump is not followed |
/// | all lanes are taken | an error with `retry_after`, until one is given back or its holder's time-out is over |
/// | the process is killed | its lane is free after the time-out. It goes on after the last ceiling, which can be ahead of the clock by the horizon |
/// | the process forks | the child mints nothing: it opens a lease of its own |
/// | the register is restored from a backup | it is noticed at the next renewal. The process mints nothing any more |
///
/// ```
/// use imid::{SessionTag, SessionType};
/// use imid_lease::register::MemoryRegister;
/// use imid_lease::{LeasedGenerator, Options};
///
/// let ids = LeasedGenerator::open(MemoryRegister::new(), Options::new())?;
/// let room = SessionTag::new(SessionType::GROUP, "room-42");
/// assert!(ids.generate(room)? < ids.generate(room)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LeasedGenerator<C: Clock + Clone = SystemClock, const STRIPES: usize = 1> {
    /// The generator of the first lane. Most processes never need another one, and it is found without a search.
    first: Arc<LaneGenerator<C, STRIPES>>,
    inner: Arc<Inner<C, STRIPES>>,
    keeper: Keeper,
}

/// The state that the threads that mint share with the keeper.
struct Inner<C, const STRIPES: usize> {
    /// The generators of all lanes that were granted, in order. The last one mints.
    generators: Chain<Arc<LaneGenerator<C, STRIPES>>>,
    clock: BelievedClock<C>,
    settings: Settings,
    lane_bits: u32,
}

/// The generator of one grant.
struct LaneGenerator<C, const STRIPES: usize> {
    generator: Generator<BelievedClock<C>, STRIPES>,
    /// Set before the generator is closed.
    is_sealed: AtomicBool,
}

impl LeasedGenerator {
    /// Opens a generator for the only process that mints: its register is a file that it alone uses. There is nothing
    /// to configure.
    ///
    /// After a crash no ID comes twice, whatever the clock shows, because the next process starts after all that this
    /// one can have minted. That can be ahead of the clock by the horizon, 10 s.
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
    /// # drop(ids);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Another process uses the file. The file or its folder cannot be used: see [`FileRegister::owned`].
    pub fn open_file(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open(FileRegister::owned(path)?, Options::new().lane_bits(0).holder("owner"))
    }
}

impl<C, const STRIPES: usize> LeasedGenerator<C, STRIPES>
where
    C: Clock + Clone + Send + Sync + 'static,
{
    /// Opens a generator, and waits until it has a lane.
    ///
    /// It starts a thread, which keeps the lease until the generator is dropped.
    ///
    /// # Errors
    /// The options do not fit together. The register does not answer, is for another layout or number of lanes, or has
    /// no free lane in [`open_within`](Options::open_within).
    pub fn open<R: Register + 'static>(register: R, options: Options<C, STRIPES>) -> Result<Self, OpenError> {
        let Options { clock, settings } = options;
        let (space, name) = settings.check()?;
        let clock = BelievedClock::new(clock, millis(settings.max_skew));
        let lane_bits = space.bits();
        let inner =
            Arc::new(Inner { generators: Chain::new(), clock: clock.clone(), settings: settings.clone(), lane_bits });
        // Finds settings that do not fit now, because the keeper could not report them.
        inner.build(Grant { lane: 0, floor_ms: 0, ceiling_ms: 0 })?;
        let config = settings.config(space.clone(), name);
        let lease = Lease { config, tenant: Box::new(LaneTenant(Arc::clone(&inner))) };
        let keeper = Keeper::start(register, clock, vec![lease]).map_err(OpenKind::Thread)?;
        let is_open = |state: &State| state.status.phase != Phase::Seeking;
        let state = keeper.wait(0, settings.open_within, is_open);
        match inner.generators.first().cloned() {
            Some(first) if state.status.phase != Phase::Stopped => Ok(Self { first, inner, keeper }),
            _ => Err(OpenError::not_opened(&state, &space, settings.open_within)),
        }
    }

    /// Mints the next ID of a session. **Lock-free**; **never blocks**.
    ///
    /// # Errors
    /// The lease has run out and cannot be renewed now, or for good ([`LeaseError`]); or as for
    /// [`imid::Generator::generate`].
    #[inline]
    pub fn generate(&self, session: SessionTag) -> Result<MessageId, LeaseError> {
        if let Some(granted) = self.running()
            && let Ok(id) = granted.generator.generate(session)
        {
            return Ok(id);
        }
        self.try_again(|generator| generator.generate(session))
    }

    /// Mints the next ID of a session. While it is refused for now, it sleeps and tries again, for at most `timeout` in
    /// all.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate). If the wait is longer than the rest of `timeout`, the error comes at once.
    pub fn generate_within(&self, session: SessionTag, timeout: Duration) -> Result<MessageId, LeaseError> {
        retry_within(timeout, || self.generate(session), LeaseError::retry_after)
    }

    /// Takes a run of `n` consecutive IDs of a session in one atomic step, all or nothing. 0 is an empty run.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate). The limits hold for the last ID of the run. A run that is longer than
    /// [`max_lead`](Options::max_lead) allows is an error, too, as for [`imid::Generator::batch`].
    #[inline]
    pub fn batch(&self, session: SessionTag, n: usize) -> Result<Batch, LeaseError> {
        if let Some(granted) = self.running()
            && let Ok(batch) = granted.generator.batch(session, n)
        {
            return Ok(batch);
        }
        self.try_again(|generator| generator.batch(session, n))
    }

    /// Fills a slice with the IDs of one [`batch`](Self::batch), all or nothing.
    ///
    /// # Errors
    /// As for [`batch`](Self::batch). The slice then has its old contents.
    #[inline]
    pub fn fill(&self, session: SessionTag, ids: &mut [MessageId]) -> Result<(), LeaseError> {
        if let Some(granted) = self.running()
            && granted.generator.fill(session, ids).is_ok()
        {
            return Ok(());
        }
        self.try_again(|generator| generator.fill(session, ids))
    }

    /// Makes every later ID, of every session, sort after one seen from elsewhere: see [`imid::Generator::observe`].
    ///
    /// While the lane changes, which takes microseconds, it waits for the next one.
    ///
    /// # Errors
    /// The ID is more than [`max_skew`](Options::max_skew) ahead of the clock, or the clock has no usable time. Nothing
    /// changes then.
    #[inline]
    pub fn observe(&self, id: MessageId) -> Result<(), ObserveError> {
        loop {
            let seen = self.inner.generators.len();
            let Some(granted) = self.inner.generators.last() else { return Ok(()) };
            granted.generator.observe(id)?;
            // ORDERING: with the fence in `seal`: either this sees the seal, or the keeper sees what was observed.
            fence(Ordering::SeqCst);
            if !granted.is_sealed.load(Ordering::Relaxed) || self.is_last(seen) {
                return Ok(());
            }
        }
    }

    /// Returns the state of the lease, for operators. In a forked child the lease has [stopped](Phase::Stopped).
    pub fn status(&self) -> Status {
        self.keeper.state(0).status_at(self.inner.clock.believed_ms())
    }

    /// Gives the lane back. Later calls are an error ([`LeaseError::is_closed`]).
    ///
    /// The generator ends at once. Then one or two writes tell the register where the next holder of the lane starts.
    /// If the register does not answer, the lane stays taken until the time-out. Dropping the generator does the same.
    /// In a forked child this does nothing.
    pub fn close(&self) {
        self.keeper.close();
    }

    /// Returns the generator that mints now.
    #[inline]
    fn running(&self) -> Option<&LaneGenerator<C, STRIPES>> {
        // ORDERING: a hint. A generator that is closed mints nothing, and the call looks again.
        if !self.first.is_sealed.load(Ordering::Relaxed) {
            return Some(&self.first);
        }
        self.inner.generators.last().map(Arc::as_ref)
    }

    /// Returns whether the generator that was the last one stays the last one, after it was sealed. Waits for the next
    /// one.
    #[cold]
    #[inline(never)]
    fn is_last(&self, seen: usize) -> bool {
        while self.inner.generators.len() == seen {
            if self.keeper.is_forked() || self.keeper.state(0).stopped.is_some() {
                return self.inner.generators.len() == seen;
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
        mut mint: impl FnMut(&Generator<BelievedClock<C>, STRIPES>) -> Result<T, GenerateError>,
    ) -> Result<T, LeaseError> {
        let mut waited = false;
        loop {
            let seen = self.inner.generators.len();
            let Some(granted) = self.inner.generators.last() else { return Err(self.why_no_room()) };
            let error = match mint(&granted.generator) {
                Ok(minted) => return Ok(minted),
                Err(error) => error,
            };
            if error.is_forked() {
                return Err(LeaseKind::Forked.into());
            }
            if error.is_closed() {
                if self.is_last(seen) {
                    return Err(self.why_stopped());
                }
            } else if error.is_ceiling() {
                // The keeper may have raised it since.
                if waited {
                    self.keeper.wake();
                    return Err(self.why_no_room());
                }
                waited = true;
            } else {
                return Err(LeaseKind::Generate(error).into());
            }
        }
    }

    fn why_stopped(&self) -> LeaseError {
        if self.keeper.is_forked() {
            return LeaseKind::Forked.into();
        }
        let kind = match self.keeper.state(0).stopped {
            Some(Stopped::Reverted { .. }) => LeaseKind::Reverted,
            Some(Stopped::Mismatch { .. }) => LeaseKind::Mismatch,
            Some(Stopped::Format(_)) => LeaseKind::Format,
            Some(Stopped::Closed) | None => LeaseKind::Closed,
        };
        kind.into()
    }

    fn why_no_room(&self) -> LeaseError {
        if self.keeper.is_forked() {
            return LeaseKind::Forked.into();
        }
        let state = self.keeper.state(0);
        if state.stopped.is_some() {
            return self.why_stopped();
        }
        let now_ms = monotonic_ms();
        let until = |at_ms: u64| Duration::from_millis(at_ms.saturating_sub(now_ms).max(1));
        let kind = match (state.status.phase, &state.status.last_error) {
            (_, Some(_)) => LeaseKind::Silent { retry_after: until(state.next_ms) },
            (Phase::Holding, None) => LeaseKind::UsedUp { retry_after: Duration::from_millis(MIN_GAP_MS) },
            (_, None) => {
                LeaseKind::NoLane { retry_after: until(state.next_time_out_ms.unwrap_or(0).max(state.next_ms)) }
            }
        };
        kind.into()
    }
}

impl<C: Clock + Clone + fmt::Debug, const STRIPES: usize> fmt::Debug for LeasedGenerator<C, STRIPES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeasedGenerator")
            .field("stripes", &STRIPES)
            .field("lane_bits", &self.inner.lane_bits)
            .field("lanes_so_far", &self.inner.generators.len())
            .finish_non_exhaustive()
    }
}

impl<C: Clock + Clone, const STRIPES: usize> Inner<C, STRIPES> {
    fn build(&self, grant: Grant) -> Result<LaneGenerator<C, STRIPES>, OpenError> {
        let mut builder = Generator::builder()
            .stripes()
            .clock(self.clock.clone())
            .start(self.settings.start)
            .max_lead(self.settings.max_lead)
            .max_skew(self.settings.max_skew)
            .lane(Lane { index: grant.lane, bits: self.lane_bits })
            .ceiling(grant.ceiling_ms);
        if let Some(id) = last_id_before(grant.floor_ms) {
            builder = builder.floor(id);
        }
        Ok(LaneGenerator { generator: builder.build()?, is_sealed: AtomicBool::new(false) })
    }
}

/// Returns an ID of the millisecond before. As a floor, it makes all IDs have later milliseconds.
fn last_id_before(floor_ms: u64) -> Option<MessageId> {
    let timestamp_ms = floor_ms.checked_sub(1)?;
    MessageId::try_from_parts(IdParts { timestamp_ms, spin: 0, session: SessionTag::default() }).ok()
}

/// The part of a generator that the keeper drives.
struct LaneTenant<C, const STRIPES: usize>(Arc<Inner<C, STRIPES>>);

impl<C: Clock + Clone + Send + Sync, const STRIPES: usize> Tenant for LaneTenant<C, STRIPES> {
    fn used_until_ms(&self) -> u64 {
        let Some(granted) = self.0.generators.last() else { return 0 };
        // The last stamp is not after the clock, or as far ahead of it as its lead.
        let lead = millis(granted.generator.stats().lead);
        if lead == 0 { 0 } else { granted.generator.clock().refresh().map_or(0, |now| now + lead + 1) }
    }

    fn start(&mut self, grant: Grant) {
        // IDs that the generator before has observed, and floors, hold for this one too.
        let reached_ms = self.0.generators.last().map_or(0, |granted| {
            let behind = millis(granted.generator.stats().behind);
            if behind == 0 { 0 } else { granted.generator.clock().refresh().map_or(0, |now| now + behind + 1) }
        });
        let grant = Grant { floor_ms: grant.floor_ms.max(reached_ms), ..grant };
        if let Ok(granted) = self.0.build(grant) {
            self.0.generators.push(Arc::new(granted));
        }
    }

    fn raise(&mut self, ceiling_ms: u64) {
        if let Some(granted) = self.0.generators.last() {
            granted.generator.raise_ceiling(ceiling_ms);
        }
    }

    fn seal(&mut self) -> u64 {
        let Some(granted) = self.0.generators.last() else { return 0 };
        granted.is_sealed.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        granted.generator.close().map_or(0, |last| last.timestamp_ms() + 1)
    }
}
