//! Tells a process from its forked children. Not part of the API: `imid-lease` uses it.

/// Returns the mark of this process, never 0. From now on a child that is forked has another [`mark`].
pub fn watch() -> u64 {
    crate::fork::watch()
}

/// Returns the mark of this process, or 0 in a process that has not called [`watch`].
#[inline]
pub fn mark() -> u64 {
    crate::fork::mark()
}
