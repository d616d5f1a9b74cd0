//! Waiting for a change: threads sleep on a `Condvar`, and tasks of any async runtime are woken.
//!
//! There is no timer. A thread knows how long it wants to wait, and in async code the caller's runtime has the time limit.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use imid::fork::Process;

/// In place of a time that cannot be computed.
const LONG: Duration = Duration::from_secs(365 * 24 * 3_600);

/// Locks a mutex. No code panics with half of a change done, so the value of a poisoned mutex is good.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls foreign code. If it panics, the text of the panic is the error.
pub(crate) fn catch<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref().map(String::as_str));
        let text = text.unwrap_or("no text").to_owned();
        // Not dropped, because that can also panic.
        std::mem::forget(panic);
        text
    })
}

/// Where the changes of an object are announced. Clones are one place.
#[derive(Clone, Debug)]
pub(crate) struct Changes(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    process: Process,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Counts the changes.
    version: u64,
    /// Of each task that waits, by the number of its future.
    wakers: BTreeMap<u64, Waker>,
    futures: u64,
}

impl Changes {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared { waiting: Mutex::default(), changed: Condvar::new(), process: Process::current() }))
    }

    /// Returns whether this process is a forked child of the one that made this. A child takes no lock: another thread may have held
    /// it at the fork.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        !self.0.process.is_current()
    }

    /// Makes all that wait look again.
    pub(crate) fn announce(&self) {
        let mut waiting = self.waiting();
        waiting.version += 1;
        let wakers = std::mem::take(&mut waiting.wakers);
        drop(waiting);
        self.0.changed.notify_all();
        // A waker is foreign code that may poll its task immediately: no lock is held. If one panics, the others are woken all the same.
        for waker in wakers.into_values() {
            _ = catch(|| waker.wake());
        }
    }

    /// Returns how many changes were announced.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.waiting().version
    }

    /// Keeps the lock while this is held.
    #[cfg(test)]
    pub(crate) fn hold(&self) -> impl Sized {
        self.waiting()
    }

    /// Looks at each change until something is found, for at most this time. In a forked child, the first look must find something.
    pub(crate) fn wait<T>(&self, timeout: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        // Not yet locked: most calls find what they want.
        if let Some(found) = look() {
            return Some(found);
        }
        let now = Instant::now();
        let end = now.checked_add(timeout).unwrap_or_else(|| now + LONG);
        loop {
            let version = self.waiting().version;
            if let Some(found) = look() {
                return Some(found);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.0.changed.wait_timeout_while(self.waiting(), left, |it| it.version == version);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Does the same in a task, without a time limit. Dropping the future is safe at any time, as far as `look` is.
    pub(crate) async fn wait_async<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        let mut place = Place { changes: self, number: None };
        poll_fn(move |context| {
            if let Some(found) = look() {
                return Poll::Ready(found);
            }
            place.take(context.waker().clone());
            // Once more: a change before the waker had its place has woken nobody.
            look().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.0.waiting)
    }
}

/// The place of a future among those that wait.
struct Place<'a> {
    changes: &'a Changes,
    number: Option<u64>,
}

impl Place<'_> {
    fn take(&mut self, waker: Waker) {
        let mut waiting = self.changes.waiting();
        let number = *self.number.get_or_insert_with(|| {
            waiting.futures += 1;
            waiting.futures
        });
        let before = waiting.wakers.insert(number, waker);
        // The drop of a waker is foreign code as well.
        drop(waiting);
        drop(before);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number
            && !self.changes.is_forked()
        {
            let waker = self.changes.waiting().wakers.remove(&number);
            drop(waker);
        }
    }
}

