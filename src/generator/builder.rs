//! Settings of a generator.

use core::time::Duration;

use super::Generator;
use super::error::{BuildError, BuildKind};
use super::policy::{Policy, millis};
use super::stripe::Core;
use crate::clock::SystemClock;
use crate::id::MessageId;
use crate::layout::{SPIN_BITS, TIMESTAMP_MAX};
use crate::seed;
use crate::stamp::{Origin, Shape};

/// A share of the spins: those whose top `bits` are `index`. Up to 2^`bits` hosts can mint for one session at the same time, each with
/// its own lane. A lane has no other properties, so this struct will get no more fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Lane {
    /// The lane's number, below 2^`bits`.
    pub index: u16,
    /// How many bits of the spin select the lane: 0 to 12.
    pub bits: u32,
}

/// Builds a [`Generator`]. Each setter is a `const fn`, so a `static` generator can be built as well.
///
/// ```
/// use core::time::Duration;
/// use imid::{Generator, StripedGenerator};
///
/// static IDS: StripedGenerator = match Generator::builder().max_lead(Duration::from_millis(100)).stripes().build_static() {
///     Ok(ids) => ids,
///     Err(_) => panic!("settings fit"),
/// };
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder<C = SystemClock, const STRIPES: usize = 1> {
    clock: C,
    settings: Settings,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    is_rolling: bool,
    seed: Option<u64>,
    floor_ms: u64,
    ceiling_ms: u64,
    lane: Option<Lane>,
    max_lead: Duration,
    max_rollback: Duration,
    max_skew: Duration,
}

impl Builder<SystemClock, 1> {
    pub(super) const fn new() -> Self {
        let settings = Settings {
            is_rolling: false,
            seed: None,
            floor_ms: 0,
            ceiling_ms: u64::MAX,
            lane: None,
            max_lead: Duration::from_secs(1),
            max_rollback: Duration::from_secs(3_600),
            max_skew: Duration::from_secs(5),
        };
        Self { clock: SystemClock, settings }
    }
}

impl<const STRIPES: usize> Builder<SystemClock, STRIPES> {
    /// Sets the clock. Default: [`SystemClock`]. It can be set only once, because a `const fn` cannot drop an earlier clock.
    pub const fn clock<C>(self, clock: C) -> Builder<C, STRIPES> {
        Builder { clock, settings: self.settings }
    }

    /// Sets the number of stripes, at least 1. The compiler can infer it. Call this before [`clock`](Builder::clock).
    ///
    /// A session's hash selects its stripe. n stripes mint n × 4,096 IDs per millisecond, and threads on different stripes do not
    /// contend. With more than one stripe, the order is strict per session, not over all sessions. A stripe takes 128 bytes.
    pub const fn stripes<const MORE: usize>(self) -> Builder<SystemClock, MORE> {
        Builder { clock: self.clock, settings: self.settings }
    }
}

