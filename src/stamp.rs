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
//! The state of a stripe is one word, `free`: the least compact stamp that has not been taken. It only grows. That is
//! the whole argument for order and uniqueness: whoever moves `free` from a to b owns the stamps a..b, and nobody else
//! does.

/// How a stamp is divided. A tick is a millisecond in an ID of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    counter_bits: u32,
    lane_bits: u32,
    lane: u64,
    last_tick: u64,
}

impl Shape {
    /// `lane` is below 2^`lane_bits`; the widths and the width of `last_tick` sum to at most 64, without the
    /// lane to less.
    pub(crate) const fn new(last_tick: u64, lane_bits: u32, lane: u64, counter_bits: u32) -> Self {
        debug_assert!(lane >> lane_bits == 0);
        debug_assert!(u64::BITS - last_tick.leading_zeros() + lane_bits + counter_bits <= u64::BITS);
        Self { counter_bits, lane_bits, lane, last_tick }
    }

    /// The stamp as it stands in an ID: the lane between tick and counter.
    #[inline]
    pub(crate) const fn expand(&self, compact: u64) -> u64 {
        // A predicted branch is cheaper than five dependent shifts after the atomic step.
        if self.is_dense() {
            return compact;
        }
        ((self.tick(compact) << self.lane_bits | self.lane) << self.counter_bits) | self.counter(compact)
    }

    /// Whether a run of compact stamps is a run of expanded ones too.
    #[inline]
    pub(crate) const fn is_dense(&self) -> bool {
        self.lane_bits == 0
    }

    /// The tick of a compact stamp.
    #[inline]
    pub(crate) const fn tick(&self, compact: u64) -> u64 {
        compact >> self.counter_bits
    }

    /// The greatest tick.
    #[inline]
    pub(crate) const fn last_tick(&self) -> u64 {
        self.last_tick
    }

    /// The least compact stamp of a tick.
    #[inline]
    pub(crate) const fn first_of(&self, tick: u64) -> u64 {
        tick << self.counter_bits
    }

    /// How many stamps a tick holds.
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
    /// The counter to begin with at `tick`, when `free` comes after the last stamp.
    #[inline]
    pub(crate) const fn start(self, tick: u64, free: u64, seed: u64, shape: &Shape) -> u64 {
        match self {
            // A multiplication scales the upper half of the mix to the bound, without the bias of a small divisor's
            // remainder.
            Self::Below(bound) => ((mix(tick ^ seed) >> u32::BITS) * bound) >> u32::BITS,
            Self::Rolling => shape.counter(free),
        }
    }

    /// What a rolling start adds to the first stamp of a fresh tick: the counter of the free stamp.
    #[inline]
    pub(crate) const fn rolled(self, free: u64, shape: &Shape) -> u64 {
        match self {
            Self::Below(_) => 0,
            Self::Rolling => shape.counter(free),
        }
    }

    /// The greatest counter that a fresh tick can begin with.
    #[inline]
    pub(crate) const fn greatest(self, shape: &Shape) -> u64 {
        match self {
            Self::Below(bound) => bound - 1,
            Self::Rolling => shape.capacity() - 1,
        }
    }
}

