//! Worker IDs for Snowflake generators, leased from a register.

mod options;
mod table;

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, ClockError, SystemClock};
use imid_snowflake::{GenerateError, Generator, NodeSource, Preset, Snowflake, SpareNode};

pub use options::WorkerOptions;

use crate::clock::{BelievedClock, until};
use crate::engine::Grant;
use crate::error::{LeaseError, LeaseKind, OpenError, OpenKind};
use crate::keeper::{Keeper, Lease, Tenant};
use crate::options::millis;
use crate::register::{Register, RegisterError};
use crate::space::Space;
use crate::state::Status;
use crate::wait::Changes;
use table::Table;

/// How often a call that waits looks for a worker ID that can mint.
const SPARE_WAIT: Duration = Duration::from_millis(10);

/// Worker IDs held by this process, for Snowflake generators of any preset.
///
/// Each worker ID is granted from a floor to a ceiling. The ceiling is written to the register before it is used, and a thread
/// raises it in time. A generator never mints an ID at or past it. A process that is paused, cut off or has a wrong clock therefore
/// mints only IDs that no other process will ever mint, whoever takes its worker ID afterwards.
///
/// - It is a [`NodeSource`]: a generator takes a spare worker ID from it if the clock steps back further than the preset
///   waits, or if its own lease is lost. No call waits for the register.
/// - The [crate's table](crate#guarantees) lists the faults. At the ceiling, a generator's calls return an error
///   ([`is_ceiling`](imid_snowflake::GenerateError::is_ceiling)) until the register answers.
/// - A worker ID starts after its last use, of whichever process. A process takes one at random of those whose last use has
///   passed, so each start gets a different worker ID.
/// - In a forked child there are no worker IDs.
///
/// Clones share the worker IDs. When the last clone is dropped, they are released: at the exact end of their IDs if the generator
/// was closed, otherwise at the ceiling.
///
/// Calls of a generator, [`open`](Self::open), [`generator`](Self::generator), [`status`](Self::status) and drops do not
/// block. [`wait_until_open`](Self::wait_until_open) and [`close_within`](Self::close_within) block for at most the given
/// time; an async task calls [`wait_until_open_async`](Self::wait_until_open_async) and [`close_async`](Self::close_async).
///
/// ```
/// use std::time::Duration;
///
/// use imid_snowflake::Preset;
/// use imid_lease::register::MemoryRegister;
/// use imid_lease::worker_ids::{WorkerIds, WorkerOptions};
///
/// let register = MemoryRegister::new();
/// let workers = WorkerIds::open(|| Ok(register.clone()), WorkerOptions::new(Preset::LEAF))?;
/// workers.wait_until_open(Duration::from_secs(15))?;
/// let ids = workers.generator()?;
/// let (first, second) = (ids.generate()?, ids.generate()?);
/// assert!(first < second);
/// ids.close();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WorkerIds<C = SystemClock>(Arc<Inner<C>>);

struct Inner<C> {
    preset: Preset,
    clock: BelievedClock<Arc<C>>,
    table: Arc<Table>,
    /// Of each worker ID, with its own register. All announce at one place.
    keepers: Vec<Keeper>,
    changes: Changes,
    space: Space,
}

