//! The state of a Snowflake generator in one word, and how a clock reading changes it. This file has no clock and no
//! atomics.
//!
//! The word is the last ID. It has the node, so that a swap changes node and stamp in one atomic step. The transition works
//! on stamps, which are the word without the node: a tick and a sequence number, so that the successor of a stamp is the
//! stamp plus one, and a full tick carries into the next one.
//!
//! Some layouts fill all 64 bits, so the word has no bit to spare. Two stamps of each layout are therefore never
//! minted:
//! - The first stamp means that there is no last stamp. The transition begins after it.
//! - The greatest stamp means that the generator is closed. No transition leads to it or leaves it.
//!
//! A floor is also a last stamp: the greatest stamp below the floor, so a floor needs no separate word, and a swap
//! changes the floor together with the node.

use super::error::Refusal;
use super::nodes::SpareNode;
use super::preset::Preset;
use crate::layout::Layout;

/// A node and the last stamp under it, without the node: the last one that was minted, or the last one below the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) node: u32,
    pub(super) last: u64,
}

impl State {
    /// Returns the state of a generator that has not minted under this node, and will not before the floor in unix
    /// milliseconds.
    pub(super) const fn new(node: u32, floor_ms: u64, layout: Layout) -> Self {
        let below_floor = (layout.tick_from(floor_ms) << layout.sequence_bits()).saturating_sub(1);
        // A floor after the last tick leaves nothing to mint, but the generator is not closed.
        let last = if below_floor < closed(layout) { below_floor } else { closed(layout) - 1 };
        Self { node, last }
    }

    /// Returns the state of a generator that has just taken a spare node.
    pub(super) const fn taken(spare: SpareNode, layout: Layout) -> Self {
        Self::new(spare.node, spare.used_until_ms.saturating_add(1), layout)
    }

    pub(super) const fn unpack(word: u64, layout: Layout) -> Self {
        let sequence = word & layout.sequence_max() as u64;
        let above = word >> layout.sequence_bits();
        let (node, tick) = (above & layout.node_max() as u64, above >> layout.node_bits());
        Self { node: node as u32, last: tick << layout.sequence_bits() | sequence }
    }

    pub(super) const fn pack(self, layout: Layout) -> u64 {
        layout.compose(self.tick(layout), self.node, self.last as u32 & layout.sequence_max())
    }

    /// Returns the state after one more ID, for a clock reading in Unix milliseconds. The tick of the ID is always the
    /// tick of the reading.
    ///
    /// `ceiling` is the first stamp that no ID may have, from [`ceiling`].
    pub(super) fn advance(self, now_ms: u64, ceiling: u64, preset: &Preset) -> Result<Self, Refusal> {
        let layout = preset.layout();
        let Some(now) = layout.tick_at(now_ms) else { return Err(without_tick(now_ms, layout)) };
        let reached = self.tick(layout);
        if now < reached {
            return Err(preset.behind(layout.reached_at(reached) - now_ms));
        }
        let start = start_below(preset.start_bound(), now, self.node);
        let next = (now << layout.sequence_bits() | start).max(self.last + 1);
        let next_tick = (now + 1) << layout.sequence_bits();
        // No ceiling is above `closed`, so this also keeps `closed` from being minted.
        if next < next_tick && next < ceiling {
            return Ok(Self { last: next, ..self });
        }
        Err(if next < next_tick && next < closed(layout) {
            Refusal::Ceiling
        } else if now < layout.last_tick() {
            preset.full(layout.reached_at(now + 1) - now_ms)
        } else {
            Refusal::LastTickFull
        })
    }

    /// Returns the state with a floor, in Unix milliseconds. `None` if all later stamps are at or after the floor
    /// anyway.
    pub(super) fn raised(self, floor_ms: u64, layout: Layout) -> Option<Self> {
        let raised = Self::new(self.node, floor_ms, layout);
        (raised.last > self.last).then_some(raised)
    }

    /// Returns the state of the same generator after its end.
    pub(super) const fn closed(self, layout: Layout) -> Self {
        Self { node: self.node, last: closed(layout) }
    }

    pub(super) const fn is_closed(self, layout: Layout) -> bool {
        self.last == closed(layout)
    }

    /// Returns whether there is a last stamp.
    pub(super) const fn is_used(self) -> bool {
        self.last > 0
    }

    /// Returns the node as a spare one: used until the last Unix millisecond of the tick of the last stamp.
    pub(super) const fn spare(self, layout: Layout) -> SpareNode {
        let used_until_ms = layout.reached_at(self.tick(layout) + 1) - 1;
        SpareNode { node: self.node, used_until_ms }
    }

