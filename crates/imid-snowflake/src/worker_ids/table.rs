//! Which worker IDs this process holds, until when, and which of them are in use.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Layout, SpareNode};

/// The worker IDs of one process. Each lease has a place for one.
///
/// The lock is held for a few steps in memory only, never during a call of the register.
pub(super) struct Table {
    layout: Layout,
    /// For each worker ID the first millisecond that no ID may have; 0 unless the worker ID is in use.
    ///
    /// The pages of a worker ID that was never in use take no memory, because new pages are zeros.
    ceilings: Box<[AtomicU64]>,
    places: Mutex<Places>,
}

struct Places {
    held: Vec<Place>,
    /// Worker IDs whose lease has ended while a generator had them. The generator has not put them back yet.
    ///
    /// If such a worker ID is granted again, no one may use it before that: a paused thread of the generator could mint
    /// under the new grant as if it were the old one.
    abandoned: Vec<u32>,
    /// Grows with each worker ID that becomes spare, so that the first one in is the first one out.
    turn: u64,
    /// No more worker IDs are given out.
    is_closed: bool,
}

#[derive(Clone, Default)]
struct Place {
    held: Option<Held>,
    /// The end of the last grant: the first millisecond after each ID; 0 if there is none.
    end_ms: u64,
}

#[derive(Clone)]
struct Held {
    node: u32,
    /// The first millisecond that an ID may have. A whole tick begins there.
    from_ms: u64,
    ceiling_ms: u64,
    /// The first millisecond after each ID, as far as is known; 0 if there is none.
    end_ms: u64,
    is_in_use: bool,
    turn: u64,
}

impl Table {
    /// Returns a table for this number of leases of 2^`bits` worker IDs.
    pub(super) fn new(layout: Layout, bits: u32, leases: usize) -> Self {
        let places = Places { held: vec![Place::default(); leases], abandoned: Vec::new(), turn: 0, is_closed: false };
        let ceilings = (0..1_usize << bits).map(|_| AtomicU64::new(0)).collect();
        Self { layout, ceilings, places: Mutex::new(places) }
    }

    /// Puts a granted worker ID into a place. The one before it is sealed.
    pub(super) fn start(&self, lease: usize, node: u32, floor_ms: u64, ceiling_ms: u64) {
        let mut places = self.places();
        places.turn += 1;
        let (from_ms, turn) = (self.first_tick_from(floor_ms), places.turn);
        let held = Held { node, from_ms, ceiling_ms, end_ms: 0, is_in_use: false, turn };
        let held = Some(held).filter(|_| !places.is_closed);
        places.held[lease] = Place { held, end_ms: 0 };
    }

    /// Raises the ceiling of the worker ID in a place.
    pub(super) fn raise(&self, lease: usize, ceiling_ms: u64) {
        let mut places = self.places();
        if let Some(held) = &mut places.held[lease].held {
            held.ceiling_ms = held.ceiling_ms.max(ceiling_ms);
            if held.is_in_use {
                held.end_ms = held.ceiling_ms;
                self.set_ceiling(held.node, held.ceiling_ms);
            }
        }
    }

    /// Takes the worker ID from its place, and returns the first millisecond after each ID of its grant; 0 if there is
    /// none.
    ///
    /// A generator can have it, with threads that are about to mint. None of them mints at its ceiling or past it, so
    /// the end is the ceiling then.
    pub(super) fn seal(&self, lease: usize) -> u64 {
        self.seal_in(&mut self.places(), lease)
    }

    /// Seals all places, also those that are granted later.
    pub(super) fn close(&self) {
        let mut places = self.places();
        places.is_closed = true;
        for lease in 0..places.held.len() {
            self.seal_in(&mut places, lease);
        }
    }

    fn seal_in(&self, places: &mut Places, lease: usize) -> u64 {
        if let Some(held) = places.held[lease].held.take() {
            places.held[lease].end_ms = held.end_ms;
            if held.is_in_use {
                self.set_ceiling(held.node, 0);
                places.abandoned.push(held.node);
            }
        }
        places.held[lease].end_ms
    }

    /// Returns the first millisecond after the IDs of a worker ID that is spare; 0 if there is none, or if it is in
    /// use.
    pub(super) fn used_until_ms(&self, lease: usize) -> u64 {
        let places = self.places();
        places.held[lease].held.as_ref().filter(|held| !held.is_in_use).map_or(0, |held| held.end_ms)
    }

