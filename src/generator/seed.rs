//! The seed of a process: it makes two hosts begin their milliseconds at different counters.

/// Draws a seed. Hosts, processes, siblings of one fork and generators get different ones, as far as the system can tell them
/// apart.
#[cfg(all(feature = "std", not(loom)))]
pub(crate) fn draw(previous: u64) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    use std::time::{SystemTime, UNIX_EPOCH};

    // A forked child inherits the keys of `RandomState`, so its process ID counts, too. The system uses a process ID again
    // later, so the time counts.
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    RandomState::new().hash_one((previous, std::process::id(), time))
}

/// Computes the next seed from the previous one. Without `std` the builder requires a first seed. A model must be repeatable.
#[cfg(any(not(feature = "std"), loom))]
pub(crate) const fn draw(previous: u64) -> u64 {
    crate::stamp::mix(previous)
}
