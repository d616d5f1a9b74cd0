//! Mints Snowflakes: loads the state, advances it and exchanges it.
//!
//! The word **is** the last ID. Within a tick the next ID is the word plus one, which most calls exchange without
//! computing anything else ([`Steps`]). The first call of a tick takes the slow path.
//!
//! Why no ID is equal to another, below a floor, at a ceiling or after the end, wherever a thread is paused:
//! - An ID is minted by one exchange of the word. The exchange succeeds only if the word is what it was when it was
//!   loaded.
//! - **The word never has the same value twice.** Under one node the stamp only grows. A node that comes back from the
//!   source has a floor after its last stamp, so a successful exchange proves that nothing has changed the word since it
//!   was loaded.
//! - A floor is in the word. A thread that has loaded an earlier word cannot exchange it.
//! - The end is in the word as well: a stamp that no transition leaves.
//! - The generator's ceiling only grows. One that was loaded some time ago is too low, never too high.
//! - The ceiling of a node is asked for after the word is loaded and before it is exchanged. If the exchange succeeds, the
//!   generator had the node all that time, and an answer holds until the node is put back, so no word has to hold the
//!   ceiling of the present node, and a swap changes no word but one.
//! - Both ceilings are ends of ticks, so an ID of a tick proves that they allow the whole tick, and the next ID of the tick
//!   needs no further check. A floor leaves a full tick behind, or the last one, and neither has a next ID here.

mod builder;
mod error;
mod nodes;
mod preset;
mod state;

#[cfg(feature = "std")]
use core::time::Duration;
use core::{fmt, hint};
#[cfg(feature = "std")]
use std::{thread, time::Instant};

use imid::clock::{Clock, ClockError, SystemClock};
use imid::fork::Owner;

pub use builder::Builder;
pub use error::{BuildError, GenerateError};
#[cfg(feature = "std")]
pub use nodes::NodeQueue;
pub use nodes::{NoSpareNodes, NodeSource, SpareNode};
pub use preset::Preset;

use crate::id::Snowflake;
use crate::sync::{AtomicU64, Ordering};
use error::{GenerateKind, Refusal};
use state::{State, Steps, is_below};

/// Mints Snowflakes for one node, as the [`Preset`]'s original does.
/// - **Lock-free**, and **never blocks**, unless the source of spare nodes blocks. Only
///   [`generate_within`](Self::generate_within) sleeps.
/// - **Unique** while no other generator has the node, or has used it past the [floor](Builder::floor_ms).
/// - **Monotonic**, until a node is swapped because the clock was set back: the new node begins at the clock's time.
/// - **Never at or past a ceiling**: neither the [generator's](Self::raise_ceiling_ms) nor the
///   [node's](NodeSource::ceiling_ms), whatever threads and clock do.
///
/// In a forked child, calls are an error, because the parent still has the node. Only a `static` generator that was not
/// used before the fork cannot notice it: all children of a prefork server would mint under the same node. So **make
/// the generator after the fork and give each process its own node**. **Without the feature `std`, forks are not detected.**
///
/// ```
/// use imid_snowflake::{Generator, Preset};
///
/// static IDS: Generator = match Generator::try_new(Preset::TWITTER, 35) {
///     Ok(ids) => ids,
///     Err(_) => panic!("a node of 0 to 1023"),
/// };
///
/// let (first, second) = (IDS.generate()?, IDS.generate()?);
/// assert!(first < second);
/// assert_eq!((first.datacenter(), first.worker()), (Some(1), 3));
/// # Ok::<(), imid_snowflake::GenerateError>(())
/// ```
pub struct Generator<C = SystemClock, S = NoSpareNodes> {
    preset: Preset,
    clock: C,
    spares: S,
    /// A packed [`State`]: the last ID.
    word: Line,
    steps: Steps,
    /// The first stamp that no ID may have, from [`state::ceiling`].
    ceiling: AtomicU64,
    /// The process that has the node.
    owner: Owner,
}

/// A word that has its cache lines to itself, because each ID takes them from the other threads. A call reads the other
/// fields as well. Two lines: the prefetcher of x86-64 fetches them in pairs.
#[repr(align(128))]
struct Line(AtomicU64);

