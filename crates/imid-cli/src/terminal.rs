//! What the terminal can show: colors, columns and characters.

use std::env;
use std::io;

use anstream::{AutoStream, ColorChoice};

/// Where a command draws.
#[derive(Clone, Copy)]
pub(crate) struct Terminal {
    pub(crate) has_colors: bool,
    /// Only ASCII characters can be shown.
    pub(crate) is_ascii: bool,
    /// Number of columns; `None` if the output is not a terminal.
    columns: Option<usize>,
}

impl Terminal {
    /// Returns the properties of standard output.
    pub(crate) fn stdout() -> Self {
        let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        Self {
            has_colors: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            is_ascii: is_ascii(),
            columns: columns.or_else(|| {
                terminal_size::terminal_size_of(io::stdout()).map(|(terminal_size::Width(columns), _)| columns.into())
            }),
        }
    }

    /// Returns how many of `most` columns there are.
    pub(crate) fn columns_of(self, most: usize) -> usize {
        self.columns.map_or(most, |available| available.min(most))
    }

    /// Returns whether lines of this length fit.
    pub(crate) fn fits(self, columns: usize) -> bool {
        self.columns.is_none_or(|available| columns <= available)
    }
}

/// Returns whether the environment asks for ASCII: a terminal without features, or a locale without UTF-8.
fn is_ascii() -> bool {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    if variable("TERM").is_some_and(|term| term == "dumb") {
        return true;
    }
    // POSIX: the first of these that is set. Without any of them, the locale is "C". Windows does not use them.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable).unwrap_or_else(|| "C".into());
    let locale = locale.to_ascii_lowercase();
    cfg!(unix) && !["utf-8", "utf8"].iter().any(|charset| locale.contains(charset))
}