impl<C: Clock + Send + Sync + 'static> WorkerIds<C> {
    /// Opens a space of worker IDs. It returns immediately, in the phase [seeking](crate::Phase::Seeking): a thread for each worker ID
    /// looks for it, and keeps its lease until the last clone is dropped. Each has its own register, which `register` opens. The
    /// space is created if the register has none.
    ///
    /// ```
    /// # use imid_lease::OpenError;
    /// use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url};
    /// use imid_lease::worker_ids::{WorkerIds, WorkerOptions};
    /// use imid_snowflake::Preset;
    ///
    /// # fn open(url: &str) -> Result<WorkerIds, OpenError> {
    /// let workers = WorkerIds::open(|| open_url(url, DEFAULT_TIME_LIMIT), WorkerOptions::new(Preset::LEAF))?;
    /// # Ok(workers)
    /// # }
    /// ```
    ///
    /// # Errors
    /// The options contradict each other, `register` returns an error, or a thread cannot be started.
    pub fn open<R: Register + 'static>(
        mut register: impl FnMut() -> Result<R, RegisterError>,
        options: WorkerOptions<C>,
    ) -> Result<Self, OpenError> {
        let (space, names) = options.check()?;
        let WorkerOptions { preset, clock, settings, .. } = options;
        let clock = BelievedClock::new(Arc::new(clock), millis(settings.max_skew), settings.trusted);
        let table = Arc::new(Table::new(preset.layout(), space.bits(), names.len()));
        let changes = Changes::new();
        let start = |(index, name)| {
            let worker = Worker { table: Arc::clone(&table), index };
            let config = settings.config(space.clone(), name);
            let lease = Lease { config, creates_missing: true, tenant: Box::new(worker) };
            let keeper = Keeper::start(register()?, clock.clone(), lease, &changes).map_err(OpenKind::Thread)?;
            Ok::<_, OpenError>(keeper)
        };
        let keepers = names.into_iter().enumerate().map(start).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Inner { preset, clock, table, keepers, changes, space })))
    }

    /// Waits until this process has its first worker ID, for at most this time. Spare ones may come later.
    ///
    /// # Errors
    /// As for [`LeasedGenerator::wait_until_open`](crate::LeasedGenerator::wait_until_open).
    pub fn wait_until_open(&self, timeout: Duration) -> Result<(), OpenError> {
        let opened = self.0.changes.wait(timeout, || self.0.opened());
        opened.unwrap_or_else(|| Err(self.0.keepers[0].state().why_not_open(&self.0.space, timeout)))
    }

    /// Does what [`wait_until_open`](Self::wait_until_open) does in a task of any async runtime, without a time limit: the caller has
    /// one. Dropping the future loses nothing: the search continues.
    ///
    /// # Errors
    /// As for [`wait_until_open`](Self::wait_until_open).
    pub async fn wait_until_open_async(&self) -> Result<(), OpenError> {
        self.0.changes.wait_async(|| self.0.opened()).await
    }

    /// Returns a generator with the preset and its own worker ID. It takes others from here when it needs one.
    ///
    /// Its clock is that of the options, as far as it is credible: a step of more than [`max_skew`](WorkerOptions::max_skew) is not
    /// followed. Smaller steps back are handled by the preset.
    ///
    /// # Errors
    /// There is no worker ID that can be used now: all are in use, or they were used by others until later than the
    /// clock shows. The worker IDs were closed, or are the parent process's.
    pub fn generator(&self) -> Result<LeasedSnowflakes<C>, LeaseError> {
        let clock = WorkerClock(self.0.clock.clone());
        let now_ms = clock.now_ms().unwrap_or(0);
        let Some(spare) = self.take(now_ms) else { return Err(self.refusal()) };
        let builder =
            Generator::builder(self.0.preset).node(spare.node).floor_ms(spare.used_until_ms.saturating_add(1));
        // Leased worker IDs have at most the bits of the layout's node, so this is not an error.
        let generator = builder.spares(self.clone()).clock(clock).build().map_err(|_| LeaseKind::Mismatch)?;
        Ok(LeasedSnowflakes { generator, workers: self.clone() })
    }

    /// Returns the state of each lease, for operators. In a forked child each lease has [stopped](crate::Phase::Stopped).
    pub fn status(&self) -> Vec<Status> {
        let now_ms = self.0.clock.believed_ms();
        self.0.keepers.iter().map(|keeper| keeper.state().status_at(now_ms)).collect()
    }

    /// Releases all worker IDs, and waits for at most `timeout`. Returns whether the register acknowledged it for each of them.
    ///
    /// Generators that have one stop at the end of the present tick. [Close](LeasedSnowflakes::close) them first, or their worker
    /// IDs cannot be reused before their ceilings. A worker ID whose release has no answer stays taken for the horizon. In a forked
    /// child this does nothing and returns `false`.
    ///
    /// Dropping the last clone does the same and does not wait.
    pub fn close_within(&self, timeout: Duration) -> bool {
        self.0.end();
        self.0.changes.wait(timeout, || self.0.ended()).unwrap_or(false)
    }

    /// Does what [`close_within`](Self::close_within) does in a task of any async runtime, without a time limit. It begins when the
    /// future is polled for the first time. Dropping the future then stops nothing.
    pub async fn close_async(&self) -> bool {
        self.0.end();
        self.0.changes.wait_async(|| self.0.ended()).await
    }

    /// Releases all worker IDs, as [`close_within`](Self::close_within) does, and waits for the register: at most two call time
    /// limits after its last answer.
    pub fn close(&self) {
        self.close_within(Duration::MAX);
    }

    fn refusal(&self) -> LeaseError {
        let kind = self.why_none();
        crate::telemetry::record_refusal(self.0.space.name(), self.0.keepers[0].holder(), kind);
        kind.into()
    }

    fn why_none(&self) -> LeaseKind {
        if self.0.is_forked() {
            return LeaseKind::Forked;
        }
        let state = self.0.keepers[0].state();
        match state.why_none() {
            Some(kind) => kind,
            // The generators of this process have all that it holds.
            None => LeaseKind::NoLane { retry_after: until(state.next_ms) },
        }
    }
}

impl<C> Inner<C> {
    fn is_forked(&self) -> bool {
        self.keepers[0].is_forked()
    }

    /// Returns whether a lease has a worker ID, or why the first one waits for none; `None` while it waits.
    fn opened(&self) -> Option<Result<(), OpenError>> {
        if self.keepers.iter().any(Keeper::has_lane) { Some(Ok(())) } else { self.keepers[0].opened(&self.space) }
    }

    /// Gives out no more worker IDs, and tells all threads to release theirs and to end.
    fn end(&self) {
        if !self.is_forked() {
            self.table.close();
            self.keepers.iter().for_each(Keeper::end);
        }
    }