/// How often a thread that has lost a race hints that it spins before it tries again: 0.8 µs on a Zen 5. The other thread
/// mints several IDs in this time. If both retried immediately, the word would bounce between the cores on every ID.
const BACK_OFF: u32 = 32;

/// The longest single sleep. A clock that is corrected during the wait is noticed within this time.
#[cfg(feature = "std")]
const SLICE: Duration = Duration::from_millis(10);

impl Generator {
    /// Returns a generator with the system clock and without spare nodes.
    ///
    /// **It has no floor, so use it only for a node that has never minted.** A second generator for the same node, in this process
    /// or after a restart, begins each tick with the same sequence number, so IDs of the same tick repeat with certainty.
    /// [`Builder::floor_ms`] prevents this.
    ///
    /// # Errors
    /// The node does not fit the layout, such as 1,024 in 10 bits.
    pub const fn try_new(preset: Preset, node: u32) -> Result<Self, BuildError> {
        Self::builder(preset).node(node).build_static()
    }

    /// Returns a builder. The node must be set.
    pub const fn builder(preset: Preset) -> Builder<SystemClock, NoSpareNodes> {
        Builder::new(preset)
    }
}

impl<C, S> Generator<C, S> {
    const fn from_parts(preset: Preset, (state, ceiling): (State, u64), clock: C, spares: S) -> Self {
        let (word, ceiling) = (Line(AtomicU64::new(state.pack(preset.layout()))), AtomicU64::new(ceiling));
        Self { preset, clock, spares, word, steps: Steps::new(preset.layout()), ceiling, owner: Owner::none() }
    }

    /// Returns the preset.
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// Returns the present node, or the last one if the generator is closed.
    pub fn node(&self) -> u32 {
        self.state().node
    }

