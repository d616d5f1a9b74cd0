//! The seed of a process: what makes two hosts begin their milliseconds at different counters.

/// A seed that differs between hosts, processes, siblings of one fork and generators, as far as the system can tell
/// them apart.
#[cfg(feature = "std")]
pub(crate) fn draw(previous: u64) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    use std::time::{SystemTime, UNIX_EPOCH};

    // A forked child inherits the keys of `RandomState`, hence the process ID; and a process ID comes again, hence the
    // time.
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    RandomState::new().hash_one((previous, std::process::id(), time))
}

/// Without `std` there is nothing to draw from but the seed that the builder insisted on.
#[cfg(not(feature = "std"))]
pub(crate) const fn draw(previous: u64) -> u64 {
    crate::stamp::mix(previous)
}
