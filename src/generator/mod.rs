//! Minting: distinct, ordered IDs without a machine ID.

mod batch;
mod builder;
mod error;
#[cfg(loom)]
mod models;
mod moves;
mod policy;
mod published;
mod refusal;
mod slew;
mod stripe;

use core::fmt;
use core::time::Duration;

pub use batch::Batch;
pub use builder::{Builder, Lane};
pub use error::{BuildError, GenerateError, ObserveError};

use self::error::GenerateKind;
use self::policy::millis;
use self::stripe::Core;
use crate::clock::{Clock, SystemClock};
use crate::id::MessageId;
#[cfg(feature = "std")]
use crate::seed;
use crate::session::SessionTag;
#[cfg(feature = "std")]
use crate::wait::retry_within;

/// Mints the IDs of one process.
///
/// **Lock-free**: a paused thread does not block others. **Never blocks**: only [`generate_within`](Self::generate_within) sleeps.
/// **Unique**: no two IDs of one generator are equal, whatever the clock does. **Monotonic**: with one stripe an ID is greater than
/// every ID whose call returned before; with more stripes it is **monotonic per session**.
///
/// | | one stripe | n stripes |
/// | --- | --- | --- |
/// | order | strict over all sessions | strict per session |
/// | capacity | 4,096 IDs/ms | n × 4,096 IDs/ms, 4,096 for one session |
/// | contention | all threads share one word | threads on different stripes do not share a word that each ID writes |
/// | the clock steps back, up to `max_rollback` | continues at full rate after its last ID | the same |
/// | the clock steps back further | an error, with `retry_after` | the same |
/// | one reading of the clock is more than a second ahead (or `max_rollback`, or `max_skew`, if one is less) | not believed, until a second reading agrees | the same |
/// | overload | borrows from the next milliseconds up to `max_lead`; then an error, with `retry_after` | the same for each stripe |
/// | an ID from elsewhere is ahead: [`observe`](Self::observe), [`raise_floor`](Self::raise_floor) | continues after it, with a few milliseconds of lead | the same |
/// | the [ceiling](Self::raise_ceiling_ms) is reached | an error; no ID has the time of the ceiling or a later one | the same |
/// | restart | acts as a new host; can repeat IDs that ran ahead of the clock, unless a [`floor`](Builder::floor) is set | the same |
/// | fork | the child is a new host: it has its own seed and starts after the millisecond of the last inherited ID. With a [lane](Builder::lane), calls are an error | the same |
///
/// Two generators that share nothing can mint equal IDs: see the [guarantees](crate#guarantees). To rule this out, route each
/// session to one process ([`SessionTag::shard`]) or give each host a [`lane`](Builder::lane).
///
/// In ordinary use an ID has the time of the clock, or the millisecond after it. After a step back, an observed ID, a floor or a
/// fork, the **time reached** is ahead of the clock, by [`Stats::behind`]. It then runs at half the clock's speed until the clock
/// has caught up. The [table of leads](crate#how-far-ids-can-be-ahead-of-the-clock) lists each event.
///
/// ```
/// use imid::{Generator, SessionTag, SessionType};
///
/// static IDS: Generator = Generator::new();
///
/// let room = SessionTag::new(SessionType::GROUP, "room-42");
/// let first = IDS.generate(room)?;
/// let second = IDS.generate(room)?;
/// assert!(first < second && second.is_in(room));
/// # Ok::<(), imid::generator::GenerateError>(())
/// ```
pub struct Generator<C = SystemClock, const STRIPES: usize = 1> {
    core: Core<STRIPES>,
    clock: C,
}

/// A generator with 64 stripes: strict order per session, 64 × 4,096 IDs/ms, 8 KiB. See [`Generator::striped`].
pub type StripedGenerator<C = SystemClock> = Generator<C, 64>;

#[cfg(feature = "std")]
impl Generator {
    /// Returns a generator with one stripe, the system clock and the default settings. Its IDs are distinct. On several hosts, IDs
    /// are unique if each session belongs to one of them ([guarantees](crate#guarantees)). If any host may mint for any session, give
    /// each host a [`lane`](Builder::lane), or use the crate `imid-lease`.
    ///
    /// It draws its seed at first use. **Create one generator per process and keep it**, for example in a `static`. The
    /// following look right but can repeat IDs, because two generators in one process are like two hosts:
    ///
    /// - a `const` instead of a `static`: each use of the name is a new generator (clippy warns: `declare_interior_mutable_const`);
    /// - a generator per message, request or thread;
    /// - two versions of this crate in one program, each with its own `static`.
    pub const fn new() -> Self {
        Self::by_system_clock()
    }