    /// Takes the worker ID that has been spare longest, of those that can mint at this time.
    pub(super) fn take(&self, now_ms: u64) -> Option<SpareNode> {
        let mut places = self.places();
        let Places { held, abandoned, .. } = &mut *places;
        let spares = held.iter_mut().filter_map(|place| place.held.as_mut());
        let tick = self.layout.tick_at(now_ms)?;
        let usable = spares.filter(|held| {
            let is_whole = held.from_ms <= now_ms && tick < self.layout.tick_until(held.ceiling_ms);
            is_whole && !held.is_in_use && !abandoned.contains(&held.node)
        });
        let held = usable.min_by_key(|held| held.turn)?;
        held.is_in_use = true;
        held.end_ms = held.ceiling_ms;
        self.set_ceiling(held.node, held.ceiling_ms);
        Some(SpareNode { node: held.node, used_until_ms: held.from_ms.saturating_sub(1) })
    }

    /// Puts a worker ID back that a generator had.
    pub(super) fn put(&self, spare: SpareNode) {
        let mut places = self.places();
        if let Some(at) = places.abandoned.iter().position(|node| *node == spare.node) {
            places.abandoned.swap_remove(at);
            return;
        }
        places.turn += 1;
        let turn = places.turn;
        let mut held = places.held.iter_mut().filter_map(|place| place.held.as_mut());
        if let Some(held) = held.find(|held| held.is_in_use && held.node == spare.node) {
            held.is_in_use = false;
            held.turn = turn;
            // The generator puts one back unused as it took it.
            held.from_ms = held.from_ms.max(self.first_tick_from(spare.used_until_ms.saturating_add(1)));
            held.end_ms = held.from_ms;
            self.set_ceiling(held.node, 0);
        }
    }

    /// Returns the first millisecond that no ID may have under a worker ID that a generator has; 0 if the lease has
    /// ended.
    #[inline]
    pub(super) fn ceiling_ms(&self, node: u32) -> u64 {
        // ORDERING: pairs with `set_ceiling`, as `NodeSource` asks.
        self.ceilings.get(node as usize).map_or(0, |ceiling| ceiling.load(Ordering::Acquire))
    }

    fn set_ceiling(&self, node: u32, ceiling_ms: u64) {
        if let Some(ceiling) = self.ceilings.get(node as usize) {
            ceiling.store(ceiling_ms, Ordering::Release);
        }
    }

