//! Real forks, by each way in which a process can be copied.
//!
//! A process that forks must have one thread, so these tests run one after another in the main one. A test of a setting
//! that a process cannot take back runs in a process of its own.

#[cfg(unix)]
mod child;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(unix)]
mod handler;
#[cfg(unix)]
mod hosts;
#[cfg(unix)]
mod lanes;
#[cfg(unix)]
mod minting;
#[cfg(unix)]
mod ticker;

/// Makes a list of tests out of the names of functions.
#[cfg(unix)]
macro_rules! trials {
    ($($test:ident)*) => {
        vec![$(libtest_mimic::Trial::test(stringify!($test), || { $test(); Ok(()) })),*]
    };
}
#[cfg(unix)]
use trials;

#[cfg(unix)]
fn all() -> Vec<libtest_mimic::Trial> {
    let mut all = hosts::all();
    all.extend(handler::all());
    all.extend(lanes::all());
    all.extend(ticker::all());
    #[cfg(target_os = "linux")]
    all.extend(guard::all());
    all
}

fn main() {
    #[cfg(target_os = "linux")]
    guard::answer_madvise();
    #[cfg(unix)]
    handler::register_before_all_others();
    let mut arguments = libtest_mimic::Arguments::from_args();
    // One thread: the main one.
    arguments.test_threads = Some(1);
    #[cfg(unix)]
    libtest_mimic::run(&arguments, all()).exit();
    #[cfg(not(unix))]
    libtest_mimic::run(&arguments, Vec::new()).exit();
}
