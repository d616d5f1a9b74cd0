//! The wall clock of this process, moved by libfaketime.
//!
//! libfaketime is loaded before libc and replaces its `clock_gettime(CLOCK_REALTIME)`. It reads the offset from a file
//! at every call. The peers are not modified. They see the same as on a host whose clock is set back: `SystemTime`
//! moves, `Instant` does not.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};

use tempfile::NamedTempFile;

/// The variable with the path of the offset, for libfaketime and for the process that runs a case.
const OFFSET_FILE: &str = "FAKETIME_TIMESTAMP_FILE";

/// Makes `command` run under libfaketime, which reads its offset from the file at `offset`.
pub fn under_faketime(command: &mut Command, library: &Path, offset: &Path) {
    command
        .env("LD_PRELOAD", library)
        .env(OFFSET_FILE, offset)
        .env("FAKETIME_NO_CACHE", "1")
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
}

/// The moved clock, seen from the process that runs under it.
pub struct FakeClock {
    file: PathBuf,
}

impl FakeClock {
    pub fn from_env() -> Self {
        Self { file: std::env::var_os(OFFSET_FILE).expect("a process that runs under libfaketime").into() }
    }

    /// Prepares a step of the wall clock to this many seconds after the true time.
    ///
    /// The step replaces the file of the offset, so that a thread cannot read half an offset. The new file is made
    /// here, so that the step is fast.
    pub fn prepare(&self, seconds: f64) -> Step<'_> {
        let folder = self.file.parent().expect("a file in a folder");
        let mut file = NamedTempFile::new_in(folder).expect("a folder that can be written to");
        write!(file, "{seconds:+.3}").expect("a file that can be written to");
        Step { clock: self, file, by: seconds - self.offset() }
    }

    fn offset(&self) -> f64 {
        let text = std::fs::read_to_string(&self.file).expect("the file of the offset");
        text.trim().parse().expect("an offset in seconds")
    }
}

/// A prepared step of the clock.
pub struct Step<'a> {
    clock: &'a FakeClock,
    file: NamedTempFile,
    by: f64,
}

impl Step<'_> {
    /// Takes the step, checks that the clock moved, and returns the time of the step.
    pub fn take(self) -> Instant {
        let (wall, steady) = (SystemTime::now(), Instant::now());
        self.file.persist(&self.clock.file).expect("a rename within one folder");
        let expected = wall + steady.elapsed();
        let moved = match SystemTime::now().duration_since(expected) {
            Ok(ahead) => ahead.as_secs_f64(),
            Err(behind) => -behind.duration().as_secs_f64(),
        };
        assert!((moved - self.by).abs() < 0.005, "expected a step of {} s, found one of {moved} s", self.by);
        steady
    }
}
