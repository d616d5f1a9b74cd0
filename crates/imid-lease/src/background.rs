//! A thread that works for an object, shares a state with it, and ends with it; and how long such a thread waits after a failed
//! call of a store.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::wait::{Changes, lock};
pub(crate) use imid_lease_protocol::backoff::{Backoff, FIRST_WAIT_MS};

/// What the leases share that are waited for and closed together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Where all announce their changes.
    pub(crate) changes: Changes,
    /// A call has failed after the end of one of them. None makes another call, because each may take as long.
    gives_up: Arc<AtomicBool>,
}

impl Group {
    pub(crate) fn new() -> Self {
        Self { changes: Changes::new(), gives_up: Arc::default() }
    }
}

/// A thread, as its owner has it.
///
/// Dropping it tells the thread to end and does not wait, because a call to a store may be in progress. The thread is not
/// in a forked child, where each method does nothing, and there is no state: another thread may have held its lock.
#[derive(Debug)]
pub(crate) struct Background<S> {
    shared: Arc<Shared<S>>,
}

/// What the thread sees of its owner. When it is dropped, the thread has ended for the owner, even if it has panicked.
#[derive(Debug)]
pub(crate) struct Owner<S>(Arc<Shared<S>>);

#[derive(Debug)]
struct Shared<S> {
    state: Mutex<S>,
    is_closing: AtomicBool,
    has_ended: AtomicBool,
    group: Group,
    sleeper: Sleeper,
}

/// How a thread sleeps that can be woken. Not the thread's own token (`Thread::unpark`): a client of a store can use that one up.
#[derive(Debug, Default)]
pub(crate) struct Sleeper {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Sleeper {
    /// Ends the present or the next [`sleep`](Self::sleep).
    pub(crate) fn wake(&self) {
        *lock(&self.is_woken) = true;
        self.woken.notify_one();
    }

    /// Sleeps until it is woken, or for this time.
    pub(crate) fn sleep(&self, time: Duration) {
        let is_woken = self.woken.wait_timeout_while(lock(&self.is_woken), time, |is_woken| !*is_woken);
        *is_woken.unwrap_or_else(PoisonError::into_inner).0 = false;
    }

    /// Returns whether it was woken since the last call or sleep.
    #[cfg(test)]
    pub(crate) fn take_wake(&self) -> bool {
        std::mem::take(&mut *lock(&self.is_woken))
    }
}

impl<S: Send + 'static> Background<S> {
    /// Starts a thread. What `work` has captured is dropped before the thread counts as ended.
    #[cfg(test)]
    pub(crate) fn start(name: &str, state: S, work: impl FnOnce(&Owner<S>) + Send + 'static) -> std::io::Result<Self> {
        let (background, owner) = Self::new(state, Group::new());
        // Nobody joins it: to drop the handle in a forked child would be wrong.
        std::thread::Builder::new().name(name.into()).spawn(move || work(&owner))?;
        Ok(background)
    }
}

impl<S> Background<S> {
    /// Returns both ends of the work of a thread.
    pub(crate) fn new(state: S, group: Group) -> (Self, Owner<S>) {
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            is_closing: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            group,
            sleeper: Sleeper::default(),
        });
        (Self { shared: Arc::clone(&shared) }, Owner(shared))
    }

    /// Returns the state; `None` in a forked child.
    #[inline]
    pub(crate) fn state(&self) -> Option<MutexGuard<'_, S>> {
        (!self.is_forked()).then(|| lock(&self.shared.state))
    }

    /// Returns whether this process is a forked child of the one that started the thread.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        self.shared.group.changes.is_forked()
    }

    /// Makes the thread look at this owner, immediately if it sleeps.
    pub(crate) fn wake(&self) {
        if !self.is_forked() {
            self.shared.sleeper.wake();
        }
    }

    /// Tells the thread to end, and does not wait.
    pub(crate) fn end(&self) {
        if !self.is_forked() {
            self.shared.is_closing.store(true, Ordering::Release);
            self.wake();
            // The owner has closed what callers wait for, and a call of the store can take long.
            self.changes().announce();
        }
    }

    /// Returns where the thread announces changes.
    pub(crate) fn changes(&self) -> &Changes {
        &self.shared.group.changes
    }

    /// Returns that the thread has ended, or that it is not in this process. A task can be forked while it waits.
    pub(crate) fn has_ended(&self) -> Option<bool> {
        if self.is_forked() { Some(false) } else { self.shared.has_ended.load(Ordering::Acquire).then_some(true) }
    }
}

impl<S> Drop for Background<S> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<S> Owner<S> {
    pub(crate) fn state(&self) -> MutexGuard<'_, S> {
        lock(&self.0.state)
    }

    /// Returns whether the thread must end.
    pub(crate) fn is_closing(&self) -> bool {
        self.0.is_closing.load(Ordering::Acquire)
    }

    /// Notes that a call has failed after the end.
    pub(crate) fn give_up(&self) {
        self.0.group.gives_up.store(true, Ordering::Release);
    }

    /// Returns whether no other call must be made.
    pub(crate) fn gives_up(&self) -> bool {
        self.is_closing() && self.0.group.gives_up.load(Ordering::Acquire)
    }

    /// Sleeps until the owner [wakes](Background::wake) the thread, or for this time.
    pub(crate) fn sleep(&self, time: Duration) {
        self.0.sleeper.sleep(time);
    }

    /// Returns whether the owner has woken the thread since the last call or sleep.
    #[cfg(test)]
    pub(crate) fn take_wake(&self) -> bool {
        self.0.sleeper.take_wake()
    }

    /// Makes all look again that wait for a change.
    pub(crate) fn announce(&self) {
        self.0.group.changes.announce();
    }
}

impl<S> Drop for Owner<S> {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::Release);
        self.announce();
    }
}

/// The longest wait of a thread that fetches, in milliseconds.
pub(crate) const LONGEST_WAIT_MS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_panic_is_an_end() {
        let background = Background::start("imid-test", (), |_| panic!("on purpose")).unwrap();
        let ended = background.changes().wait(LONG, || background.has_ended());
        assert_eq!(ended, Some(true));
    }

    #[test]
    fn a_wake_is_taken_once_and_ends_a_sleep() {
        let (background, owner) = Background::new((), Group::new());
        assert!(!owner.take_wake());
        background.wake();
        // A sleep that begins later ends too.
        let start = std::time::Instant::now();
        owner.sleep(LONG);
        assert!(start.elapsed() < LONG);
        assert!(!owner.take_wake());
    }

    #[test]
    fn a_sleep_lasts_unless_it_is_woken() {
        let (sleeper, time) = (Sleeper::default(), Duration::from_millis(20));
        let start = std::time::Instant::now();
        sleeper.sleep(time);
        assert!(start.elapsed() >= time);
    }

    #[test]
    fn a_drop_tells_the_thread_to_end() {
        let (background, owner) = Background::new((), Group::new());
        assert!(!owner.is_closing());
        drop(background);
        assert!(owner.is_closing() && owner.take_wake());
    }
}
