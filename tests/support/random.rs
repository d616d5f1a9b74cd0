//! Random numbers that are the same on every machine.

/// `SplitMix64` of Steele, Lea and Flood. The field is the seed.
pub(crate) struct Random(pub(crate) u64);

#[allow(dead_code, reason = "no test uses all of it")]
impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// Returns a number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Returns true once in `n` times.
    pub(crate) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[usize::try_from(self.below(values.len() as u64)).expect("an index")]
    }
}
