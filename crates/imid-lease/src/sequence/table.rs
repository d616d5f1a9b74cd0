//! A table from the keys of sessions to their counts.
//!
//! Key and count are beside each other, so a look-up touches one cache line, or two if the search goes on. `hashbrown` keeps
//! one byte of each entry elsewhere and touches two lines that are far apart. Entries are never removed, so the search is
//! linear and needs no marks. The table grows by half when it is three quarters full: a session costs 16 to 24 bytes.

/// The key in two words, and the count; 0 in an empty slot. Words of four bytes need no padding.
type Slot = [u32; 3];

const _: () = assert!(size_of::<Slot>() == 12, "a session costs 12 bytes in the table");

/// The size of a table with its first entry.
const FIRST_SIZE: usize = 16;

/// Counts, each with a key of 64 bits, which is a hash.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    len: usize,
}

impl Table {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), len: 0 }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }

    /// Returns the count of a key, or `None` if it is not in the table.
    #[inline]
    pub(crate) fn find(&mut self, key: u64) -> Option<&mut u32> {
        let words = [key as u32, (key >> 32) as u32];
        let mut at = home(key, self.slots.len());
        loop {
            // An empty table has no slot. Others have an empty one, so the search ends.
            let slot = self.slots.get(at)?;
            if slot[..2] == words && slot[2] != 0 {
                return Some(&mut self.slots[at][2]);
            }
            if slot[2] == 0 {
                return None;
            }
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
        }
    }

    /// Adds a key, which must not be in the table, with a count of 1.
    pub(crate) fn insert(&mut self, key: u64) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.put([key as u32, (key >> 32) as u32, 1]);
        self.len += 1;
    }

    fn grow(&mut self) {
        let size = (self.slots.len() + self.slots.len() / 2).max(FIRST_SIZE);
        let old = std::mem::replace(&mut self.slots, vec![[0; 3]; size]);
        old.into_iter().filter(|slot| slot[2] != 0).for_each(|slot| self.put(slot));
    }

    /// Writes a slot into the first empty place for its key.
    fn put(&mut self, slot: Slot) {
        let key = u64::from(slot[0]) | u64::from(slot[1]) << 32;
        let mut at = home(key, self.slots.len());
        while self.slots[at][2] != 0 {
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
        }
        self.slots[at] = slot;
    }
}

/// Returns where the search for a key begins. The keys are hashes with a secret of the process, so nobody can choose keys that
/// collide. The multiplication is for tests, whose keys are small numbers.
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
                };
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
            assert_eq!(table.find(1 << 51), None);
        }
    }

    #[test]
    fn a_session_costs_at_most_32_bytes() {
        let mut table = Table::new();
        let mut worst = 0;
        for key in 0..100_000_u64 {
            assert_eq!(table.find(key), None);
            table.insert(key);
            if table.len() >= 100 {
                worst = worst.max(table.bytes() / table.len());
            }
        }
        assert!((20..=24).contains(&worst), "{worst} bytes");
    }
}
