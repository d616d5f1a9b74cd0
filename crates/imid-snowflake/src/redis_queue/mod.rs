//! A queue of worker IDs in a Redis list, popped from the front and pushed to the back.

mod error;
mod list;
#[cfg(feature = "redis-1")]
mod redis;
mod work;

use std::collections::VecDeque;
use std::fmt;
use std::string::{String, ToString};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::vec::Vec;

use imid::clock::Clock;
use imid::fork::Process;

use crate::{Generator, NodeSource, Preset, SpareNode};
pub use error::QueueError;
pub use list::{List, ListError};
#[cfg(feature = "redis-1")]
pub use redis::RedisList;

use error::QueueKind;
use work::Work;

/// How long a generator waits for the millisecond after the pop of its worker ID.
const POP_WAIT: Duration = Duration::from_millis(100);

/// A queue of worker IDs in a Redis list (`RPUSH worker-ids 0 1 2 ...`), as in the article on clock rollback that
/// [`Preset::rollback_38_15_10`] implements.
///
/// A process pops its worker ID from the front of the list. If the clock steps back further than the preset waits, the generator
/// takes another one, and returns its old one to the back. Calls of the generator do not wait for Redis: a thread pops one ahead and
/// pushes later.
///
/// # What it promises
/// - No two processes get the same worker ID, as long as each is in the list once, and Redis loses no write.
/// - No ID is duplicated, as long as no process's clock is also ahead of Redis's. A list does not say until when a worker ID was
///   used, so it is used only for times after the pop, and pushed only after the time of its last ID, both by Redis's clock.
///
/// # What it does not promise
/// - **A worker ID is lost** when its process is killed, or when Redis does not answer a pop or a push. Nothing puts it back,
///   because it may be in use. [`RedisQueueStatus::lost`] counts those that had no answer. An operator can push a lost one again
///   after the process has exited.
/// - A step back to a time before the spare worker ID was popped is an error, until the clock is past it.
/// - There is no lease. If someone pushes a worker ID that is in use, or restores the list from a backup, IDs are duplicated.
///   `WorkerIds` (feature `lease`) has none of these weaknesses.
///
/// The application's own client reaches the server, with its URL, TLS, password and time limits: a [`List`].
///
/// Clones share the worker IDs. When the last clone is dropped, those that no generator has go back to the list, so
/// [close](Generator::close) the generator first.
///
/// Calls of a generator, [`open`](Self::open) and drops do not block. [`wait_until_open`](Self::wait_until_open) and
/// [`close_within`](Self::close_within) block for at most the given time, and [`generator`](Self::generator) for at most
/// 100 ms; an async task calls them with `spawn_blocking`.
///
#[cfg_attr(feature = "redis-1", doc = "```no_run")]
#[cfg_attr(not(feature = "redis-1"), doc = "```ignore")]
/// use core::time::Duration;
/// use imid::clock::SystemClock;
/// use imid_snowflake::Preset;
/// use imid_snowflake::redis_queue::{RedisList, RedisQueue};
///
/// // The article's bits, with a first tick that is not eight years ago: 2026-01-01.
/// let preset = Preset::rollback_38_15_10(Duration::from_secs(1_767_225_600))?;
/// let client = redis::Client::open("redis://127.0.0.1:6379")?;
/// let list = RedisList::new("worker-ids", move || client.get_connection_with_timeout(Duration::from_secs(2)));
/// let queue = RedisQueue::open(list, preset)?;
/// queue.wait_until_open(Duration::from_secs(15))?;
/// let ids = queue.generator(SystemClock)?;
/// let id = ids.generate()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RedisQueue(Arc<Inner>);

/// The state of a [`RedisQueue`], for operators.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct RedisQueueStatus {
    /// How many worker IDs no generator has.
    pub spare: usize,
    /// How many worker IDs generators have.
    pub in_use: usize,
    /// How many worker IDs may be lost: Redis did not answer, or a generator had them or had used them ahead of the time of
    /// Redis when the queue was closed.
    pub lost: u64,
    /// Why the last attempt to pop or push a worker ID failed, if none has succeeded since.
    pub last_error: Option<String>,
}

struct Inner {
    preset: Preset,
    shared: Arc<Shared>,
}