    /// Returns the clock.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// Raises the first Unix millisecond that an ID may have under the present node. It does nothing if all later IDs are past the
    /// floor anyway, or if the generator is closed.
    ///
    /// Does what [`Builder::floor_ms`] does, at run time. It never fails and takes effect immediately: after it, no call takes an
    /// ID below the floor, not even one that was in progress.
    pub fn raise_floor_ms(&self, timestamp_ms: u64) {
        let mut seen = self.state();
        while let Some(raised) = seen.raised(timestamp_ms, self.preset.layout()) {
            match self.exchange(seen, raised) {
                Ok(()) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Raises the first Unix millisecond that no ID may have, under any node. It does nothing if the ceiling is already higher.
    /// Without a ceiling in the [builder](Builder::ceiling_ms), the ceiling is the layout's end, which cannot be raised.
    ///
    /// No ID at or past the ceiling is ever minted, whatever threads and clock do.
    pub fn raise_ceiling_ms(&self, timestamp_ms: u64) {
        // ORDERING: releases the floors that were raised before. Whoever finds the new ceiling then exchanges the word
        // after them, or fails.
        self.ceiling.fetch_max(state::ceiling(timestamp_ms, self.preset.layout()), Ordering::Release);
    }

    fn state(&self) -> State {
        // ORDERING: pairs with `exchange`: the clock reading that follows is not older than the stamp seen here.
        State::unpack(self.word.0.load(Ordering::Acquire), self.preset.layout())
    }

    /// Stores the next state; or returns the present one if another thread was faster.
    fn exchange(&self, seen: State, next: State) -> Result<(), State> {
        let layout = self.preset.layout();
        let (seen, word) = (seen.pack(layout), next.pack(layout));
        // ORDERING: releases the clock reading that `next` was made from. Release also keeps the load of a ceiling
        // before this exchange, and `state` keeps it after the load of the word. After a failure no clock is read before the
        // word is loaded again.
        let exchanged = self.word.0.compare_exchange(seen, word, Ordering::Release, Ordering::Relaxed);
        exchanged.map(|_| ()).map_err(|word| State::unpack(word, layout))
    }

    /// Makes the node this process's, so that a child that is forked before first use cannot take it.
    fn bind_to_process(&self) {
        // Loom wants each word to be made in the thread that builds.
        #[cfg(loom)]
        for word in [&self.word.0, &self.ceiling] {
            word.load(Ordering::Relaxed);
        }
        let _ = self.check_fork();
    }

    /// Refuses to mint under a node of the parent process.
    fn check_fork(&self) -> Result<(), GenerateKind> {
        if self.owner.claim() { Ok(()) } else { Err(GenerateKind::Forked) }
    }
}

impl<C, S: NodeSource> Generator<C, S> {
    /// Closes the generator permanently, and returns its node to the source. Later calls return an error
    /// ([`is_closed`](GenerateError::is_closed)).
    ///
    /// Returns the first Unix millisecond after every ID that was issued under the [node](Self::node), even by a call in progress,
    /// and after its floor: the [`floor_ms`](Builder::floor_ms) of the node's next generator. `None` if no ID was issued and no
    /// floor was set, and if the generator was closed before.
    pub fn close(&self) -> Option<u64> {
        let layout = self.preset.layout();
        let mut seen = self.state();
        while !seen.is_closed(layout) {
            match self.exchange(seen, seen.closed(layout)) {
                Ok(()) => {
                    let spare = seen.spare(layout);
                    // In a forked child the node is still the parent's.
                    if self.check_fork().is_ok() {
                        self.spares.put(spare);
                    }
                    return seen.is_used().then_some(spare.used_until_ms + 1);
                }
                Err(now) => seen = now,
            }
        }
        None
    }
}

impl<C: Clock, S: NodeSource> Generator<C, S> {
    /// Mints the next ID. It does not wait, unless the source of spare nodes does.
    ///
    /// # Errors
    /// - The clock cannot be read, or the layout has no tick for its time.
    /// - The clock is behind the last ID or behind the floor, and there is no spare node to take.
    /// - The tick is full.
    /// - The ID would be at or past the ceiling of the generator, or past the ceiling of the node, and there is no spare
    ///   node to take.
    /// - The generator is closed.
    /// - The process is a forked child.
    ///
    /// Before one of the first four errors, the clock is read a second time. [`retry_after`](GenerateError::retry_after) returns
    /// how long the original would wait.
    #[inline]
    pub fn generate(&self) -> Result<Snowflake, GenerateError> {
        // The layout is put beside the bits here, and not where they are taken: the two ways to take them would then meet in
        // memory, and reading an ID there right after its parts were written takes 4 ns.
        self.take().map(|bits| Snowflake::from_u64(bits, self.preset.layout()))
    }

    /// Takes the next ID.
    #[inline]
    fn take(&self) -> Result<u64, GenerateError> {
        // ORDERING: none is needed. An old word is not exchanged, and only a reading in its own tick has a next ID here: this way
        // refuses nothing, so it does not matter which of word and clock is older.
        let mut seen = self.word.0.load(Ordering::Relaxed);
        if let Ok(now_ms) = self.clock.now_ms()
            && self.owner.is_current()
        {
            while let Some(next) = self.steps.next(seen, now_ms, self.preset.layout_ref()) {
                // ORDERING: none. The exchange continues the release sequence of the one that began the tick (C++20
                // [intro.races]), and that one's clock reading is of the same tick. No ceiling is loaded here.
                match self.word.0.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return Ok(next),
                    Err(_) => seen = self.word_after_a_lost_race(),
                }
            }
        }
        self.take_out_of_line()
    }

    /// Lets the other thread continue for a while, and loads the word again.
    #[cold]
    #[inline(never)]
    fn word_after_a_lost_race(&self) -> u64 {
        for _ in 0..BACK_OFF {
            hint::spin_loop();
        }
        // ORDERING: as in `take`.
        self.word.0.load(Ordering::Relaxed)
    }

    /// Takes the first ID of a tick, or returns why there is none.
    #[inline(never)]
    fn take_out_of_line(&self) -> Result<u64, GenerateError> {
        self.check_fork()?;
        let accepted =
            || self.clock.now_ms().and_then(|now| if self.clock.accepts(now) { Ok(now) } else { self.clock.refresh() });
        match self.mint(accepted, false) {
            Ok(bits) => Ok(bits),
            Err(_) => Ok(self.mint_by_real_clock()?),
        }
    }

    #[cold]
    #[inline(never)]
    fn mint_by_real_clock(&self) -> Result<u64, GenerateKind> {
        self.mint(|| self.clock.refresh(), true)
    }

    /// Mints the next ID. If the original would wait, this call sleeps, for at most `timeout` in total. It does not
    /// spin.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate), where the original does not wait. The call also fails immediately if the wait would be
    /// longer than the rest of `timeout`.
    #[cfg(feature = "std")]
    pub fn generate_within(&self, timeout: Duration) -> Result<Snowflake, GenerateError> {
        // Most calls do not wait and need no second clock.
        let (mut started, mut clock_due) = (None, None);
        loop {
            let error = match self.generate() {
                Ok(id) => return Ok(id),
                Err(error) => error,
            };
            let Some(wait) = error.retry_after() else { return Err(error) };
            let now = Instant::now();
            let left = timeout.saturating_sub(now - *started.get_or_insert(now));
            // The originals wait for the clock once, and for the next tick as often as necessary.
            let wait = if error.is_rollback() { *clock_due.get_or_insert(now + wait) - now } else { wait };
            if wait.is_zero() || wait > left {
                return Err(error);
            }
            thread::sleep(wait.min(SLICE));
        }
    }

    /// Loads the state, advances it and stores it. Starts again if another thread was faster.
    ///
    /// The word is loaded before the clock is read. A refusal therefore held at that reading, even if the thread was
    /// paused in between.
    fn mint(&self, clock: impl Fn() -> Result<u64, ClockError>, may_swap: bool) -> Result<u64, GenerateKind> {
        let layout = self.preset.layout();
        loop {
            let seen = self.state();
            // Other calls find a closed generator out without this check, because its stamp has no successor.
            if may_swap && seen.is_closed(layout) {
                return Err(GenerateKind::Closed);
            }
            let now_ms = clock()?;
            let minted = match self.advance(seen, now_ms) {
                Ok(next) => self.exchange(seen, next).ok().map(|()| next.pack(layout)),
                Err(
                    refusal @ (GenerateKind::Refused(Refusal::Rollback { retry_after: None, .. })
                    | GenerateKind::NodeCeiling { .. }),
                ) if may_swap => {
                    // The generator's own node is not spare: IDs with the time that the clock was set back to were
                    // minted under it before.
                    match self.spares.take(now_ms).filter(|spare| spare.node != seen.node) {
                        Some(spare) => self.swap(seen, spare, now_ms)?,
                        // Another thread may have taken the last one, and swapped.
                        None if self.state() != seen => None,
                        None => return Err(refusal),
                    }
                }
                Err(refusal) => return Err(refusal),
            };
            if let Some(bits) = minted {
                return Ok(bits);
            }
        }
    }

    /// Returns the state after one more ID below both ceilings.
    fn advance(&self, seen: State, now_ms: u64) -> Result<State, GenerateKind> {
        // ORDERING: pairs with `raise_ceiling_ms`.
        let next = seen.advance(now_ms, self.ceiling.load(Ordering::Acquire), &self.preset)?;
        if !is_below(self.spares.ceiling_ms(seen.node), now_ms, self.preset.layout()) {
            return Err(GenerateKind::NodeCeiling { node: seen.node });
        }
        Ok(next)
    }

    /// Continues under another node, from the time that the clock was set back to or that the ceiling was reached at.
    #[cold]
    fn swap(&self, seen: State, spare: SpareNode, now_ms: u64) -> Result<Option<u64>, GenerateKind> {
        let layout = self.preset.layout();
        let next = if spare.node <= layout.node_max() {
            self.advance(State::taken(spare, layout), now_ms)
        } else {
            Err(GenerateKind::Node { max: layout.node_max(), found: spare.node })
        };
        let swapped = next.map(|next| self.exchange(seen, next).ok().map(|()| next.pack(layout)));
        // A node that was not used is returned unchanged.
        self.spares.put(if matches!(swapped, Ok(Some(_))) { seen.spare(layout) } else { spare });
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
