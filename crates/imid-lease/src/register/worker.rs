//! Work in a thread, because it may hang: a function of the application that makes passwords, or a file of a network.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::wait::catch;

/// Does the same work again and again. Work that hangs keeps one thread, not one for each attempt: an attempt that gives up, which drops
/// its future, leaves its work to the next one.
pub(super) struct Worker<T>(Mutex<Option<Job<T>>>);

/// Work under way, whose result has a time.
type Job<T> = JoinHandle<(Result<T, String>, Instant)>;

/// For how long the next attempt takes what was made after an attempt had given up. A token may end after minutes.
const FRESH: Duration = Duration::from_secs(10);

impl<T: Send + 'static> Worker<T> {
    /// Does the work. `what` begins the sentence of an error.
    pub(super) async fn run(&self, what: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        let mut job = self.0.lock().await;
        if let Some(late) = job.take_if(|job| job.is_finished())
            && let (Ok(made), at) = late.await?
            && at.elapsed() < FRESH
        {
            return Ok(made);
        }
        let begun = match &mut *job {
            Some(begun) => begun,
            // It panics if the system has no thread left.
            none => {
                none.insert(catch(|| spawn_blocking(move || (catch(work), Instant::now()))).map_err(io::Error::other)?)
            }
        };
        let (made, _) = begun.await?;
        *job = None;
        made.map_err(|_| io::Error::other(format!("{what} has panicked")))
    }

    /// Returns whether an attempt has given up, and its work has not been taken yet.
    pub(super) fn is_late(&self) -> bool {
        self.0.try_lock().is_ok_and(|job| job.is_some())
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

/// Makes the password of each new connection, in a separate thread, because it may wait for a network.
pub(crate) struct Password {
    make: Arc<dyn Fn() -> io::Result<String> + Send + Sync>,
    worker: Worker<io::Result<String>>,
}

const PASSWORD: &str = "the function that makes the password";

impl Password {
    pub(super) fn new(make: impl Fn() -> io::Result<String> + Send + Sync + 'static) -> Self {
        Self { make: Arc::new(make), worker: Worker::default() }
    }

    pub(super) async fn make(&self) -> io::Result<String> {
        let make = Arc::clone(&self.make);
        let password = self.worker.run(PASSWORD, move || make()).await?;
        password.map_err(|error| io::Error::new(error.kind(), format!("cannot make the password: {error}")))
    }

    /// Says what hangs, if it does.
    pub(super) fn late(&self) -> Option<&'static str> {
        self.worker.is_late().then_some(PASSWORD)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, mpsc};

    use tokio::time::timeout;

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    fn in_runtime<T>(test: impl AsyncFnOnce() -> T) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test())
    }

    #[test]
    fn work_that_hangs_is_not_begun_again() {
        static BEGUN: AtomicUsize = AtomicUsize::new(0);
        let worker = Worker::default();
        let (release, released) = mpsc::channel();
        let released = Arc::new(Mutex::new(released));
        let attempt = || {
            let released = Arc::clone(&released);
            worker.run("it", move || {
                let number = BEGUN.fetch_add(1, Ordering::SeqCst);
                released.lock().unwrap().recv().unwrap();
                number
            })
        };
        in_runtime(async || {
            // Dropped with this future, so that a failure ends the work that the runtime waits for.
            let sender = release;
            for _ in 0..3 {
                assert!(timeout(SHORT, attempt()).await.is_err());
                assert!(worker.is_late());
            }
            sender.send(()).unwrap();
            assert_eq!(attempt().await.unwrap(), 0);
            assert!(!worker.is_late());
            sender.send(()).unwrap();
            assert_eq!((attempt().await.unwrap(), BEGUN.load(Ordering::SeqCst)), (1, 2));
        });
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
        in_runtime(async || {
            for throw in [|| panic!("on purpose"), || panic_any(Payload)] {
                assert_eq!(worker.run("it", throw).await.unwrap_err().to_string(), "it has panicked");
            }
            assert_eq!(worker.run("it", || 7).await.unwrap(), 7);
            // It panics after the attempt has given up.
            let (release, released) = mpsc::channel::<()>();
            let throw = move || panic!("{:?}", released.recv());
            assert!(timeout(SHORT, worker.run("it", throw)).await.is_err());
            drop(release);
            while !worker.0.lock().await.as_ref().unwrap().is_finished() {}
            assert_eq!(worker.run("it", || 8).await.unwrap(), 8);
        });
    }

    #[test]
    fn what_was_made_long_ago_is_not_taken() {
        in_runtime(async || {
            for (age, expected) in [(Duration::ZERO, 1), (FRESH, 2)] {
                let worker = Worker::default();
                let made_at = Instant::now().checked_sub(age).expect("the machine runs for longer");
                let made = spawn_blocking(move || (Ok(1), made_at));
                while !made.is_finished() {}
                *worker.0.lock().await = Some(made);
                assert_eq!(worker.run("it", || 2).await.unwrap(), expected);
            }
        });
    }
}
