//! Waiting for a change of state: threads sleep, and tasks of any async runtime are woken.
//!
//! Tasks use no timer of their runtime, because some have none. A thread wakes them, at a change and at the time that they
//! ask for. It lives while tasks wait, and it is not the thread that talks to the store: a runtime cannot make that one late.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait of a refused call. A clock that is corrected during the wait is noticed within this time.
const SLICE: Duration = Duration::from_millis(10);

/// The longest wait for an announcement: a safety net, in case it is never made.
const SELDOM: Duration = Duration::from_millis(100);

/// How long the thread stays when no task waits anymore.
const IDLE: Duration = Duration::from_secs(1);

/// In place of a time that cannot be computed.
const LONG: Duration = Duration::from_secs(365 * 24 * 3_600);

/// Locks a mutex. No code panics with half of a change done, so the value of a poisoned mutex is good.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the changes of an object are announced.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// For threads that wait.
    changed: Condvar,
    /// For the thread that wakes tasks.
    wanted: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Counts the changes.
    version: u64,
    /// The tasks in the order of their turns. A task looks again at its time, or when the version is another one, so those
    /// of an earlier version come first.
    tasks: BTreeMap<(u64, Instant, Task), Waker>,
    /// The time of each task and version.
    times: HashMap<(u64, Task), Instant>,
    has_thread: bool,
}

/// What [`Waker::will_wake`] compares. No other task has it as long as a clone of the waker lives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Task {
    data: usize,
    vtable: usize,
}

impl Task {
    fn of(waker: &Waker) -> Self {
        Self { data: waker.data().addr(), vtable: ptr::from_ref(waker.vtable()).addr() }
    }
}

impl Waiting {
    /// Adds a task, and returns whether its time is before those of all others.
    fn add(&mut self, at: Instant, waker: Waker) -> bool {
        let (version, task) = (self.version, Task::of(&waker));
        match self.times.entry((version, task)) {
            // Two futures of one task: the earlier time counts for both.
            Entry::Occupied(time) if *time.get() <= at => return false,
            Entry::Occupied(mut time) => _ = self.tasks.remove(&(version, time.insert(at), task)),
            Entry::Vacant(time) => _ = time.insert(at),
        }
        self.tasks.insert((version, at, task), waker);
        self.tasks.first_key_value().is_some_and(|(first, _)| *first == (version, at, task))
    }

    /// Removes the tasks whose turn it is.
    fn take_due(&mut self, now: Instant) -> Vec<Waker> {
        let mut due = Vec::new();
        while let Some(first) = self.tasks.first_entry()
            && let (version, at, task) = *first.key()
            && (version != self.version || at <= now)
        {
            due.push(first.remove());
            self.times.remove(&(version, task));
        }
        due
    }
}

impl Changes {
    /// Makes all that wait look again.
    pub(crate) fn announce(&self) {
        self.waiting().version += 1;
        self.0.changed.notify_all();
        self.0.wanted.notify_one();
    }

