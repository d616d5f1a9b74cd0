//! The progress bar.

use std::fs::Metadata;
use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use same_file::Handle;

/// Returns a bar on standard error, if standard error is a terminal. The bar is hidden if a person types the input.
pub(crate) fn bar(files: &[Option<&Path>]) -> ProgressBar {
    if files.contains(&None) && io::stdin().is_terminal() {
        return ProgressBar::hidden();
    }
    let length = |file: Option<&Path>| {
        let metadata = match file {
            Some(path) => path.metadata(),
            None => Handle::stdin().and_then(|stdin| stdin.as_file().metadata()),
        };
        metadata.ok().filter(Metadata::is_file).map(|metadata| metadata.len())
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
