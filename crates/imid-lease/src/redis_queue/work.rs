//! The thread that moves worker IDs between the list and this process.

use std::time::{Duration, Instant};

use imid_snowflake::SpareNode;

use super::list::{Failure, List};
use super::{Stock, Trouble};
use crate::background::{Backoff, LONGEST_WAIT_MS, Owner};

/// The longest wait for the store's time to advance.
const GAP: Duration = Duration::from_millis(100);

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

    pub(super) fn run(mut self, owner: &Owner<Stock>) {
        let (mut backoff, mut give_up_at) = (Backoff::default(), None);
        loop {
            if owner.is_closing() && *give_up_at.get_or_insert_with(|| Instant::now() + PATIENCE) <= Instant::now() {
                let mut stock = owner.state();
                stock.lost += u64::from(self.popped.is_some());
                return stock.end();
            }
            let done = self.work(owner);
            backoff.note(done.is_ok());
            owner.state().last_error = done.as_ref().err().cloned();
            match done {
                Ok(Job::Pop | Job::Push(_)) => {}
                Ok(Job::Wait(time)) => owner.sleep(time),
                Ok(Job::End) => return,
                Err(_) => owner.sleep(Duration::from_millis(backoff.wait_ms(LONGEST_WAIT_MS))),
            }
        }
    }

    /// Does one job.
    fn work(&mut self, owner: &Owner<Stock>) -> Result<Job, Trouble> {
        let store_ms = self.list.now_ms()?;
        if let Some(node) = self.popped.take() {
            owner.state().add(node, store_ms)?;
            owner.announce();
        }
        let job = owner.state().next_job(store_ms);
        match job {
            Job::Pop => self.pop(owner)?,
            Job::Push(node) => {
                let pushed = self.list.push(&node.node.to_string());
                if matches!(pushed, Err(Failure::NotDone(_))) {
                    owner.state().spares.push_front((node, true));
                }
                moved(owner, pushed)?;
            }
            Job::Wait(_) | Job::End => {}
        }
        Ok(job)
    }

    fn pop(&mut self, owner: &Owner<Stock>) -> Result<(), Trouble> {
        let text = moved(owner, self.list.pop())?.ok_or(Trouble::EmptyList)?;
        self.popped = text.parse().ok().filter(|node| *node <= self.node_max);
        if self.popped.is_none() {
            // It is not ours to remove. Another program may use the list.
            moved(owner, self.list.push(&text))?;
            let max = self.node_max;
            let what = format!("expected a worker ID of 0 to {max} in the list, found {text:?}");
            return Err(Trouble::WrongList(what));
        }
        Ok(())
    }
}

/// Counts a worker ID whose call had no answer: no one knows where it is.
fn moved<T>(owner: &Owner<Stock>, result: Result<T, Failure>) -> Result<T, Trouble> {
    owner.state().lost += u64::from(matches!(result, Err(Failure::Unknown(_))));
    Ok(result?)
}

impl From<Failure> for Trouble {
    fn from((Failure::NotDone(error) | Failure::Unknown(error)): Failure) -> Self {
        Self::Call(format!("{error:#}"))
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
        self.has_ended = true;
    }

    /// Returns what to do at the store's time. A worker ID to push is not spare anymore.
    ///
    /// It is pushed only after the last time at which it was used, so that the process that pops it can begin at the time
    /// of the pop.
    fn next_job(&mut self, store_ms: u64) -> Job {
        let is_closing = self.is_closing;
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