/// What the thread and the clones share.
#[derive(Debug)]
struct Shared {
    stock: Mutex<Stock>,
    changed: Condvar,
    process: Process,
}

impl Shared {
    /// Returns the worker IDs; `None` in a forked child, where another thread may have held the lock.
    fn stock(&self) -> Option<MutexGuard<'_, Stock>> {
        self.process.is_current().then(|| self.stock.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until the worker IDs are so, for at most this time. Returns them, and whether they are; `None` in a forked child.
    fn wait(&self, time: Duration, is_so: impl Fn(&Stock) -> bool) -> Option<(MutexGuard<'_, Stock>, bool)> {
        let waited = self.changed.wait_timeout_while(self.stock()?, time, |stock| !is_so(stock));
        let stock = waited.unwrap_or_else(PoisonError::into_inner).0;
        let is_so = is_so(&stock);
        Some((stock, is_so))
    }

    /// Changes the worker IDs, and lets all look again that wait.
    fn change<T>(&self, change: impl FnOnce(&mut Stock) -> T) -> Option<T> {
        let changed = change(&mut *self.stock()?);
        self.changed.notify_all();
        Some(changed)
    }
}

/// The worker IDs of this process.
#[derive(Debug, Default)]
struct Stock {
    /// Those that no generator has, and whether one has used it since the pop.
    spares: VecDeque<(SpareNode, bool)>,
    /// Those that generators have, as they were taken.
    in_use: Vec<SpareNode>,
    /// There is something to do for the thread that it has not looked at.
    has_changed: bool,
    stage: Stage,
    lost: u64,
    last_error: Option<Trouble>,
}

/// How far the queue is on the way to its end. It never goes back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
enum Stage {
    #[default]
    Open,
    /// No worker ID is given out any more.
    Closing,
    /// The thread has counted what it could not push.
    Ended,
    /// Its client of the list is gone, too.
    Gone,
}

/// Why there is no other worker ID.
#[derive(Clone, Debug, thiserror::Error)]
enum Trouble {
    #[error("the list is empty")]
    EmptyList,
    /// The list has a value that it should not have.
    #[error("{0}")]
    WrongList(String),
    /// A call of Redis has failed.
    #[error("{0}")]
    Call(String),
    #[error("a call of the list has panicked")]
    Panic,
}

impl RedisQueue {
    /// Opens the queue over a list. It returns immediately: a thread pops worker IDs. A panic of the list closes the queue.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn open(list: impl List + 'static, preset: Preset) -> Result<Self, QueueError> {
        let work = Work::new(list, preset.layout().node_max());
        let process = Process::current();
        let shared = Arc::new(Shared { stock: Mutex::default(), changed: Condvar::new(), process });
        let of_thread = Arc::clone(&shared);
        // Nobody joins the thread: to drop the handle in a forked child would be wrong.
        let thread = thread::Builder::new().name("imid-redis-queue".into());
        thread.spawn(move || work.run(&of_thread)).map_err(QueueKind::Thread)?;
        Ok(Self(Arc::new(Inner { preset, shared })))
    }

    /// Waits until a worker ID can be used, for at most this time.
    ///
    /// # Errors
    /// In this time Redis does not answer or the list has a value that is not a worker ID of the layout
    /// ([`is_list`](QueueError::is_list)), or the list is empty ([`is_no_worker_id`](QueueError::is_no_worker_id)).
    pub fn wait_until_open(&self, timeout: Duration) -> Result<(), QueueError> {
        let opened = self.0.shared.wait(timeout, |stock| !stock.spares.is_empty());
        let Some((stock, is_open)) = opened else { return Err(QueueKind::Forked.into()) };
        let cause = match &stock.last_error {
            _ if is_open => return Ok(()),
            Some(Trouble::EmptyList) => return Err(QueueKind::Empty.into()),
            Some(trouble) => trouble.to_string(),
            None => "Redis did not answer in time".into(),
        };
        Err(QueueKind::List { cause }.into())
    }

