//! Forks for the models of loom, in which a thread can be another process.

use super::marks::{IS_CHILD, WIPED_IN_CHILD, wipe};
use crate::sync::Ordering;

/// Does to the mark of all threads what a fork does.
pub fn forget_the_process() {
    wipe();
}

/// Does the same for this thread only. From now on it belongs to the child, and all others to the parent.
pub fn become_a_child() {
    WIPED_IN_CHILD.mark.store(0, Ordering::Relaxed);
    IS_CHILD.with(|is_child| is_child.set(true));
}
