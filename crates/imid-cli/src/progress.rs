//! The progress bar.

use std::fs::{File, Metadata};
use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Returns a bar on standard error, if standard error is a terminal. The bar is hidden if a person types the input.
pub(crate) fn bar(files: &[Option<&Path>]) -> ProgressBar {
    if files.contains(&None) && io::stdin().is_terminal() {
        return ProgressBar::hidden();
    }
    let length = |file: Option<&Path>| match file {
        Some(path) => path.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len()),
        None => stdin_length(),
    };
    let length = files.iter().copied().map(length).sum::<Option<u64>>();
    let template = match length {
        Some(_) => "{wide_bar} {bytes} of {total_bytes}, {eta} left",
        None => "{spinner} {bytes}, {bytes_per_sec}, {elapsed}",
    };
    // PANIC: both templates are well-formed.
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr()).with_style(style)
}

/// Returns the size of standard input, if it is a file.
fn stdin_length() -> Option<u64> {
    #[cfg(unix)]
    let stdin = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let stdin = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    #[cfg(not(any(unix, windows)))]
    let stdin: io::Result<File> = Err(io::ErrorKind::Unsupported.into());
    let metadata = File::from(stdin.ok()?).metadata().ok()?;
    metadata.is_file().then_some(metadata.len())
}
