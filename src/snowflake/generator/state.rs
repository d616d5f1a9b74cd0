//! What a Snowflake generator remembers, in one word, and how a reading of the clock moves it on. No clock, no atomics.
//!
//! ```text
//! +------------+----------------------------+--------------+
//! |    node    |            tick            |   sequence   |
//! +------------+----------------------------+--------------+
//!               \______ last compact stamp: node left out __/
//! ```
//!
//! The node is a lane of the stamp transition, put in when a stamp leaves. It stands in the word because it can be swapped:
//! it then changes in one step with the stamp that goes back.

use super::super::id::Snowflake;
use super::error::GenerateKind;
use super::preset::Preset;
use crate::stamp::{Origin, Reckoning, Refusal, Shape};

/// A node and the last compact stamp that was minted under it; the layout's very first one stands for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) node: u32,
    pub(super) last: u64,
}

impl State {
    pub(super) const fn unpack(word: u64, preset: &Preset) -> Self {
        let node = word >> preset.layout.stamp_bits();
        Self { node: node as u32, last: word - (node << preset.layout.stamp_bits()) }
    }

    pub(super) const fn pack(self, preset: &Preset) -> u64 {
        (self.node as u64) << preset.layout.stamp_bits() | self.last
    }

    /// The state after one more ID, as of a reading in unix milliseconds.
    pub(super) fn advance(self, now_ms: u64, preset: &Preset) -> Result<Self, GenerateKind> {
        let (layout, shape) = (preset.layout, self.shape(preset));
        let now = layout.tick_at(now_ms)?;
        let reached = shape.tick(self.last);
        if now < reached {
            return Err(preset.behind(layout.reached_at(reached) - now_ms));
        }
        // No seed: the node tells apart what a seed would, and a generator in a constant needs none.
        let start = Origin::Below(preset.start_bound).start(now, self.last, self.node.into(), &shape);
        match Reckoning::new(now, now, 0, 0).advance(self.last + 1, 1, start, &shape) {
            Ok(last) => Ok(Self { last, ..self }),
            Err(Refusal::Lead { .. }) => Err(preset.full(layout.reached_at(now + 1) - now_ms)),
            // In the last tick of a layout there is nothing to wait for.
            Err(_) => Err(GenerateKind::Full { retry_after: None }),
        }
    }

    /// The ID of the last stamp.
    pub(super) fn id(self, preset: &Preset) -> Snowflake {
        Snowflake::from_u64(self.shape(preset).expand(self.last), preset.layout)
    }

    /// The last unix millisecond of the tick of the last stamp.
    pub(super) const fn used_until_ms(self, preset: &Preset) -> u64 {
        preset.layout.reached_at(self.shape(preset).tick(self.last) + 1) - 1
    }

    const fn shape(self, preset: &Preset) -> Shape {
        let layout = preset.layout;
        Shape::new(layout.last_tick(), layout.node_bits(), self.node as u64, layout.seq_bits())
    }
}
