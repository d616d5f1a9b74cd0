//! Real forks, by each way in which a process can be copied.
//!
//! A process that forks must have one thread, so these tests run one after another in the main one. A test of a setting
//! that a process cannot take back runs in a process of its own.

#[cfg(all(unix, target_has_atomic = "64"))]
#[path = "all.rs"]
mod forks;

/// Where there are no forks or no generators, there is nothing to test.
#[cfg(not(all(unix, target_has_atomic = "64")))]
mod forks {
    pub(crate) fn prepare() {}

    pub(crate) fn all() -> Vec<libtest_mimic::Trial> {
        Vec::new()
    }
}

fn main() {
    forks::prepare();
    let mut arguments = libtest_mimic::Arguments::from_args();
    // One thread: the main one.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, forks::all()).exit();
}
