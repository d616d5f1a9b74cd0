//! The progress bar.

use std::fmt::Write;
use std::fs::Metadata;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
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
        Some(_) => "{wide_bar} {bytes} of {total_bytes}{left}",
        None => "{spinner} {bytes}, {bytes_per_sec}, {elapsed}",
    };
    // PANIC: both templates are well-formed.
    let style =
        ProgressStyle::with_template(template).expect("the template is well-formed").with_key("left", time_left);
    ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr()).with_style(style)
}

/// Writes how long the rest takes.
fn time_left(state: &ProgressState, text: &mut dyn Write) {
    // A String can always be written.
    let _ = text.write_str(&left(state.elapsed(), state.eta()));
}

/// Returns the end of the bar. In the first moments no one knows how long the rest takes: the first block has the time of the
/// start in it.
fn left(elapsed: Duration, rest: Duration) -> String {
    const FIRST_MOMENTS: Duration = Duration::from_secs(2);
    if elapsed < FIRST_MOMENTS { String::new() } else { format!(", {:#} left", HumanDuration(rest)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bars_do_not_guess() {
        let seconds = Duration::from_secs;
        assert_eq!(left(seconds(1), seconds(97_200)), "");
        assert_eq!(left(seconds(2), seconds(45)), ", 45s left");
    }
}