/// Runs this in a forked child. Returns whether it was true there, within 20 s.
#[cfg(all(test, unix))]
#[expect(unsafe_code, reason = "fork is unsafe in a process with threads")]
pub(crate) fn is_so_in_child(is_so: impl FnOnce() -> bool) -> bool {
    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    use nix::unistd::{ForkResult, fork};

    // SAFETY: the child takes no lock and allocates nothing that another thread may have been inside of, or it never ends and is killed.
    let ForkResult::Parent { child } = unsafe { fork() }.unwrap() else {
        let code = i32::from(!is_so());
        // SAFETY: it runs no handlers of the parent.
        unsafe { nix::libc::_exit(code) }
    };
    for _ in 0..2_000 {
        match waitpid(child, Some(WaitPidFlag::WNOHANG)).unwrap() {
            WaitStatus::StillAlive => std::thread::sleep(Duration::from_millis(10)),
            ended => return ended == WaitStatus::Exited(child, 0),
        }
    }
    kill(child, Signal::SIGKILL).unwrap();
    waitpid(child, None).unwrap();
    false
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::task::{Context, Wake};
    use std::thread;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// A waker that does this.
    struct Does<F>(F);

    impl<F: Fn() + Send + Sync> Wake for Does<F> {
        fn wake(self: Arc<Self>) {
            self.0();
        }
    }

    fn waker(does: impl Fn() + Send + Sync + 'static) -> Waker {
        Arc::new(Does(does)).into()
    }

    /// A waker that counts.
    fn counter() -> (Arc<AtomicUsize>, Waker) {
        let woken = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&woken);
        (woken, waker(move || _ = counted.fetch_add(1, Ordering::Relaxed)))
    }

    fn poll<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(waker))
    }

    #[test]
    fn a_task_is_woken_once_at_each_change_and_waits_once_however_often_it_is_polled() {
        let changes = Changes::new();
        let (woken, waker) = counter();
        let is_there = AtomicBool::new(false);
        let look = || is_there.load(Ordering::Relaxed).then_some(7);
        let mut wait = pin!(changes.wait_async(look));
        for changed in 0..3 {
            for _ in 0..3 {
                assert!(poll(wait.as_mut(), &waker).is_pending());
            }
            assert_eq!((changes.waiting().wakers.len(), woken.load(Ordering::Relaxed)), (1, changed));
            changes.announce();
        }
        is_there.store(true, Ordering::Relaxed);
        assert_eq!(poll(wait.as_mut(), &waker), Poll::Ready(7));
        assert_eq!(woken.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_future_that_is_dropped_leaves_nothing() {
        let changes = Changes::new();
        let (woken, waker) = counter();
        for _ in 0..100 {
            assert!(poll(pin!(changes.wait_async(|| None::<u8>)), &waker).is_pending());
        }
        assert_eq!((changes.waiting().wakers.len(), Arc::strong_count(&woken)), (0, 2));
    }

    #[test]
    fn a_change_between_the_look_and_the_wait_is_not_missed() {
        for changed_at in 1..=2 {
            let changes = Changes::new();
            let look = |looks: &mut usize| {
                *looks += 1;
                if *looks == changed_at {
                    changes.announce();
                }
                (*looks > 2).then_some(())
            };
            let (woken, waker) = counter();
            let mut looks = 0;
            let mut wait = pin!(changes.wait_async(|| look(&mut looks)));
            assert!(poll(wait.as_mut(), &waker).is_pending());
            // Before the waker had its place, the second look was after the change.
            assert_eq!(woken.load(Ordering::Relaxed), changed_at - 1);
            if changed_at == 2 {
                let mut looks = 0;
                assert_eq!(changes.wait(MINUTE, || look(&mut looks)), Some(()));
            }
        }
    }

    #[test]
    fn a_waker_that_panics_stops_no_other() {
        /// What is thrown. Its drop can panic as well.
        struct Payload(bool);
        impl Drop for Payload {
            fn drop(&mut self) {
                assert!(!self.0, "on purpose");
            }
        }
        for drop_panics in [false, true] {
            let changes = Changes::new();
            let panics = waker(move || std::panic::panic_any(Payload(drop_panics)));
            let (woken, counts) = counter();
            let (mut first, mut second) =
                (pin!(changes.wait_async(|| None::<u8>)), pin!(changes.wait_async(|| None::<u8>)));
            assert!(poll(first.as_mut(), &panics).is_pending() && poll(second.as_mut(), &counts).is_pending());
            changes.announce();
            assert_eq!(woken.load(Ordering::Relaxed), 1);
        }
    }

    #[test]
    fn a_waker_that_polls_its_task_at_once_finds_no_lock_taken() {
        type Task = Mutex<Option<Pin<Box<dyn Future<Output = usize> + Send>>>>;
        static TASK: Task = Mutex::new(None);
        static POLLS: AtomicUsize = AtomicUsize::new(0);
        fn run() {
            let Some(mut task) = lock(&TASK).take() else { return };
            POLLS.fetch_add(1, Ordering::Relaxed);
            if poll(task.as_mut(), &waker(run)).is_pending() {
                *lock(&TASK) = Some(task);
            }
        }
        let changes = Changes::new();
        let (announced, waits) = (Arc::new(AtomicUsize::new(0)), changes.clone());
        let seen = Arc::clone(&announced);
        let look = move || Some(seen.load(Ordering::Relaxed)).filter(|seen| *seen == 3);
        *lock(&TASK) = Some(Box::pin(async move { waits.wait_async(look).await }));
        run();
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            for number in 1..=3 {
                announced.store(number, Ordering::Relaxed);
                changes.announce();
            }
            _ = done.send(());
        });
        is_done.recv_timeout(MINUTE).expect("no deadlock");
        assert_eq!((lock(&TASK).is_none(), POLLS.load(Ordering::Relaxed)), (true, 4), "one poll for each change");
    }

    #[test]
    fn a_slow_waker_keeps_no_thread_waiting() {
        let changes = Changes::new();
        let ((begins, begun), (ends, end)) = (mpsc::channel(), mpsc::channel::<()>());
        let end = Mutex::new(end);
        let slow = waker(move || {
            _ = begins.send(());
            _ = lock(&end).recv_timeout(MINUTE);
        });
        let mut wait = pin!(changes.wait_async(|| None::<u8>));
        assert!(poll(wait.as_mut(), &slow).is_pending());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| changes.wait(MINUTE, || (changes.count() > 0).then_some(7)));
            let announcing = scope.spawn(|| changes.announce());
            begun.recv_timeout(MINUTE).unwrap();
            assert_eq!(waiting.join().unwrap(), Some(7));
            // Nor does it keep another one from announcing.
            changes.announce();
            assert!(!announcing.is_finished());
            drop(ends);
        });
    }

    #[test]
    fn a_wait_ends_at_its_time() {
        let changes = Changes::new();
        let (start, time) = (Instant::now(), Duration::from_millis(20));
        assert_eq!((changes.wait(time, || None::<u8>), changes.wait(Duration::ZERO, || None::<u8>)), (None, None));
        assert!(start.elapsed() >= time);
        let mut looks = 0;
        let found = changes.wait(Duration::MAX, || {
            looks += 1;
            (looks > 1).then_some(looks)
        });
        assert_eq!(found, Some(2), "the longest time is no overflow");
    }

    #[test]
    fn the_text_of_a_panic_is_the_error() {
        assert_eq!(catch(|| 7), Ok(7));
        let number = 7;
        assert_eq!(catch(|| panic!("a {number}")), Err::<(), _>("a 7".to_owned()));
        assert_eq!(catch(|| panic!("a word")), Err::<(), _>("a word".to_owned()));
        assert_eq!(catch(|| std::panic::panic_any(7)), Err::<(), _>("no text".to_owned()));
    }

    /// Another thread holds the lock at the fork, and the child does not have that thread.
    #[cfg(unix)]
    #[test]
    fn a_forked_child_takes_no_lock() {
        let changes = Changes::new();
        let look = || changes.is_forked().then_some(7);
        let (mut polled, mut dropped) = (Box::pin(changes.wait_async(look)), Box::pin(changes.wait_async(look)));
        for wait in [&mut polled, &mut dropped] {
            assert!(poll(wait.as_mut(), Waker::noop()).is_pending());
        }
        let mut dropped = Some(dropped);
        let held = changes.waiting();
        assert!(is_so_in_child(|| {
            drop(dropped.take());
            poll(polled.as_mut(), Waker::noop()) == Poll::Ready(7) && changes.wait(MINUTE, look) == Some(7)
        }));
        drop(held);
        assert_eq!(changes.waiting().wakers.len(), 2, "the parent's still wait");
    }
}
