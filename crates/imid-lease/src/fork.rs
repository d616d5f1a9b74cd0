//! Tells a process from its forked children.

/// The process that made something. A child that is forked from it has copies of its locks, sockets and handles, but not
/// its threads, so it must not use what the parent made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process(u64);

impl Process {
    /// Returns the process that calls.
    pub(crate) fn current() -> Self {
        Self(imid::process::watch())
    }

    /// Returns whether the process that calls is a forked child of this one.
    #[inline]
    pub(crate) fn is_forked(self) -> bool {
        imid::process::mark() != self.0
    }
}
