//! The state of a Snowflake generator in one word, and how a clock reading changes it. This file has no clock and no
//! atomics.
//!
//! ```text
//! +------------+----------------------------+--------------+
//! |    node    |            tick            |   sequence   |
//! +------------+----------------------------+--------------+
//!               \______ last stamp, without the node ______/
//! ```
//!
//! For the stamp transition the node is a lane, which it adds to a stamp at the end. The node is in the word because a
//! swap changes node and stamp in one atomic step.
//!
//! Some layouts fill all 64 bits, so the word has no bit to spare. Two stamps of each layout are therefore never minted:
//! - The first stamp means that there is no last stamp. The transition begins after it.
//! - The greatest stamp means that the generator is closed. No transition leads to it or leaves it.
//!
//! A floor is a last stamp too: the greatest stamp below the floor. So a floor needs no word of its own, and a swap
//! changes the floor together with the node.

use super::error::GenerateKind;
use super::nodes::SpareNode;
use super::preset::Preset;
use crate::snowflake::id::Snowflake;
use crate::snowflake::layout::Layout;
use crate::stamp::{Origin, Reckoning, Refusal, Shape};

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
        let node = word >> layout.stamp_bits();
        Self { node: node as u32, last: word - (node << layout.stamp_bits()) }
    }

    pub(super) const fn pack(self, layout: Layout) -> u64 {
        (self.node as u64) << layout.stamp_bits() | self.last
    }

    /// Returns the state after one more ID, for a clock reading in unix milliseconds. The tick of the ID is always the
    /// tick of the reading.
    ///
    /// `ceiling` is the first stamp that no ID may have, from [`ceiling`].
    pub(super) fn advance(self, now_ms: u64, ceiling: u64, preset: &Preset) -> Result<Self, GenerateKind> {
        let layout = preset.layout();
        let shape = self.shape(layout);
        let Some(now) = layout.tick_at(now_ms) else { return Err(without_tick(now_ms, layout)) };
        let reached = shape.tick(self.last);
        if now < reached {
            return Err(preset.behind(layout.reached_at(reached) - now_ms));
        }
        // There is no seed, because nodes already keep generators apart.
        let start = Origin::Below(preset.start_bound()).start(now, self.last, self.node.into(), &shape);
        match Reckoning::new(now, now, 0, 0).advance(self.last + 1, 1, start, &shape) {
            // No ceiling is above `closed`, so this also keeps `closed` from being minted.
            Ok(last) if last < ceiling => Ok(Self { last, ..self }),
            Ok(_) if ceiling < closed(layout) => Err(GenerateKind::Ceiling),
            Err(Refusal::Lead { .. }) => Err(preset.full(layout.reached_at(now + 1) - now_ms)),
            Ok(_) | Err(Refusal::Exhausted) => Err(GenerateKind::LastTickFull),
        }
    }

    /// Returns the state with a floor, in unix milliseconds. `None` if all later stamps are at or after the floor anyway.
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

    /// Returns the ID of the last stamp, or `None` if there is no last stamp.
    pub(super) fn last_id(self, layout: Layout) -> Option<Snowflake> {
        (self.last > 0).then(|| self.id(layout))
    }

    /// Returns the ID of the last stamp.
    pub(super) const fn id(self, layout: Layout) -> Snowflake {
        Snowflake::from_u64(self.shape(layout).expand(self.last), layout)
    }

    /// Returns the node as a spare one: used until the last unix millisecond of the tick of the last stamp.
    pub(super) const fn spare(self, layout: Layout) -> SpareNode {
        let used_until_ms = layout.reached_at(self.shape(layout).tick(self.last) + 1) - 1;
        SpareNode { node: self.node, used_until_ms }
    }

    const fn shape(self, layout: Layout) -> Shape {
        Shape::new(layout.last_tick(), layout.node_bits(), self.node as u64, layout.sequence_bits())
    }
}

/// Returns the stamp that means "closed": the greatest one.
const fn closed(layout: Layout) -> u64 {
    (1 << layout.stamp_bits()) - 1
}

/// Returns the first stamp that no ID may have if its whole tick must be before this time, in unix milliseconds. There is
/// always one: the stamp that means "closed".
pub(super) const fn ceiling(ms: u64, layout: Layout) -> u64 {
    let (first, closed) = (layout.tick_until(ms) << layout.sequence_bits(), closed(layout));
    if first < closed { first } else { closed }
}

/// Returns whether the tick of a clock reading ends at a ceiling or before it, both in unix milliseconds.
///
/// This is the same question as for the stamps of [`ceiling`]. It is asked here of a ceiling that is not known as a stamp.
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
const fn without_tick(now_ms: u64, layout: Layout) -> GenerateKind {
    let (first, last) = (layout.first_ms(), layout.last_ms());
    if now_ms < first {
        GenerateKind::BeforeFirstTick { first, found: now_ms }
    } else {
        GenerateKind::PastLastTick { last, found: now_ms }
    }
}
