//! The numbers of one section in memory.

use super::engine::Grant;
use super::table::Table;

/// No session gets more numbers than this in one epoch.
const MOST_PER_EPOCH: u32 = u32::MAX;

/// The section asks for a new epoch when a session has got this many numbers.
const MANY_PER_EPOCH: u32 = 1 << 31;

/// Why a conversation gets no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoNumber {
    /// This process does not hold the section.
    NotHeld,
    /// All numbers below the bound are used.
    Bound,
    /// The section needs a new epoch first.
    Full,
}

/// What the keeper should do for a section. A later variant includes the earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wish {
    Raise,
    NewEpoch,
}

/// A number as it was minted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Minted {
    pub(crate) value: u64,
    pub(crate) epoch: u64,
    /// The first number of each session in the epoch.
    pub(crate) start: u64,
    /// A wish that the keeper does not know yet.
    pub(crate) wish: Option<Wish>,
}

/// The numbers of one section.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    /// The epoch; 0 while the section is not held.
    epoch: u64,
    /// The first number of each session in this epoch.
    start: u64,
    /// All numbers minted are below this one.
    bound: u64,
    /// The greatest number minted by this process, plus one; 0 before the first.
    end: u64,
    /// The first number at which the keeper is asked to raise the bound.
    raise_at: u64,
    wished: Option<Wish>,
    /// The section asks for a new epoch when it has more sessions than this, and refuses new ones at twice as many.
    many_sessions: usize,
    /// How many numbers each session got in this epoch.
    table: Table,
}

impl Numbers {
    pub(crate) const fn new(many_sessions: usize) -> Self {
        let table = Table::new();
        Self { epoch: 0, start: 0, bound: 0, end: 0, raise_at: 0, wished: None, many_sessions, table }
    }

    /// Mints the next number of a session.
    #[inline]
    pub(crate) fn next(&mut self, key: u64) -> Result<Minted, NoNumber> {
        let Some(used) = self.table.find(key) else { return self.first(key) };
        let value = self.start + u64::from(*used);
        if value >= self.bound || *used == MOST_PER_EPOCH {
            return Err(self.no_number(value));
        }
        *used += 1;
        let many = *used >= MANY_PER_EPOCH;
        Ok(self.minted(value, many))
    }

    /// Mints the first number of a session in this epoch.
    #[cold]
    fn first(&mut self, key: u64) -> Result<Minted, NoNumber> {
        if self.start >= self.bound || self.table.len() >= self.many_sessions.saturating_mul(2) {
            return Err(self.no_number(self.start));
        }
        self.table.insert(key);
        let many = self.table.len() > self.many_sessions;
        Ok(self.minted(self.start, many))
    }

    #[inline]
    fn minted(&mut self, value: u64, many: bool) -> Minted {
        self.end = self.end.max(value + 1);
        let wish = if value >= self.raise_at || many { self.wish(many) } else { None };
        Minted { value, epoch: self.epoch, start: self.start, wish }
    }

    /// Returns a wish that was not returned since the last grant.
    #[cold]
    fn wish(&mut self, many: bool) -> Option<Wish> {
        let wish = if many { Wish::NewEpoch } else { Wish::Raise };
        if self.wished >= Some(wish) {
            return None;
        }
        self.wished = Some(wish);
        Some(wish)
    }

    #[cold]
    const fn no_number(&self, value: u64) -> NoNumber {
        match self.epoch {
            0 => NoNumber::NotHeld,
            _ if value >= self.bound => NoNumber::Bound,
            _ => NoNumber::Full,
        }
    }

    /// Takes over what the register has acknowledged. A new epoch forgets the numbers of the one before.
    pub(crate) fn grant(&mut self, grant: &Grant) {
        if grant.epoch != self.epoch {
            // A new table: `clear` would keep the memory of all sessions that were ever active.
            self.table = Table::new();
            self.epoch = grant.epoch;
            self.start = grant.start;
        }
        self.bound = grant.bound;
        self.raise_at = grant.raise_at;
        self.wished = None;
    }

    /// Mints nothing from now on. Returns the greatest number minted by this process plus one, or 0.
    pub(crate) fn seal(&mut self) -> u64 {
        self.table = Table::new();
        (self.epoch, self.start, self.bound, self.wished) = (0, 0, 0, None);
        self.end
    }

