//! The rollback article's queue of worker IDs: a Redis list that is popped from the front and pushed to the back.

mod list;
mod stock;
mod work;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use imid::clock::{Clock, SystemClock};
use imid::snowflake::{Generator, NodeSource, Preset, SpareNode};

use crate::background::Background;
use crate::backoff::Backoff;
use crate::changes::within;
use crate::error::{LeaseError, LeaseKind, OpenError, OpenKind};
use crate::register::{DEFAULT_TIME_LIMIT, RegisterError};
use crate::sync::lock;
use list::{List, RedisList};
use stock::Stock;
use work::Work;

/// How long a generator waits for the millisecond after the pop of its worker ID.
const POP_WAIT: Duration = Duration::from_millis(100);

/// The rollback article's queue as it is: a Redis list of worker IDs (`RPUSH worker-ids 0 1 2 ...`).
///
/// A process pops its worker ID from the front of the list. If the clock steps back further than the preset waits, the
/// generator takes another one, and the one that it had goes to the back. Calls of the generator do not wait for Redis:
/// a thread pops [`spares`](RedisQueueOptions::spares) ahead and pushes later.
///
/// # What it promises
/// - No two processes get one worker ID, as long as each is in the list once, and Redis loses no write.
/// - No ID comes twice, if besides no clock is ahead of Redis's. A list does not say until when a worker ID was used. So it
///   is used only for times after the pop, and pushed only after its last ID's time, both by Redis's clock.
///
/// # What it does not promise
/// - **A worker ID is lost** when its process is killed, or when Redis does not answer a pop or a push. Nothing puts it back,
///   because it may be in use. [`RedisQueueStatus::lost`] counts the latter. An operator can push it again after the process has
///   ended.
/// - A step back to a time before the spare worker ID was popped is an error, until the clock is past it.
/// - There is no lease. If somebody pushes a worker ID that is in use, or restores the list from a backup, IDs come twice.
///   [`WorkerIds`](crate::WorkerIds) has none of these weaknesses.
///
/// Clones share the worker IDs. When the last clone is dropped, those that no generator has go back to the list. So
/// [close](Generator::close) the generator before.
///
/// Calls of a generator, [`open`](Self::open) and drops do not block. [`wait_until_open`](Self::wait_until_open) and
/// [`close_within`](Self::close_within) block for at most the given time, and [`generator`](Self::generator) for at most
/// 100 ms; an async task calls them with `spawn_blocking`.
///
/// ```no_run
/// use core::time::Duration;
/// use imid::snowflake::{Layout, Preset};
/// use imid_lease::{RedisQueue, RedisQueueOptions};
///
/// // The article's bits, with a first tick that is not eight years ago.
/// const OURS: Layout = match Layout::builder()
///     .tick_bits(38)
///     .node_bits(15)
///     .sequence_bits(10)
///     .epoch(Duration::from_secs(1_767_225_600))
///     .build()
/// {
///     Ok(layout) => layout,
///     Err(_) => panic!("63 bits"),
/// };
/// const PRESET: Preset = Preset::new(OURS).wait_when_behind(Duration::from_millis(15), 1);
///
/// let queue = RedisQueue::open("redis://127.0.0.1:6379", "worker-ids", RedisQueueOptions::new(PRESET))?;
/// queue.wait_until_open(Duration::from_secs(15))?;
/// let ids = queue.generator()?;
/// let id = ids.generate()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RedisQueue(Arc<Inner>);

/// Settings of a [`RedisQueue`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct RedisQueueOptions {
    preset: Preset,
    spares: u8,
    time_limit: Duration,
}

/// The state of a [`RedisQueue`], for operators.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RedisQueueStatus {
    /// How many worker IDs no generator has.
    pub spare: usize,
    /// How many worker IDs generators have.
    pub in_use: usize,
    /// How many worker IDs may be lost, because Redis did not answer, or because they were used ahead of its time when
    /// the queue was closed.
    pub lost: u64,
    /// Why the last attempt to pop or push a worker ID failed, if none has succeeded since.
    pub last_error: Option<String>,
}

struct Inner {
    preset: Preset,
    key: String,
    shared: Arc<Mutex<State>>,
    background: Background,
}

#[derive(Debug)]
struct State {
    stock: Stock,
    is_closing: bool,
    lost: u64,
    last_error: Option<Trouble>,
}

/// Why there is no other worker ID.
#[derive(Clone, Debug)]
enum Trouble {
    EmptyList,
    /// The list has a value that it should not have.
    WrongList(String),
    /// A call of Redis has failed.
    Call(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EmptyList => "the list is empty",
            Self::WrongList(what) | Self::Call(what) => what,
        })
    }
}

impl RedisQueueOptions {
    /// Returns the default settings: one spare worker ID, and a time limit of 2 s for each call.
    pub const fn new(preset: Preset) -> Self {
        Self { preset, spares: 1, time_limit: DEFAULT_TIME_LIMIT }
    }

    /// Sets how many worker IDs are popped ahead. Default: 1. A value of 0 counts as 1.
    pub const fn spares(mut self, spares: u8) -> Self {
        self.spares = if spares == 0 { 1 } else { spares };
        self
    }

    /// Sets how long each answer of Redis may take. Default: 2 s.
    pub const fn time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }
}

impl RedisQueue {
    /// Opens the list with this key. It returns at once: a thread pops worker IDs. `url` is such as
    /// `redis://user:password@host:6379/0`.
    ///
    /// # Errors
    /// The URL cannot be understood ([`is_register`](OpenError::is_register)).
    pub fn open(url: &str, key: &str, options: RedisQueueOptions) -> Result<Self, OpenError> {
        let list = RedisList::new(url, key, options.time_limit).map_err(OpenKind::List)?;
        Self::start(list, key, &options)
    }

