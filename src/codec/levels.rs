//! Forces the codec to use AVX2 or not to use it.
//!
//! This module exists in unit tests, and with `--cfg imid_levels` also for benches and fuzz targets.
#![cfg_attr(not(imid_levels), allow(unreachable_pub, reason = "only benches and fuzz targets use it from outside"))]

use core::cell::Cell;

std::thread_local! {
    static AVX2_IS_ALLOWED: Cell<bool> = const { Cell::new(true) };
}

/// Allows or forbids AVX2 in the current thread. Returns whether the codec uses AVX2 from now on.
pub fn allow_avx2(allowed: bool) -> bool {
    AVX2_IS_ALLOWED.set(allowed);
    avx2_or!(|_avx2| true, false)
}

/// Returns whether the current thread may use AVX2.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline]
pub(super) fn avx2_is_allowed() -> bool {
    AVX2_IS_ALLOWED.get()
}

/// Forces each level and then calls a test with the name of the level. Prints a line if this processor does not have
/// AVX2.
#[cfg(test)]
pub(super) fn on_each_level(test: impl Fn(&str)) {
    for (level, allowed) in [("portable", false), ("AVX2", true)] {
        if allow_avx2(allowed) == allowed {
            test(level);
        } else {
            // Writes to standard error directly, because the harness hides the output of a passing test.
            let not_checked = b"not checked: codec tests with AVX2: this processor does not have it\n";
            std::io::Write::write_all(&mut std::io::stderr(), not_checked).expect("standard error can be written");
        }
    }
}