    /// Returns the tick of the last stamp.
    const fn tick(self, layout: Layout) -> u64 {
        self.last >> layout.sequence_bits()
    }
}

/// Returns the sequence number with which a tick begins: evenly below the bound, by tick and node. There is no seed, because
/// nodes already keep generators apart. The mix is the last step of Steele, Lea and Flood's `SplitMix64` (2014).
const fn start_below(bound: u64, tick: u64, node: u32) -> u64 {
    let word = tick ^ node as u64;
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (((word ^ word >> 31) >> 32) * bound) >> 32
}

/// What finds the next ID of a tick in the word, computed once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// The millisecond at which tick 0 begins.
    first_ms: u64,
    /// How many ticks there are between the first and the last one.
    inner_ticks: u64,
    sequence_max: u64,
    /// How far the tick is above the lowest bit of an ID.
    tick_shift: u32,
    /// Whether a tick is a millisecond. The tick of a reading then needs no division.
    is_ms: bool,
}

impl Steps {
    pub(super) const fn new(layout: Layout) -> Self {
        Self {
            first_ms: layout.reached_at(0),
            inner_ticks: layout.last_tick().saturating_sub(1),
            sequence_max: layout.sequence_max() as u64,
            tick_shift: layout.node_bits() + layout.sequence_bits(),
            is_ms: layout.tick().as_nanos() == 1_000_000,
        }
    }

    /// Returns the ID after the last one, if it is in the same tick, and if this is the tick of the clock reading.
    ///
    /// The first and the last tick of the layout have no such ID, because their stamps have other meanings as well.
    #[inline]
    pub(super) const fn next(&self, last: u64, now_ms: u64, layout: &Layout) -> Option<u64> {
        let tick = if self.is_ms {
            now_ms.wrapping_sub(self.first_ms)
        } else {
            match divided(now_ms, layout) {
                Some(tick) => tick,
                None => return None,
            }
        };
        let is_next = last >> self.tick_shift == tick
            && tick.wrapping_sub(1) < self.inner_ticks
            && last & self.sequence_max != self.sequence_max;
        if is_next { Some(last + 1) } else { None }
    }
}

/// Returns the tick of a reading of the clock. Out of line: otherwise the compiler begins the division before it knows whether the
/// layout needs one. By reference: otherwise each call copies the layout, whether it needs the division or not.
#[inline(never)]
const fn divided(now_ms: u64, layout: &Layout) -> Option<u64> {
    layout.tick_at(now_ms)
}

/// Returns the stamp that means "closed": the greatest one.
const fn closed(layout: Layout) -> u64 {
    (1 << layout.stamp_bits()) - 1
}

/// Returns the first stamp that no ID may have if its whole tick must be before this time, in Unix milliseconds. There
/// is always one: the stamp that means "closed".
pub(super) const fn ceiling(ms: u64, layout: Layout) -> u64 {
    let (first, closed) = (layout.tick_until(ms) << layout.sequence_bits(), closed(layout));
    if first < closed { first } else { closed }
}

/// Returns whether the tick of a clock reading ends at a ceiling or before it, both in Unix milliseconds.
///
/// This is the same question as for the stamps of [`ceiling`]. It is asked here of a ceiling that is not known as a
/// stamp.
#[inline]
pub(super) const fn is_below(ceiling_ms: u64, now_ms: u64, layout: Layout) -> bool {
    // The tick begins before the end of this millisecond, and ends its length later. This spares most calls a division.
    let length_ms = (layout.tick().as_nanos() as u64).div_ceil(1_000_000);
    if now_ms.saturating_add(1 + length_ms) <= ceiling_ms {
        return true;
    }
    match layout.tick_at(now_ms) {
        Some(tick) => tick < layout.tick_until(ceiling_ms),
        None => false,
    }
}

