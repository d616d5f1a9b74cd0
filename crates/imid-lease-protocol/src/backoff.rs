//! How long to wait after a call that has failed.

/// The wait after the first failure, in milliseconds.
pub const FIRST_WAIT_MS: u64 = 100;

/// The failures of calls in a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Notes whether a call was answered.
    pub fn note(&mut self, is_answered: bool) {
        self.failures = if is_answered { 0 } else { self.failures.saturating_add(1) };
    }

    /// Returns how long to wait now, in milliseconds: it doubles with each failure.
    pub fn wait_ms(self, longest_ms: u64) -> u64 {
        (FIRST_WAIT_MS << self.failures.saturating_sub(1).min(16)).min(longest_ms)
    }
}

/// Returns a wait between nothing and this time, by chance, so that those who were refused together do not come back together.
pub fn jittered(random: u64, longest_ms: u64) -> u64 {
    let product = u128::from(random) * (u128::from(longest_ms) + 1);
    (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_a_second_and_begins_anew_after_an_answer() {
        let mut backoff = Backoff::default();
        let waits = [0; 6].map(|_| {
            backoff.note(false);
            backoff.wait_ms(1_000)
        });
        assert_eq!(waits, [100, 200, 400, 800, 1_000, 1_000]);
        backoff.note(true);
        backoff.note(false);
        assert_eq!(backoff.wait_ms(1_000), 100);
    }

    #[test]
    fn a_wait_by_chance_has_the_whole_range() {
        for (random, longest_ms, wait_ms) in [
            (0, 100, 0),
            (u64::MAX, 100, 100),
            (u64::MAX / 2, 100, 50),
            (u64::MAX, 0, 0),
            (u64::MAX, u64::MAX, u64::MAX),
        ] {
            assert_eq!(jittered(random, longest_ms), wait_ms, "{random} {longest_ms}");
        }
    }
}
