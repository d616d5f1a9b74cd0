//! Minting Snowflakes: load, advance, exchange.

mod builder;
mod error;
mod nodes;
mod preset;
mod state;

use core::fmt;
#[cfg(feature = "std")]
use core::time::Duration;
#[cfg(feature = "std")]
use std::time::Instant;

pub use builder::Builder;
pub use error::GenerateError;
#[cfg(feature = "std")]
pub use nodes::NodeQueue;
pub use nodes::{NoSpareNodes, NodeSource, SpareNode};
pub use preset::Preset;

use crate::clock::{Clock, ClockError, SystemClock};
use crate::fork;
use crate::snowflake::error::LayoutError;
use crate::snowflake::id::Snowflake;
use crate::sync::{AtomicU64, Ordering};
#[cfg(feature = "std")]
use crate::wait::retry_within;
use error::GenerateKind;
use state::State;

/// Mints the Snowflakes of one node, as the [`Preset`]'s original does.
///
/// - **Lock-free**, except for what a source of spare nodes does.
/// - **Never blocks**: only [`generate_within`](Self::generate_within) sleeps.
/// - **Unique** while no other generator has the node.
/// - **Monotonic**, except where a node is swapped: the new node begins at the time that the clock was set back to.
///
/// In a forked child a generator that was used before the fork returns an error, because its node is still the
/// parent's. One that was not used before cannot see the fork: every child of a prefork server would mint under the
/// same node. So **make the generator after the fork and give each process a node of its own**.
///
/// ```
/// use imid::snowflake::{Generator, Preset};
///
/// static IDS: Generator = match Generator::try_new(Preset::TWITTER, 35) {
///     Ok(ids) => ids,
///     Err(_) => panic!("a node of 0 to 1023"),
/// };
///
/// let (first, second) = (IDS.generate()?, IDS.generate()?);
/// assert!(first < second);
/// assert_eq!((first.datacenter(), first.worker()), (Some(1), 3));
/// # Ok::<(), imid::snowflake::GenerateError>(())
/// ```
pub struct Generator<C = SystemClock, S = NoSpareNodes> {
    preset: Preset,
    clock: C,
    spares: S,
    /// A packed [`State`].
    word: AtomicU64,
    /// The value of [`fork::epoch`] at first use; 0 before.
    epoch: AtomicU64,
}

impl Generator {
    /// Returns a generator by the system clock, without spare nodes.
    ///
    /// # Errors
    /// A node that the layout has no room for, such as 1,024 in 10 bits.
    pub const fn try_new(preset: Preset, node: u32) -> Result<Self, LayoutError> {
        Self::builder(preset).node(node).build_static()
    }

    /// Starts a generator with settings of your own. The node must be given.
    pub const fn builder(preset: Preset) -> Builder<SystemClock, NoSpareNodes> {
        Builder::new(preset)
    }
}

impl<C, S> Generator<C, S> {
    const fn from_parts(preset: Preset, node: u32, clock: C, spares: S) -> Self {
        let word = AtomicU64::new(State::new(node).pack(preset.layout()));
        Self { preset, clock, spares, word, epoch: AtomicU64::new(0) }
    }

    /// The preset that it follows.
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// The node that it mints under now.
    pub fn node(&self) -> u32 {
        self.state().node
    }

    /// The clock that it mints by.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    fn state(&self) -> State {
        // ORDERING: pairs with `exchange`: the clock that is read next is no older than the stamp seen here.
        State::unpack(self.word.load(Ordering::Acquire), self.preset.layout())
    }

    /// The ID of the next state, unless another thread came first.
    fn exchange(&self, seen: State, next: State) -> Option<Snowflake> {
        let layout = self.preset.layout();
        let (seen, word) = (seen.pack(layout), next.pack(layout));
        // ORDERING: releases the reading of the clock that `next` was made from.
        let exchanged = self.word.compare_exchange(seen, word, Ordering::Release, Ordering::Relaxed);
        exchanged.ok().map(|_| next.id(layout))
    }

    /// Refuses to mint under a node of the parent process.
    fn check_fork(&self) -> Result<(), GenerateKind> {
        let epoch = fork::watch();
        // ORDERING: none: a forked child has one thread, which sees what it inherited.
        match self.epoch.compare_exchange(0, epoch, Ordering::Relaxed, Ordering::Relaxed) {
            Err(known) if known != epoch => Err(GenerateKind::Forked),
            _ => Ok(()),
        }
    }
}

impl<C: Clock, S: NodeSource> Generator<C, S> {
    /// Mints the next ID. **Never blocks.**
    ///
    /// # Errors
    /// - The clock cannot be read, or the layout has no tick for its time.
    /// - The clock is behind the last ID, and there is no spare node to take.
    /// - The tick is full.
    /// - The process is a forked child.
    ///
    /// The clock is read a second time before any of these but the last.
    /// [`retry_after`](GenerateError::retry_after) says how long the original would wait.
    pub fn generate(&self) -> Result<Snowflake, GenerateError> {
        if self.epoch.load(Ordering::Relaxed) != fork::epoch() {
            self.check_fork()?;
        }
        match self.mint(|| self.clock.now_ms(), false) {
            Ok(id) => Ok(id),
            Err(_) => Ok(self.mint(|| self.clock.refresh(), true)?),
        }
    }

    /// Mints the next ID. Where the original waits, it sleeps, for at most `timeout` in all. It does not spin.
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate), where the original fails. If the wait would be longer than what is left
    /// of `timeout`, the error comes at once.
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
    /// The word is loaded before the clock is read, so a refusal was true at that reading, however long the thread has
    /// been paused since.
    fn mint(&self, clock: impl Fn() -> Result<u64, ClockError>, may_swap: bool) -> Result<Snowflake, GenerateKind> {
        loop {
            let seen = self.state();
            let now_ms = clock()?;
            let minted = match seen.advance(now_ms, &self.preset) {
                Ok(next) => self.exchange(seen, next),
                Err(refusal @ GenerateKind::Rollback { retry_after: None, .. }) if may_swap => {
                    // Its own node is not spare: under it the time that was set back to has been minted before.
                    let node = self.spares.take(now_ms).filter(|node| *node != seen.node).ok_or(refusal)?;
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
        let layout = self.preset.layout();
        let next = layout.check_node(node).map_err(GenerateKind::Node);
        let next = next.and_then(|()| State::new(node).advance(now_ms, &self.preset));
        let swapped = next.map(|next| self.exchange(seen, next));
        let (node, used_until_ms) = match swapped {
            Ok(Some(_)) => (seen.node, seen.used_until_ms(layout)),
            // Not used after all. It was free at `now_ms`, so its last use was before that.
            _ => (node, now_ms.saturating_sub(1)),
        };
        self.spares.put(SpareNode { node, used_until_ms });
        swapped
    }
}

impl<C: fmt::Debug, S: fmt::Debug> fmt::Debug for Generator<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("layout", &self.preset.layout())
            .field("node", &self.node())
            .field("clock", &self.clock)
            .field("spares", &self.spares)
            .finish_non_exhaustive()
    }
}
