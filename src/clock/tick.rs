//! A clock that a background thread keeps, so that reading it is a load.

use core::time::Duration;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::{Clock, ClockError, SystemClock};
use crate::fork;
use crate::sync::{Ordering, ProcessWord};

/// The published time when there is none: readers turn to the system clock.
const STOPPED: u64 = u64::MAX;

/// The system's wall clock, published every millisecond by a background thread: a reading is a load.
///
/// It keeps following the wall clock, steps included. A starved thread makes it stale: IDs are then older than they
/// could be, never equal and never out of order, and a generator reads the system clock itself before it refuses
/// anything. After [`stop`](Self::stop), and in a forked child, which has no such thread, every reading is the system
/// clock's.
///
/// Clones share one thread, and so do several generators with clones of one clock; it ends with the last clone.
///
/// ```
/// use imid::Generator;
/// use imid::clock::TickClock;
///
/// let clock = TickClock::start()?;
/// let ids = Generator::builder().clock(clock.clone()).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TickClock(Arc<Ticker>);

#[derive(Debug)]
struct Ticker {
    face: Arc<Face>,
    thread: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

/// What readers see, on a line of its own: the thread writes it a thousand times a second.
#[derive(Debug)]
#[repr(align(128))]
struct Face {
    ms: ProcessWord,
    /// The process whose thread it is, as [`fork::epoch`] counts.
    epoch: u64,
}

impl TickClock {
    /// Starts the thread, which publishes the first reading before this returns.
    ///
    /// # Errors
    /// The system could not start a thread.
    pub fn start() -> io::Result<Self> {
        let face = Arc::new(Face { ms: ProcessWord::new(STOPPED), epoch: fork::watch() });
        face.publish();
        let (stop, stopped) = mpsc::channel();
        let ticker = Arc::clone(&face);
        let thread = thread::Builder::new().name("imid-tick".into()).spawn(move || {
            // Waiting for the message that never comes is a sleep that `stop` can end.
            while stopped.recv_timeout(until_next_ms()) == Err(RecvTimeoutError::Timeout) {
                ticker.publish();
            }
        })?;
        Ok(Self(Arc::new(Ticker { face, thread: Mutex::new(Some((stop, thread))) })))
    }

    /// Ends the thread, for all clones. Readings go on, from the system clock. Does nothing the second time.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Clock for TickClock {
    #[inline]
    fn now_ms(&self) -> Result<u64, ClockError> {
        let face = &self.0.face;
        let ms = face.ms.load(Ordering::Relaxed);
        if ms == STOPPED || face.epoch != fork::epoch() {
            return SystemClock.now_ms();
        }
        Ok(ms)
    }

    fn refresh(&self) -> Result<u64, ClockError> {
        SystemClock.now_ms()
    }
}

impl Face {
    /// Publishes the system clock's reading, or that there is none.
    fn publish(&self) {
        // ORDERING: the time is a hint; nothing else is published with it.
        self.ms.store(SystemClock.now_ms().unwrap_or(STOPPED), Ordering::Relaxed);
    }
}

impl Ticker {
    fn stop(&self) {
        if self.face.epoch != fork::epoch() {
            // A child inherits the handle of a thread that it does not have, perhaps under a lock that nobody will
            // open. To join the one or to wait for the other would be for ever.
            core::mem::forget(self.thread.try_lock().map(|mut running| running.take()));
            return;
        }
        let running = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, thread)) = running {
            drop(stop);
            // The thread holds no lock and cannot panic; its end is all that matters here.
            let _ = thread.join();
            self.face.ms.store(STOPPED, Ordering::Relaxed);
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop();
    }
}

/// How long it is until the wall clock shows the next millisecond.
fn until_next_ms() -> Duration {
    let nanos = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.subsec_nanos() % 1_000_000);
    Duration::from_nanos(u64::from(1_000_000 - nanos))
}
