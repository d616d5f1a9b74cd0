//! Sources of spare nodes. A generator takes another node when the clock has stepped back too far.

/// A source of spare nodes. Several generators may share it.
///
/// The generator takes a node from the front of a queue, and puts the node that it had to the back. The present node
/// ([`Generator::node`](super::Generator::node)) is only in memory. A process that needs the same node after a restart
/// must store it.
///
/// **A node that a generator has must not be in the source**, because then two generators can mint under one node. If a
/// generator takes its own node, it does not use it and does not put it back.
///
/// **[`Generator::generate`](super::Generator::generate) calls the source, too.** If the source is behind a network,
/// put a local queue before it and fill the queue in advance.
pub trait NodeSource {
    /// Takes the first node whose last use was before `now_ms`, in unix milliseconds. Returns `None` if there is no
    /// such node.
    fn take(&self, now_ms: u64) -> Option<u32>;

    /// Puts a node to the back of the queue.
    fn put(&self, spare: SpareNode);
}

/// A node that no generator has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpareNode {
    /// The node.
    pub node: u32,
    /// The last unix millisecond for which IDs were minted under the node; 0 if there are no IDs.
    pub used_until_ms: u64,
}

impl<S: NodeSource + ?Sized> NodeSource for &S {
    fn take(&self, now_ms: u64) -> Option<u32> {
        (**self).take(now_ms)
    }

    fn put(&self, spare: SpareNode) {
        (**self).put(spare);
    }
}

/// A source without nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoSpareNodes;

impl NodeSource for NoSpareNodes {
    fn take(&self, _: u64) -> Option<u32> {
        None
    }

    fn put(&self, _: SpareNode) {}
}

#[cfg(feature = "std")]
pub use queue::NodeQueue;

#[cfg(feature = "std")]
mod queue {
    use std::collections::VecDeque;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::{NodeSource, SpareNode};

    /// A queue of spare nodes in memory, for the generators of one process.
    ///
    /// Each call locks it and looks through it at most once.
    ///
    /// ```
    /// use imid::snowflake::{NodeQueue, NodeSource, SpareNode};
    ///
    /// let queue: NodeQueue = (2..4).collect();
    /// queue.put(SpareNode { node: 1, used_until_ms: 1_000 });
    /// assert_eq!((queue.take(1_000), queue.take(1_000), queue.take(1_000)), (Some(2), Some(3), None));
    /// assert_eq!(queue.take(1_001), Some(1));
    /// ```
    #[derive(Debug, Default)]
    pub struct NodeQueue(Mutex<VecDeque<SpareNode>>);

    impl NodeQueue {
        /// Returns an empty queue.
        pub const fn new() -> Self {
            Self(Mutex::new(VecDeque::new()))
        }

        fn lock(&self) -> MutexGuard<'_, VecDeque<SpareNode>> {
            // Each operation is one push or one removal, so the queue is intact after a panic.
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl NodeSource for NodeQueue {
        fn take(&self, now_ms: u64) -> Option<u32> {
            let mut queue = self.lock();
            let at = queue.iter().position(|spare| spare.used_until_ms < now_ms)?;
            queue.remove(at).map(|spare| spare.node)
        }

        fn put(&self, spare: SpareNode) {
            self.lock().push_back(spare);
        }
    }

    /// Makes a queue of nodes that were not used yet, in this order.
    impl FromIterator<u32> for NodeQueue {
        fn from_iter<I: IntoIterator<Item = u32>>(nodes: I) -> Self {
            let spares = nodes.into_iter().map(|node| SpareNode { node, used_until_ms: 0 });
            Self(Mutex::new(spares.collect()))
        }
    }
}
