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

use super::error::GenerateKind;
use super::preset::Preset;
use crate::snowflake::id::Snowflake;
use crate::snowflake::layout::Layout;
use crate::stamp::{Origin, Reckoning, Refusal, Shape};

/// A node and the last stamp that was minted under it, without the node. The first stamp of the layout means that there
/// is no last stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) node: u32,
    pub(super) last: u64,
}

impl State {
    /// Returns the state of a generator that has not minted under this node.
    pub(super) const fn new(node: u32) -> Self {
        Self { node, last: 0 }
    }

    pub(super) const fn unpack(word: u64, layout: Layout) -> Self {
        let node = word >> layout.stamp_bits();
        Self { node: node as u32, last: word - (node << layout.stamp_bits()) }
    }

    pub(super) const fn pack(self, layout: Layout) -> u64 {
        (self.node as u64) << layout.stamp_bits() | self.last
    }

    /// Returns the state after one more ID, for a clock reading in unix milliseconds.
    pub(super) fn advance(self, now_ms: u64, preset: &Preset) -> Result<Self, GenerateKind> {
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
            Ok(last) => Ok(Self { last, ..self }),
            Err(Refusal::Lead { .. }) => Err(preset.full(layout.reached_at(now + 1) - now_ms)),
            Err(Refusal::Exhausted) => Err(GenerateKind::LastTickFull),
        }
    }

    /// Returns the ID of the last stamp.
    pub(super) const fn id(self, layout: Layout) -> Snowflake {
        Snowflake::from_u64(self.shape(layout).expand(self.last), layout)
    }

    /// Returns the last unix millisecond of the tick of the last stamp.
    pub(super) const fn used_until_ms(self, layout: Layout) -> u64 {
        layout.reached_at(self.shape(layout).tick(self.last) + 1) - 1
    }

    const fn shape(self, layout: Layout) -> Shape {
        Shape::new(layout.last_tick(), layout.node_bits(), self.node as u64, layout.sequence_bits())
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
