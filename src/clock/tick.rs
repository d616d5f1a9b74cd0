//! A clock that a background thread publishes, so that reading it is a load.

use core::time::Duration;
use std::sync::mpsc;
use std::{io, thread};

use super::{Clock, ClockError, SystemClock};
use crate::fork;
use crate::sync::{Ordering, ProcessWord};

/// A published time that is further behind than this is withdrawn by whoever notices it.
const STALE_MS: u64 = 100;

/// The number of handles. The thread ends when there are none.
static HANDLES: ProcessWord = ProcessWord::new(0);

/// The system's wall clock, published every millisecond by a background thread: a reading is a load.
///
/// A process has one such thread, however many clocks it starts and clones, and it terminates with the last of them. A clock
/// follows the wall clock, steps included.
///
/// | the thread | what readings show |
/// | --- | --- |
/// | runs | the wall clock, at most about a millisecond old |
/// | is starved of CPU time | an old time, until the thread runs again, or until a [`refresh`](Clock::refresh) finds it more than 100 ms old; then the system clock itself |
/// | has died | the system clock itself |
/// | does not exist, because the process is a forked child | the system clock itself, until the child [starts](Self::start) a clock |
///
/// While calls succeed, a starved thread's time can be arbitrarily old: bounding it would take a second clock per reading, which
/// costs what the published time saves. An old time makes IDs older than they could be, but they are still distinct and in order. A
/// generator calls [`refresh`](Clock::refresh) before it refuses anything.
///
/// ```
/// use imid::Generator;
/// use imid::clock::TickClock;
///
/// let ids = Generator::builder().clock(TickClock::start()?).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TickClock(());

impl TickClock {
    /// Starts the process's ticker if it is not running, and returns a handle to it. The first reading is published before this
    /// returns.
    ///
    /// # Errors
    /// The system could not start a thread.
    pub fn start() -> io::Result<Self> {
        // Forks must be noticed before the thread publishes: a child must not inherit what the thread has published.
        fork::watch();
        let handle = Self::handle();
        // ORDERING: with `end` in `tick`: either the thread sees the handle, or this sees that the thread has ended.
        if fork::ticker().running.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok()
            && let Err(error) = spawn()
        {
            end();
            return Err(error);
        }
        publish();
        // ORDERING: with `end`: if the thread has ended in the meantime, one of the two withdraws what was published last.
        if fork::ticker().running.load(Ordering::SeqCst) == 0 {
            withdraw();
        }
        Ok(handle)
    }

    fn handle() -> Self {
        HANDLES.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Clone for TickClock {
    fn clone(&self) -> Self {
        Self::handle()
    }
}

impl Drop for TickClock {
    fn drop(&mut self) {
        HANDLES.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Clock for TickClock {
    #[inline]
    fn now_ms(&self) -> Result<u64, ClockError> {
        match fork::ticker().ms.load(Ordering::Relaxed) {
            0 => read_system_clock(),
            ms => Ok(ms),
        }
    }

    fn refresh(&self) -> Result<u64, ClockError> {
        let now = SystemClock.now_ms()?;
        let shown = fork::ticker().ms.load(Ordering::Relaxed);
        if shown != 0 && shown.saturating_add(STALE_MS) < now {
            withdraw();
        }
        Ok(now)
    }
}

/// Out of line, so that a reading stays a load and a compare.
#[cold]
#[inline(never)]
fn read_system_clock() -> Result<u64, ClockError> {
    SystemClock.now_ms()
}

/// Starts the thread, and waits until it runs. While a thread starts, it has a lock of the standard library. A process that forks then
/// has a child in which no thread can start.
fn spawn() -> io::Result<()> {
    let (runs, started) = mpsc::channel();
    thread::Builder::new().name("imid-tick".into()).spawn(move || {
        let _ = runs.send(());
        tick();
    })?;
    let _ = started.recv();
    Ok(())
}

/// Publishes the system clock's reading, or that there is none.
fn publish() {
    fork::ticker().ms.store(SystemClock.now_ms().unwrap_or(0), Ordering::SeqCst);
}

/// Withdraws the published time. Readers then read the system clock, until the thread publishes again.
fn withdraw() {
    fork::ticker().ms.store(0, Ordering::SeqCst);
}

/// Says that no thread publishes the time anymore, and withdraws it.
fn end() {
    // ORDERING: in this order, because `start` publishes first and then asks whether the thread runs. If another one has been
    // started in between, it publishes again within a millisecond.
    fork::ticker().running.store(0, Ordering::SeqCst);
    withdraw();
}

/// Publishes the time every millisecond, until there is no handle left. The thread runs this.
fn tick() {
    /// A sleep can panic where a sandbox forbids the system call. The published time must then be withdrawn.
    struct OnPanic;

    impl Drop for OnPanic {
        fn drop(&mut self) {
            end();
        }
    }

    let on_panic = OnPanic;
    loop {
        thread::sleep(until_next_ms());
        publish();
        if HANDLES.load(Ordering::SeqCst) == 0 {
            end();
            // A handle that came in between has either started another thread, or relies on this one.
            if HANDLES.load(Ordering::SeqCst) == 0
                || fork::ticker().running.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_err()
            {
                core::mem::forget(on_panic);
                return;
            }
            publish();
        }
    }
}

/// Returns how long it is until the wall clock shows the next millisecond.
fn until_next_ms() -> Duration {
    let nanos = super::system::nanos_of_second().map_or(0, |nanos| nanos % 1_000_000);
    Duration::from_nanos(u64::from(1_000_000 - nanos))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_thread_sleeps_until_the_end_of_the_millisecond() {
        let (started, half) = (Instant::now(), Duration::from_micros(500));
        let mut is_short = false;
        while !is_short {
            let wait = until_next_ms();
            assert!(!wait.is_zero() && wait <= 2 * half, "{wait:?}");
            // In half of each millisecond it is less than half of one.
            is_short = wait < half;
            assert!(started.elapsed() < Duration::from_secs(10), "{wait:?}");
        }
    }
}