    /// Returns a generator with 64 stripes, the system clock and the default settings. The [builder](Self::builder) has other numbers
    /// of stripes.
    ///
    /// ```
    /// use imid::{Generator, StripedGenerator};
    ///
    /// static IDS: StripedGenerator = Generator::striped();
    /// ```
    pub const fn striped() -> StripedGenerator {
        StripedGenerator::by_system_clock()
    }
}

#[cfg(feature = "std")]
impl<const STRIPES: usize> Generator<SystemClock, STRIPES> {
    const fn by_system_clock() -> Self {
        let builder = Generator::builder().stripes();
        // Without a clock, as on wasm32-unknown-unknown, no call mints, so any seed will do.
        let builder = if seed::CAN_DRAW { builder } else { builder.seed(0) };
        match builder.build_static() {
            Ok(generator) => generator,
            // PANIC: the default settings have no lane that could be wrong.
            Err(_) => unreachable!(),
        }
    }
}

impl Generator {
    /// Returns a builder for a generator with your own settings.
    pub const fn builder() -> Builder<SystemClock, 1> {
        Builder::new()
    }
}

impl<C, const STRIPES: usize> Generator<C, STRIPES> {
    const fn from_parts(core: Core<STRIPES>, clock: C) -> Self {
        Self { core, clock }
    }

    /// Returns the generator's clock.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// Returns the longest run that [`batch`](Self::batch) and [`fill`](Self::fill) can grant: the IDs of `max_lead`
    /// milliseconds, less those below the latest start of the spin.
    pub const fn longest_run(&self) -> usize {
        let run = self.core.policy().longest_run();
        if run < usize::MAX as u64 { run as usize } else { usize::MAX }
    }
}

impl<C: Clock, const STRIPES: usize> Generator<C, STRIPES> {
    /// Mints a session's next ID. **Lock-free**; **never blocks**. The ID is unique within this generator; for several hosts see
    /// the [guarantees](crate#guarantees).
    ///
    /// # Errors
    /// - The clock has no usable time, or is more than `max_rollback` behind its latest reading.
    /// - The ID would be further ahead of the clock than the limit, past the ceiling, or past 2109-05-15.
    /// - The generator is closed, or its lane belongs to the parent process.
    ///
    /// The clock is read once more before a refusal. [`retry_after`](GenerateError::retry_after) says how long to wait.
    #[expect(clippy::inline_always, reason = "a call returns 32 bytes through memory, which costs 5 ns")]
    #[inline(always)]
    pub fn generate(&self, session: SessionTag) -> Result<MessageId, GenerateError> {
        let compact = self.core.take(session.session_hash().to_u32(), 1, &self.clock)?;
        Ok(MessageId::from_stamp(self.core.policy().shape.expand(compact), session))
    }

    /// Mints a session's next ID. While the refusal is temporary, it sleeps and retries, for at most `timeout` in total.
    ///
    /// It sleeps at most 10 ms at a time, so it soon notices a corrected clock.
    ///
    /// # Errors
    /// As for [`generate`](Self::generate). If the wait is longer than the rest of `timeout`, the error is returned immediately.
    #[cfg(feature = "std")]
    pub fn generate_within(&self, session: SessionTag, timeout: Duration) -> Result<MessageId, GenerateError> {
        retry_within(timeout, || self.generate(session), GenerateError::retry_after)
    }

    /// Takes a run of `n` consecutive IDs of a session in one atomic step, all or nothing. With 0 the run is empty.
    ///
    /// ```
    /// use imid::{Generator, SessionTag, SessionType};
    ///
    /// let ids = Generator::new();
    /// let room = SessionTag::new(SessionType::GROUP, "room-42");
    /// let batch: Vec<_> = ids.batch(room, 100)?.collect();
    /// assert_eq!(batch.len(), 100);
    /// assert!(batch.is_sorted());
    /// # Ok::<(), imid::generator::GenerateError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`generate`](Self::generate), with the limits applied to the last ID of the run, and if the run is longer than
    /// [`longest_run`](Self::longest_run).
    #[inline]
    pub fn batch(&self, session: SessionTag, n: usize) -> Result<Batch, GenerateError> {
        let (run, shape) = (n as u64, self.core.policy().shape);
        if run == 0 {
            return Ok(Batch::new(0, 0, shape, session));
        }
        if n > self.longest_run() {
            return Err(GenerateKind::RunTooLong { max: self.longest_run(), found: n }.into());
        }
        let first = self.core.take(session.session_hash().to_u32(), run, &self.clock)?;
        Ok(Batch::new(first, run, shape, session))
    }