impl<C, const STRIPES: usize> Builder<C, STRIPES> {
    /// Sets the seed. Default: each process draws one at first use.
    ///
    /// In a new millisecond the spin starts at a mix of the millisecond and the seed, so that hosts do not mint the same spins, all
    /// spins are used equally often, and shards by ID stay even. An ID can be a millisecond ahead, because a high start carries
    /// into the next one.
    ///
    /// With a fixed seed and a scripted clock, the IDs are repeatable. Two hosts with one seed mint the same spins, and
    /// so do parent and child if the process forks before first use.
    ///
    /// Without the feature `std`, and on wasm32-unknown-unknown, there is no source to draw a seed from, so pass one: 8 random
    /// bytes, such as `crypto.getRandomValues` returns in a browser.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = Some(seed);
        self
    }

    /// Starts the spin of a new millisecond one past the last spin, masked, instead of at a mix of the seed: the free-running
    /// counter of RongCloud's article, for a host that takes over from it.
    ///
    /// The counter starts at 0, and in a forked child at a seeded spin. Two hosts whose counters are equal collide in each
    /// millisecond that they share.
    pub const fn rolling(mut self) -> Self {
        self.settings.is_rolling = true;
        self
    }

    /// Sets how far IDs may run ahead of the clock under overload, in whole milliseconds. Default: 1 s.
    ///
    /// A full millisecond borrows from the next ones up to this limit. Past it, [`Generator::generate`] returns an error. If IDs
    /// from elsewhere or a floor have moved the time ahead of the clock, the limit is at least 4 ms past that time, or `max_lead`
    /// if that is less. With a limit of 0 a stripe mints only from the seeded start of each millisecond to its end: 1 to 4,096 IDs,
    /// 2,048 on average. [`Duration::MAX`] lifts the limit.
    pub const fn max_lead(mut self, lead: Duration) -> Self {
        self.settings.max_lead = lead;
        self
    }

    /// Sets how far the clock may step back without an error, in whole milliseconds. Default: 1 h. After a longer step, calls
    /// return an error until the clock is within the limit again.
    ///
    /// [`Duration::MAX`] lifts the limit.
    pub const fn max_rollback(mut self, rollback: Duration) -> Self {
        self.settings.max_rollback = rollback;
        self
    }

    /// Sets how far ahead of the clock an ID may be for [`Generator::observe`], in whole milliseconds. Default: 5 s.
    pub const fn max_skew(mut self, skew: Duration) -> Self {
        self.settings.max_skew = skew;
        self
    }

    /// Sets the greatest stored ID. Each new ID has a later millisecond. Default: none.
    ///
    /// It does what [`floor_ms`](Self::floor_ms) does with the millisecond after the ID's.
    ///
    /// A restarted process can repeat IDs that it minted before, if those ran ahead of the clock under overload, or if the clock
    /// was set back since. A floor prevents that for all stored IDs. IDs that were minted but not stored can still be repeated.
    ///
    /// Hosts that start with the same floor begin up to 16 ms apart. A floor ahead of the clock grants a few milliseconds of lead,
    /// not `max_lead`. If it is more than `max_rollback` ahead, calls return an error
    /// ([`is_rollback`](super::GenerateError::is_rollback)).
    pub const fn floor(self, id: MessageId) -> Self {
        self.floor_ms(id.timestamp_ms() + 1)
    }

    /// Sets the first millisecond since 1970 that an ID may have, for example what [`Generator::close`] returned.
    /// [`Generator::raise_floor_ms`] raises it later. Default: 0.
    pub const fn floor_ms(mut self, timestamp_ms: u64) -> Self {
        self.settings.floor_ms = timestamp_ms;
        self
    }

    /// Sets the first millisecond since 1970 that no ID may have. [`Generator::raise_ceiling_ms`] raises it later.
    /// Default: the end of time.
    pub const fn ceiling_ms(mut self, timestamp_ms: u64) -> Self {
        self.settings.ceiling_ms = timestamp_ms;
        self
    }

    /// Mints only the spins of this lane. Up to 2^`bits` hosts can then write one session at the same time. Default: no
    /// lane.
    ///
    /// Each lane mints 4096 / 2^`bits` IDs per millisecond and stripe. IDs are unique if no two live hosts hold the same lane, and
    /// if a lane's next holder starts past its last ID ([`floor`](Self::floor)). The single lane of zero bits has all spins: no
    /// other host mints for this one's sessions.
    ///
    /// In a forked child the lane still belongs to the parent, and calls return an error
    /// ([`is_forked`](super::GenerateError::is_forked)). Build a generator with another lane after the fork. A `static` generator
    /// takes its lane at first use and cannot detect an earlier fork, so use it once before you fork. **Without the feature `std`,
    /// forks are not detected.**
    ///
    /// ```
    /// use imid::Generator;
    /// use imid::generator::Lane;
    ///
    /// let ids = Generator::builder().lane(Lane { index: 3, bits: 2 }).build()?;
    /// # Ok::<(), imid::generator::BuildError>(())
    /// ```
    pub const fn lane(mut self, lane: Lane) -> Self {
        self.settings.lane = Some(lane);
        self
    }

    /// Builds the generator.
    ///
    /// # Errors
    /// - The lane has more than 12 bits.
    /// - The index of the lane does not fit its bits, such as 4 in 2 bits.
    /// - Starts are not [rolling](Self::rolling) and there is no seed, without the feature `std` or on wasm32-unknown-unknown.
    pub fn build(self) -> Result<Generator<C, STRIPES>, BuildError> {
        let core = self.settings.core()?;
        #[cfg(loom)]
        core.touch();
        core.bind_lane();
        Ok(Generator::from_parts(core, self.clock))
    }
}

impl<C: Copy, const STRIPES: usize> Builder<C, STRIPES> {
    /// Builds the generator in a constant expression, for a `static`. The clock must be `Copy`, such as [`SystemClock`] or a
    /// reference to a `static`, because a `const fn` cannot move a value that may need to be dropped.
    ///
    /// Without the feature `std`, [`SystemClock`] is not a [`Clock`](crate::clock::Clock), so name one. **A seed in a constant is
    /// the same in each copy of the program**, so two devices that run it mint the same spins. Give each device a
    /// [lane](Self::lane), or [build](Self::build) the generator at run time with its own seed.
    ///
    /// ```
    /// use imid::Generator;
    /// use imid::clock::ManualClock;
    ///
    /// static CLOCK: ManualClock = ManualClock::new(1_763_665_800_000); // an interrupt advances it
    /// static IDS: Generator<&ManualClock> = match Generator::builder().seed(7).clock(&CLOCK).build_static() {
    ///     Ok(ids) => ids,
    ///     Err(_) => panic!("settings fit"),
    /// };
    /// ```
    ///
    /// # Errors
    /// As for [`build`](Self::build).
    pub const fn build_static(self) -> Result<Generator<C, STRIPES>, BuildError> {
        match self.settings.core() {
            Ok(core) => Ok(Generator::from_parts(core, self.clock)),
            Err(error) => Err(error),
        }
    }
}

impl Settings {
    const fn core<const STRIPES: usize>(&self) -> Result<Core<STRIPES>, BuildError> {
        let Lane { index, bits } = match self.lane {
            Some(lane) => lane,
            None => Lane { index: 0, bits: 0 },
        };
        if bits > SPIN_BITS {
            return Err(BuildError::new(BuildKind::LaneBits { found: bits }));
        }
        let lanes = 1 << bits;
        if index as u32 >= lanes {
            return Err(BuildError::new(BuildKind::LaneIndex { lanes, found: index }));
        }
        if !seed::CAN_DRAW && !self.is_rolling && self.seed.is_none() {
            return Err(BuildError::new(BuildKind::Seed));
        }
        let shape = Shape::new(TIMESTAMP_MAX, bits, index as u64, SPIN_BITS - bits);
        let policy = Policy {
            shape,
            origin: if self.is_rolling { Origin::Rolling } else { Origin::Below(shape.capacity()) },
            max_lead: millis(self.max_lead, TIMESTAMP_MAX),
            max_rollback: millis(self.max_rollback, TIMESTAMP_MAX),
            max_skew: millis(self.max_skew, TIMESTAMP_MAX),
        };
        Ok(Core::new(policy, self.lane.is_some(), self.seed, self.floor_ms, self.ceiling_ms))
    }
}