    /// Returns the first millisecond at or after a time that is not before a whole tick.
    fn first_tick_from(&self, ms: u64) -> u64 {
        self.layout.reached_at(self.layout.tick_from(ms))
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_795_204_812_345;

    fn table(leases: usize) -> Table {
        Table::new(Layout::TWITTER, 10, leases)
    }

    fn take(table: &Table, now_ms: u64) -> Option<u32> {
        table.take(now_ms).map(|spare| spare.node)
    }

    #[test]
    fn a_worker_id_is_taken_between_its_floor_and_its_ceiling() {
        let table = table(2);
        assert_eq!(take(&table, T), None);
        table.start(0, 7, T, T + 10);
        assert_eq!((take(&table, T - 1), take(&table, T + 10)), (None, None));
        assert_eq!(table.ceiling_ms(7), 0);
        assert_eq!(table.take(T), Some(SpareNode { node: 7, used_until_ms: T - 1 }));
        assert_eq!((table.ceiling_ms(7), table.ceiling_ms(8), table.ceiling_ms(1_024)), (T + 10, 0, 0));
        assert_eq!(take(&table, T), None);
        table.raise(0, T + 30);
        table.raise(0, T + 20);
        assert_eq!(table.ceiling_ms(7), T + 30);
    }

    #[test]
    fn the_worker_id_that_is_spare_longest_is_taken_first() {
        let table = table(3);
        for lease in 0..3 {
            table.start(lease, 7 + lease as u32, 0, T + 10);
        }
        assert_eq!((take(&table, T), take(&table, T)), (Some(7), Some(8)));
        table.put(SpareNode { node: 7, used_until_ms: T });
        assert_eq!((take(&table, T + 1), take(&table, T), take(&table, T + 1)), (Some(9), None, Some(7)));
    }

    #[test]
    fn the_end_is_exact_if_no_generator_has_the_worker_id() {
        let table = table(1);
        table.start(0, 7, T, T + 10);
        assert_eq!((table.used_until_ms(0), table.seal(0), table.seal(0)), (0, 0, 0));
        table.start(0, 7, T, T + 10);
        assert_eq!(take(&table, T), Some(7));
        assert_eq!(table.used_until_ms(0), 0);
        table.put(SpareNode { node: 7, used_until_ms: T + 4 });
        assert_eq!((table.used_until_ms(0), table.seal(0), table.seal(0)), (T + 5, T + 5, T + 5));
        // It is no longer spare.
        assert_eq!(take(&table, T + 5), None);
        table.start(0, 8, T + 20, T + 30);
        assert_eq!(table.seal(0), 0);
    }

    #[test]
    fn the_end_of_a_worker_id_in_use_is_its_ceiling() {
        let table = table(1);
        table.start(0, 7, T, T + 10);
        assert_eq!(take(&table, T), Some(7));
        table.raise(0, T + 12);
        assert_eq!((table.seal(0), table.ceiling_ms(7), table.seal(0)), (T + 12, 0, T + 12));
        table.raise(0, T + 99);
        assert_eq!(table.ceiling_ms(7), 0);
    }

    /// A paused thread of the generator must not take the new grant for the old one.
    #[test]
    fn a_worker_id_that_is_granted_again_waits_until_it_is_put_back() {
        let table = table(2);
        table.start(0, 7, T, T + 10);
        assert_eq!(take(&table, T), Some(7));
        table.seal(0);
        table.start(1, 7, T + 10, T + 40);
        table.raise(1, T + 50);
        assert_eq!((take(&table, T + 20), table.ceiling_ms(7)), (None, 0));
        table.put(SpareNode { node: 7, used_until_ms: T + 9 });
        assert_eq!((take(&table, T + 9), take(&table, T + 20), table.ceiling_ms(7)), (None, Some(7), T + 50));
    }

    #[test]
    fn a_worker_id_of_somebody_else_is_not_put() {
        let table = table(1);
        table.start(0, 7, 0, T + 10);
        table.put(SpareNode { node: 7, used_until_ms: T + 5 });
        table.put(SpareNode { node: 9, used_until_ms: 0 });
        assert_eq!((take(&table, T), take(&table, T), table.ceiling_ms(9)), (Some(7), None, 0));
    }

    /// Ticks of a second: a floor inside of a tick excludes the tick, and so does a ceiling.
    #[test]
    fn bounds_are_whole_ticks() {
        let uid = Layout::builder().tick_bits(31).node_bits(20).sequence_bits(12);
        let layout = uid.tick(std::time::Duration::from_secs(1)).build().unwrap();
        let table = Table::new(layout, 16, 1);
        let second = T / 1_000 * 1_000;
        table.start(0, 7, second + 1, second + 2_999);
        assert_eq!((take(&table, second + 500), take(&table, second + 2_000)), (None, None));
        assert_eq!(table.take(second + 1_000), Some(SpareNode { node: 7, used_until_ms: second + 999 }));
    }

    /// Whole ticks of a second, of 2^20 ns and of 10 ms, computed in nanoseconds.
    #[test]
    fn a_worker_id_is_taken_only_where_the_whole_tick_has_tick() {
        let mut random = 1_u64;
        let mut below = move |limit: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % limit
        };
        for (tick_ns, tick_bits, room_ms) in [(1_000_000_000, 31, 3_500), (1 << 20, 41, 6), (10_000_000, 39, 40)] {
            let layout = Layout::builder().tick_bits(tick_bits).node_bits(3).sequence_bits(60 - tick_bits);
            let layout = layout.tick(core::time::Duration::from_nanos(tick_ns)).build().unwrap();
            let (epoch_ns, tick_ns) = (layout.epoch().as_nanos(), u128::from(tick_ns));
            let (mut taken, mut refused) = (0, 0);
            for _ in 0..3_000 {
                let table = Table::new(layout, 3, 1);
                let floor_ms = T + below(2_000);
                let ceiling_ms = floor_ms + below(room_ms);
                table.start(0, 7, floor_ms, ceiling_ms);
                let now_ms = (floor_ms - 2) + below(room_ms);
                let moment_ns = u128::from(now_ms) * 1_000_000;
                let start_ns = moment_ns - (moment_ns - epoch_ns) % tick_ns;
                let has_tick = u128::from(floor_ms) * 1_000_000 <= start_ns
                    && start_ns + tick_ns <= u128::from(ceiling_ms) * 1_000_000;
                let is_taken = table.take(now_ms).is_some();
                assert!(has_tick || !is_taken, "{floor_ms}..{ceiling_ms} at {now_ms}");
                taken += u32::from(is_taken);
                refused += u32::from(!has_tick);
            }
            assert!(taken > 100 && refused > 100, "{taken} {refused}");
        }
    }
}
