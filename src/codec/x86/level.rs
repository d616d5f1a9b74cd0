//! Which instructions the processor has: found out once, without `std` fixed by the target.
#![cfg_attr(not(feature = "levels"), allow(unreachable_pub, reason = "public for tests and benches alone"))]

#[cfg(any(feature = "std", test))]
use crate::sync::{Ordering, ProcessWord};

/// A set of instructions; each has those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// None but those that a target is compiled for.
    Portable,
    /// AVX2: Intel's from 2013, AMD's from 2015.
    Avx2,
}

impl Level {
    /// Every level, the least first.
    #[cfg(any(test, feature = "levels"))]
    pub const ALL: [Self; 2] = [Self::Portable, Self::Avx2];

    /// What the program was compiled for.
    const COMPILED: Self = if cfg!(target_feature = "avx2") { Self::Avx2 } else { Self::Portable };

    /// What there is to use.
    #[inline]
    pub(super) fn get() -> Self {
        #[cfg(any(feature = "std", test))]
        if Self::COMPILED < Self::Avx2 || cfg!(any(test, feature = "levels")) {
            return Self::found();
        }
        Self::COMPILED
    }

    /// What the processor has, asked once.
    #[cfg(any(feature = "std", test))]
    #[inline]
    fn found() -> Self {
        // ORDERING: relaxed, since the word is all that is shared.
        match LEVEL.load(Ordering::Relaxed) {
            UNKNOWN => Self::ask(),
            1 => Self::Portable,
            _ => Self::Avx2,
        }
    }

    #[cfg(any(feature = "std", test))]
    #[cold]
    fn ask() -> Self {
        let level = Self::of_processor();
        level.set();
        level
    }

    #[cfg(any(feature = "std", test))]
    pub(super) fn of_processor() -> Self {
        use std::arch::is_x86_feature_detected as has;

        if has!("avx2") { Self::Avx2 } else { Self::Portable }
    }

    #[cfg(any(feature = "std", test))]
    fn set(self) {
        // ORDERING: as in `found`. Threads that ask at the same time store the same answer.
        LEVEL.store(self as u64 + 1, Ordering::Relaxed);
    }

    /// Uses this level from now on, in every thread, and tells whether the processor has it; otherwise nothing changes.
    #[cfg(any(test, feature = "levels"))]
    pub fn force(self) -> bool {
        let has = self <= Self::of_processor();
        if has {
            self.set();
        }
        has
    }
}

/// The level in use, plus one.
#[cfg(any(feature = "std", test))]
static LEVEL: ProcessWord = ProcessWord::new(UNKNOWN);
#[cfg(any(feature = "std", test))]
const UNKNOWN: u64 = 0;

#[cfg(test)]
mod tests {
    use std::arch::is_x86_feature_detected as has;

    use super::*;

    // Else nothing but the time would show that a level is never taken.
    #[test]
    fn a_level_is_found_where_its_instructions_are() {
        let found = Level::of_processor();
        assert_eq!(found >= Level::Avx2, has!("avx2"));
    }
}