    /// Fills a slice with the IDs of one [`batch`](Self::batch), all or nothing.
    ///
    /// # Errors
    /// As for [`batch`](Self::batch). The slice is then unchanged.
    #[inline]
    pub fn fill(&self, session: SessionTag, ids: &mut [MessageId]) -> Result<(), GenerateError> {
        self.batch(session, ids.len())?.write(ids);
        Ok(())
    }

    /// Returns the state, for monitoring. It costs nothing when an ID is minted; only a refused call increments a counter.
    pub fn stats(&self) -> Stats {
        let now = self.clock.refresh().ok();
        let ahead = |tick: u64| Duration::from_millis(now.map_or(0, |now| tick.saturating_sub(now)));
        Stats {
            refused: self.core.refused(),
            lead: ahead(self.core.last_tick().unwrap_or(0)),
            behind: ahead(self.core.reached()),
        }
    }
}

/// IDs from elsewhere: new IDs sort after them.
impl<C: Clock, const STRIPES: usize> Generator<C, STRIPES> {
    /// Makes every later ID, of every session, sort after an ID from a host that you trust, as a hybrid logical clock does. For IDs
    /// that clients send, use [`observe_limited`](Self::observe_limited).
    ///
    /// A reply then sorts after the message it answers, even if the other host's clock is ahead: call this with the ID of that message,
    /// where any host posts in a room by [lanes](Builder::lane) or leases. With one process per room, or with [`MessageId::after`], you
    /// do not need it. For an ID of the past, it costs one load. (Kulkarni et al., "Logical Physical Clocks", 2014.)
    ///
    /// **The generator follows the greatest ID that it observes.** However long it observes, its IDs are at most `max_skew`
    /// and 21 ms ahead of the clock ([table](crate#how-far-ids-can-be-ahead-of-the-clock)). A host that always sends IDs
    /// 4.99 s ahead keeps each host that observes them 4.99 s ahead.
    ///
    /// An ID of the present millisecond or later moves the generator into the millisecond after it. Hosts that immediately
    /// observe each other's IDs therefore run ahead of their clocks if together they mint more than one ID per millisecond: in
    /// a minute by 0.1 s at 1.02 IDs per millisecond, and by 4 s at 1.1. At 2, they reach `max_skew` after 5 s and then refuse
    /// each other's IDs, so replies no longer sort after what they answer. Observe only the IDs you answer, not every ID you
    /// see.
    ///
    /// # Errors
    /// The ID is more than `max_skew` ahead of the clock's greatest reading, or the clock has no usable time. The generator is then
    /// unchanged. An ID that new IDs already follow is never an error, whatever the limit and the clock. If all clocks step back by
    /// more than twice `max_skew`, hosts refuse each other's IDs until the clocks have caught up.
    #[inline]
    pub fn observe(&self, id: MessageId) -> Result<(), ObserveError> {
        self.core.observe(id.timestamp_ms(), self.core.policy().max_skew, &self.clock)
    }

    /// Does what [`observe`](Self::observe) does, with your own limit if that is less than `max_skew`: for IDs that a client sends,
    /// such as that of the message it answers.
    ///
    /// A client can send any ID. With `observe`, a client that keeps sending IDs 4.99 s ahead keeps all sessions of the process
    /// 4.99 s ahead. With a limit, IDs are at most the limit and 21 ms ahead, whatever clients send. Choose a limit of the order of
    /// your own hosts' clock errors, 50 ms for example, because clients have seen their IDs. Better still, look the message up
    /// first: an ID that is in the store was minted by a host.
    ///
    /// ```
    /// use core::time::Duration;
    /// use imid::clock::ManualClock;
    /// use imid::{Generator, MessageId};
    ///
    /// let ids = Generator::builder().clock(ManualClock::new(1_763_665_800_000)).build()?;
    /// let limit = Duration::from_millis(50);
    /// ids.observe_limited(MessageId::first_at(1_763_665_800_050)?, limit)?;
    /// let error = ids.observe_limited(MessageId::first_at(1_763_665_804_990)?, limit).unwrap_err();
    /// assert!(error.is_skew());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`observe`](Self::observe), with `limit` instead of `max_skew`.
    #[inline]
    pub fn observe_limited(&self, id: MessageId, limit: Duration) -> Result<(), ObserveError> {
        let policy = self.core.policy();
        let limit = millis(limit, policy.shape.last_tick()).min(policy.max_skew);
        self.core.observe(id.timestamp_ms(), limit, &self.clock)
    }

