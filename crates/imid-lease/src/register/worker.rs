//! Work in a thread, because it may hang: a function of the application, or a file of a network.

use std::error::Error;
use std::fmt;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::wait::lock;

/// Does the same work again and again. Work that hangs keeps one thread, not one for each attempt: the next attempt
/// waits for the same work. Only one attempt may wait at a time.
pub(crate) struct Worker<T>(Mutex<Option<Arc<Job<T>>>>);

struct Job<T> {
    /// What the work has returned, and when.
    made: Mutex<Option<(io::Result<T>, Instant)>>,
    done: Condvar,
}

/// The end of a call, with all that it has to do first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(super) start: Instant,
    pub(super) limit: Duration,
}

impl Deadline {
    pub(crate) fn of(limit: Duration) -> Self {
        Self { start: Instant::now(), limit }
    }

    /// Returns the time that is left, if any is.
    pub(crate) fn left(self) -> Result<Duration, Box<dyn Error + Send + Sync>> {
        let left = self.limit.saturating_sub(self.start.elapsed());
        if left.is_zero() { Err(format!("no answer within {:?}", self.limit).into()) } else { Ok(left) }
    }
}

/// For how long the next attempt takes what was made after an attempt had given up. A token may end after minutes.
const FRESH: Duration = Duration::from_secs(10);

impl<T: Send + 'static> Worker<T> {
    /// Returns the work that is under way, or begins it.
    fn job(&self, what: &'static str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Arc<Job<T>>> {
        let mut job = lock(&self.0);
        if let Some(job) = &*job
            && lock(&job.made).as_ref().is_none_or(|(_, at)| at.elapsed() < FRESH)
        {
            return Ok(Arc::clone(job));
        }
        let new = Arc::new(Job { made: Mutex::new(None), done: Condvar::new() });
        let of_thread = Arc::clone(&new);
        thread::Builder::new().name("imid-register".into()).spawn(move || {
            let made = catch_unwind(AssertUnwindSafe(work));
            let made = made.map_err(|panic| {
                // Not dropped, because that can also panic.
                mem::forget(panic);
                io::Error::other(format!("{what} has panicked"))
            });
            *lock(&of_thread.made) = Some((made, Instant::now()));
            of_thread.done.notify_all();
        })?;
        *job = Some(Arc::clone(&new));
        Ok(new)
    }

    /// Does the work, or gives up at the deadline. `what` begins the sentences of errors.
    pub(crate) fn run(
        &self,
        deadline: Deadline,
        what: &'static str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let job = self.job(what, work)?;
        let left = deadline.left().unwrap_or_default();
        let waited = job.done.wait_timeout_while(lock(&job.made), left, |made| made.is_none());
        let made = waited.unwrap_or_else(PoisonError::into_inner).0.take();
        let Some((made, _)) = made else {
            let limit = deadline.limit;
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("{what} has not ended within {limit:?}")));
        };
        *lock(&self.0) = None;
        made
    }
}

impl<T> Default for Worker<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

/// A clone has its own attempts.
impl<T> Clone for Worker<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Worker")
    }
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn work_that_hangs_is_not_begun_again() {
        static BEGUN: AtomicUsize = AtomicUsize::new(0);
        let worker = Worker::default();
        let (release, released) = mpsc::channel();
        let released = Arc::new(Mutex::new(released));
        let attempt = |limit| {
            let released = Arc::clone(&released);
            worker.run(Deadline::of(limit), "it", move || {
                let number = BEGUN.fetch_add(1, Ordering::SeqCst);
                lock(&released).recv().unwrap();
                number
            })
        };
        for _ in 0..3 {
            assert_eq!(attempt(SHORT).unwrap_err().to_string(), "it has not ended within 20ms");
        }
        release.send(()).unwrap();
        assert_eq!(attempt(LONG).unwrap(), 0);
        release.send(()).unwrap();
        assert_eq!((attempt(LONG).unwrap(), BEGUN.load(Ordering::SeqCst)), (1, 2));
    }

    #[test]
    fn a_panic_is_an_error_and_the_next_attempt_begins_anew() {
        /// What is thrown. Its drop panics as well.
        struct Payload;
        impl Drop for Payload {
            fn drop(&mut self) {
                panic!("on purpose");
            }
        }
        let worker = Worker::default();
        for throw in [|| panic!("on purpose"), || panic_any(Payload)] {
            let error = worker.run(Deadline::of(LONG), "it", throw).unwrap_err();
            assert_eq!(error.to_string(), "it has panicked");
        }
        assert_eq!(worker.run(Deadline::of(LONG), "it", || 7).unwrap(), 7);
    }

    #[test]
    fn what_was_made_long_ago_is_not_taken() {
        let worker = Worker::default();
        let old = Instant::now().checked_sub(FRESH).expect("the machine runs for longer");
        let made = Mutex::new(Some((Ok(1), old)));
        *lock(&worker.0) = Some(Arc::new(Job { made, done: Condvar::new() }));
        assert_eq!(worker.run(Deadline::of(LONG), "it", || 2).unwrap(), 2);
    }
}