    /// Returns how many changes were announced.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.waiting().version
    }

    /// Looks until it breaks: at each change, and at the time that the last look gave.
    pub(crate) fn wait<T>(&self, mut look: impl FnMut() -> ControlFlow<T, Instant>) -> T {
        // Not yet locked: most calls find what they want, and a forked child must not wait for a lock.
        if let Break(found) = look() {
            return found;
        }
        loop {
            let version = self.waiting().version;
            let at = match look() {
                Break(found) => return found,
                Continue(at) => at.saturating_duration_since(Instant::now()),
            };
            let waited = self.0.changed.wait_timeout_while(self.waiting(), at, |it| it.version == version);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Does the same in a task. Dropping the future is safe at any time, as far as `look` is.
    pub(crate) async fn wait_async<T>(&self, mut look: impl FnMut() -> ControlFlow<T, Instant>) -> T {
        poll_fn(move |context| {
            if let Break(found) = look() {
                return Poll::Ready(found);
            }
            loop {
                let version = self.waiting().version;
                let at = match look() {
                    Break(found) => return Poll::Ready(found),
                    Continue(at) => at,
                };
                let waiting = self.waiting();
                if waiting.version == version {
                    self.add(waiting, at, context.waker());
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    fn add(&self, mut waiting: MutexGuard<'_, Waiting>, at: Instant, waker: &Waker) {
        let is_earliest = waiting.add(at, waker.clone());
        if !waiting.has_thread {
            let this = self.clone();
            let started = thread::Builder::new().name("imid-wake".into()).spawn(move || this.wake_tasks());
            waiting.has_thread = started.is_ok();
            if started.is_err() {
                drop(waiting);
                // The task polls until the system has a thread again. A waker may poll immediately, so no lock is held.
                return waker.wake_by_ref();
            }
        }
        drop(waiting);
        // The thread looks at the earliest time anyway.
        if is_earliest {
            self.0.wanted.notify_one();
        }
    }

    /// What the thread does.
    fn wake_tasks(&self) {
        let mut waiting = self.waiting();
        loop {
            let now = Instant::now();
            let due = waiting.take_due(now);
            if !due.is_empty() {
                drop(waiting);
                for waker in due {
                    // A waker is foreign code. If one panics, the others are woken all the same.
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                        // Not dropped, because that can also panic.
                        std::mem::forget(panic);
                    }
                }
                waiting = self.waiting();
                continue;
            }
            let next = waiting.tasks.first_key_value().map(|((_, at, _), _)| *at);
            let time = next.map_or(IDLE, |at| at.saturating_duration_since(now));
            let (again, waited) = self.0.wanted.wait_timeout(waiting, time).unwrap_or_else(PoisonError::into_inner);
            waiting = again;
            if waited.timed_out() && waiting.tasks.is_empty() {
                waiting.has_thread = false;
                return;
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.0.waiting)
    }
}

/// Returns a look that breaks with what is found, or with `None` after this time.
pub(crate) fn within<T>(
    timeout: Duration,
    mut find: impl FnMut() -> Option<T>,
) -> impl FnMut() -> ControlFlow<Option<T>, Instant> {
    let mut end = None;
    move || {
        let now = Instant::now();
        let end = *end.get_or_insert_with(|| later(now, timeout));
        match find() {
            None if now < end => Continue(end),
            found => Break(found),
        }
    }
}

/// Returns a look that breaks with what is found, however long that takes.
pub(crate) fn whenever<T>(mut find: impl FnMut() -> Option<T>) -> impl FnMut() -> ControlFlow<T, Instant> {
    move || find().map_or_else(|| Continue(Instant::now() + LONG), Break)
}

/// Returns a look that repeats a call until it succeeds, fails for good, or would have to wait longer than what is left of
/// `timeout`.
///
/// `retry_after` says how long a failed call has to wait; `None` means that waiting does not help. An error that
/// `is_announced` ends with an announcement only, so it is tried seldom.
pub(crate) fn retry_within<T, E: Copy>(
    timeout: Duration,
    mut call: impl FnMut() -> Result<T, E>,
    retry_after: impl Fn(E) -> Option<Duration>,
    is_announced: impl Fn(E) -> bool,
) -> impl FnMut() -> ControlFlow<Result<T, E>, Instant> {
    let mut end = None;
    move || {
        let error = match call() {
            Ok(value) => return Break(Ok(value)),
            Err(error) => error,
        };
        // Most calls do not wait and need no second clock.
        let now = Instant::now();
        let end = *end.get_or_insert_with(|| later(now, timeout));
        match retry_after(error) {
            Some(wait) if wait <= end.saturating_duration_since(now) => {
                Continue(if is_announced(error) { end.min(now + SELDOM) } else { now + wait.min(SLICE) })
            }
            _ => Break(Err(error)),
        }
    }
}

fn later(now: Instant, time: Duration) -> Instant {
    now.checked_add(time).unwrap_or_else(|| now + LONG)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake};

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// A waker that counts, and that tells a thread.
    struct Counter(AtomicUsize, std::sync::mpsc::Sender<()>);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
            _ = self.1.send(());
        }
    }

    fn counter() -> (Arc<Counter>, std::sync::mpsc::Receiver<()>) {
        let (sender, receiver) = std::sync::mpsc::channel();
        (Arc::new(Counter(AtomicUsize::new(0), sender)), receiver)
    }

    #[test]
    fn a_task_is_woken_at_a_change_and_at_its_time() {
        let changes = Changes::default();
        let (counter, woken) = counter();
        let waker = Waker::from(Arc::clone(&counter));
        let mut context = Context::from_waker(&waker);
        let is_there = AtomicUsize::new(0);
        let find = || (is_there.load(Ordering::Relaxed) > 0).then_some(7);
        let mut long = pin!(changes.wait_async(within(MINUTE, find)));
        for _ in 0..3 {
            assert!(long.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(changes.waiting().tasks.len(), 1, "a task that is polled again waits once");
        is_there.store(1, Ordering::Relaxed);
        changes.announce();
        woken.recv_timeout(MINUTE).unwrap();
        assert_eq!(long.as_mut().poll(&mut context), Poll::Ready(Some(7)));
        let mut short = pin!(changes.wait_async(within(Duration::from_millis(20), || None::<u8>)));
        assert!(short.as_mut().poll(&mut context).is_pending());
        woken.recv_timeout(MINUTE).unwrap();
        assert_eq!(short.as_mut().poll(&mut context), Poll::Ready(None));
        assert_eq!(counter.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn two_futures_of_one_task_both_look_again() {
        let changes = Changes::default();
        let (counter, woken) = counter();
        let waker = Waker::from(Arc::clone(&counter));
        let mut context = Context::from_waker(&waker);
        let mut poll = |timeout| {
            let future = pin!(changes.wait_async(within(timeout, || None::<u8>)));
            assert!(future.poll(&mut context).is_pending());
        };
        poll(MINUTE);
        poll(2 * MINUTE);
        assert_eq!(changes.waiting().tasks.len(), 1);
        // A change that the thread has not noticed yet: the first future must still be woken by it, the second one after.
        changes.waiting().version += 1;
        poll(3 * MINUTE);
        assert_eq!(changes.waiting().tasks.len(), 2);
        poll(Duration::from_millis(20));
        for _ in 0..2 {
            woken.recv_timeout(MINUTE).unwrap();
        }
        let waiting = changes.waiting();
        assert_eq!((waiting.tasks.len(), waiting.times.len()), (0, 0));
    }

    #[test]
    fn a_change_between_the_look_and_the_wait_is_not_missed() {
        let changes = Changes::default();
        let mut looks = 0;
        let look = || {
            looks += 1;
            match looks {
                // The second look is under the version: the change comes right after it.
                2 => changes.announce(),
                3 => return Break(()),
                _ => {}
            }
            Continue(Instant::now() + MINUTE)
        };
        let (counter, _woken) = counter();
        let waker = Waker::from(counter);
        assert!(pin!(changes.wait_async(look)).poll(&mut Context::from_waker(&waker)).is_ready());
        let mut looks = 0;
        changes.wait(|| {
            looks += 1;
            if looks == 2 {
                changes.announce();
            }
            if looks == 3 { Break(()) } else { Continue(Instant::now() + MINUTE) }
        });
    }

    #[test]
    fn a_waker_that_panics_stops_no_other() {
        struct Panics(bool);
        impl Wake for Panics {
            fn wake(self: Arc<Self>) {
                std::panic::panic_any(Payload(self.0));
            }
        }
        /// What is thrown. Its drop can panic as well.
        struct Payload(bool);
        impl Drop for Payload {
            fn drop(&mut self) {
                assert!(!self.0, "on purpose");
            }
        }
        for drop_panics in [false, true] {
            let changes = Changes::default();
            let (counter, woken) = counter();
            for waker in [Waker::from(Arc::new(Panics(drop_panics))), Waker::from(counter)] {
                let mut future = pin!(changes.wait_async(within(MINUTE, || None::<u8>)));
                assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            }
            changes.announce();
            woken.recv_timeout(MINUTE).unwrap();
        }
    }

    #[test]
    fn the_longest_time_is_no_overflow() {
        let mut times = 0;
        let changes = Changes::default();
        let found = changes.wait(within(Duration::MAX, || {
            times += 1;
            (times > 1).then_some(times)
        }));
        assert_eq!(found, Some(2));
        let failed = changes.wait(retry_within(Duration::MAX, || Err::<(), _>(3), |_| None, |_| false));
        assert_eq!(failed, Err(3));
    }

    #[test]
    fn a_look_without_an_end_breaks_with_what_is_found_only() {
        let is_there = std::cell::Cell::new(false);
        let mut look = whenever(|| is_there.get().then_some(7));
        let Continue(at) = look() else { panic!("nothing is there") };
        assert!(at > Instant::now() + MINUTE);
        is_there.set(true);
        assert_eq!(look(), Break(7));
    }

    #[test]
    fn a_wait_longer_than_the_rest_is_an_error_at_once() {
        let mut calls = 0;
        let changes = Changes::default();
        let call = || {
            calls += 1;
            Err::<(), _>(())
        };
        assert_eq!(changes.wait(retry_within(MINUTE, call, |()| Some(2 * MINUTE), |()| false)), Err(()));
        assert_eq!(calls, 1);
    }

    #[test]
    fn a_task_has_the_earliest_of_its_times() {
        let (mut waiting, start) = (Waiting::default(), Instant::now());
        let wakers = [(); 2].map(|()| Waker::from(counter().0));
        let times = |waiting: &Waiting| -> Vec<_> { waiting.tasks.keys().map(|(_, at, _)| *at - start).collect() };
        let [s1, s2, s3, s4] = [1, 2, 3, 4].map(Duration::from_secs);
        for (waker, at, is_earliest, expected) in [
            (0, s3, true, vec![s3]),
            (0, s3, false, vec![s3]),
            (0, s4, false, vec![s3]),
            (1, s4, false, vec![s3, s4]),
            (0, s2, true, vec![s2, s4]),
            (1, s1, true, vec![s1, s2]),
        ] {
            assert_eq!(waiting.add(start + at, wakers[waker].clone()), is_earliest, "{waker} {at:?}");
            assert_eq!(times(&waiting), expected, "{waker} {at:?}");
            assert_eq!(waiting.times.len(), expected.len());
        }
        assert_eq!(waiting.take_due(start + s1).len(), 1);
        assert_eq!(times(&waiting), [s2]);
        // Whoever waits for an earlier version comes first.
        waiting.version += 1;
        assert!(!waiting.add(start + s1, wakers[1].clone()));
        assert_eq!(waiting.take_due(start).len(), 1);
        assert_eq!(times(&waiting), [s1]);
    }

    #[test]
    fn a_refused_call_is_repeated_in_slices_and_an_announced_one_seldom() {
        for (wait, is_announced, pause) in [
            (Duration::from_millis(3), false, Duration::from_millis(3)),
            (MINUTE / 2, false, SLICE),
            (Duration::from_millis(3), true, SELDOM),
            (MINUTE / 2, true, SELDOM),
        ] {
            let mut look = retry_within(MINUTE, || Err::<(), _>(()), |()| Some(wait), |()| is_announced);
            let before = Instant::now();
            let Continue(at) = look() else { panic!("it has time") };
            assert!((before + pause..=Instant::now() + pause).contains(&at), "{wait:?} {is_announced}");
        }
        // An announcement is awaited until the end only.
        let time = Duration::from_millis(50);
        let mut look = retry_within(time, || Err::<(), _>(()), |()| Some(Duration::ZERO), |()| true);
        let before = Instant::now();
        let Continue(at) = look() else { panic!("it has time") };
        assert!((before + time..=Instant::now() + time).contains(&at));
    }
}
