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
//! The state of a stripe is one word, `free`: the least compact stamp that has not been taken. It only grows. Order and
//! uniqueness follow from this: the call that moves `free` from a to b owns the stamps a..b, and no other call does.

/// How a stamp is divided into fields. In an 80-bit ID, a tick is a millisecond.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    counter_bits: u32,
    lane_bits: u32,
    lane: u64,
    last_tick: u64,
}

impl Shape {
    /// `lane` is below 2^`lane_bits`. The two widths and the width of `last_tick` sum to at most 64.
    pub(crate) const fn new(last_tick: u64, lane_bits: u32, lane: u64, counter_bits: u32) -> Self {
        debug_assert!(lane >> lane_bits == 0);
        debug_assert!(u64::BITS - last_tick.leading_zeros() + lane_bits + counter_bits <= u64::BITS);
        Self { counter_bits, lane_bits, lane, last_tick }
    }

    /// Returns the stamp as an ID contains it: the lane between tick and counter.
    #[inline]
    pub(crate) const fn expand(&self, compact: u64) -> u64 {
        // A predicted branch is cheaper than five dependent shifts after the atomic step.
        if self.is_dense() {
            return compact;
        }
        ((self.tick(compact) << self.lane_bits | self.lane) << self.counter_bits) | self.counter(compact)
    }

    /// Returns whether a run of compact stamps is also a run of expanded ones.
    #[inline]
    pub(crate) const fn is_dense(&self) -> bool {
        self.lane_bits == 0
    }

    /// Returns the tick of a compact stamp.
    #[inline]
    pub(crate) const fn tick(&self, compact: u64) -> u64 {
        compact >> self.counter_bits
    }

    /// Returns the greatest tick.
    #[inline]
    pub(crate) const fn last_tick(&self) -> u64 {
        self.last_tick
    }

    /// Returns the least compact stamp of a tick.
    #[inline]
    pub(crate) const fn first_of(&self, tick: u64) -> u64 {
        tick << self.counter_bits
    }

    /// Returns how many stamps a tick holds.
    #[inline]
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
    /// Returns the counter to begin with at `tick`, when `free` comes after the last stamp.
    #[inline]
    pub(crate) const fn start(self, tick: u64, free: u64, seed: u64, shape: &Shape) -> u64 {
        match self {
            // A multiplication scales the upper half of the mix to the bound, without the bias of a small divisor's
            // remainder.
            Self::Below(bound) => ((mix(tick ^ seed) >> u32::BITS) * bound) >> u32::BITS,
            Self::Rolling => shape.counter(free),
        }
    }

    /// Returns what a rolling start adds to the first stamp of a fresh tick: the counter of the free stamp.
    #[inline]
    pub(crate) const fn rolled(self, free: u64, shape: &Shape) -> u64 {
        match self {
            Self::Below(_) => 0,
            Self::Rolling => shape.counter(free),
        }
    }

    /// Returns the greatest counter that a fresh tick can begin with.
    #[inline]
    pub(crate) const fn greatest(self, shape: &Shape) -> u64 {
        match self {
            Self::Below(bound) => bound - 1,
            Self::Rolling => shape.capacity() - 1,
        }
    }
}

/// Mixes the bits of a word, so that each input bit changes bits of the whole word. Different words give different
/// results. This is the last step of Steele, Lea and Flood's `SplitMix64` ("Fast Splittable Pseudorandom Number
/// Generators", 2014).
#[inline]
pub(crate) const fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::TIMESTAMP_MAX;

    const PLAIN: Shape = Shape::new(TIMESTAMP_MAX, 0, 0, 12);
    /// Lane 5 of 8.
    const LANE: Shape = Shape::new(TIMESTAMP_MAX, 3, 5, 9);
    const T: u64 = 1_763_665_800_000;

    fn stamp(ms: u64, spin: u64) -> u64 {
        PLAIN.first_of(ms) | spin
    }

    #[test]
    fn a_carry_skips_the_other_lanes() {
        let full = LANE.first_of(T) | 511;
        assert_eq!(LANE.expand(full), stamp(T, 5 << 9 | 511));
        assert_eq!(LANE.expand(full + 1), stamp(T + 1, 5 << 9));
        assert_eq!(PLAIN.expand(stamp(T, 7)), stamp(T, 7));
    }

    #[test]
    fn a_lane_of_the_whole_spin_leaves_one_stamp_a_millisecond() {
        let host = Shape::new(TIMESTAMP_MAX, 12, 4095, 0);
        assert_eq!(host.capacity(), 1);
        assert_eq!(host.expand(T), stamp(T, 4095));
        assert_eq!(host.expand(T + 1), stamp(T + 1, 4095));
    }

    #[test]
    fn starts_stay_below_their_bound_and_reach_all_of_it() {
        for bound in [1, 2, 100, 4096] {
            let mut seen = vec![false; bound as usize];
            for tick in T..T + 60_000 {
                seen[Origin::Below(bound).start(tick, 0, 7, &PLAIN) as usize] = true;
            }
            assert!(seen.iter().all(|seen| *seen), "{bound}");
        }
    }

    #[test]
    fn a_rolling_start_goes_on_from_the_last_spin() {
        let start = |free| Origin::Rolling.start(T + 1, free, 0, &PLAIN);
        assert_eq!(start(stamp(T, 101)), 101);
        assert_eq!(start(stamp(T + 1, 0)), 0);
    }

    /// The first numbers of the generator with the seed 0, as published with it.
    #[test]
    fn the_mix_is_that_of_splitmix64() {
        let numbers = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        for (number, times) in numbers.into_iter().zip(1..) {
            assert_eq!(mix(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(times)), number);
        }
    }

    /// With equal starts two hosts would meet in every millisecond; unrelated ones meet in 1 of 4,096.
    #[test]
    fn two_seeds_do_not_march_in_step() {
        let start = |seed, tick| Origin::Below(4096).start(tick, 0, seed, &PLAIN);
        for (a, b) in [(1, 2), (7, 7 << 32), (0, 1 << 63)] {
            let meetings = (T..T + 409_600).filter(|tick| start(a, *tick) == start(b, *tick)).count();
            // 100 are expected; six standard deviations either way.
            assert!((40..160).contains(&meetings), "{meetings}");
        }
    }
}