/// A bijection that spreads every input bit over the whole word: the finalizer of Steele, Lea and Flood's `SplitMix64`
/// ("Fast Splittable Pseudorandom Number Generators", 2014). Two hosts with different seeds walk unrelated sequences.
#[inline]
pub(crate) const fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Why a run of stamps is not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The run ends `found` ticks after the reading, and may end `max` ticks after it.
    Lead { max: u64, found: u64 },
    /// The run ends after the last tick.
    Exhausted,
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
    pub(crate) const fn advance(&self, free: u64, run: u64, fresh_start: u64, shape: &Shape) -> Result<u64, Refusal> {
        let fresh = shape.first_of(self.time) | fresh_start;
        let first = if fresh > free { fresh } else { free };
        match self.admit(first, run, shape) {
            Ok(()) => Ok(first),
            Err(kind) => Err(kind),
        }
    }

    /// Whether a run that starts at `first` ends within the limit.
    #[inline]
    pub(crate) const fn admit(&self, first: u64, run: u64, shape: &Shape) -> Result<(), Refusal> {
        let tick = shape.tick(first + (run - 1));
        if tick > self.limit || tick > shape.last_tick {
            return Err(self.refuse(tick, shape));
        }
        Ok(())
    }

    #[cold]
    const fn refuse(&self, tick: u64, shape: &Shape) -> Refusal {
        if tick > shape.last_tick {
            return Refusal::Exhausted;
        }
        Refusal::Lead { max: self.limit - self.now, found: tick - self.now }
    }
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

    /// One step with `max_lead` 2 and a fresh start of 100.
    fn step(now: u64, time: u64, behind: u64, free: u64, run: u64) -> Result<u64, Refusal> {
        Reckoning::new(now, time, behind, 2).advance(free, run, 100, &PLAIN)
    }

    #[test]
    fn the_transition_follows_its_table() {
        let lead = |max, found| Err(Refusal::Lead { max, found });
        #[rustfmt::skip]
        let table = [
            // what                                          now      time   behind  free                 run    first
            ("first of all",                                 T,       T,     0,      0,                   1,     Ok(stamp(T, 100))),
            ("next in the same millisecond",                 T,       T,     0,      stamp(T, 101),       1,     Ok(stamp(T, 101))),
            ("below the start of a carried millisecond",     T,       T,     0,      stamp(T, 3),         1,     Ok(stamp(T, 100))),
            ("a new millisecond",                            T + 1,   T + 1, 0,      stamp(T, 101),       1,     Ok(stamp(T + 1, 100))),
            ("the last spin",                                T,       T,     0,      stamp(T, 4095),      1,     Ok(stamp(T, 4095))),
            ("a full spin carries",                          T,       T,     0,      stamp(T + 1, 0),     1,     Ok(stamp(T + 1, 0))),
            ("the last stamp of the lead",                   T,       T,     0,      stamp(T + 2, 4095),  1,     Ok(stamp(T + 2, 4095))),
            ("one past the lead",                            T,       T,     0,      stamp(T + 3, 0),     1,     lead(2, 3)),
            ("far past the lead",                            T,       T,     0,      stamp(T + 9, 7),     1,     lead(2, 9)),
            ("a run to the end of the lead",                 T,       T,     0,      stamp(T, 101),       12187, Ok(stamp(T, 101))),
            ("a run one past the lead",                      T,       T,     0,      stamp(T, 101),       12188, lead(2, 3)),
            ("behind: from the time that was reached",       T - 30,  T,     30,     stamp(T, 101),       1,     Ok(stamp(T, 101))),
            ("behind: the limit goes on with the clock",     T - 20,  T,     30,     stamp(T + 12, 4095), 1,     Ok(stamp(T + 12, 4095))),
            ("behind: one past the limit",                   T - 20,  T,     30,     stamp(T + 13, 0),    1,     lead(32, 33)),
            ("ahead of what is known to be behind",          T,       T + 5, 0,      0,                   1,     Ok(stamp(T + 5, 100))),
        ];
        for (what, now, time, behind, free, run, first) in table {
            assert_eq!(step(now, time, behind, free, run), first, "{what}");
        }
    }

    #[test]
    fn time_ends_after_the_last_stamp() {
        let end = Reckoning::new(TIMESTAMP_MAX, TIMESTAMP_MAX, 0, TIMESTAMP_MAX);
        let last = stamp(TIMESTAMP_MAX, 4095);
        assert_eq!(end.advance(last, 1, 0, &PLAIN), Ok(last));
        assert_eq!(end.advance(last, 2, 0, &PLAIN), Err(Refusal::Exhausted));
        assert_eq!(end.advance(last + 1, 1, 0, &PLAIN), Err(Refusal::Exhausted));
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
