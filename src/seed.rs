//! Random numbers: the seed of a generator, which makes two hosts begin their milliseconds at different counters, and the steps of
//! [`MessageId::after`](crate::MessageId::after).

/// Whether the system has something to draw a seed from. wasm32-unknown-unknown has no clock and no random numbers: two tabs of
/// a browser would draw one seed.
#[cfg(target_has_atomic = "64")]
pub(crate) const CAN_DRAW: bool = cfg!(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))));

/// Draws a seed. Hosts, processes, siblings of one fork and generators get different ones, as far as the system can tell them
/// apart.
#[cfg(all(feature = "std", not(loom), not(all(target_family = "wasm", target_os = "unknown"))))]
pub(crate) fn draw(previous: u64) -> u64 {
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    // WASI has no process IDs, and asking for one panics.
    let process = if cfg!(target_family = "wasm") { 0 } else { std::process::id() };
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    mixed(&std::hash::RandomState::new(), previous, process, since_1970, Instant::now())
}

/// Mixes what can tell two processes apart. A forked child inherits the keys of `RandomState`, so its process ID counts as well. The
/// system uses a process ID again later, and each PID namespace has its own, so the time counts. In a test or a sandbox the
/// wall clock can stand, so the time since the start of the machine counts.
#[cfg(all(feature = "std", not(loom), not(all(target_family = "wasm", target_os = "unknown"))))]
fn mixed(
    keys: &impl std::hash::BuildHasher,
    previous: u64,
    process: u32,
    since_1970: core::time::Duration,
    now: std::time::Instant,
) -> u64 {
    keys.hash_one((previous, process, since_1970, now))
}

/// Computes the next seed from the previous one. The builder requires a first one where none is drawn. A model must be repeatable.
#[cfg(any(not(feature = "std"), loom, all(target_family = "wasm", target_os = "unknown")))]
pub(crate) const fn draw(previous: u64) -> u64 {
    crate::stamp::mix(previous)
}

#[cfg(all(test, feature = "std", not(loom), not(all(target_family = "wasm", target_os = "unknown"))))]
mod tests {
    use core::time::Duration;
    use std::hash::RandomState;
    use std::time::Instant;

    use super::*;

    /// Two children of one fork have the same keys. In separate PID namespaces, and with a wall clock that stands still, only
    /// the time since the start of the machine differs.
    #[test]
    fn each_thing_that_can_tell_two_processes_apart_makes_another_seed() {
        let (keys, now, nanos) = (RandomState::new(), Instant::now(), Duration::from_nanos(1));
        let seed = |previous, process, time, now| mixed(&keys, previous, process, time, now);
        let one = seed(1, 2, nanos, now);
        assert_eq!(one, seed(1, 2, nanos, now));
        for other in [
            seed(0, 2, nanos, now),
            seed(1, 3, nanos, now),
            seed(1, 2, 2 * nanos, now),
            seed(1, 2, nanos, now + nanos),
            mixed(&RandomState::new(), 1, 2, nanos, now),
        ] {
            assert_ne!(one, other);
        }
    }
}
