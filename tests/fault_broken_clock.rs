//! A system clock that fails, stands, or holds its reader up, as a sandbox or a broken driver makes it: the one of this
//! process, which defines `clock_gettime` itself.
//!
//! One test, since the clock is the process's.
#![cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64"))]

use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use imid::clock::{Clock, SystemClock, TickClock};
use imid::{Generator, MessageId, SessionTag};
use nix::libc;

/// How readings of the wall clock are answered.
static FAULT: AtomicU8 = AtomicU8::new(NONE);
const NONE: u8 = 0;
/// Every reading is an error.
const FAILS: u8 = 1;
/// The ticker's thread stays in its reading, as one that is starved; all others are answered.
const HOLDS_THE_TICKER: u8 = 2;
/// Before 1970.
const TOO_EARLY: u8 = 3;
/// What is added to the wall clock, in milliseconds.
static OFFSET_MS: AtomicI64 = AtomicI64::new(0);

/// What the linker gives to the standard library and to `imid` in place of the C library's.
#[expect(unsafe_code, reason = "it takes the place of a C function")]
#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: c_int, time: *mut libc::timespec) -> c_int {
    if clock == libc::CLOCK_REALTIME || clock == libc::CLOCK_REALTIME_COARSE {
        while FAULT.load(Ordering::Relaxed) == HOLDS_THE_TICKER && is_ticker() {
            thread::sleep(Duration::from_millis(1));
        }
        if FAULT.load(Ordering::Relaxed) == FAILS {
            return -1;
        }
    }
    // SAFETY: the system call behind the function, with its own arguments.
    let error = unsafe { libc::syscall(libc::SYS_clock_gettime, c_long::from(clock), time) };
    if clock == libc::CLOCK_REALTIME || clock == libc::CLOCK_REALTIME_COARSE {
        let offset = OFFSET_MS.load(Ordering::Relaxed);
        // SAFETY: the caller's time, which the system call has written.
        let time = unsafe { &mut *time };
        time.tv_sec += offset / 1_000;
        if FAULT.load(Ordering::Relaxed) == TOO_EARLY {
            time.tv_sec = -5;
        }
    }
    c_int::try_from(error).unwrap_or(-1)
}

fn is_ticker() -> bool {
    thread::current().name().is_some_and(|name| name.starts_with("imid-tick"))
}

/// While it lives, readings are answered so.
struct Fault;

impl Fault {
    fn set(fault: u8) -> Self {
        FAULT.store(fault, Ordering::Relaxed);
        Self
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        FAULT.store(NONE, Ordering::Relaxed);
    }
}

fn mint(ids: &Generator<TickClock>) -> MessageId {
    ids.generate(SessionTag::from_u32(0).unwrap()).unwrap()
}

/// Waits until `done`, for 10 s at most.
fn soon(done: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !done() {
        if began.elapsed() > Duration::from_secs(10) {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    true
}

/// How far the published time is behind the system's, in milliseconds.
fn age(clock: &TickClock) -> u64 {
    let shown = clock.now_ms().unwrap();
    SystemClock.now_ms().unwrap().saturating_sub(shown)
}

/// Threads that panicked in the background write here.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_shared_ticker_outlives_a_clock_that_fails_stands_or_jumps() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if is_ticker() {
            PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(info.to_string());
        }
        usual(info);
    }));
    let clock = TickClock::start().unwrap();
    let ids = Generator::builder().clock(clock.clone()).build().unwrap();
    let mut last = mint(&ids);

    for fault in [FAILS, TOO_EARLY] {
        {
            let _fault = Fault::set(fault);
            assert!(soon(|| clock.now_ms().is_err()), "a time is published that the system does not have");
            // The clock has no time. The call returns an error or an ID, and does not panic.
            let _ = ids.generate(SessionTag::from_u32(0).unwrap()).map(|id| assert!(last < id));
            assert!(clock.refresh().is_err());
        }
        assert!(soon(|| age(&clock) < 5), "the clock stands after {fault}: {} ms behind", age(&clock));
        let id = mint(&ids);
        assert!(last < id);
        last = id;
    }

    {
        // The thread is not scheduled for 300 ms, so what it has published is old. It must have published something: after a
        // fault readings come from the system clock until it has.
        let mut fault = None;
        let is_held = (0..20).any(|_| {
            drop(fault.take());
            thread::sleep(Duration::from_millis(20));
            fault = Some(Fault::set(HOLDS_THE_TICKER));
            thread::sleep(Duration::from_millis(300));
            age(&clock) >= 200
        });
        assert!(is_held, "the thread was not held up: {} ms behind", age(&clock));
        let id = mint(&ids);
        assert!(last < id);
        last = id;
        // A refresh withdraws the old time for all readers. The thread is still held up, so what was not withdrawn stays old.
        clock.refresh().unwrap();
        assert!(soon(|| age(&clock) < 50), "{} ms behind after a refresh", age(&clock));
    }
    assert!(soon(|| age(&clock) < 5), "the clock stands after its thread was held up: {} ms behind", age(&clock));

    // Set back by a minute, and forward again: the ticker follows.
    for offset in [-60_000, 0] {
        OFFSET_MS.store(offset, Ordering::Relaxed);
        let follows = soon(|| clock.now_ms().unwrap().abs_diff(SystemClock.now_ms().unwrap()) < 5);
        assert!(follows, "the clock does not follow a step to {offset} ms");
        let id = mint(&ids);
        assert!(last < id);
        last = id;
    }
    let panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(panics.is_empty(), "{panics:?}");
}
