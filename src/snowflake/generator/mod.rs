//! Minting Snowflakes: load, advance, exchange.

mod error;
mod preset;
mod state;
mod workers;

use core::fmt;
#[cfg(feature = "std")]
use core::time::Duration;
#[cfg(feature = "std")]
use std::time::Instant;

pub use error::GenerateError;
pub use preset::Preset;
#[cfg(feature = "std")]
pub use workers::WorkerQueue;
pub use workers::{NoWorkerIds, WorkerIds};

use super::{LayoutError, Snowflake};
use crate::clock::{Clock, ClockError, SystemClock};
use crate::fork;
use crate::sync::{AtomicU64, Ordering};
#[cfg(feature = "std")]
use crate::wait::retry_within;
use error::GenerateKind;
use state::State;

/// Mints the Snowflakes of one node, as the [`Preset`]'s original does.
///
/// **Lock-free**, but for what a source of spare nodes does. **Never blocks**: only
/// [`generate_within`](Self::generate_within) sleeps. **Unique** while no other generator holds the node. **Monotonic**,
/// but where a node is swapped: the new node begins at the time that the clock was set back to.
///
/// In a forked child a generator that was in use before is an error, for its node is still the parent's. One that was not
/// in use is no different in the children of a prefork server than in their parent: **give each process its own node**, and
/// make the generator after the fork.
///
/// ```
/// use imid::snowflake::{Generator, Preset};
///
/// static IDS: Generator = match Generator::new(Preset::TWITTER, 35) {
///     Ok(ids) => ids,
///     Err(_) => panic!("a node of 0 to 1023"),
/// };
///
/// let (first, second) = (IDS.generate()?, IDS.generate()?);
/// assert!(first < second);
/// assert_eq!((first.datacenter(), first.worker()), (Some(1), 3));
/// # Ok::<(), imid::snowflake::GenerateError>(())
/// ```
pub struct Generator<C = SystemClock, W = NoWorkerIds> {
    preset: Preset,
    clock: C,
    workers: W,
    /// A packed [`State`].
    word: AtomicU64,
    /// The value of [`fork::epoch`] at first use; 0 before.
    epoch: AtomicU64,
}

impl Generator {
    /// A generator by the system clock, without spare nodes.
    ///
    /// # Errors
    /// A node that the layout has no room for, such as 1,024 in 10 bits.
    pub const fn new(preset: Preset, node: u32) -> Result<Self, LayoutError> {
        if let Err(error) = preset.layout.check_node(node) {
            return Err(error);
        }
        let word = AtomicU64::new(State { node, last: 0 }.pack(&preset));
        Ok(Self { preset, clock: SystemClock, workers: NoWorkerIds, word, epoch: AtomicU64::new(0) })
    }
}

impl<C, W> Generator<C, W> {
    /// Mints by this clock.
    #[must_use]
    pub fn with_clock<D>(self, clock: D) -> Generator<D, W> {
        let Self { preset, workers, word, epoch, .. } = self;
        Generator { preset, clock, workers, word, epoch }
    }

    /// Takes spare nodes from this source.
    #[must_use]
    pub fn with_workers<V>(self, workers: V) -> Generator<C, V> {
        let Self { preset, clock, word, epoch, .. } = self;
        Generator { preset, clock, workers, word, epoch }
    }

    /// The node that it mints under at present.
    pub fn node(&self) -> u32 {
        self.state().node
    }

    /// The clock that it mints by.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    fn state(&self) -> State {
        // ORDERING: pairs with `exchange`: the clock that is read next is no older than the stamp seen here.
        State::unpack(self.word.load(Ordering::Acquire), &self.preset)
    }

    /// The ID of the next state, unless another thread came first.
    fn exchange(&self, seen: State, next: State) -> Option<Snowflake> {
        let (seen, word) = (seen.pack(&self.preset), next.pack(&self.preset));
        // ORDERING: releases the reading of the clock that `next` was made from.
        let exchanged = self.word.compare_exchange(seen, word, Ordering::Release, Ordering::Relaxed);
        exchanged.ok().map(|_| next.id(&self.preset))
    }

    /// Refuses a node that the parent process mints under.
    fn check_fork(&self) -> Result<(), GenerateKind> {
        let epoch = fork::watch();
        // ORDERING: none: a forked child has one thread, which sees what it inherited.
        match self.epoch.compare_exchange(0, epoch, Ordering::Relaxed, Ordering::Relaxed) {
            Err(known) if known != epoch => Err(GenerateKind::Forked),
            _ => Ok(()),
        }
    }
}