    /// Returns a generator with this clock, such as [`SystemClock`](imid::clock::SystemClock), with the preset and its own worker
    /// ID. It takes others from here when it needs one.
    ///
    /// # Errors
    /// - There is no worker ID that can be used now: all are in use, or were popped at a later time than the clock shows. A
    ///   clock that cannot be read counts as one that shows 1970.
    /// - Redis does not answer.
    /// - The queue is closed, or belongs to the parent process.
    pub fn generator<C: Clock>(&self, clock: C) -> Result<Generator<C, Self>, QueueError> {
        // A worker ID that was popped in this millisecond can be used in the next one.
        let started = Instant::now();
        let spare = loop {
            match self.take(clock.refresh().unwrap_or(0)) {
                Some(spare) => break spare,
                None if started.elapsed() > POP_WAIT || self.0.shared.stock().is_none() => {
                    return Err(self.why_none().into());
                }
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        let builder =
            Generator::builder(self.0.preset).node(spare.node).floor_ms(spare.used_until_ms.saturating_add(1));
        // The thread has checked that the worker ID fits the layout, so this is not an error.
        builder.spares(self.clone()).clock(clock).build().map_err(|_| QueueKind::Closed.into())
    }

    /// Returns why there is no worker ID.
    fn why_none(&self) -> QueueKind {
        let Some(stock) = self.0.shared.stock() else { return QueueKind::Forked };
        match &stock.last_error {
            _ if stock.stage > Stage::Open => QueueKind::Closed,
            Some(Trouble::Call(_)) => QueueKind::Silent { retry_after: POP_WAIT },
            _ => QueueKind::None { retry_after: POP_WAIT },
        }
    }

    /// Returns the state, for an operator. In a forked child it is empty.
    pub fn status(&self) -> RedisQueueStatus {
        let Some(stock) = self.0.shared.stock() else { return RedisQueueStatus::default() };
        RedisQueueStatus {
            spare: stock.spares.len(),
            in_use: stock.in_use.len(),
            lost: stock.lost,
            last_error: stock.last_error.as_ref().map(ToString::to_string),
        }
    }

    /// Returns the worker IDs that no generator has to the list, and waits for at most `timeout`. Returns whether none is lost, as
    /// far as Redis has answered. While Redis does not answer, this takes at most a second and two call time limits, 5 s. In a
    /// forked child this does nothing and returns `false`.
    ///
    /// Dropping the last clone does the same without waiting.
    pub fn close_within(&self, timeout: Duration) -> bool {
        self.0.end();
        let ended = self.0.shared.wait(timeout, |stock| stock.stage == Stage::Gone);
        ended.is_some_and(|(stock, is_gone)| is_gone && stock.lost == 0)
    }
}

impl NodeSource for RedisQueue {
    fn take(&self, now_ms: u64) -> Option<SpareNode> {
        self.0.shared.change(|stock| stock.take(now_ms))?
    }

    fn put(&self, spare: SpareNode) {
        self.0.shared.change(|stock| stock.put(spare));
    }
}

impl Stock {
    fn reach(&mut self, stage: Stage) {
        self.stage = self.stage.max(stage);
    }

    /// Takes the first worker ID whose last use was before this time.
    fn take(&mut self, now_ms: u64) -> Option<SpareNode> {
        let at = self.spares.iter().position(|(spare, _)| self.stage == Stage::Open && spare.used_until_ms < now_ms)?;
        let (spare, _) = self.spares.remove(at)?;
        self.in_use.push(spare);
        self.has_changed = true;
        Some(spare)
    }

    /// Puts a worker ID back, if a generator had it.
    fn put(&mut self, node: SpareNode) {
        if let Some(at) = self.in_use.iter().position(|taken| taken.node == node.node) {
            let taken = self.in_use.swap_remove(at);
            self.has_changed = true;
            if self.stage >= Stage::Ended {
                return;
            }
            let used_until_ms = node.used_until_ms.max(taken.used_until_ms);
            self.spares.push_back((SpareNode { used_until_ms, ..node }, used_until_ms != taken.used_until_ms));
        }
    }
}

impl fmt::Debug for RedisQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisQueue").field("status", &self.status()).finish_non_exhaustive()
    }
}

impl Inner {
    /// Stops giving out worker IDs, and tells the thread to exit.
    fn end(&self) {
        self.shared.change(|stock| {
            stock.reach(Stage::Closing);
            stock.has_changed = true;
        });
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests;
