//! Tests that cannot run on a machine.

use std::fmt::Display;
use std::io::{self, Write};

/// Reports that a test is skipped. `ci/tests.sh` collects these lines. libtest would capture `eprintln!`.
pub(crate) fn skip(test: &str, reason: impl Display) {
    writeln!(io::stderr(), "skipped: {test}: {reason}").expect("standard error can be written");
}