impl<C: Clock, W: WorkerIds> Generator<C, W> {
    /// Mints the next ID. **Never blocks.**
    ///
    /// # Errors
    /// The clock cannot be read, or the layout has no tick for its time; it stands behind the last ID, and there is no
    /// spare node where the preset would take one; the tick is full; the process is a forked child. The clock is read once
    /// more before any refusal, and [`retry_after`](GenerateError::retry_after) says how long the original would wait.
    pub fn generate(&self) -> Result<Snowflake, GenerateError> {
        if self.epoch.load(Ordering::Relaxed) != fork::epoch() {
            self.check_fork()?;
        }
        match self.mint(|| self.clock.now_ms(), false) {
            Ok(id) => Ok(id),
            Err(_) => Ok(self.mint(|| self.clock.refresh(), true)?),
        }
    }

    /// Mints the next ID; where the original waits, sleeps for at most `timeout` in all. It never spins.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate), where the original would fail; at once where the wait would be longer than what
    /// is left of `timeout`.
    #[cfg(feature = "std")]
    pub fn generate_within(&self, timeout: Duration) -> Result<Snowflake, GenerateError> {
        // The originals wait once for the clock, and as often as it takes for the next tick.
        let mut clock_due = None;
        let retry_after = |error: GenerateError| {
            let wait = error.retry_after()?;
            if !error.is_rollback() {
                return Some(wait);
            }
            let now = Instant::now();
            let due = *clock_due.get_or_insert_with(|| now + wait);
            due.checked_duration_since(now).filter(|left| !left.is_zero())
        };
        retry_within(timeout, || self.generate(), retry_after)
    }

    /// Load, advance, exchange.
    ///
    /// The word is loaded before the clock is read, so a refusal was true at that reading, however long the thread has been
    /// paused since.
    fn mint(&self, clock: impl Fn() -> Result<u64, ClockError>, may_swap: bool) -> Result<Snowflake, GenerateKind> {
        loop {
            let seen = self.state();
            let now_ms = clock()?;
            let minted = match seen.advance(now_ms, &self.preset) {
                Ok(next) => self.exchange(seen, next),
                Err(refusal @ GenerateKind::Rollback { retry_after: None, .. }) if may_swap => {
                    // Its own node is not spare: under it the time that was set back to has been minted before.
                    let node = self.workers.take(now_ms).filter(|node| *node != seen.node).ok_or(refusal)?;
                    self.swap(seen, node, now_ms)?
                }
                Err(refusal) => return Err(refusal),
            };
            if let Some(id) = minted {
                return Ok(id);
            }
        }
    }

    /// Goes on from the time that the clock was set back to, under another node.
    #[cold]
    fn swap(&self, seen: State, node: u32, now_ms: u64) -> Result<Option<Snowflake>, GenerateKind> {
        let next = self.preset.layout.check_node(node).map_err(GenerateKind::from);
        let next = next.and_then(|_| State { node, last: 0 }.advance(now_ms, &self.preset));
        let swapped = next.map(|next| self.exchange(seen, next));
        match swapped {
            Ok(Some(_)) => self.workers.put(seen.node, seen.used_until_ms(&self.preset)),
            // Not used after all. It was free at `now_ms`, so in every millisecond before that its last holder was done.
            _ => self.workers.put(node, now_ms.saturating_sub(1)),
        }
        swapped
    }
}

impl<C: fmt::Debug, W: fmt::Debug> fmt::Debug for Generator<C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("layout", &self.preset.layout.name())
            .field("node", &self.node())
            .field("clock", &self.clock)
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}
