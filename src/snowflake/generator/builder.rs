//! Settings of a Snowflake generator.

use super::{Generator, NoSpareNodes, Preset};
use crate::clock::SystemClock;
use crate::snowflake::LayoutError;

/// Builds a [`Generator`]. Node and spare nodes can be set in a constant expression, for a static generator.
///
/// ```
/// use imid::clock::SystemClock;
/// use imid::snowflake::{Generator, NodeQueue, Preset};
///
/// static SPARES: NodeQueue = NodeQueue::new();
/// static IDS: Generator<SystemClock, &NodeQueue> =
///     match Generator::builder(Preset::ROLLBACK_38_15_10).node(3).spares(&SPARES).build_static() {
///         Ok(ids) => ids,
///         Err(_) => panic!("a node of 0 to 32767"),
///     };
/// # let _ = &IDS;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder<C, S> {
    preset: Preset,
    node: Option<u32>,
    clock: C,
    spares: S,
}

impl Builder<SystemClock, NoSpareNodes> {
    pub(super) const fn new(preset: Preset) -> Self {
        Self { preset, node: None, clock: SystemClock, spares: NoSpareNodes }
    }

    /// Sets the source of spare nodes. By default there are no spare nodes. Set it before the clock.
    pub const fn spares<S>(self, spares: S) -> Builder<SystemClock, S> {
        Builder { preset: self.preset, node: self.node, clock: self.clock, spares }
    }
}

impl<S> Builder<SystemClock, S> {
    /// Sets the clock. Default: the system clock.
    pub fn clock<C>(self, clock: C) -> Builder<C, S> {
        Builder { preset: self.preset, node: self.node, clock, spares: self.spares }
    }
}

impl<C, S> Builder<C, S> {
    /// Sets the node. It has no default, because two generators with the same node make the same IDs.
    pub const fn node(mut self, node: u32) -> Self {
        self.node = Some(node);
        self
    }

    /// Returns the generator.
    ///
    /// # Errors
    /// The node is missing, or does not fit the layout, such as 1,024 in 10 bits.
    pub fn build(self) -> Result<Generator<C, S>, LayoutError> {
        let node = self.preset.layout().required_node(self.node)?;
        Ok(Generator::from_parts(self.preset, node, self.clock, self.spares))
    }
}

impl<S: Copy> Builder<SystemClock, S> {
    /// Does the same as [`build`](Self::build) in a constant expression, for a `static`. The clock is the system clock.
    /// The source of spare nodes must be `Copy`, such as a reference, because a `const fn` cannot move a value that may
    /// need to be dropped.
    ///
    /// # Errors
    /// As for [`build`](Self::build).
    pub const fn build_static(self) -> Result<Generator<SystemClock, S>, LayoutError> {
        match self.preset.layout().required_node(self.node) {
            Ok(node) => Ok(Generator::from_parts(self.preset, node, SystemClock, self.spares)),
            Err(error) => Err(error),
        }
    }
}