#[cold]
const fn without_tick(now_ms: u64, layout: Layout) -> Refusal {
    let (first, last) = (layout.first_ms(), layout.last_ms());
    if now_ms < first {
        Refusal::BeforeFirstTick { first, found: now_ms }
    } else {
        Refusal::PastLastTick { last, found: now_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESET: Preset = Preset::TWITTER;
    const LAYOUT: Layout = PRESET.layout();
    const T: u64 = 1_763_665_800_000;
    /// The tick of [`T`].
    const TICK: u64 = T - 1_288_834_974_657;
    const NONE: u64 = closed(LAYOUT);

    fn stamp(tick: u64, sequence: u64) -> u64 {
        tick << 12 | sequence
    }

    #[test]
    fn the_transition_follows_its_table() {
        let (end, end_ms) = (LAYOUT.last_tick(), LAYOUT.last_ms());
        let behind = |behind| Err(Refusal::Rollback { behind, retry_after: None });
        let full = Err(Refusal::Overload { retry_after: Some(1) });
        let clock = |found| Err(Refusal::BeforeFirstTick { first: LAYOUT.first_ms(), found });
        let after = |found| Err(Refusal::PastLastTick { last: end_ms, found });
        #[rustfmt::skip]
        let table = [
            // what                                  last                   now         ceiling             next
            ("first of all",                         0,                     T,          NONE,               Ok(stamp(TICK, 0))),
            ("first of all in the first tick",       0,                     T - TICK,   NONE,               Ok(stamp(0, 1))),
            ("next in the same tick",                stamp(TICK, 0),        T,          NONE,               Ok(stamp(TICK, 1))),
            ("a new tick",                           stamp(TICK, 7),        T + 1,      NONE,               Ok(stamp(TICK + 1, 0))),
            ("the last of a tick",                   stamp(TICK, 4_094),    T,          NONE,               Ok(stamp(TICK, 4_095))),
            ("a full tick",                          stamp(TICK, 4_095),    T,          NONE,               full),
            ("the tick after a full one",            stamp(TICK, 4_095),    T + 1,      NONE,               Ok(stamp(TICK + 1, 0))),
            ("behind",                               stamp(TICK, 0),        T - 1,      NONE,               behind(1)),
            ("behind a full tick",                   stamp(TICK, 4_095),    T - 9,      NONE,               behind(9)),
            ("below the ceiling",                    stamp(TICK, 0),        T,          stamp(TICK + 1, 0), Ok(stamp(TICK, 1))),
            ("the last below the ceiling",           stamp(TICK, 4_094),    T,          stamp(TICK + 1, 0), Ok(stamp(TICK, 4_095))),
            ("a full tick below the ceiling",        stamp(TICK, 4_095),    T,          stamp(TICK + 1, 0), full),
            ("at the ceiling",                       stamp(TICK, 4_095),    T + 1,      stamp(TICK + 1, 0), Err(Refusal::Ceiling)),
            ("past the ceiling",                     stamp(TICK, 0),        T + 90,     stamp(TICK + 1, 0), Err(Refusal::Ceiling)),
            ("behind, with the ceiling in between",  stamp(TICK, 0),        T - 1,      stamp(TICK, 0),     behind(1)),
            ("a ceiling of nothing",                 0,                     T,          0,                  Err(Refusal::Ceiling)),
            ("the last tick",                        stamp(TICK, 0),        end_ms,     NONE,               Ok(stamp(end, 0))),
            ("the last of all",                      stamp(end, 4_093),     end_ms,     NONE,               Ok(stamp(end, 4_094))),
            ("after the last of all",                stamp(end, 4_094),     end_ms,     NONE,               Err(Refusal::LastTickFull)),
            ("the last of all, at the ceiling",      stamp(end, 4_093),     end_ms,     stamp(end, 0),      Err(Refusal::Ceiling)),
            ("after the last of all, with a ceiling", stamp(end, 4_094),    end_ms,     stamp(end, 0),      Err(Refusal::LastTickFull)),
            ("closed",                               NONE,                  end_ms,     NONE,               Err(Refusal::LastTickFull)),
            ("closed, before the last tick",         NONE,                  end_ms - 1, NONE,               behind(1)),
            ("after the last tick",                  stamp(TICK, 0),        end_ms + 1, NONE,               after(end_ms + 1)),
            ("before the first tick",                0,                     T - TICK - 1, NONE,             clock(T - TICK - 1)),
        ];
        for (what, last, now_ms, ceiling, next) in table {
            let advanced = State { node: 35, last }.advance(now_ms, ceiling, &PRESET);
            assert_eq!(advanced, next.map(|last| State { node: 35, last }), "{what}");
        }
    }

    /// The fast path gives the ID that the slow path gives. Between the first and the last tick it gives each ID but the
    /// first one of a tick.
    #[test]
    fn the_next_id_of_a_tick_is_that_of_the_transition() {
        let narrow = Layout::builder().tick_bits(1).node_bits(32).sequence_bits(31).build().unwrap();
        let slow = Layout::builder().tick(core::time::Duration::from_millis(7)).build().unwrap();
        let inside = Layout::builder().epoch(core::time::Duration::from_nanos(1_500_001)).build().unwrap();
        let ours = [narrow, slow, inside].map(Preset::new);
        let mut short = 0;
        for preset in Preset::ALL.iter().chain(&ours) {
            let layout = preset.layout();
            let steps = Steps::new(layout);
            let stamp = |tick: u64, sequence: u32| tick << layout.sequence_bits() | u64::from(sequence);
            let (end, most) = (layout.last_tick(), layout.sequence_max());
            let ticks = [0, 1, end / 3, end - 1, end];
            let floors = [layout.ms_of(end / 3), layout.last_ms() + 1].map(|ms| State::new(0, ms, layout).last);
            let stamps =
                ticks.iter().flat_map(|tick| [0, 1, most / 2, most - 1, most].map(|number| stamp(*tick, number)));
            for (last, at) in stamps.chain(floors).flat_map(|last| ticks.map(|at| (last, at))) {
                let first_ms = layout.reached_at(at);
                // No ID of a tick is before the tick's start.
                if last & u64::from(most) < preset.start_bound() - 1 {
                    continue;
                }
                for now_ms in [first_ms.saturating_sub(1), first_ms, first_ms + 1] {
                    let state = State { node: layout.node_max(), last };
                    let whole = state.advance(now_ms, closed(layout), preset).ok();
                    let next = steps.next(state.pack(layout), now_ms, &layout);
                    let tick = last >> layout.sequence_bits();
                    let is_inner = 0 < tick && tick < end;
                    let whole = whole.filter(|next| is_inner && next.last >> layout.sequence_bits() == tick);
                    assert_eq!(next, whole.map(|next| next.pack(layout)), "{layout:?} {last} {now_ms}");
                    short += usize::from(next.is_some());
                }
            }
        }
        assert!(short > 100, "{short}");
    }

    #[test]
    fn no_floor_is_the_end_and_no_ceiling_is_above_it() {
        for layout in Layout::ALL.iter().copied() {
            for ms in [0, layout.first_ms(), T, layout.last_ms(), layout.last_ms() + 1, u64::MAX] {
                assert!(!State::new(1, ms, layout).is_closed(layout));
                assert!(ceiling(ms, layout) <= closed(layout));
            }
            assert_eq!(ceiling(u64::MAX, layout), closed(layout));
            let greatest = State { node: layout.node_max(), last: 5 };
            assert_eq!(State::unpack(greatest.closed(layout).pack(layout), layout), greatest.closed(layout));
            assert!(greatest.closed(layout).is_closed(layout));
        }
    }

    /// The two forms of a ceiling give one answer, for each reading near it.
    #[test]
    fn a_ceiling_as_a_time_and_as_a_stamp_are_the_same() {
        use core::time::Duration;

        let ticks = [1_000_000, 999_999, 300, 1 << 20, 10_000_000, 1_000_000_000].map(Duration::from_nanos);
        let epochs = [0, 1, 999_999, 1_500_000_000_123_456_789].map(Duration::from_nanos);
        for (tick, epoch) in ticks.iter().flat_map(|tick| epochs.map(|epoch| (*tick, epoch))) {
            let builder = Layout::builder().tick(tick).epoch(epoch);
            let layout = builder.tick_bits(21).node_bits(32).sequence_bits(10).build().unwrap();
            let first = layout.first_ms();
            let length_ms = tick.as_nanos().div_ceil(1_000_000) as u64;
            // The first tick can begin inside its millisecond, and end inside another one.
            for (now_ms, ceiling_ms) in [(first, first + length_ms), (first, first + length_ms + 1)] {
                let expected = ceiling(ceiling_ms, layout) > 0;
                assert_eq!(is_below(ceiling_ms, now_ms, layout), expected, "{layout:?} {ceiling_ms}");
            }
            for ceiling_ms in (first..first + 3_000).step_by(7).chain([0, layout.last_ms(), u64::MAX]) {
                let stamp = ceiling(ceiling_ms, layout);
                for now_ms in (ceiling_ms.saturating_sub(2_100)..ceiling_ms.saturating_add(5)).step_by(3) {
                    let Some(tick) = layout.tick_at(now_ms) else { continue };
                    // Below the end, which ends all ticks but the last one.
                    let expected = tick << layout.sequence_bits() < stamp;
                    assert_eq!(is_below(ceiling_ms, now_ms, layout), expected, "{layout:?} {now_ms} {ceiling_ms}");
                }
            }
        }
    }
}
