//! Mints Snowflakes: loads the state, advances it and exchanges it.

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
/// - **Lock-free**, and **never blocks**, unless the source of spare nodes blocks. Only
///   [`generate_within`](Self::generate_within) sleeps.
/// - **Unique** while no other generator has the node.
/// - **Monotonic**, until a node is swapped: the new node begins at the time that the clock was set back to.
///
/// A generator that was used before a fork returns an error in the child, because the parent still has the node. A
/// generator that was not used before the fork cannot notice it: all children of a prefork server would mint under the
/// same node. So **make the generator after the fork and give each process its own node**.
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
    /// Returns a generator with the system clock and without spare nodes.
    ///
    /// # Errors
    /// The node does not fit the layout, such as 1,024 in 10 bits.
    pub const fn try_new(preset: Preset, node: u32) -> Result<Self, LayoutError> {
        Self::builder(preset).node(node).build_static()
    }

    /// Returns a builder. The node must be set.
    pub const fn builder(preset: Preset) -> Builder<SystemClock, NoSpareNodes> {
        Builder::new(preset)
    }
}

impl<C, S> Generator<C, S> {
    const fn from_parts(preset: Preset, node: u32, clock: C, spares: S) -> Self {
        let word = AtomicU64::new(State::new(node).pack(preset.layout()));
        Self { preset, clock, spares, word, epoch: AtomicU64::new(0) }
    }

    /// Returns the preset.
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// Returns the present node.
    pub fn node(&self) -> u32 {
        self.state().node
    }

    /// Returns the clock.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    fn state(&self) -> State {
        // ORDERING: pairs with `exchange`: the clock reading that follows is not older than the stamp seen here.
        State::unpack(self.word.load(Ordering::Acquire), self.preset.layout())
    }

    /// Stores the next state and returns its ID; `None` if another thread was faster.
    fn exchange(&self, seen: State, next: State) -> Option<Snowflake> {
        let layout = self.preset.layout();
        let (seen, word) = (seen.pack(layout), next.pack(layout));
        // ORDERING: releases the clock reading that `next` was made from.
        let exchanged = self.word.compare_exchange(seen, word, Ordering::Release, Ordering::Relaxed);
        exchanged.ok().map(|_| next.id(layout))
    }

    /// Refuses to mint under a node of the parent process.
    fn check_fork(&self) -> Result<(), GenerateKind> {
        let epoch = fork::watch();
        // ORDERING: relaxed is enough: a forked child has one thread, which sees the values that it inherited.
        match self.epoch.compare_exchange(0, epoch, Ordering::Relaxed, Ordering::Relaxed) {
            Err(known) if known != epoch => Err(GenerateKind::Forked),
            _ => Ok(()),
        }
    }
}

impl<C: Clock, S: NodeSource> Generator<C, S> {
    /// Mints the next ID. It does not wait, unless the source of spare nodes waits.
    ///
    /// # Errors
    /// - The clock cannot be read, or the layout has no tick for its time.
    /// - The clock is behind the last ID, and there is no spare node to take.
    /// - The tick is full.
    /// - The process is a forked child.
    ///
    /// Before it returns one of the first three errors, it reads the clock a second time.
    /// [`retry_after`](GenerateError::retry_after) returns how long the original would wait.
    pub fn generate(&self) -> Result<Snowflake, GenerateError> {
        if self.epoch.load(Ordering::Relaxed) != fork::epoch() {
            self.check_fork()?;
        }
        match self.mint(|| self.clock.now_ms(), false) {
            Ok(id) => Ok(id),
            Err(_) => Ok(self.mint(|| self.clock.refresh(), true)?),
        }
    }

    /// Mints the next ID. If the original would wait, this call sleeps, for at most `timeout` in total. It does not
    /// spin.
    ///
    /// # Errors
    /// The errors of [`generate`](Self::generate) for which the original does not wait. The call also fails, without a
    /// wait, if the wait would be longer than the rest of `timeout`.
    #[cfg(feature = "std")]
    pub fn generate_within(&self, timeout: Duration) -> Result<Snowflake, GenerateError> {
        // The originals wait for the clock once, and for the next tick as often as necessary.
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

    /// Loads the state, advances it and stores it. Starts again if another thread was faster.
    ///
    /// The word is loaded before the clock is read. A refusal therefore held at that reading, even if the thread was
    /// paused in between.
    fn mint(&self, clock: impl Fn() -> Result<u64, ClockError>, may_swap: bool) -> Result<Snowflake, GenerateKind> {
        loop {
            let seen = self.state();
            let now_ms = clock()?;
            let minted = match seen.advance(now_ms, &self.preset) {
                Ok(next) => self.exchange(seen, next),
                Err(refusal @ GenerateKind::Rollback { retry_after: None, .. }) if may_swap => {
                    // The generator's own node is not spare: IDs with the time that the clock was set back to were
                    // minted under it before.
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

    /// Continues under another node from the time that the clock was set back to.
    #[cold]
    fn swap(&self, seen: State, node: u32, now_ms: u64) -> Result<Option<Snowflake>, GenerateKind> {
        let layout = self.preset.layout();
        let next = layout.check_node(node).map_err(GenerateKind::Node);
        let next = next.and_then(|()| State::new(node).advance(now_ms, &self.preset));
        let swapped = next.map(|next| self.exchange(seen, next));
        let (node, used_until_ms) = match swapped {
            Ok(Some(_)) => (seen.node, seen.used_until_ms(layout)),
            // The new node was not used. It was free at `now_ms`, so its last use was before `now_ms`.
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
