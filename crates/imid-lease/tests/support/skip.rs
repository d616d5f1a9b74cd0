//! Tests that cannot run on a machine.

use std::fmt::Display;
use std::io::{self, Write};

/// Reports that a test is skipped. `ci/tests.sh` collects these lines. libtest would capture `eprintln!`.
pub(crate) fn skip(test: &str, reason: impl Display) {
    // One write, so that no other process splits the line.
    let line = format!("skipped: {test}: {reason}\n");
    io::stderr().write_all(line.as_bytes()).expect("standard error can be written");
}