    /// Returns the greatest number minted by this process plus one, or 0.
    #[cfg(test)]
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    pub(crate) const fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) const fn bound(&self) -> u64 {
        self.bound
    }

    /// Returns how many sessions are in memory, and how many bytes they take.
    pub(crate) fn memory(&self) -> (usize, usize) {
        (self.table.len(), self.table.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(bound: u64, raise_at: u64) -> Numbers {
        let mut numbers = Numbers::new(1 << 20);
        numbers.grant(&Grant { section: 0, epoch: 3, start: 100, bound, raise_at });
        numbers
    }

    #[test]
    fn the_numbers_of_a_session_grow_by_one_from_the_start_of_the_epoch() {
        let mut numbers = held(1_000, 500);
        for value in 100..110 {
            for key in [5, u64::MAX, 5 << 32] {
                let minted = numbers.next(key).unwrap();
                assert_eq!((minted.value, minted.epoch, minted.start), (value, 3, 100));
            }
        }
        assert_eq!(numbers.end(), 110);
    }

    #[test]
    fn no_number_reaches_the_bound_and_the_keeper_is_asked_once() {
        let mut numbers = held(110, 105);
        let wishes: Vec<_> = (0..10).map(|_| numbers.next(1).unwrap().wish).collect();
        assert_eq!(wishes.iter().flatten().count(), 1);
        assert_eq!(wishes[5], Some(Wish::Raise));
        assert_eq!(numbers.next(1), Err(NoNumber::Bound));
        assert_eq!(numbers.next(2).unwrap().value, 100, "another session has numbers left");
        numbers.grant(&Grant { section: 0, epoch: 3, start: 100, bound: 120, raise_at: 115 });
        assert_eq!(numbers.next(1).unwrap().value, 110);
        assert_eq!(numbers.end(), 111);
    }

    #[test]
    fn a_new_epoch_begins_at_its_start_for_all_sessions() {
        let mut numbers = held(110, 105);
        numbers.next(1).unwrap();
        numbers.grant(&Grant { section: 0, epoch: 4, start: 110, bound: 120, raise_at: 115 });
        assert_eq!(numbers.next(1).unwrap().value, 110);
        assert_eq!(numbers.next(2).unwrap().value, 110);
    }

    #[test]
    fn a_sealed_section_mints_nothing() {
        let mut numbers = held(110, 105);
        assert_eq!(numbers.seal(), 0);
        assert_eq!(numbers.next(1), Err(NoNumber::NotHeld));
        numbers.grant(&Grant { section: 0, epoch: 4, start: 110, bound: 120, raise_at: 115 });
        numbers.next(1).unwrap();
        assert_eq!(numbers.seal(), 111);
        assert_eq!(numbers.next(1), Err(NoNumber::NotHeld));
        assert_eq!(numbers.memory(), (0, 0));
    }

    #[test]
    fn too_many_sessions_ask_for_a_new_epoch() {
        let mut numbers = Numbers::new(10);
        let grant = Grant { section: 0, epoch: 1, start: 1, bound: 100, raise_at: 90 };
        numbers.grant(&grant);
        let wishes: Vec<_> = (1..21).map(|key| numbers.next(key).unwrap().wish).collect();
        assert_eq!(wishes.iter().position(Option::is_some), Some(10));
        assert_eq!(numbers.next(21), Err(NoNumber::Full));
        assert_eq!(numbers.next(3).unwrap().value, 2, "sessions in memory go on");
        numbers.grant(&Grant { epoch: 2, start: 100, bound: 200, ..grant });
        assert_eq!(numbers.next(21).unwrap().value, 100);
    }

    #[test]
    fn a_session_asks_for_a_new_epoch_before_its_count_overflows() {
        let mut numbers = held(u64::MAX, u64::MAX);
        numbers.next(1).unwrap();
        *numbers.table.find(1).unwrap() = MANY_PER_EPOCH - 1;
        assert_eq!(numbers.next(1).unwrap().wish, Some(Wish::NewEpoch));
        assert_eq!(numbers.next(1).unwrap().wish, None);
        *numbers.table.find(1).unwrap() = MOST_PER_EPOCH;
        assert_eq!(numbers.next(1), Err(NoNumber::Full));
        numbers.grant(&Grant { section: 0, epoch: 4, start: 1 << 40, bound: 1 << 41, raise_at: 1 << 41 });
        assert_eq!(numbers.next(1).unwrap().value, 1 << 40);
    }
}
