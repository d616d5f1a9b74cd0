//! How long to wait after a failed call of a store.

/// The wait after the first failure, in milliseconds.
pub(crate) const FIRST_MS: u64 = 100;

/// The longest wait, in milliseconds.
const LONGEST_MS: u64 = 1_000;

/// The failures of calls in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Notes whether a call was answered.
    pub(crate) fn note(&mut self, is_answered: bool) {
        self.failures = if is_answered { 0 } else { self.failures.saturating_add(1) };
    }

    /// Returns how long to wait now, in milliseconds: it doubles with each failure.
    pub(crate) fn wait_ms(self) -> u64 {
        self.wait_up_to_ms(LONGEST_MS)
    }

    /// Does the same, with another longest wait.
    pub(crate) fn wait_up_to_ms(self, longest_ms: u64) -> u64 {
        (FIRST_MS << self.failures.saturating_sub(1).min(16)).min(longest_ms)
    }
}

/// Returns a wait between nothing and this time, by chance, so that those who were refused together do not come back together.
pub(crate) fn jittered(random: u64, longest_ms: u64) -> u64 {
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
            backoff.wait_ms()
        });
        assert_eq!(waits, [100, 200, 400, 800, 1_000, 1_000]);
        backoff.note(true);
        backoff.note(false);
        assert_eq!(backoff.wait_ms(), 100);
    }
}
