//! Worker IDs for Snowflake generators, leased from a register.

mod options;
mod table;

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, SystemClock};
use imid_lease::minter::{BelievedClock, Grant, Leases, Minter, Numbers};
use imid_lease::{LeaseError, OpenError, Register, RegisterError, Status};

pub use options::WorkerOptions;

use crate::{GenerateError, Generator, NodeSource, Preset, Snowflake, SpareNode};
use options::{MAX_BITS, describe};
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
/// - The [table of imid-lease](imid_lease#guarantees) lists the faults. At the ceiling, a generator's calls return an error
///   ([`is_ceiling`](GenerateError::is_ceiling)) until the register answers.
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
/// use imid_lease::register::MemoryRegister;
/// use imid_snowflake::Preset;
/// use imid_snowflake::worker_ids::{WorkerIds, WorkerOptions};
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
    leases: Leases,
}

impl<C: Clock + Send + Sync + 'static> WorkerIds<C> {
    /// Opens a space of worker IDs. It returns immediately, in the phase [seeking](imid_lease::Phase::Seeking): a thread for each worker ID
    /// looks for it, and keeps its lease until the last clone is dropped. Each has its own register, which `register` opens.
    ///
    /// The space is created if the register has none. **After a loss of the register, IDs would repeat**: stop all processes, and call
    /// [`admin::create`](imid_lease::admin::create) or [`recover`](imid_lease::admin::recover) before one starts.
    ///
    /// ```
    /// # use imid_lease::OpenError;
    /// use imid_lease::register::{DEFAULT_TIME_LIMIT, open_url};
    /// use imid_snowflake::Preset;
    /// use imid_snowflake::worker_ids::{WorkerIds, WorkerOptions};
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
        register: impl FnMut() -> Result<R, RegisterError>,
        options: WorkerOptions<C>,
    ) -> Result<Self, OpenError> {
        let WorkerOptions { preset, spares, clock, options } = options;
        let options = options.clock(Arc::new(clock));
        let layout = preset.layout();
        let bits = layout.node_bits().min(MAX_BITS);
        let clock = BelievedClock::of(&options);
        let table = Arc::new(Table::new(layout, bits, usize::from(spares) + 1));
        let workers = (0..=spares).map(|index| {
            let worker = Worker { table: Arc::clone(&table), index: index.into() };
            Box::new(worker) as Box<dyn Minter>
        });
        let numbers = Numbers { space: "workers", layout: &describe(layout), bits };
        let leases = Leases::start(numbers, &options, &clock, workers, register)?;
        Ok(Self(Arc::new(Inner { preset, clock, table, leases })))
    }

    /// Waits until this process has its first worker ID, for at most this time. Spare ones may come later.
    ///
    /// # Errors
    /// As for [`LeasedGenerator::wait_until_open`](imid_lease::LeasedGenerator::wait_until_open).
    pub fn wait_until_open(&self, timeout: Duration) -> Result<(), OpenError> {
        self.0.leases.wait_until_open(timeout)
    }

    /// Does what [`wait_until_open`](Self::wait_until_open) does in a task of any async runtime, without a time limit: the caller has
    /// one. Dropping the future loses nothing: the search continues.
    ///
    /// # Errors
    /// As for [`wait_until_open`](Self::wait_until_open).
    pub async fn wait_until_open_async(&self) -> Result<(), OpenError> {
        self.0.leases.wait_until_open_async().await
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
        let Inner { preset, clock, leases, .. } = &*self.0;
        let spare = self.take(clock.believed_ms().unwrap_or(0)).ok_or_else(|| leases.refusal())?;
        let builder = Generator::builder(*preset).node(spare.node).floor_ms(spare.used_until_ms.saturating_add(1));
        // Leased worker IDs have at most the bits of the layout's node, so this is not an error.
        let generator = builder.spares(self.clone()).clock(clock.clone()).build().map_err(|_| leases.refusal())?;
        Ok(LeasedSnowflakes { generator, workers: self.clone() })
    }

    /// Returns the state of each lease, for operators. In a forked child each lease has [stopped](imid_lease::Phase::Stopped).
    pub fn status(&self) -> Vec<Status> {
        self.0.leases.status(&self.0.clock)
    }

    /// Releases all worker IDs, and waits for at most `timeout`. Returns whether the register acknowledged it for each of them.
    ///
    /// Generators that have one stop at the end of the present tick. [Close](LeasedSnowflakes::close) them first, or their worker
    /// IDs cannot be reused before their ceilings. A worker ID whose release has no answer stays taken for the horizon. In a forked
    /// child this does nothing and returns `false`.
    ///
    /// Dropping the last clone does the same and does not wait.
    pub fn close_within(&self, timeout: Duration) -> bool {
        self.0.seal();
        self.0.leases.close_within(timeout)
    }

    /// Does what [`close_within`](Self::close_within) does in a task of any async runtime, without a time limit. It begins when the
    /// future is polled for the first time. Dropping the future then stops nothing.
    pub async fn close_async(&self) -> bool {
        self.0.seal();
        self.0.leases.close_async().await
    }

    /// Releases all worker IDs, as [`close_within`](Self::close_within) does, and waits for the register: as long as
    /// [`LeasedGenerator::close`](imid_lease::LeasedGenerator::close).
    pub fn close(&self) {
        self.close_within(Duration::MAX);
    }
}

impl<C> Inner<C> {
    /// Gives out no more worker IDs. A forked child takes no lock.
    fn seal(&self) {
        if !self.leases.is_forked() {
            self.table.close();
        }
    }
}

impl<C> Drop for Inner<C> {
    fn drop(&mut self) {
        self.seal();
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
        if self.0.leases.is_forked() {
            return None;
        }
        let spare = self.0.table.take(now_ms);
        if spare.is_none() {
            self.0.leases.wake();
        }
        spare
    }

    fn put(&self, spare: SpareNode) {
        if !self.0.leases.is_forked() {
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
        f.debug_struct("WorkerIds").field("layout", &self.0.preset.layout()).finish_non_exhaustive()
    }
}

/// A generator with a worker ID from [`WorkerIds`], which takes another one when it needs it.
///
/// The methods are those of a [`Generator`]. An async task that is refused sleeps for
/// [`retry_after`](GenerateError::retry_after) and calls again. At a ceiling ([`is_ceiling`](GenerateError::is_ceiling)), where the
/// original has no such time, it sleeps for 100 ms: the thread of the lease was woken, and raises the ceiling. Dropping the generator
/// without a [`close`](Self::close) keeps its worker ID from being used again before the ceiling.
#[derive(Debug)]
pub struct LeasedSnowflakes<C = SystemClock> {
    generator: Generator<BelievedClock<Arc<C>>, WorkerIds<C>>,
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
            // The originals do not wait for these.
            let wants_worker_id = error.is_rollback() || error.is_ceiling();
            let can_have_one = wants_worker_id && !self.workers.0.leases.have_stopped();
            let pause = error.retry_after().or(can_have_one.then_some(SPARE_WAIT));
            let left = timeout.saturating_sub(start.elapsed());
            let Some(pause) = pause.filter(|pause| *pause <= left) else { return Err(error) };
            thread::sleep(pause.min(SPARE_WAIT));
        }
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
    pub const fn generator(&self) -> &Generator<BelievedClock<Arc<C>>, WorkerIds<C>> {
        &self.generator
    }
}

/// The part of one lease.
struct Worker {
    table: Arc<Table>,
    index: usize,
}

impl Minter for Worker {
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
