//! The thread that moves worker IDs between the list and the stock.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use imid::snowflake::SpareNode;

use super::list::{Failure, List};
use super::stock::Job;
use super::{State, Trouble};
use crate::background::Owner;
use crate::backoff::Backoff;
use crate::sync::lock;

/// The longest wait for the store's time to go on.
const GAP: Duration = Duration::from_millis(100);

/// How long the end waits until worker IDs can go back that were used ahead of the store's time.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the thread works on.
pub(super) struct Work<L> {
    pub(super) list: L,
    pub(super) shared: Arc<Mutex<State>>,
    /// The greatest worker ID of the layout.
    pub(super) node_max: u32,
    /// A worker ID that was popped. It is in the stock from the next reading of the store's time on.
    pub(super) popped: Option<u32>,
    pub(super) backoff: Backoff,
}

impl<L: List> Work<L> {
    pub(super) fn run(&mut self, owner: &Owner) {
        let mut give_up_at = None;
        loop {
            let is_closing = owner.is_closing();
            if is_closing && *give_up_at.get_or_insert_with(|| Instant::now() + PATIENCE) <= Instant::now() {
                let mut state = lock(&self.shared);
                state.lost += state.stock.counts().0 as u64 + u64::from(self.popped.is_some());
                return;
            }
            let done = self.work(owner);
            self.backoff.note(done.is_ok());
            let wait = match done {
                Ok(Job::Done) => return,
                Ok(Job::Pop | Job::Push(_)) => continue,
                // While it ends, it looks again soon, to give up in time.
                Ok(Job::Wait { until_ms: None }) => {
                    if is_closing {
                        GAP
                    } else {
                        Duration::from_secs(3_600)
                    }
                }
                Ok(Job::Wait { until_ms: Some(ms) }) => Duration::from_millis(ms).min(GAP),
                Err(()) => Duration::from_millis(self.backoff.wait_ms()),
            };
            owner.sleep(wait);
        }
    }

    /// Does one job. Returns it, with how long to wait in place of until when. `Err` if a call has failed or the list
    /// is empty.
    fn work(&mut self, owner: &Owner) -> Result<Job, ()> {
        let now_ms = self.list.now_ms();
        let store_ms = now_ms.map_err(|failure| self.note(failure))?;
        self.add_popped(store_ms, owner)?;
        let job = lock(&self.shared).stock.next_job(store_ms);
        match job {
            Job::Pop => self.pop()?,
            Job::Push(node) => self.push(node)?,
            Job::Wait { .. } | Job::Done => {}
        }
        lock(&self.shared).last_error = None;
        Ok(match job {
            Job::Wait { until_ms: Some(ms) } => Job::Wait { until_ms: Some(ms.saturating_sub(store_ms)) },
            job => job,
        })
    }

    /// Puts the worker ID that was popped into the stock. The store's time must be read after the pop: another process
    /// may have used the worker ID and pushed it since an earlier reading.
    fn add_popped(&mut self, store_ms: u64, owner: &Owner) -> Result<(), ()> {
        let Some(node) = self.popped.take() else { return Ok(()) };
        let is_new = lock(&self.shared).stock.add(node, store_ms);
        if !is_new {
            self.fail(Trouble::WrongList(format!("worker ID {node} was in the list while this process had it")));
            return Err(());
        }
        owner.announce();
        Ok(())
    }

    fn pop(&mut self) -> Result<(), ()> {
        let Some(text) = self.list.pop().map_err(|failure| self.lose(failure))? else {
            self.fail(Trouble::EmptyList);
            return Err(());
        };
        let Some(node) = text.parse().ok().filter(|node| *node <= self.node_max) else {
            // It is not ours to remove. Another program may use the list.
            self.list.push(&text).map_err(|failure| self.lose(failure))?;
            let max = self.node_max;
            self.fail(Trouble::WrongList(format!("expected a worker ID of 0 to {max} in the list, found {text:?}")));
            return Err(());
        };
        self.popped = Some(node);
        Ok(())
    }

    fn push(&mut self, node: SpareNode) -> Result<(), ()> {
        self.list.push(&node.node.to_string()).map_err(|failure| {
            if matches!(failure, Failure::NotDone(_)) {
                lock(&self.shared).stock.keep(node);
            }
            self.lose(failure);
        })
    }

    /// Remembers the error of a call that moves a worker ID. Without an answer nobody knows where the worker ID is.
    fn lose(&self, failure: Failure) {
        if matches!(failure, Failure::Unknown(_)) {
            lock(&self.shared).lost += 1;
        }
        self.note(failure);
    }

    /// Remembers the error of a call.
    fn note(&self, failure: Failure) {
        let (Failure::NotDone(error) | Failure::Unknown(error)) = failure;
        self.fail(Trouble::Call(error.to_string()));
    }

    fn fail(&self, trouble: Trouble) {
        lock(&self.shared).last_error = Some(trouble);
    }
}
