//! Forces the codec to use AVX2 or not to use it. Tests have this always, benches and fuzz targets have it when `imid` is
//! compiled with `--cfg imid_levels`.
#![cfg_attr(not(imid_levels), allow(unreachable_pub, reason = "public for benches and fuzz targets alone"))]

use core::cell::Cell;

std::thread_local! {
    static PORTABLE: Cell<bool> = const { Cell::new(false) };
}

/// The instructions that the codec uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// The safe code that every target has.
    Portable,
    /// AVX2 for one text and for lines.
    Avx2,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 2] = [Self::Portable, Self::Avx2];

    /// Uses this level in the current thread from now on. Returns whether the processor has it.
    pub fn force(self) -> bool {
        PORTABLE.set(self == Self::Portable);
        self == Self::Portable || avx2_or!(|_avx2| true, false)
    }

    /// Whether the current thread must not use AVX2.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    pub(super) fn is_portable_forced() -> bool {
        PORTABLE.get()
    }
}

/// Calls a test with each level that this processor has, and names the others.
#[cfg(test)]
pub(super) fn on_each_level(test: impl Fn(Level)) {
    for level in Level::ALL {
        if level.force() {
            test(level);
        } else {
            std::eprintln!("not tested: this processor does not have {level:?}");
        }
    }
}
