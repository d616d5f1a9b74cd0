//! A table from the keys of sessions to their counts.
//!
//! Five keys and their counts are in one cache line. A look-up reads the line of its key, and the next one only if that line
//! is full. `hashbrown` keeps one byte of each entry elsewhere and touches two lines that are far apart. Entries are never
//! removed, so a line with an empty place ends the search. The table grows by half when it is four fifths full: a session
//! costs 16 to 24 bytes.

/// How many entries a line has.
const WAYS: usize = 5;

/// A cache line with entries. They are in its first places. The key of an empty place is 0.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line {
    keys: [u64; WAYS],
    counts: [u32; WAYS],
}

const _: () = assert!(size_of::<Line>() == 64, "five entries are one cache line");

/// The size of a table with its first entry, in lines.
const FIRST_SIZE: usize = 4;

/// Counts, each with a key of 64 bits, which is a hash and not 0.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    lines: Vec<Line>,
    len: usize,
}

impl Line {
    const EMPTY: Self = Self { keys: [0; WAYS], counts: [0; WAYS] };

    /// Returns the place of a key, or `WAYS`.
    ///
    /// It has no branches. Nobody can predict the place. While a core waits for a line from memory, it goes on with the next
    /// number, and a wrong prediction would throw that work away.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let is = |at: usize| usize::from(self.keys[at] == key);
        WAYS - (is(0) * 5 + is(1) * 4 + is(2) * 3 + is(3) * 2 + is(4))
    }

    fn is_full(&self) -> bool {
        self.keys[WAYS - 1] != 0
    }
}

impl Table {
    pub(crate) const fn new() -> Self {
        Self { lines: Vec::new(), len: 0 }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<Line>()
    }

    /// Returns the count of a key, or `None` if it is not in the table.
    #[inline]
    pub(crate) fn find(&mut self, key: u64) -> Option<&mut u32> {
        let at = home(key, self.lines.len());
        // An empty table has no line.
        let place = self.lines.get(at)?.place(key);
        if place < WAYS { Some(&mut self.lines[at].counts[place]) } else { self.find_after(at, key) }
    }

    /// Looks for a key that is not in its own line.
    #[inline(never)]
    fn find_after(&mut self, home: usize, key: u64) -> Option<&mut u32> {
        let mut at = home;
        // A table is never full, so the search ends.
        while self.lines[at].is_full() {
            at = if at + 1 == self.lines.len() { 0 } else { at + 1 };
            let place = self.lines[at].place(key);
            if place < WAYS {
                return Some(&mut self.lines[at].counts[place]);
            }
        }
        None
    }

    /// Reads the line of a key, so that it is in the processor's cache when the key is looked up.
    #[inline]
    pub(crate) fn touch(&self, key: u64) -> u64 {
        self.lines.get(home(key, self.lines.len())).map_or(0, |line| line.keys[0])
    }

    /// Adds a key, which must not be in the table, with a count of 1.
    pub(crate) fn insert(&mut self, key: u64) {
        if (self.len + 1) * 5 > self.lines.len() * WAYS * 4 {
            self.grow();
        }
        debug_assert!(key != 0, "0 stands for an empty place");
        self.put(key, 1);
        self.len += 1;
    }

    fn grow(&mut self) {
        let size = (self.lines.len() + self.lines.len() / 2).max(FIRST_SIZE);
        let old = std::mem::replace(&mut self.lines, vec![Line::EMPTY; size]);
        for line in old {
            let entries = line.keys.into_iter().zip(line.counts);
            entries.filter(|(key, _)| *key != 0).for_each(|(key, count)| self.put(key, count));
        }
    }

    /// Writes an entry into the first empty place for its key.
    fn put(&mut self, key: u64, count: u32) {
        let mut at = home(key, self.lines.len());
        while self.lines[at].is_full() {
            at = if at + 1 == self.lines.len() { 0 } else { at + 1 };
        }
        let line = &mut self.lines[at];
        let place = line.keys.iter().take_while(|key| **key != 0).count();
        (line.keys[place], line.counts[place]) = (key, count);
    }
}

/// Returns the line where the search for a key begins. The keys are hashes with a secret of the process, so nobody can choose
/// keys that collide. The multiplication is for tests, whose keys are small numbers.
#[inline]
fn home(key: u64, size: usize) -> usize {
    let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    // The high half of a product instead of a division.
    ((u128::from(hash) * size as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_a_map() {
        for seed in 0..20 {
            let mut table = Table::new();
            let mut map = std::collections::HashMap::new();
            let mut state: u64 = seed;
            for _ in 0..5_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let key = match state % 3 {
                    0 => state >> 52,
                    1 => state >> 52 << 52,
                    _ => state,
                } | 1;
                match table.find(key) {
                    Some(count) => *count += 1,
                    None => table.insert(key),
                }
                *map.entry(key).or_insert(0) += 1;
            }
            assert_eq!(table.len(), map.len());
            for (key, count) in map {
                assert_eq!(table.find(key), Some(&mut { count }));
            }
            assert_eq!(table.find(1 << 51 | 2), None);
        }
    }

    /// Keys whose lines are full are found in later lines, and behind the end of the table in the first ones.
    #[test]
    fn keys_of_one_line_go_on_in_the_next_ones() {
        let mut table = Table::new();
        (1..1_000).for_each(|key| table.insert(key << 40 | key));
        let size = table.lines.len();
        let of_last: Vec<u64> = (1 << 20..).filter(|key| home(*key, size) == size - 1).take(2 * WAYS).collect();
        for key in &of_last {
            assert_eq!(table.find(*key), None);
            table.insert(*key);
        }
        assert_eq!(table.lines.len(), size, "it has not grown");
        assert!(of_last.iter().all(|key| table.find(*key) == Some(&mut 1)));
        assert!(of_last.iter().any(|key| table.lines[0].place(*key) < WAYS), "some are behind the end");
    }

    #[test]
    fn a_session_costs_at_most_24_bytes() {
        let mut table = Table::new();
        let mut worst = 0;
        for key in 1..100_000_u64 {
            assert_eq!(table.find(key), None);
            table.insert(key);
            if table.len() >= 100 {
                worst = worst.max(table.bytes() / table.len());
            }
        }
        assert!((20..=24).contains(&worst), "{worst} bytes");
    }
}
