//! The transition that mints: arithmetic on stamps, without a clock and without atomics.
//!
//! Inside a generator a stamp is **compact**: `tick << counter_bits | counter`. A carry out of a full counter lands in
//! the next tick by itself, so the successor of a stamp is always the stamp plus one, and the order of stamps is the
//! order of IDs. Where a lane fixes the bits between tick and counter, it is put in only when a stamp leaves
//! ([`Shape::expand`]): a carry can then never enter another host's lane.
//!
//! ```text
//! compact:   |        tick        |  counter  |
//! expanded:  |        tick        |   lane   |  counter  |
//! ```
//!
//! The state of a stripe is one word, `free`: the least compact stamp that has not been taken. It only grows. That is the
//! whole argument for order and uniqueness: whoever moves `free` from a to b owns the stamps a..b, and nobody else does.

use crate::error::GenerateKind;

/// How a stamp is divided. A tick is a millisecond in an ID of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    counter_bits: u32,
    lane_bits: u32,
    lane: u64,
    last_tick: u64,
}

impl Shape {
    /// `lane` is below 2^`lane_bits`; the widths and the width of `last_tick` sum to less than 64.
    pub(crate) const fn new(last_tick: u64, lane_bits: u32, lane: u64, counter_bits: u32) -> Self {
        debug_assert!(lane >> lane_bits == 0);
        debug_assert!(u64::BITS - last_tick.leading_zeros() + lane_bits + counter_bits < u64::BITS);
        Self { counter_bits, lane_bits, lane, last_tick }
    }

    /// The stamp as it stands in an ID: the lane between tick and counter.
    #[inline]
    pub(crate) const fn expand(&self, compact: u64) -> u64 {
        ((self.tick(compact) << self.lane_bits | self.lane) << self.counter_bits) | self.counter(compact)
    }

    /// Whether a run of compact stamps is a run of expanded ones too.
    pub(crate) const fn is_dense(&self) -> bool {
        self.lane_bits == 0
    }

    /// The tick of a compact stamp.
    #[inline]
    pub(crate) const fn tick(&self, compact: u64) -> u64 {
        compact >> self.counter_bits
    }

    /// The greatest tick.
    pub(crate) const fn last_tick(&self) -> u64 {
        self.last_tick
    }

    /// The least compact stamp of a tick.
    #[inline]
    pub(crate) const fn first_of(&self, tick: u64) -> u64 {
        tick << self.counter_bits
    }

    /// How many stamps a tick holds.
    pub(crate) const fn capacity(&self) -> u64 {
        1 << self.counter_bits
    }

    #[inline]
    const fn counter(&self, compact: u64) -> u64 {
        compact & (self.capacity() - 1)
    }
}

/// Where the counter begins in a fresh tick.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    /// At a mix of tick and seed, evenly below this bound. A bound of 1 starts every tick at zero.
    Below(u64),
    /// One past the counter of the last stamp, masked.
    Rolling,
}

impl Origin {
    /// The counter to begin with at `tick`, when `free` comes after the last stamp.
    #[inline]
    pub(crate) const fn start(self, tick: u64, free: u64, seed: u64, shape: &Shape) -> u64 {
        match self {
            // A multiplication scales the upper half of the mix to the bound, without the bias of a small divisor's remainder.
            Self::Below(bound) => ((mix(tick ^ seed) >> u32::BITS) * bound) >> u32::BITS,
            Self::Rolling => shape.counter(free),
        }
    }

    /// The greatest counter that a fresh tick can begin with.
    pub(crate) const fn greatest(self, shape: &Shape) -> u64 {
        match self {
            Self::Below(bound) => bound - 1,
            Self::Rolling => shape.capacity() - 1,
        }
    }
}

/// A bijection that spreads every input bit over the whole word: the finalizer of Steele, Lea and Flood's `SplitMix64`
/// («Fast Splittable Pseudorandom Number Generators», 2014). Two hosts with different seeds walk unrelated sequences.
#[inline]
pub(crate) const fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// What one reading of the clock means, after all earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reckoning {
    /// The reading.
    pub(crate) now: u64,
    /// The tick to mint in: the reading, or the time that was already reached.
    pub(crate) time: u64,
    /// The greatest tick that a stamp may have.
    pub(crate) limit: u64,
}

impl Reckoning {
    /// `time` is `now` or later; `behind` is how far the clock stands behind what it once reached, at least
    /// `time - now`. No sum overflows: every operand is at most a tick, far below 2⁶².
    #[inline]
    pub(crate) const fn new(now: u64, time: u64, behind: u64, max_lead: u64) -> Self {
        let reached = if now + behind > time { now + behind } else { time };
        Self { now, time, limit: reached + max_lead }
    }

    /// The first stamp of a run of `run` stamps: the fresh one of the present time, or the free one if that is later.
    /// The limit holds for the run's last stamp.
    #[inline]
    pub(crate) const fn advance(
        &self,
        free: u64,
        run: u64,
        fresh_start: u64,
        shape: &Shape,
    ) -> Result<u64, GenerateKind> {
        let fresh = shape.first_of(self.time) | fresh_start;
        let first = if fresh > free { fresh } else { free };
        match self.admit(first, run, shape) {
            Ok(()) => Ok(first),
            Err(kind) => Err(kind),
        }
    }

    /// Whether a run that starts at `first` ends within the limit.
    #[inline]
    pub(crate) const fn admit(&self, first: u64, run: u64, shape: &Shape) -> Result<(), GenerateKind> {
        let tick = shape.tick(first + (run - 1));
        if tick > self.limit || tick > shape.last_tick {
            return Err(self.refuse(tick, shape));
        }
        Ok(())
    }

    #[cold]
    const fn refuse(&self, tick: u64, shape: &Shape) -> GenerateKind {
        if tick > shape.last_tick {
            return GenerateKind::Exhausted;
        }
        GenerateKind::Lead { max: self.limit - self.now, found: tick - self.now }
    }
}
