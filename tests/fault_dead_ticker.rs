//! The thread of a `TickClock` dies, as in a sandbox that forbids its sleep: this process defines `clock_nanosleep`,
//! `nanosleep` and `clock_gettime` itself.
//!
//! One test, since they are the process's.
#![cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64"))]

use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use imid::clock::{Clock, SystemClock, TickClock};
use nix::errno::Errno;
use nix::libc;

/// The next sleep of the ticker's thread fails, and the thread panics.
static MUST_DIE: AtomicBool = AtomicBool::new(false);
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);
/// The next reading of the clock outside of the ticker's thread lasts until that thread is dead.
static OUTLIVES_THE_TICKER: AtomicBool = AtomicBool::new(false);

fn is_ticker() -> bool {
    thread::current().name().is_some_and(|name| name.starts_with("imid-tick"))
}

#[expect(unsafe_code, reason = "it takes the place of a C function")]
#[unsafe(no_mangle)]
extern "C" fn clock_nanosleep(
    clock: libc::clockid_t,
    flags: c_int,
    time: *const libc::timespec,
    left: *mut libc::timespec,
) -> c_int {
    if is_ticker() && MUST_DIE.load(Ordering::Relaxed) {
        return libc::EPERM;
    }
    // SAFETY: the system call behind the function, with its own arguments.
    let error = unsafe { libc::syscall(libc::SYS_clock_nanosleep, c_long::from(clock), flags, time, left) };
    if error == 0 { 0 } else { libc::EINTR }
}

/// What the sleep of older versions of the standard library calls.
#[expect(unsafe_code, reason = "it takes the place of a C function")]
#[unsafe(no_mangle)]
extern "C" fn nanosleep(time: *const libc::timespec, left: *mut libc::timespec) -> c_int {
    match clock_nanosleep(libc::CLOCK_MONOTONIC, 0, time, left) {
        0 => 0,
        error => {
            Errno::set_raw(error);
            -1
        }
    }
}

#[expect(unsafe_code, reason = "it takes the place of a C function")]
#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: c_int, time: *mut libc::timespec) -> c_int {
    if clock == libc::CLOCK_REALTIME && !is_ticker() && OUTLIVES_THE_TICKER.swap(false, Ordering::Relaxed) {
        MUST_DIE.store(true, Ordering::Relaxed);
        // The test asserts that it has panicked.
        let start = Instant::now();
        while !HAS_PANICKED.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(10) {
            thread::yield_now();
        }
        // The hook runs before the thread unwinds.
        thread::sleep(Duration::from_millis(100));
    }
    // SAFETY: the system call behind the function, with its own arguments.
    let error = unsafe { libc::syscall(libc::SYS_clock_gettime, c_long::from(clock), time) };
    c_int::try_from(error).unwrap_or(-1)
}

/// Returns whether the clock shows the time after a pause. On a busy machine its thread can be late, so it has several attempts. A
/// published time that stands fails all of them.
fn follows(clock: &TickClock) -> bool {
    (0..20).any(|_| {
        thread::sleep(Duration::from_millis(300));
        clock.now_ms().unwrap().abs_diff(SystemClock.now_ms().unwrap()) < 100
    })
}

#[test]
fn a_clock_that_starts_while_the_thread_dies_reads_the_system_clock() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if is_ticker() {
            HAS_PANICKED.store(true, Ordering::Relaxed);
        } else {
            usual(info);
        }
    }));
    let first = TickClock::start().unwrap();
    assert!(follows(&first));
    // It finds that the thread runs, and publishes what it has read after the thread has died.
    OUTLIVES_THE_TICKER.store(true, Ordering::Relaxed);
    let second = TickClock::start().unwrap();
    assert!(HAS_PANICKED.load(Ordering::Relaxed), "the thread lives");
    assert!(follows(&first) && follows(&second), "the published time stands");
    // The next one has a thread again.
    MUST_DIE.store(false, Ordering::Relaxed);
    let third = TickClock::start().unwrap();
    assert!(follows(&first) && follows(&third));
}
