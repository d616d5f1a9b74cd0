//! A lease as its process has it, and what the thread of the lease sees of that.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use imid_lease_protocol::engine::{Phase, Stopped};

use crate::error::{OpenError, OpenKind};
use crate::status::State;
use crate::wait::{Changes, lock};

/// A lease of this process.
///
/// Dropping it tells its thread to give the lane back and to end, and does not wait, because a call of the store may be in progress. The
/// thread is not in a forked child, where each method does nothing and the lease has stopped.
#[derive(Debug)]
pub(crate) struct Handle {
    shared: Arc<Shared>,
    /// What a forked child finds. It must not wait for a lock that another thread may have held.
    in_child: State,
}

/// What the thread sees of the handle. When it is dropped, the thread has ended, even if it has panicked.
#[derive(Debug)]
pub(crate) struct Side(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    is_closing: AtomicBool,
    has_ended: AtomicBool,
    /// Where the changes of the lease are announced. Leases that are waited for together share it.
    changes: Changes,
    /// The thread sleeps by these. Not by its own token (`Thread::unpark`): a client of a store can use that one up.
    is_woken: AtomicBool,
    wakes: Changes,
}

impl Handle {
    /// Returns the handle of a lease in this state, and its other side.
    pub(crate) fn new(state: State, changes: &Changes) -> (Self, Side) {
        let in_child = state.stopped();
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            is_closing: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            changes: changes.clone(),
            is_woken: AtomicBool::new(false),
            wakes: Changes::new(),
        });
        (Self { shared: Arc::clone(&shared), in_child }, Side(shared))
    }

    /// Returns whether this process is a forked child of the one that started the thread.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        self.changes().is_forked()
    }

    /// Returns where a change of the lease is announced.
    pub(crate) fn changes(&self) -> &Changes {
        &self.shared.changes
    }

    /// Returns the state of the lease, without what changes.
    pub(crate) fn constant(&self) -> &State {
        &self.in_child
    }

    /// Returns the state of the lease.
    pub(crate) fn state(&self) -> State {
        self.read(State::clone)
    }

    /// Returns why the lease has stopped, if it has.
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        self.read(|state| state.view.stopped.clone())
    }

    /// Returns whether the lease has a lane, or what is left of one.
    pub(crate) fn has_lane(&self) -> bool {
        self.read(|state| matches!(state.view.phase, Phase::Holding | Phase::Lost))
    }

    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        if self.is_forked() { read(&self.in_child) } else { read(&lock(&self.shared.state)) }
    }

    /// Waits until the lease has a lane, or the register refuses this process, for at most this time.
    pub(crate) fn wait_until_open(&self, time: Duration) -> Result<(), OpenError> {
        let opened = self.changes().wait(time, || self.opened());
        opened.unwrap_or_else(|| Err(self.state().why_not_open(time)))
    }

    /// Does the same in a task, without a time limit.
    pub(crate) async fn wait_until_open_async(&self) -> Result<(), OpenError> {
        self.changes().wait_async(|| self.opened()).await
    }

    /// Returns whether the lease has a lane, or why it waits for none; `None` while it waits.
    pub(crate) fn opened(&self) -> Option<Result<(), OpenError>> {
        if self.is_forked() {
            return Some(Err(OpenKind::Forked.into()));
        }
        let state = self.state();
        match state.view.phase {
            Phase::Holding | Phase::Lost => Some(Ok(())),
            Phase::Seeking if !state.is_vain() => None,
            _ => Some(Err(state.why_not_open(Duration::ZERO))),
        }
    }

    /// Makes the thread check immediately whether its minter needs a higher ceiling.
    pub(crate) fn wake(&self) {
        if !self.is_forked() {
            // ORDERING: with `take_wake`: the thread that takes it sees what was written before.
            self.shared.is_woken.store(true, Ordering::Release);
            self.shared.wakes.announce();
        }
    }

    /// Tells the thread to give the lane back and to end, and does not wait. Its minter is sealed.
    pub(crate) fn end(&self) {
        if !self.is_forked() {
            self.shared.is_closing.store(true, Ordering::Release);
            self.wake();
            // Calls of a sealed minter fail from now on, and a call of the store can take long.
            self.changes().announce();
        }
    }

    /// Returns whether the lane was given back; `None` until the thread has ended. A task can be forked while it waits.
    pub(crate) fn ended(&self) -> Option<bool> {
        if self.is_forked() {
            return Some(false);
        }
        let has_ended = self.shared.has_ended.load(Ordering::Acquire);
        has_ended.then(|| self.read(|state| state.view.is_given_back))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.end();
    }
}

