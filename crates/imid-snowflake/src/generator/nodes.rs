//! Sources of spare nodes. A generator takes another node when the clock has stepped back too far, or when the ceiling
//! of its node is reached.

/// A source of spare nodes. Several generators may share it.
///
/// The generator takes a node from the front of a queue and returns its old node to the back. A generator that is
/// [closed](super::Generator::close) returns its node to the back as well. The present node
/// ([`Generator::node`](super::Generator::node)) is only in memory: a process that needs the same node after a restart must store
/// it.
///
/// **A generator's node must not be in the source**, or two generators can mint under it. If a generator takes its own node, it
/// neither uses nor returns it.
///
/// **[`Generator::generate`](super::Generator::generate) calls the source.** If the source is behind a network, put a local queue
/// in front of it and fill it in advance.
///
/// **A source must know its process.** A forked child has a copy of it, but its nodes belong to the parent, so [`take`](Self::take)
/// must return `None` there: [`fork::Process`](imid::fork::Process) tells a child from its parent. The parent's generator returns
/// no node in a child.
///
/// # Nodes that are granted for a time
/// A source can grant each node up to a ceiling, and raise the ceiling while a generator has the node, through
/// [`ceiling_ms`](Self::ceiling_ms). The generator asks before it mints, and **never mints an ID at or past the ceiling**. If the
/// ceiling is reached, it takes another node.
pub trait NodeSource {
    /// Takes the first node whose last use was before `now_ms` and whose ceiling is after it, in Unix milliseconds.
    /// Returns `None` if there is no such node.
    ///
    /// The generator mints under the node only in ticks that begin after its
    /// [`used_until_ms`](SpareNode::used_until_ms).
    fn take(&self, now_ms: u64) -> Option<SpareNode>;

    /// Puts a node to the back of the queue. The generator mints no more IDs under it.
    fn put(&self, spare: SpareNode);

    /// Returns the first Unix millisecond that no ID may have under a node that a generator has. By default there is no
    /// ceiling.
    ///
    /// An answer is a promise until the node is [put](Self::put) back: an ID below it can be minted at any time until
    /// then, even after a later answer that was smaller. A generator asks before the first ID of each tick, so the answer
    /// should take a few nanoseconds and must not block.
    ///
    /// A late thread may ask about a node that was already returned. Its ID is not minted, so any answer will do, but an answer
    /// from an atomic must be loaded with `Acquire` and stored with `Release`.
    fn ceiling_ms(&self, node: u32) -> u64 {
        let _ = node;
        u64::MAX
    }
}

/// A node that no generator has. Every implementation of [`NodeSource`] constructs it, so it will get no more fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpareNode {
    /// The node.
    pub node: u32,
    /// The last Unix millisecond for which IDs were minted under the node; 0 if there are no IDs.
    pub used_until_ms: u64,
}

/// Implements [`NodeSource`] for a pointer to one.
macro_rules! by_pointer {
    ($($pointer:ty),*) => {
        $(
            impl<S: NodeSource + ?Sized> NodeSource for $pointer {
                fn take(&self, now_ms: u64) -> Option<SpareNode> {
                    (**self).take(now_ms)
                }

                fn put(&self, spare: SpareNode) {
                    (**self).put(spare);
                }

                #[inline]
                fn ceiling_ms(&self, node: u32) -> u64 {
                    (**self).ceiling_ms(node)
                }
            }
        )*
    };
}

by_pointer!(&S);
#[cfg(feature = "std")]
by_pointer!(Box<S>, std::sync::Arc<S>);

/// A source without nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoSpareNodes;

impl NodeSource for NoSpareNodes {
    fn take(&self, _: u64) -> Option<SpareNode> {
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

    use imid::fork::Owner;

    use super::{NodeSource, SpareNode};

    /// A queue of spare nodes in memory, for the generators of one process.
    ///
    /// Each call locks it and scans it at most once. The nodes belong to the process that put the first one in. In a forked child
    /// the queue is permanently empty: create one for the child's own nodes there.
    ///
    /// ```
    /// use imid_snowflake::{NodeQueue, NodeSource, SpareNode};
    ///
    /// let queue: NodeQueue = (2..4).collect();
    /// queue.put(SpareNode { node: 1, used_until_ms: 1_000 });
    /// let take = |now_ms| queue.take(now_ms).map(|spare| spare.node);
    /// assert_eq!((take(1_000), take(1_000), take(1_000)), (Some(2), Some(3), None));
    /// assert_eq!(take(1_001), Some(1));
    /// ```
    #[derive(Debug)]
    pub struct NodeQueue {
        nodes: Mutex<VecDeque<SpareNode>>,
        owner: Owner,
    }

    impl NodeQueue {
        /// Returns an empty queue.
        pub const fn new() -> Self {
            Self { nodes: Mutex::new(VecDeque::new()), owner: Owner::none() }
        }

        /// Returns the nodes, or `None` in a forked child, where another thread may have held the lock at the fork.
        fn lock(&self) -> Option<MutexGuard<'_, VecDeque<SpareNode>>> {
            if !self.owner.is_current() {
                return None;
            }
            // Each operation is one push or one removal, so the queue is intact after a panic.
            Some(self.nodes.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }

    impl Default for NodeQueue {
        fn default() -> Self {
            Self::new()
        }
    }

    impl NodeSource for NodeQueue {
        fn take(&self, now_ms: u64) -> Option<SpareNode> {
            let mut queue = self.lock()?;
            let at = queue.iter().position(|spare| spare.used_until_ms < now_ms)?;
            queue.remove(at)
        }

        fn put(&self, spare: SpareNode) {
            if self.owner.claim()
                && let Some(mut queue) = self.lock()
            {
                queue.push_back(spare);
            }
        }
    }

    /// Makes a queue of nodes that were not used yet, in this order.
    impl FromIterator<u32> for NodeQueue {
        fn from_iter<I: IntoIterator<Item = u32>>(nodes: I) -> Self {
            let spares = nodes.into_iter().map(|node| SpareNode { node, used_until_ms: 0 });
            Self { nodes: Mutex::new(spares.collect()), owner: Owner::current() }
        }
    }
}