    fn start(list: impl List + 'static, key: &str, options: &RedisQueueOptions) -> Result<Self, OpenError> {
        let stock = Stock::new(options.spares.into());
        let state = State { stock, is_closing: false, lost: 0, last_error: None };
        let shared = Arc::new(Mutex::new(state));
        let mut work = Work {
            list,
            shared: Arc::clone(&shared),
            node_max: options.preset.layout().node_max(),
            popped: None,
            backoff: Backoff::default(),
        };
        let background =
            Background::start("imid-redis-queue", move |owner| work.run(owner)).map_err(OpenKind::Thread)?;
        Ok(Self(Arc::new(Inner { preset: options.preset, key: key.into(), shared, background })))
    }

    /// Waits until a worker ID can be used, for at most this time.
    ///
    /// # Errors
    /// In this time Redis does not answer or the list has another value than a worker ID of the layout
    /// ([`is_register`](OpenError::is_register)), or the list is empty ([`is_no_lane`](OpenError::is_no_lane)).
    pub fn wait_until_open(&self, timeout: Duration) -> Result<(), OpenError> {
        if self.is_forked() {
            return Err(OpenKind::Forked.into());
        }
        let find = || (self.state().stock.counts().0 > 0).then_some(());
        if self.0.background.changes().wait(within(timeout, find)).is_some() {
            return Ok(());
        }
        let state = self.state();
        let key = &self.0.key;
        let cause = match &state.last_error {
            Some(Trouble::EmptyList) => return Err(OpenKind::EmptyList { key: key.clone() }.into()),
            Some(trouble) => trouble.to_string(),
            None => "Redis did not answer in time".into(),
        };
        Err(OpenKind::List(RegisterError::new(format!("no worker ID from list {key}")).caused_by(cause)).into())
    }

    /// Returns a generator with the system clock, with the preset and a worker ID of its own. It takes others from here
    /// when it needs one.
    ///
    /// # Errors
    /// - There is no worker ID that can be used now: all are in use, or were popped at a later time than the clock shows.
    /// - Redis does not answer.
    /// - The queue is closed, or belongs to the parent process.
    pub fn generator(&self) -> Result<Generator<SystemClock, Self>, LeaseError> {
        self.generator_with(SystemClock)
    }

    /// Returns a generator with another clock.
    ///
    /// # Errors
    /// As for [`generator`](Self::generator). A clock that cannot be read counts as one that shows 1970.
    pub fn generator_with<C: Clock>(&self, clock: C) -> Result<Generator<C, Self>, LeaseError> {
        // A worker ID that was popped in this millisecond can be used in the next one.
        let started = Instant::now();
        let spare = loop {
            match self.take(clock.refresh().unwrap_or(0)) {
                Some(spare) => break spare,
                None if started.elapsed() > POP_WAIT || self.is_forked() => return Err(self.why_none()),
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        let builder = Generator::builder(self.0.preset).node(spare.node).floor(spare.used_until_ms.saturating_add(1));
        // The thread has checked that the worker ID fits the layout, so this is not an error.
        builder.spares(self.clone()).clock(clock).build().map_err(|_| LeaseKind::Mismatch.into())
    }

    /// Returns why there is no worker ID.
    fn why_none(&self) -> LeaseError {
        if self.is_forked() {
            return LeaseKind::Forked.into();
        }
        let state = self.state();
        let kind = match &state.last_error {
            _ if state.is_closing => LeaseKind::Closed,
            Some(Trouble::Call(_)) => LeaseKind::Silent { retry_after: POP_WAIT },
            _ => LeaseKind::NoLane { retry_after: POP_WAIT },
        };
        kind.into()
    }

    /// Returns the state, for an operator. In a forked child it is empty.
    pub fn status(&self) -> RedisQueueStatus {
        if self.is_forked() {
            return RedisQueueStatus { spare: 0, in_use: 0, lost: 0, last_error: None };
        }
        let state = self.state();
        let (spare, in_use) = state.stock.counts();
        RedisQueueStatus {
            spare,
            in_use,
            lost: state.lost,
            last_error: state.last_error.as_ref().map(Trouble::to_string),
        }
    }

    /// Puts all worker IDs back to the list that no generator has, and waits for at most `timeout`. Returns whether none
    /// is lost, as far as Redis has answered. In a forked child this does nothing and returns `false`.
    ///
    /// Dropping the last clone does the same and does not wait.
    pub fn close_within(&self, timeout: Duration) -> bool {
        self.0.end();
        self.0.background.has_ended_within(timeout) && self.state().lost == 0
    }

    /// Puts all worker IDs back, as [`close_within`](Self::close_within) does, and waits for Redis: for at most a second
    /// and the time limit of a call.
    pub fn close(&self) {
        self.close_within(Duration::MAX);
    }

    fn is_forked(&self) -> bool {
        self.0.background.is_forked()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0.shared)
    }
}

impl NodeSource for RedisQueue {
    fn take(&self, now_ms: u64) -> Option<SpareNode> {
        // In a forked child, another thread may have held the lock.
        if self.is_forked() {
            return None;
        }
        let spare = self.state().stock.take(now_ms)?;
        self.0.background.wake();
        Some(spare)
    }

    fn put(&self, spare: SpareNode) {
        if !self.is_forked() {
            self.state().stock.put(spare);
            self.0.background.wake();
        }
    }
}

impl fmt::Debug for RedisQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisQueue").field("status", &self.status()).finish_non_exhaustive()
    }
}

impl Inner {
    /// Gives no worker ID out any more, and tells the thread to end.
    fn end(&self) {
        if !self.background.is_forked() {
            let mut state = lock(&self.shared);
            state.is_closing = true;
            state.stock.close();
            drop(state);
            self.background.end();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests;
