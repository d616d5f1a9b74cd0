//! Counts the pairs of a history, in one pass and in bounded memory.

use imid::{SessionTag, SessionType};
use xxhash_rust::xxh3::xxh3_64;

use imid_inspect::risk::Pairs;

/// The most entries in memory: 48 MiB.
const CAPACITY: usize = 1 << 21;

/// The messages of a history, as far as pairs of one millisecond need them.
///
/// Each entry is a millisecond and a session. If there are more than [`CAPACITY`], only those of every second
/// millisecond are kept, chosen by a hash of the millisecond, then only those of every fourth, and so on. What is left is
/// an unbiased sample: pairs are always in one millisecond, so both messages of a pair are kept or neither is.
pub(crate) struct History {
    entries: Vec<Entry>,
    capacity: usize,
    /// One of 2^`level` milliseconds is kept.
    level: u32,
    messages: u64,
    /// Messages whose time is a whole second.
    whole_seconds: u64,
    /// The greatest number of milliseconds that divides all times.
    unit_ms: u64,
    range: Option<(u64, u64)>,
}

/// The messages of a session in a millisecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    ms: u64,
    /// The type and the hash in 26 bits, and 38 more bits of another hash of the name. Two sessions with one tag are taken
    /// for one with a probability of 2^-38.
    session: u64,
    count: u64,
}

/// Bits of [`Entry::session`] below the tag.
const NAME_BITS: u32 = 38;

/// What a history has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Found {
    pub(crate) messages: u64,
    /// The first and the last time, in unix milliseconds.
    pub(crate) first_ms: u64,
    pub(crate) last_ms: u64,
    /// All times are multiples of so many milliseconds.
    pub(crate) unit_ms: u64,
    /// The share of messages with a time in whole seconds. One in 1,000 is usual.
    pub(crate) whole_seconds: f64,
    /// Pairs of messages of one session with one time.
    pub(crate) of_one: Estimate,
    /// Pairs of messages of two sessions with one time, whose sessions share the hash.
    pub(crate) of_shared: Estimate,
    /// Pairs of messages of two sessions with one time.
    pub(crate) of_two: Estimate,
}

/// A number that was counted in a sample.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    /// Its standard error; 0 if nothing was left out.
    pub(crate) error: f64,
}

/// The sums of an [`Estimate`].
#[derive(Clone, Copy, Default)]
struct Sums {
    sum: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.squares += value * value;
    }

    /// Returns the estimate from a sample of one of `times` milliseconds.
    fn estimate(self, times: f64) -> Estimate {
        Estimate { value: self.sum * times, error: (self.squares * (times - 1.0) * times).sqrt() }
    }
}

impl Default for History {
    fn default() -> Self {
        Self::new(CAPACITY)
    }
}

impl History {
    fn new(capacity: usize) -> Self {
        Self { entries: Vec::new(), capacity, level: 0, messages: 0, whole_seconds: 0, unit_ms: 0, range: None }
    }

    /// Adds a message.
    pub(crate) fn add(&mut self, session: &str, ms: u64) {
        self.messages += 1;
        self.whole_seconds += u64::from(ms.is_multiple_of(1_000));
        self.unit_ms = greatest_common_divisor(self.unit_ms, ms);
        self.range = Some(self.range.map_or((ms, ms), |(first, last)| (first.min(ms), last.max(ms))));
        if !self.keeps(ms) {
            return;
        }
        // All sessions have one type: more of them share type and hash then than with several types.
        let tag = u64::from(SessionTag::new(SessionType::MIN, session).to_u32());
        // The tag has the low bits of the hash.
        let name = xxh3_64(session.as_bytes()) >> (u64::BITS - NAME_BITS);
        self.entries.push(Entry { ms, session: tag << NAME_BITS | name, count: 1 });
        if self.entries.len() >= self.capacity {
            self.compact();
        }
    }

    fn keeps(&self, ms: u64) -> bool {
        xxh3_64(&ms.to_le_bytes()).trailing_zeros() >= self.level
    }

    /// Merges equal entries, and leaves more milliseconds out if this does not make enough room.
    fn compact(&mut self) {
        self.entries.sort_unstable();
        self.entries.dedup_by(|next, kept| {
            let is_same = (next.ms, next.session) == (kept.ms, kept.session);
            kept.count += if is_same { next.count } else { 0 };
            is_same
        });
        while self.entries.len() > self.capacity / 4 * 3 {
            self.level += 1;
            let entries = std::mem::take(&mut self.entries);
            self.entries = entries.into_iter().filter(|entry| self.keeps(entry.ms)).collect();
        }
    }

    /// Returns what was found, or `None` without two messages of different times.
    pub(crate) fn finish(mut self) -> Option<Found> {
        let (first_ms, last_ms) = self.range.filter(|(first, last)| first < last)?;
        self.compact();
        let (mut of_one, mut of_shared, mut of_two) = (Sums::default(), Sums::default(), Sums::default());
        for millisecond in self.entries.chunk_by(|a, b| a.ms == b.ms) {
            let one: f64 = millisecond.iter().map(|entry| pairs(entry.count)).sum();
            let count = |entries: &[Entry]| entries.iter().map(|entry| entry.count).sum();
            let tags = millisecond.chunk_by(|a, b| a.session >> NAME_BITS == b.session >> NAME_BITS);
            of_one.add(one);
            of_shared.add(tags.map(|tag| pairs(count(tag))).sum::<f64>() - one);
            of_two.add(pairs(count(millisecond)) - one);
        }
        let times = f64::from(self.level).exp2();
        Some(Found {
            messages: self.messages,
            first_ms,
            last_ms,
            unit_ms: self.unit_ms,
            whole_seconds: self.whole_seconds as f64 / self.messages as f64,
            of_one: of_one.estimate(times),
            of_shared: of_shared.estimate(times),
            of_two: of_two.estimate(times),
        })
    }
}

