//! The thread that moves worker IDs between the list and this process.

use std::format;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::ToString;
use std::time::{Duration, Instant};

use super::{List, ListError, Shared, Stage, Stock, Trouble};
use crate::SpareNode;

/// The longest wait for the store's time to advance.
const GAP: Duration = Duration::from_millis(100);

/// How long the thread waits after the first failure, and at most. The wait doubles with each failure.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// How long the end waits until worker IDs can go back that were used ahead of the store's time.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the thread works on.
pub(super) struct Work<L> {
    list: L,
    /// The greatest worker ID of the layout.
    node_max: u32,
    /// A worker ID that was popped. It is spare from the next reading of the store's time on: another process may have
    /// used it and pushed it since an earlier one.
    popped: Option<u32>,
}

/// What is to do now.
enum Job {
    Pop,
    Push(SpareNode),
    Wait(Duration),
    End,
}

impl<L: List> Work<L> {
    pub(super) const fn new(list: L, node_max: u32) -> Self {
        Self { list, node_max, popped: None }
    }

    pub(super) fn run(mut self, shared: &Shared) {
        let (mut failures, mut give_up_at) = (0_u32, None);
        // The thread is not in a forked child, so there is always a stock.
        while let Some(mut stock) = shared.stock() {
            stock.has_changed = false;
            if stock.stage > Stage::Open
                && *give_up_at.get_or_insert_with(|| Instant::now() + PATIENCE) <= Instant::now()
            {
                stock.lost += u64::from(self.popped.is_some());
                stock.end();
                break;
            }
            drop(stock);
            // It is foreign code. If this thread ended silently, callers would wait forever.
            let done = catch_unwind(AssertUnwindSafe(|| self.work(shared))).unwrap_or_else(|panic| {
                // Not dropped, because that can also panic.
                core::mem::forget(panic);
                shared.change(Stock::end);
                Err(Trouble::Panic)
            });
            let is_over = matches!(done, Ok(Job::End) | Err(Trouble::Panic));
            failures = if done.is_ok() { 0 } else { (failures + 1).min(8) };
            shared.change(|stock| stock.last_error = done.as_ref().err().cloned());
            match done {
                _ if is_over => break,
                Ok(Job::Wait(time)) => Self::sleep(shared, time),
                Ok(_) => {}
                Err(_) => Self::sleep(shared, (FIRST_WAIT * (1 << (failures - 1))).min(LONGEST_WAIT)),
            }
        }
        // The list's client goes first: to those who wait for the end, it has ended too.
        drop(self);
        shared.change(|stock| stock.reach(Stage::Gone));
    }

    /// Sleeps until there may be something to do, or for this time.
    fn sleep(shared: &Shared, time: Duration) {
        shared.wait(time, |stock| stock.has_changed);
    }

    /// Does one job.
    fn work(&mut self, shared: &Shared) -> Result<Job, Trouble> {
        let store_ms = self.list.now_ms()?;
        if let Some(node) = self.popped.take() {
            shared.change(|stock| stock.add(node, store_ms)).unwrap_or(Ok(()))?;
        }
        let job = shared.change(|stock| stock.next_job(store_ms)).unwrap_or(Job::End);
        match job {
            Job::Pop => self.pop(shared)?,
            Job::Push(node) => {
                let pushed = self.list.push(&node.node.to_string());
                if matches!(pushed, Err(ListError::NotDone(_))) {
                    shared.change(|stock| stock.spares.push_front((node, true)));
                }
                moved(shared, pushed)?;
            }
            Job::Wait(_) | Job::End => {}
        }
        Ok(job)
    }

    fn pop(&mut self, shared: &Shared) -> Result<(), Trouble> {
        let text = moved(shared, self.list.pop())?.ok_or(Trouble::EmptyList)?;
        self.popped = text.parse().ok().filter(|node| *node <= self.node_max);
        if self.popped.is_none() {
            // It is not ours to remove. Another program may use the list.
            moved(shared, self.list.push(&text))?;
            let max = self.node_max;
            let what = format!("expected a worker ID of 0 to {max} in the list, found {text:?}");
            return Err(Trouble::WrongList(what));
        }
        Ok(())
    }
}

/// Counts a worker ID whose call had no answer: no one knows where it is.
fn moved<T>(shared: &Shared, result: Result<T, ListError>) -> Result<T, Trouble> {
    if matches!(result, Err(ListError::Unknown(_))) {
        shared.change(|stock| stock.lost += 1);
    }
    Ok(result?)
}

impl From<ListError> for Trouble {
    fn from(error: ListError) -> Self {
        let error: &dyn core::error::Error = &error;
        let causes = core::iter::successors(error.source(), |error| (*error).source());
        Self::Call(causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}")))
    }
}

impl Stock {
    /// Adds a worker ID that was popped before the store's time was this.
    ///
    /// It is not known which process has used it before, and until when. But it was before the pop, if no clock was ahead
    /// of the store's.
    fn add(&mut self, node: u32, store_ms: u64) -> Result<(), Trouble> {
        let mut known = self.spares.iter().map(|(spare, _)| spare).chain(&self.in_use);
        if known.any(|known| known.node == node) {
            let what = format!("worker ID {node} was in the list while this process had it");
            return Err(Trouble::WrongList(what));
        }
        self.spares.push_back((SpareNode { node, used_until_ms: store_ms }, false));
        Ok(())
    }

    /// Counts what is not in the list when the thread ends: no one pushes it.
    fn end(&mut self) {
        self.lost += (self.spares.len() + self.in_use.len()) as u64;
        self.spares.clear();
        self.reach(Stage::Ended);
    }

    /// Returns what to do at the store's time. A worker ID to push is not spare anymore.
    ///
    /// It is pushed only after the last time at which it was used, so that the process that pops it can begin at the time
    /// of the pop.
    fn next_job(&mut self, store_ms: u64) -> Job {
        let is_closing = self.stage > Stage::Open;
        let goes_back = |(_, is_used): &(SpareNode, bool)| *is_used || is_closing;
        let is_due = |spare: &(SpareNode, bool)| goes_back(spare) && spare.0.used_until_ms < store_ms;
        if let Some((node, _)) = self.spares.iter().position(is_due).and_then(|at| self.spares.remove(at)) {
            return Job::Push(node);
        }
        if is_closing && self.spares.is_empty() {
            self.end();
            return Job::End;
        }
        // One is popped ahead.
        if !is_closing && self.spares.iter().all(goes_back) {
            return Job::Pop;
        }
        let used_until_ms =
            self.spares.iter().filter(|spare| goes_back(spare)).map(|(node, _)| node.used_until_ms).min();
        let wait = |until_ms: u64| Duration::from_millis((until_ms - store_ms).saturating_add(1)).min(GAP);
        Job::Wait(used_until_ms.map_or(Duration::MAX, wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_id_is_pushed_in_the_millisecond_after_its_last_use() {
        let mut stock = Stock::default();
        let spare = |node, used_until_ms, is_used| (SpareNode { node, used_until_ms }, is_used);
        // The second one was not used, so none is popped.
        stock.spares.extend([spare(5, 100, true), spare(6, 0, false)]);
        for (store_ms, wait_ms) in [(60, 41), (99, 2), (100, 1)] {
            let wait = Duration::from_millis(wait_ms);
            assert!(matches!(stock.next_job(store_ms), Job::Wait(found) if found == wait), "{store_ms}");
        }
        assert!(matches!(stock.next_job(101), Job::Push(SpareNode { node: 5, .. })));
    }
}
