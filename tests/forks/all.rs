//! The list of the tests, and what comes before them.

mod child;
#[cfg(target_os = "linux")]
mod guard;
mod handler;
mod hosts;
mod lanes;
mod minting;
mod ticker;
#[path = "../support/time.rs"]
mod time;

/// Makes a list of tests out of the names of functions.
macro_rules! trials {
    ($($test:ident)*) => {
        vec![$(libtest_mimic::Trial::test(stringify!($test), || { $test(); Ok(()) })),*]
    };
}
use trials;

pub(crate) fn prepare() {
    #[cfg(target_os = "linux")]
    guard::answer_madvise();
    handler::register_before_all_others();
}

pub(crate) fn all() -> Vec<libtest_mimic::Trial> {
    let mut all = hosts::all();
    all.extend(handler::all());
    all.extend(lanes::all());
    all.extend(ticker::all());
    #[cfg(target_os = "linux")]
    all.extend(guard::all());
    all
}