impl Side {
    /// Returns whether the thread must end.
    pub(crate) fn is_closing(&self) -> bool {
        self.0.is_closing.load(Ordering::Acquire)
    }

    /// Sleeps until the handle [wakes](Handle::wake) the thread, or for this time.
    pub(crate) fn sleep(&self, time: Duration) {
        self.0.wakes.wait(time, || self.take_wake().then_some(()));
    }

    /// Publishes the state. A call that is refused wakes the thread, and must not be woken in turn if nothing is new.
    pub(crate) fn publish(&self, state: &State) {
        let mut published = lock(&self.0.state);
        if *published != *state {
            published.clone_from(state);
            drop(published);
            self.0.changes.announce();
        }
    }

    /// Returns whether the handle has woken the thread since the last call or sleep.
    pub(crate) fn take_wake(&self) -> bool {
        // ORDERING: with `wake`.
        self.0.is_woken.swap(false, Ordering::Acquire)
    }

    #[cfg(test)]
    pub(crate) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        lock(&self.0.state)
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::Release);
        self.0.changes.announce();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::options::LaneOptions;
    use crate::register::Promise;

    const LONG: Duration = Duration::from_secs(60);

    fn sides() -> (Handle, Side) {
        let settings = LaneOptions::new().settings;
        let (space, name) = settings.check().unwrap();
        Handle::new(State::new(&settings.config(space, name), Promise::Strong), &Changes::new())
    }

    #[test]
    fn a_panic_is_an_end() {
        let (handle, side) = sides();
        std::thread::spawn(move || {
            let _side = side;
            panic!("on purpose");
        });
        assert_eq!(handle.changes().wait(LONG, || handle.ended()), Some(true));
    }

    #[test]
    fn a_wake_is_taken_once_and_ends_a_sleep() {
        let (handle, side) = sides();
        assert!(!side.take_wake());
        handle.wake();
        // A sleep that begins later ends too.
        let start = Instant::now();
        side.sleep(LONG);
        assert!(start.elapsed() < LONG && !side.take_wake());
    }

    #[test]
    fn a_sleep_lasts_unless_it_is_woken() {
        let ((_handle, side), time, start) = (sides(), Duration::from_millis(20), Instant::now());
        side.sleep(time);
        assert!(start.elapsed() >= time);
    }

    #[test]
    fn a_drop_tells_the_thread_to_end() {
        let (handle, side) = sides();
        assert!(!side.is_closing());
        drop(handle);
        assert!(side.is_closing() && side.take_wake());
    }

    #[test]
    fn a_state_is_announced_if_it_is_new() {
        let (handle, side) = sides();
        let mut state = handle.state();
        let count = handle.changes().count();
        side.publish(&state);
        assert_eq!(handle.changes().count(), count);
        state.next_ms += 1;
        side.publish(&state);
        assert_eq!((handle.changes().count(), handle.state()), (count + 1, state));
    }

    /// The thread of the lease holds the locks at the fork, and the child does not have that thread.
    #[cfg(unix)]
    #[test]
    fn a_forked_child_takes_no_lock() {
        let (handle, side) = sides();
        let (state, wakes) = (side.state(), side.0.wakes.hold());
        assert!(crate::wait::is_so_in_child(|| {
            handle.wake();
            handle.end();
            let is_forked = handle.wait_until_open(LONG).is_err_and(|error| error.is_forked());
            is_forked && handle.stopped().is_some() && !handle.has_lane() && handle.ended() == Some(false)
        }));
        drop((state, wakes));
        assert!(!side.is_closing() && !side.take_wake(), "the child ends nothing");
    }
}
