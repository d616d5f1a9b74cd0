//! The format of the input, and the arguments that name it and the files.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::{Input, TAB};
use crate::report::Stop;

/// The format of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// JSON objects or IDs, one per line
    Lines,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header, as databases write them: with escapes such as \t and \N, without quotes
    Tsv,
    /// Semicolon-separated values with a header, as spreadsheets write where the comma is the decimal separator
    Ssv,
}

impl Kind {
    /// Returns the given format, or the format that the name of the file shows, such as `chat.csv.gz`.
    fn of(given: Option<Self>, file: Option<&Path>) -> Self {
        let name = file.and_then(Path::file_name).unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        given.unwrap_or_else(|| match Path::new(name).extension() {
            Some(extension) if extension == "csv" => Self::Csv,
            Some(extension) if extension == "tsv" => Self::Tsv,
            _ => Self::Lines,
        })
    }

    /// Returns the byte between two fields, or `None` for lines.
    const fn delimiter(self) -> Option<u8> {
        match self {
            Self::Lines => None,
            Self::Csv => Some(b','),
            Self::Tsv => Some(TAB),
            Self::Ssv => Some(b';'),
        }
    }
}

/// The argument that names the format of the input.
#[derive(clap::Args)]
pub(crate) struct KindArg {
    /// Format of the input [default: csv or tsv if the name of FILE says so, such as chat.csv.gz, otherwise lines]
    #[arg(long = "in", value_name = "FORMAT")]
    kind: Option<Kind>,
}

impl KindArg {
    /// Opens a file, or standard input if there is no path. On a terminal, `what` says what a person can type as lines.
    pub(crate) fn open(&self, path: Option<&Path>, what: &str) -> Result<Opened, Stop> {
        Ok(match Kind::of(self.kind, path).delimiter() {
            Some(delimiter) => Opened::Records(Input::open(path, "a table with a header")?, delimiter),
            None => Opened::Lines(Input::open(path, what)?.without_mark()),
        })
    }
}

/// Returns the file that an argument names, or `None` for standard input.
pub(crate) fn file(argument: &Path) -> Option<&Path> {
    Some(argument).filter(|path| path.as_os_str() != "-")
}

/// Returns the files that a command reads; `None` is standard input.
pub(crate) fn files(arguments: &[PathBuf]) -> Vec<Option<&Path>> {
    if arguments.is_empty() { vec![None] } else { arguments.iter().map(|path| file(path)).collect() }
}

/// An input, by the way in which it is read.
pub(crate) enum Opened {
    Lines(Input),
    /// Records, and the byte between two fields.
    Records(Input, u8),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_shows_its_format() {
        let of = |name: &str| Kind::of(None, Some(Path::new(name)));
        for (name, kind) in [
            ("chat.csv", Kind::Csv),
            ("a/chat.tsv", Kind::Tsv),
            ("chat.CSV.gz", Kind::Csv),
            ("chat.tsv.zst", Kind::Tsv),
            ("chat.jsonl", Kind::Lines),
            ("chat", Kind::Lines),
            ("csv", Kind::Lines),
            ("chat.csv.jsonl.gz", Kind::Lines),
        ] {
            assert_eq!(of(name), kind, "{name}");
        }
        assert_eq!(Kind::of(Some(Kind::Lines), Some(Path::new("chat.csv"))), Kind::Lines);
        assert_eq!(Kind::of(None, None), Kind::Lines);
    }
}
