//! Where a generator takes another node from when the clock has stepped back too far.

/// A source of spare nodes, which several generators may share.
///
/// **A node that a generator has is not in it**, or two will mint under one node; a generator that is handed its own is
/// refused it, and drops it.
///
/// A node is taken from the front of a queue, and the one that it replaces is put to the back. The generator remembers the
/// one that it has ([`Generator::node`](super::Generator::node)); whoever restarts a process under the same node keeps
/// it with the process.
///
/// **A plain call asks it too**, so a source behind a network belongs behind a local queue that is filled ahead.
pub trait WorkerIds {
    /// Takes the first node that was used for no time as late as `now_ms`, in unix milliseconds; `None` where there is
    /// none.
    fn take(&self, now_ms: u64) -> Option<u32>;

    /// Puts a node to the back, with the last unix millisecond that IDs were minted for under it.
    fn put(&self, node: u32, used_until_ms: u64);
}

impl<W: WorkerIds + ?Sized> WorkerIds for &W {
    fn take(&self, now_ms: u64) -> Option<u32> {
        (**self).take(now_ms)
    }

    fn put(&self, node: u32, used_until_ms: u64) {
        (**self).put(node, used_until_ms);
    }
}

/// No spare nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoWorkerIds;

impl WorkerIds for NoWorkerIds {
    fn take(&self, _: u64) -> Option<u32> {
        None
    }

    fn put(&self, _: u32, _: u64) {}
}

/// A queue of spare nodes in memory, for the generators of one process.
///
/// Its lock is held for the length of a look through the queue.
///
/// ```
/// use imid::snowflake::{WorkerIds, WorkerQueue};
///
/// let queue: WorkerQueue = (2..4).collect();
/// queue.put(1, 1_000);
/// assert_eq!((queue.take(1_000), queue.take(1_000), queue.take(1_000)), (Some(2), Some(3), None));
/// assert_eq!(queue.take(1_001), Some(1));
/// ```
#[cfg(feature = "std")]
#[derive(Debug, Default)]
pub struct WorkerQueue(std::sync::Mutex<std::collections::VecDeque<Spare>>);

#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
struct Spare {
    node: u32,
    /// The first millisecond that is safe from its last holder.
    free_from_ms: u64,
}

#[cfg(feature = "std")]
impl WorkerQueue {
    fn lock(&self) -> std::sync::MutexGuard<'_, std::collections::VecDeque<Spare>> {
        // Every operation is one push or one removal, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(feature = "std")]
impl WorkerIds for WorkerQueue {
    fn take(&self, now_ms: u64) -> Option<u32> {
        let mut queue = self.lock();
        let at = queue.iter().position(|spare| spare.free_from_ms <= now_ms)?;
        queue.remove(at).map(|spare| spare.node)
    }

    fn put(&self, node: u32, used_until_ms: u64) {
        self.lock().push_back(Spare { node, free_from_ms: used_until_ms.saturating_add(1) });
    }
}

/// The nodes in order of use, none of them used before.
#[cfg(feature = "std")]
impl FromIterator<u32> for WorkerQueue {
    fn from_iter<I: IntoIterator<Item = u32>>(nodes: I) -> Self {
        let spares = nodes.into_iter().map(|node| Spare { node, free_from_ms: 0 });
        Self(std::sync::Mutex::new(spares.collect()))
    }
}