    /// Returns whether all worker IDs were released; `None` until all threads have ended.
    fn ended(&self) -> Option<bool> {
        self.keepers.iter().try_fold(true, |all, keeper| Some(keeper.ended()? && all))
    }
}

impl<C> Drop for Inner<C> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<C> Clone for WorkerIds<C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<C> NodeSource for WorkerIds<C> {
    fn take(&self, now_ms: u64) -> Option<SpareNode> {
        // Of a forked child, where another thread may have held the lock.
        if self.0.is_forked() {
            return None;
        }
        let spare = self.0.table.take(now_ms);
        if spare.is_none() {
            self.0.keepers.iter().for_each(Keeper::wake);
        }
        spare
    }

    fn put(&self, spare: SpareNode) {
        if !self.0.is_forked() {
            self.0.table.put(spare);
        }
    }

    #[inline]
    fn ceiling_ms(&self, node: u32) -> u64 {
        self.0.table.ceiling_ms(node)
    }
}

impl<C> fmt::Debug for WorkerIds<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("WorkerIds");
        shown.field("layout", &self.0.preset.layout());
        if !self.0.is_forked() {
            let (held, in_use) = self.0.table.counts();
            shown.field("held", &held).field("in_use", &in_use);
        }
        shown.finish_non_exhaustive()
    }
}

/// A generator with a worker ID from [`WorkerIds`], which takes another one when it needs it.
///
/// The methods are those of an [`imid_snowflake::Generator`]. An async task that is refused sleeps for
/// [`retry_after`](imid_snowflake::GenerateError::retry_after) and calls again. Dropping it without a [`close`](Self::close) keeps its
/// worker ID from being used again before the ceiling.
#[derive(Debug)]
pub struct LeasedSnowflakes<C = SystemClock> {
    generator: Generator<WorkerClock<C>, WorkerIds<C>>,
    workers: WorkerIds<C>,
}

impl<C: Clock> LeasedSnowflakes<C> {
    /// Mints the next ID.
    ///
    /// # Errors
    /// As for [`Generator::generate`].
    #[inline]
    pub fn generate(&self) -> Result<Snowflake, GenerateError> {
        self.generator.generate()
    }

    /// Mints the next ID. It waits for at most `timeout` in total, if it has to: for the next tick, for a clock that was set back, and
    /// for a worker ID, which can be the present one with a higher ceiling. The originals do not wait for the last two.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate), after `timeout`. Immediately, if the generator is closed or has no usable clock, if all
    /// leases have stopped, or in a forked child.
    pub fn generate_within(&self, timeout: Duration) -> Result<Snowflake, GenerateError> {
        let start = Instant::now();
        loop {
            let error = match self.generate() {
                Ok(id) => return Ok(id),
                Err(error) => error,
            };
            let left = timeout.saturating_sub(start.elapsed());
            let Some(pause) = self.retry_after(error).filter(|pause| *pause <= left) else { return Err(error) };
            thread::sleep(pause.min(SPARE_WAIT));
        }
    }

    /// Returns how long to wait until the call can succeed; `None` if that does not help.
    fn retry_after(&self, error: GenerateError) -> Option<Duration> {
        let wants_worker_id = error.is_rollback() || error.is_ceiling();
        let can_have_one = wants_worker_id && !self.workers.0.keepers.iter().all(Keeper::is_stopped);
        error.retry_after().or(can_have_one.then_some(SPARE_WAIT))
    }

    /// Returns its present worker ID.
    pub fn node(&self) -> u32 {
        self.generator.node()
    }

    /// Closes the generator and returns its worker ID to the [`WorkerIds`]: see [`Generator::close`].
    pub fn close(&self) -> Option<u64> {
        self.generator.close()
    }

    /// Returns the generator, for the rest of its methods.
    pub const fn generator(&self) -> &Generator<WorkerClock<C>, WorkerIds<C>> {
        &self.generator
    }
}

/// The clock of a generator of [`WorkerIds`]: the application's, as far as it is credible.
///
/// A step of more than [`max_skew`](WorkerOptions::max_skew) is not followed. Time then continues from the last good reading.
#[derive(Debug)]
pub struct WorkerClock<C>(BelievedClock<Arc<C>>);

impl<C: Clock> Clock for WorkerClock<C> {
    #[inline]
    fn now_ms(&self) -> Result<u64, ClockError> {
        self.0.judged_ms()
    }

    fn refresh(&self) -> Result<u64, ClockError> {
        self.0.refresh()
    }
}

/// The part that the keeper drives.
struct Worker {
    table: Arc<Table>,
    index: usize,
}

impl Tenant for Worker {
    fn used_until_ms(&self) -> u64 {
        self.table.used_until_ms(self.index)
    }

    fn start(&mut self, grant: Grant) {
        self.table.start(self.index, grant.lane.into(), grant.floor_ms, grant.ceiling_ms);
    }

    fn raise(&mut self, ceiling_ms: u64) {
        self.table.raise(self.index, ceiling_ms);
    }

    fn seal(&mut self) -> u64 {
        self.table.seal(self.index)
    }
}
