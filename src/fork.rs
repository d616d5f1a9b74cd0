//! Detecting that this process is a forked child.
//!
//! A fork copies a generator with its state, so parent and child would take the same stamps. To tell them apart, each process has a
//! mark. In a new child it is 0 until the child asks for one. [`Process`] keeps the mark of the process that created it, for
//! libraries that own something a child must not use: a lease, a connection, a lock.
//!
//! On Linux the mark is in a page that the kernel replaces with zeros in every child (`MADV_WIPEONFORK`, Linux 4.14): after `fork`,
//! after glibc's `_Fork`, and after a raw `clone` that copies memory. On all Unix systems an at-fork handler stores the 0 as well.
//! Where the page is not wiped, only a fork that runs such handlers is detected. Where there are no forks, as on Windows and
//! WebAssembly, all processes share one mark.
//!
//! Two things are not detected: a VM restored from a snapshot, and a fork from a signal handler that has interrupted this library.
//!
//! A child can start a [`TickClock`](crate::clock::TickClock) or open a lease only if no thread of its parent was starting or ending at
//! the fork: Rust's standard library holds a lock then, and the child's threads would wait for it forever.

use crate::sync::{Ordering, ProcessWord};

/// The marks begin above all milliseconds, so that a mark plus a reading of the clock names both.
pub(crate) const UNIT: u64 = 1 << 42;

#[cfg(all(unix, feature = "std"))]
mod marks;
#[cfg(all(loom, unix, feature = "std"))]
mod models;
#[cfg(all(unix, feature = "std"))]
mod system;

#[cfg(all(unix, feature = "std"))]
pub(crate) use marks::{mark, ticker, watch};
#[cfg(all(loom, unix, feature = "std"))]
pub use models::{become_a_child, forget_the_process};

/// The process that created this value. A forked child can tell that it is a different one.
///
/// **Without the feature `std`, forks are not detected**: all processes are then one, as on systems without forks.
///
/// [`is_current`](Self::is_current) is one load, while asking for the process ID is a system call. It is safe in a child whose
/// locks are in an unknown state.
///
/// ```
/// use imid::fork::Process;
///
/// /// Something that a forked child must not use.
/// struct Connection {
///     owner: Process,
/// }
///
/// let connection = Connection { owner: Process::current() };
/// assert!(connection.owner.is_current()); // `false` in each child that is forked from now on
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Process(u64);

impl Process {
    /// Returns the calling process. From now on, forks of this process are detected.
    pub fn current() -> Self {
        Self(watch())
    }

    /// Returns whether the calling process is this one. In a forked child and its children, it is not.
    #[inline]
    pub fn is_current(self) -> bool {
        mark() == self.0
    }
}

/// The process that owns something, as an atomic word: no process, until the first one [claims](Self::claim) it.
///
/// It is for values created in a constant expression, such as a `static` generator, whose process is not known then. Like
/// [`Process`], it is safe to use in a forked child. **Without the feature `std`, forks are not detected.**
///
/// ```
/// use imid::fork::Owner;
///
/// static OWNER: Owner = Owner::none();
///
/// assert!(!OWNER.is_current());
/// assert!(OWNER.claim()); // `false` in each child that is forked from now on
/// assert!(OWNER.is_current());
/// ```
// Hidden: only the generators of imid-snowflake need it.
#[doc(hidden)]
// Not a `OnceLock`, which another thread may be inside of at a fork.
#[derive(Debug)]
pub struct Owner(ProcessWord);

/// Not a mark of a process, and not the 0 of a process without a mark.
const NONE: u64 = u64::MAX;

impl Owner {
    /// Returns an owner that is not yet a process.
    pub const fn none() -> Self {
        Self(ProcessWord::new(NONE))
    }

    /// Returns the calling process, as the owner. From now on, forks of this process are detected.
    pub fn current() -> Self {
        Self(ProcessWord::new(watch()))
    }

    /// Makes the calling process the owner if there is none. Returns whether it is the owner.
    pub fn claim(&self) -> bool {
        let process = watch();
        // ORDERING: relaxed is enough: a forked child has one thread, which sees the values that it inherited.
        match self.0.compare_exchange(NONE, process, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => true,
            Err(owner) => owner == process,
        }
    }

    /// Returns whether the calling process is the owner.
    #[inline]
    pub fn is_current(&self) -> bool {
        // ORDERING: as in `claim`.
        self.0.load(Ordering::Relaxed) == mark()
    }
}

#[cfg(not(all(unix, feature = "std")))]
pub(crate) use no_forks::{mark, watch};

#[cfg(all(not(unix), feature = "std"))]
pub(crate) use no_forks::ticker;

/// What the ticker of a process writes ([`crate::clock::TickClock`]).
#[cfg(feature = "std")]
pub(crate) struct Ticker {
    /// The time that it has published; 0 where it does not run.
    pub(crate) ms: ProcessWord,
    /// 1 while its thread runs.
    pub(crate) running: ProcessWord,
}

#[cfg(feature = "std")]
impl Ticker {
    const fn stopped() -> Self {
        Self { ms: ProcessWord::new(0), running: ProcessWord::new(0) }
    }
}

#[cfg(not(all(unix, feature = "std")))]
mod no_forks {
    /// Returns a constant, because forks cannot be noticed here.
    pub(crate) const fn mark() -> u64 {
        super::UNIT
    }

    /// Returns the same constant as [`mark`].
    pub(crate) const fn watch() -> u64 {
        super::UNIT
    }

    #[cfg(feature = "std")]
    pub(crate) fn ticker() -> &'static super::Ticker {
        static TICKER: super::Ticker = super::Ticker::stopped();
        &TICKER
    }
}
