//! The mark of a process, in words that are 0 in every new child.

use core::ffi::c_int;

use super::{Ticker, UNIT, system};
use crate::sync::{Ordering, ProcessWord};

/// The size of a page of memory, or more. The static must fill whole pages, since all of them are wiped.
#[cfg(target_os = "linux")]
const PAGE: usize = if cfg!(target_arch = "x86_64") { 4096 } else { 65_536 };

/// Linux: the child's copy of these pages is zeros.
const WIPE_ON_FORK: c_int = 18;

/// An advice that no kernel knows.
const UNKNOWN: c_int = -1;

/// Words that are 0 in every new child. Where no page is wiped they need no page: linkers warn about such an alignment.
#[cfg_attr(all(target_os = "linux", target_arch = "x86_64"), repr(C, align(4096)))]
#[cfg_attr(all(target_os = "linux", not(target_arch = "x86_64")), repr(C, align(65536)))]
pub(super) struct Wiped {
    pub(super) mark: ProcessWord,
    ticker: Ticker,
}

#[cfg(target_os = "linux")]
const _: () = assert!(size_of::<Wiped>() == PAGE, "the words have their pages to themselves");

static WIPED: Wiped = Wiped::new();

impl Wiped {
    pub(super) const fn new() -> Self {
        Self { mark: ProcessWord::new(0), ticker: Ticker::stopped() }
    }
}

/// 1 if forks are noticed. Children inherit it.
static GUARD: ProcessWord = ProcessWord::new(0);

/// How many marks were given out, in this process and those that it descends from.
static MARKS: ProcessWord = ProcessWord::new(0);

/// Returns the words of this process.
#[cfg(not(loom))]
#[inline]
fn wiped() -> &'static Wiped {
    &WIPED
}

/// Returns the words of this process. In a model a thread can be another process.
#[cfg(loom)]
fn wiped() -> &'static Wiped {
    if IS_CHILD.with(core::cell::Cell::get) { &WIPED_IN_CHILD } else { &WIPED }
}

#[cfg(loom)]
pub(super) static WIPED_IN_CHILD: Wiped = Wiped::new();

#[cfg(loom)]
loom::thread_local! {
    pub(super) static IS_CHILD: core::cell::Cell<bool> = core::cell::Cell::new(false);
}

/// Returns the mark of this process: 0 until [`watch`] is called in it.
#[inline]
pub(crate) fn mark() -> u64 {
    // ORDERING: a child starts with one thread, and what that thread starts later sees its writes.
    wiped().mark.load(Ordering::Relaxed)
}

#[inline]
pub(crate) fn ticker() -> &'static Ticker {
    &WIPED.ticker
}

/// Starts to notice forks, and returns the mark of this process, which is not 0.
///
/// It does not use `Once`: a child that is forked while another thread is inside it would wait for that thread for
/// ever. Threads that arrive together may set up the guard twice, which does no harm.
pub(crate) fn watch() -> u64 {
    let mark = mark();
    if mark != 0 {
        return mark;
    }
    if GUARD.load(Ordering::Relaxed) == 0 {
        let is_guarded = guard(|advice| system::advise(&WIPED, advice), || system::at_fork(wipe));
        GUARD.store(is_guarded.into(), Ordering::Relaxed);
    }
    // After the guard: a child that is forked in between has a 0.
    let next = UNIT * (MARKS.fetch_add(1, Ordering::Relaxed) % (u64::MAX / UNIT - 1) + 1);
    match wiped().mark.compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => next,
        Err(other) => other,
    }
}

/// Sets up both ways in which forks are noticed, and returns whether one of them is. Some sandboxes and emulators accept
/// the advice and do not follow it, so the handler does not depend on the answer. As in `BoringSSL`'s `fork_detect`, a
/// kernel that accepts an unknown advice is not trusted to follow a known one.
fn guard(advise: impl Fn(c_int) -> bool, at_fork: impl FnOnce() -> bool) -> bool {
    let is_wiped = cfg!(target_os = "linux") && !advise(UNKNOWN) && advise(WIPE_ON_FORK);
    // It can fail if there is no memory. Without a wiped page, the next call that asks for a mark tries again.
    at_fork() || is_wiped
}

pub(super) extern "C" fn wipe() {
    // Only atomics: the handler may do only what is safe in a signal handler.
    WIPED.mark.store(0, Ordering::Relaxed);
    WIPED.ticker.ms.store(0, Ordering::Relaxed);
    WIPED.ticker.running.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handler_is_registered_whatever_the_kernel_says() {
        // What the kernel answers to an advice, whether a handler can be registered, and whether forks are noticed.
        let knows: fn(c_int) -> bool = |advice| advice == WIPE_ON_FORK;
        for (advise, can_register, is_guarded) in [
            (knows, true, true),
            (knows, false, cfg!(target_os = "linux")),
            (|_| false, true, true),
            (|_| false, false, false),
            // It accepts any advice, so it is not trusted.
            (|_| true, true, true),
            (|_| true, false, false),
        ] {
            let mut asked = false;
            let guarded = guard(advise, || {
                asked = true;
                can_register
            });
            assert_eq!((guarded, asked), (is_guarded, true));
        }
    }

    #[test]
    fn the_handler_leaves_no_mark_and_no_ticker() {
        // In the child that a handler would run in; here it would stop other tests.
        assert_ne!(watch(), 0);
        assert_eq!(watch(), watch());
        assert_ne!(mark(), 0);
        assert_eq!(mark() % UNIT, 0);
    }
}
