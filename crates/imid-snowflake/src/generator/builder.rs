//! Settings of a Snowflake generator.

use super::error::{BuildError, BuildKind};
use super::state::{State, ceiling};
use super::{Generator, NoSpareNodes, Preset};
use imid::clock::SystemClock;

/// Builds a [`Generator`]. Node and spare nodes can be set in a constant expression, for a static generator.
///
/// ```
/// use imid::clock::SystemClock;
/// use imid_snowflake::{Generator, NodeQueue, Preset};
///
/// static SPARES: NodeQueue = NodeQueue::new();
/// static IDS: Generator<SystemClock, &NodeQueue> =
///     match Generator::builder(Preset::TWITTER).node(3).spares(&SPARES).build_static() {
///         Ok(ids) => ids,
///         Err(_) => panic!("a node of 0 to 1023"),
///     };
/// # let _ = &IDS;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder<C = SystemClock, S = NoSpareNodes> {
    preset: Preset,
    node: Option<u32>,
    floor_ms: u64,
    ceiling_ms: u64,
    clock: C,
    spares: S,
}

impl Builder<SystemClock, NoSpareNodes> {
    pub(super) const fn new(preset: Preset) -> Self {
        Self { preset, node: None, floor_ms: 0, ceiling_ms: u64::MAX, clock: SystemClock, spares: NoSpareNodes }
    }

    /// Sets the source of spare nodes. By default there are no spare nodes. Set it before the clock.
    pub const fn spares<S>(self, spares: S) -> Builder<SystemClock, S> {
        let Self { preset, node, floor_ms, ceiling_ms, clock, .. } = self;
        Builder { preset, node, floor_ms, ceiling_ms, clock, spares }
    }
}

impl<S> Builder<SystemClock, S> {
    /// Sets the clock. Default: the system clock.
    pub fn clock<C>(self, clock: C) -> Builder<C, S> {
        let Self { preset, node, floor_ms, ceiling_ms, spares, .. } = self;
        Builder { preset, node, floor_ms, ceiling_ms, clock, spares }
    }
}

impl<C, S> Builder<C, S> {
    /// Sets the node. It has no default, because two generators with the same node mint the same IDs, even one after the other
    /// ([`floor_ms`](Self::floor_ms)).
    pub const fn node(mut self, node: u32) -> Self {
        self.node = Some(node);
        self
    }

    /// Sets the first Unix millisecond that an ID may have under the node. [`Generator::raise_floor_ms`] raises it later.
    /// Default: the layout's first tick.
    ///
    /// **A second generator for the same node repeats IDs with certainty** if it mints in a tick in which the first one minted:
    /// within the same tick (which can be a second long), or after the clock was set back. Pass what [`Generator::close`] returned
    /// or, after a crash, the millisecond after the last stored ID. An ID that was minted but not stored can then be repeated; with
    /// a lease (the crate `imid-lease`) it cannot.
    ///
    /// The first ID is in a tick that begins at the floor or later, so a floor inside a tick excludes the whole tick.
    ///
    /// A clock before the floor counts as [set back](super::GenerateError::is_rollback): the preset decides whether to wait. A node
    /// that is swapped in later has its own floor ([`used_until_ms`](super::SpareNode::used_until_ms)).
    pub const fn floor_ms(mut self, timestamp_ms: u64) -> Self {
        self.floor_ms = timestamp_ms;
        self
    }

    /// Sets the first Unix millisecond that no ID may have, under any node. [`Generator::raise_ceiling_ms`] raises it
    /// later. Default: the end of the layout's last tick.
    ///
    /// The last ID is in a tick that ends at the ceiling or before, so a ceiling inside a tick excludes the whole tick.
    pub const fn ceiling_ms(mut self, timestamp_ms: u64) -> Self {
        self.ceiling_ms = timestamp_ms;
        self
    }

    /// Returns the generator. Its node belongs to this process from now on: in a forked child, calls return an error.
    ///
    /// # Errors
    /// The node is missing, or does not fit the layout, such as 1,024 in 10 bits.
    pub fn build(self) -> Result<Generator<C, S>, BuildError> {
        let start = self.start()?;
        let generator = Generator::from_parts(self.preset, start, self.clock, self.spares);
        generator.bind_to_process();
        Ok(generator)
    }

    /// Returns the state and the ceiling to start with.
    const fn start(&self) -> Result<(State, u64), BuildError> {
        let layout = self.preset.layout();
        let Some(node) = self.node else { return Err(BuildError::new(BuildKind::NoNode { max: layout.node_max() })) };
        match layout.check_node(node) {
            Ok(()) => Ok((State::new(node, self.floor_ms, layout), ceiling(self.ceiling_ms, layout))),
            Err(error) => Err(BuildError::new(BuildKind::Node(error))),
        }
    }
}

impl<S: Copy> Builder<SystemClock, S> {
    /// Does the same as [`build`](Self::build) in a constant expression, for a `static`. The clock is the system clock.
    /// The node belongs to the process that uses the generator first.
    /// The source of spare nodes must be `Copy`, such as a reference, because a `const fn` cannot move a value that may
    /// need to be dropped.
    ///
    /// # Errors
    /// As for [`build`](Self::build).
    pub const fn build_static(self) -> Result<Generator<SystemClock, S>, BuildError> {
        match self.start() {
            Ok(start) => Ok(Generator::from_parts(self.preset, start, SystemClock, self.spares)),
            Err(error) => Err(error),
        }
    }
}
