//! Tells a process from its forked children. Not part of the API: `imid-lease` uses it.

/// Returns the mark of this process, which is not 0. A child that is forked from now on has another [`mark`].
pub fn watch() -> u64 {
    crate::fork::watch()
}

/// Returns the mark of this process, or 0 in a process that has not called [`watch`].
#[inline]
pub fn mark() -> u64 {
    crate::fork::mark()
}
