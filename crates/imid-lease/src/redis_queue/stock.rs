//! The worker IDs that were popped ahead, and what to do with them. This file has no thread and no connection.

use std::collections::VecDeque;

use imid::snowflake::SpareNode;

/// What the thread does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Job {
    /// Pop a worker ID from the front of the list.
    Pop,
    /// Push this worker ID to the back of the list. It is not in the stock any more.
    Push(SpareNode),
    /// Nothing until the store's time is this, or until something changes.
    Wait { until_ms: Option<u64> },
    /// Nothing any more.
    Done,
}

/// The worker IDs of this process.
#[derive(Debug)]
pub(super) struct Stock {
    /// How many are popped ahead.
    wanted: usize,
    /// Those that no generator has.
    spares: VecDeque<Spare>,
    /// Those that generators have, as they were taken.
    in_use: Vec<SpareNode>,
    is_closing: bool,
}

#[derive(Clone, Copy, Debug)]
struct Spare {
    node: SpareNode,
    /// A generator has used it, so it goes to the back of the list.
    is_used: bool,
}

impl Stock {
    pub(super) fn new(wanted: usize) -> Self {
        Self { wanted, spares: VecDeque::new(), in_use: Vec::new(), is_closing: false }
    }

    /// Returns how many worker IDs are spare, and how many generators have.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.spares.len(), self.in_use.len())
    }

    /// Takes the first worker ID whose last use was before this time.
    pub(super) fn take(&mut self, now_ms: u64) -> Option<SpareNode> {
        if self.is_closing {
            return None;
        }
        let at = self.spares.iter().position(|spare| spare.node.used_until_ms < now_ms)?;
        let spare = self.spares.remove(at)?.node;
        self.in_use.push(spare);
        Some(spare)
    }

    /// Puts a worker ID back that a generator had. Returns whether a generator had it.
    pub(super) fn put(&mut self, node: SpareNode) -> bool {
        let Some(at) = self.in_use.iter().position(|taken| taken.node == node.node) else { return false };
        let taken = self.in_use.swap_remove(at);
        let node = SpareNode { used_until_ms: node.used_until_ms.max(taken.used_until_ms), ..node };
        self.spares.push_back(Spare { node, is_used: node != taken });
        true
    }

    /// Adds a worker ID that was popped before the store's time was this. Returns whether it is new: a list can have
    /// one worker ID twice by mistake.
    ///
    /// Nobody knows who has used it before and until when. But that was before it was popped, if no clock was ahead of
    /// the store's.
    pub(super) fn add(&mut self, node: u32, store_ms: u64) -> bool {
        let mut known =
            self.spares.iter().map(|spare| spare.node.node).chain(self.in_use.iter().map(|taken| taken.node));
        let is_new = known.all(|known| known != node);
        if is_new {
            let node = SpareNode { node, used_until_ms: store_ms };
            self.spares.push_back(Spare { node, is_used: false });
        }
        is_new
    }

    /// Puts a worker ID back that was not pushed.
    pub(super) fn keep(&mut self, node: SpareNode) {
        self.spares.push_front(Spare { node, is_used: true });
    }

    /// From now on all worker IDs that are spare go back to the list.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
    }

    /// Returns what to do at the store's time.
    ///
    /// A worker ID is pushed only after the last time at which it was used, so that the process that pops it can begin
    /// at the time of the pop.
    pub(super) fn next_job(&mut self, store_ms: u64) -> Job {
        let goes_back = |spare: &Spare| spare.is_used || self.is_closing;
        let due = |spare: &Spare| goes_back(spare) && spare.node.used_until_ms < store_ms;
        if let Some(spare) = self.spares.iter().position(due).and_then(|at| self.spares.remove(at)) {
            return Job::Push(spare.node);
        }
        if self.is_closing && self.spares.is_empty() {
            return Job::Done;
        }
        if !self.is_closing && self.spares.iter().filter(|spare| !spare.is_used).count() < self.wanted {
            return Job::Pop;
        }
        let goes_back = self.spares.iter().filter(|spare| goes_back(spare));
        Job::Wait { until_ms: goes_back.map(|spare| spare.node.used_until_ms.saturating_add(1)).min() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_795_204_812_345;

    fn node(node: u32, used_until_ms: u64) -> SpareNode {
        SpareNode { node, used_until_ms }
    }

    #[test]
    fn worker_ids_go_round_as_in_the_article() {
        let mut stock = Stock::new(1);
        assert_eq!(stock.next_job(T), Job::Pop);
        assert!(stock.add(5, T));
        assert_eq!((stock.next_job(T + 1), stock.take(T)), (Job::Wait { until_ms: None }, None));
        assert_eq!(stock.take(T + 1), Some(node(5, T)));
        assert_eq!(stock.next_job(T + 1), Job::Pop);
        assert!(stock.add(6, T + 1));
        // The clock steps back by less than the time since the pop.
        assert_eq!(stock.take(T + 9_000), Some(node(6, T + 1)));
        assert!(stock.put(node(5, T + 10_000)));
        assert_eq!(stock.next_job(T + 9_000), Job::Pop);
        assert!(stock.add(7, T + 9_000));
        // Its IDs are ahead of the store's time.
        assert_eq!(stock.next_job(T + 10_000), Job::Wait { until_ms: Some(T + 10_001) });
        assert_eq!(stock.next_job(T + 10_001), Job::Push(node(5, T + 10_000)));
        assert_eq!(stock.next_job(T + 10_001), Job::Wait { until_ms: None });
        assert_eq!(stock.counts(), (1, 1));
    }

    #[test]
    fn a_worker_id_that_was_not_used_stays() {
        let mut stock = Stock::new(1);
        stock.add(5, T);
        let taken = stock.take(T + 1).unwrap();
        assert!(stock.put(taken));
        assert_eq!(stock.next_job(T + 9), Job::Wait { until_ms: None });
        assert!(!stock.put(taken), "it is put once");
        assert!(!stock.put(node(9, 0)), "nobody had it");
        assert_eq!(stock.counts(), (1, 0));
    }

    #[test]
    fn a_worker_id_that_is_in_the_list_twice_is_known() {
        let mut stock = Stock::new(2);
        assert!(stock.add(5, T) && !stock.add(5, T));
        stock.take(T + 1).unwrap();
        assert!(!stock.add(5, T));
    }

    #[test]
    fn all_spare_worker_ids_go_back_at_the_end() {
        let mut stock = Stock::new(2);
        stock.add(5, T);
        stock.add(6, T);
        stock.add(7, T);
        stock.take(T + 1).unwrap();
        stock.close();
        assert_eq!(stock.take(T + 1), None);
        assert_eq!(stock.next_job(T + 1), Job::Push(node(6, T)));
        stock.keep(node(6, T));
        assert_eq!(stock.next_job(T + 1), Job::Push(node(6, T)));
        assert_eq!(stock.next_job(T + 1), Job::Push(node(7, T)));
        assert_eq!(stock.next_job(T + 1), Job::Done);
        stock.put(node(5, T + 50));
        assert_eq!(stock.next_job(T + 1), Job::Wait { until_ms: Some(T + 51) });
        assert_eq!(stock.next_job(T + 51), Job::Push(node(5, T + 50)));
        assert_eq!(stock.next_job(T + 51), Job::Done);
    }
}
