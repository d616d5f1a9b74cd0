//! A thread that works for an object, and ends with it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::sync::{lock, wait};
use imid::fork::Process;

/// A thread, as its owner has it.
///
/// Dropping it tells the thread to end and does not wait, because a call of a store may be under way. The thread is not
/// in a forked child, where each method does nothing.
#[derive(Debug)]
pub(crate) struct Background {
    shared: Arc<Shared>,
    thread: Thread,
    process: Process,
}

/// What the thread sees of its owner.
#[derive(Debug)]
pub(crate) struct Owner(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    is_closing: AtomicBool,
    has_ended: Mutex<bool>,
    ended: Condvar,
}

impl Background {
    /// Starts a thread. What `work` has captured is dropped before the thread counts as ended.
    pub(crate) fn start(name: &str, work: impl FnOnce(&Owner) + Send + 'static) -> io::Result<Self> {
        /// The thread has ended, even if it has panicked.
        struct OnEnd(Owner);

        impl Drop for OnEnd {
            fn drop(&mut self) {
                *lock(&self.0.0.has_ended) = true;
                self.0.0.ended.notify_all();
            }
        }

        let shared = Arc::new(Shared::default());
        let on_end = OnEnd(Owner(Arc::clone(&shared)));
        let started = thread::Builder::new().name(name.into()).spawn(move || work(&on_end.0))?;
        // Nobody joins it: to drop the handle in a forked child would be wrong.
        Ok(Self { shared, thread: started.thread().clone(), process: Process::current() })
    }

    /// Returns whether this process is a forked child of the one that started the thread.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        !self.process.is_current()
    }

    /// Ends the present or the next [`Owner::sleep`] of the thread.
    pub(crate) fn wake(&self) {
        if !self.is_forked() {
            self.thread.unpark();
        }
    }

    /// Tells the thread to end, and does not wait.
    pub(crate) fn end(&self) {
        if !self.is_forked() {
            self.shared.is_closing.store(true, Ordering::Release);
            self.wake();
        }
    }

    /// Waits until the thread has ended. Returns whether it has.
    pub(crate) fn has_ended_within(&self, time: Duration) -> bool {
        !self.is_forked() && *wait(&self.shared.ended, lock(&self.shared.has_ended), time, |has_ended| *has_ended)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.end();
    }
}

impl Owner {
    /// Returns whether the thread must end.
    pub(crate) fn is_closing(&self) -> bool {
        self.0.is_closing.load(Ordering::Acquire)
    }

    /// Sleeps until the owner [wakes](Background::wake) the thread, or for this time.
    #[expect(clippy::unused_self, reason = "only the thread that has it sleeps")]
    pub(crate) fn sleep(&self, time: Duration) {
        thread::park_timeout(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn it_sleeps_until_it_is_woken_and_ends_when_it_is_told() {
        let (sender, turns) = std::sync::mpsc::channel();
        let background = Background::start("imid-test", move |owner| {
            while !owner.is_closing() {
                owner.sleep(LONG);
                sender.send(()).unwrap();
            }
        })
        .unwrap();
        assert!(!background.has_ended_within(Duration::ZERO));
        background.wake();
        turns.recv_timeout(LONG).unwrap();
        background.end();
        assert!(background.has_ended_within(LONG));
        // One more turn, if it was asleep when it was told.
        assert!(turns.try_iter().count() <= 1);
        assert!(turns.recv().is_err(), "what the thread had is dropped");
    }

    #[test]
    fn a_drop_does_not_wait() {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let background = Background::start("imid-test", move |_| _ = receiver.recv()).unwrap();
        drop(background);
        sender.send(()).expect("the thread still waits");
    }

    #[test]
    fn a_panic_is_an_end() {
        let background = Background::start("imid-test", |_| panic!("on purpose")).unwrap();
        assert!(background.has_ended_within(LONG));
    }
}