impl Found {
    /// Returns the length of the history in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        (self.last_ms - self.first_ms) as f64 / 1_000.0
    }

    /// Returns the pairs of one millisecond per second: at least, and at most.
    ///
    /// If the times are rounded to a unit, messages of one time can all have one millisecond, or any of its milliseconds.
    /// The least number is that of messages that are spread over the unit at random.
    pub(crate) fn pairs(&self) -> (Pairs, Pairs) {
        let pairs = |share: f64| Pairs {
            independent: self.of_one.value * share / self.seconds(),
            in_bursts: 0.0,
            of_two: self.of_two.value * share / self.seconds(),
        };
        (pairs(1.0 / self.unit_ms as f64), pairs(1.0))
    }
}

/// Returns the number of pairs of `count` messages.
fn pairs(count: u64) -> f64 {
    let count = count as f64;
    count * (count - 1.0) / 2.0
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Messages of 50 sessions, `count` of them in each of 5,000 milliseconds on average, in mixed order.
    fn messages(count: u64) -> impl Iterator<Item = (u64, String)> {
        let mix = |n: u64| xxh3_64(&n.to_le_bytes());
        (0..5_000 * count).map(move |n| (1_763_640_000_000 + mix(n) % 5_000 * 7, format!("room-{}", mix(n) >> 32 & 31)))
    }

    fn found(messages: impl Iterator<Item = (u64, String)>, capacity: usize) -> Found {
        let mut history = History::new(capacity);
        for (ms, session) in messages {
            history.add(&session, ms);
            assert!(history.entries.capacity() <= capacity * 2);
        }
        history.finish().unwrap()
    }

    #[test]
    fn pairs_are_counted_in_any_order() {
        let mut rooms = HashMap::<_, u64>::new();
        let mut all = HashMap::<_, u64>::new();
        for (ms, session) in messages(10) {
            *rooms.entry((ms, session)).or_default() += 1;
            *all.entry(ms).or_default() += 1;
        }
        let of_one: f64 = rooms.values().map(|count| pairs(*count)).sum();
        let of_all: f64 = all.values().map(|count| pairs(*count)).sum();
        let found = found(messages(10), 1 << 20);
        assert_eq!(found.of_one, Estimate { value: of_one, error: 0.0 });
        assert_eq!(found.of_two, Estimate { value: of_all - of_one, error: 0.0 });
        assert_eq!((found.of_shared.value, found.messages, found.unit_ms), (0.0, 50_000, 1));
        assert!(of_one > 1_000.0);
    }

    #[test]
    fn sessions_that_share_type_and_hash_are_counted() {
        // The smallest pair of numbers whose texts share the hash.
        let mut hashes = HashMap::new();
        let (a, b) = (0..)
            .find_map(|n: u32| {
                let hash = SessionTag::new(SessionType::MIN, &n.to_string()).to_u32();
                hashes.insert(hash, n).map(|first| (first, n))
            })
            .unwrap();
        let texts = [a, a, b, b, b, b + 1].map(|n| n.to_string());
        let found = found(texts.into_iter().map(|session| (5, session)).chain([(6, "x".into())]), 100);
        assert_eq!((found.of_one.value, found.of_shared.value, found.of_two.value), (4.0, 6.0, 11.0));
    }

    #[test]
    fn a_sample_has_the_error_that_it_states() {
        let exact = found(messages(10), 1 << 20);
        let (mut sampled, mut errors) = (0, Vec::new());
        for shift in 0..40 {
            // Other milliseconds are chosen in each run.
            let moved = messages(10).map(|(ms, session)| (ms + shift * 1_000_003, session));
            let found = found(moved, 1 << 13);
            assert!(found.of_one.error > 0.0);
            errors.push((found.of_one.value - exact.of_one.value) / found.of_one.error);
            sampled += usize::from(found.of_one != exact.of_one);
        }
        assert!(sampled > 30);
        // The deviations have a mean of 0 and a variance of 1.
        let n = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / n;
        let variance = errors.iter().map(|error| error * error).sum::<f64>() / n;
        assert!(mean.abs() < 0.7 && (0.4..2.0).contains(&variance), "{mean}, {variance}");
        assert!(errors.iter().all(|error| error.abs() < 4.0), "{errors:?}");
    }

    #[test]
    fn rounded_times_are_noticed() {
        let seconds = (0..100).map(|n| (1_763_640_000_000 + n / 2 * 3_000, "a".to_owned()));
        let found = found(seconds, 100);
        assert_eq!((found.unit_ms, found.whole_seconds, found.of_one.value), (3_000, 1.0, 50.0));
        let (least, most) = found.pairs();
        assert!((most.independent / least.independent - 3_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_history_without_a_duration_has_no_rate() {
        assert_eq!(History::default().finish(), None);
        let mut history = History::default();
        history.add("a", 5);
        history.add("a", 5);
        assert_eq!(history.finish(), None);
    }
}