    /// Makes every later ID, of every session, sort after one that is trusted, however far ahead it is: the last ID of
    /// the previous owner of the sessions, or the greatest one in the store.
    ///
    /// It does what [`Builder::floor`] does, at run time, and takes effect immediately, even if the clock has no usable time.
    pub fn raise_floor(&self, id: MessageId) {
        self.raise_floor_ms(id.timestamp_ms() + 1);
    }

    /// Raises the first millisecond since 1970 that a later ID may have, as [`raise_floor`](Self::raise_floor) does.
    pub fn raise_floor_ms(&self, timestamp_ms: u64) {
        self.core.raise_floor(timestamp_ms, &self.clock);
    }
}

/// Bounds and hand-over: for programs that hand out [lanes](Builder::lane), as the crate `imid-lease` does.
impl<C: Clock, const STRIPES: usize> Generator<C, STRIPES> {
    /// Raises the first millisecond since 1970 that no ID may have. It does nothing if the ceiling is already higher. Without a
    /// ceiling in the [builder](Builder::ceiling_ms), the ceiling is the end of time, which cannot be raised.
    ///
    /// No ID has the time of the ceiling or a later one, whatever threads and clock do.
    pub fn raise_ceiling_ms(&self, timestamp_ms: u64) {
        self.core.raise_ceiling(timestamp_ms);
    }

    /// Closes the generator. Later calls that mint return an error ([`is_closed`](GenerateError::is_closed)), except for an empty
    /// batch. Observing an ID and raising a floor or a ceiling still work.
    ///
    /// Returns the first millisecond after every ID that was issued or that a call in progress will return: the
    /// [`floor_ms`](Builder::floor_ms) of the next generator. `None` if no ID was issued.
    pub fn close(&self) -> Option<u64> {
        self.core.close().map(|last| self.core.policy().shape.tick(last) + 1)
    }
}

impl<C: fmt::Debug, const STRIPES: usize> fmt::Debug for Generator<C, STRIPES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("stripes", &STRIPES)
            .field("clock", &self.clock)
            .field("policy", self.core.policy())
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "std")]
impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

/// Mints an ID from a process-wide generator with one stripe, the system clock and the default settings.
///
/// The ID is unique among those that this function returns. Any other generator in the process is like another host: both can mint
/// equal IDs for one session. Use one or the other.
///
/// On several hosts, IDs are unique if each session belongs to one of them ([guarantees](crate#guarantees)). If any host may write
/// any session, use a [`lane`](Builder::lane) or the crate `imid-lease`.
///
/// It needs no setup, is **lock-free**, and mints up to 4,096 IDs per millisecond, which strictly increase over all sessions. If
/// you need more, create your own `static` with a striped [`Generator`].
///
/// ```
/// use imid::{SessionTag, SessionType};
///
/// let id = imid::generate(SessionTag::new(SessionType::GROUP, "room-42"))?;
/// println!("{id}");
/// # Ok::<(), imid::generator::GenerateError>(())
/// ```
///
/// # Errors
/// As for [`Generator::generate`].
#[cfg(feature = "std")]
#[inline(always)]
pub fn generate(session: SessionTag) -> Result<MessageId, GenerateError> {
    static IDS: Generator = Generator::new();
    IDS.generate(session)
}

/// The state of a generator, as [`Generator::stats`] returns it. It is exact while no thread mints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// How many calls were refused.
    pub refused: u64,
    /// How far the latest ID is ahead of the clock now; zero if it is not.
    pub lead: Duration,
    /// How far the clock is now behind the time that the generator has reached: what remains of steps back, observed IDs,
    /// floors and an inherited lead. It shrinks by half a millisecond per millisecond.
    pub behind: Duration,
}
