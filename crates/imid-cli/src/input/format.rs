//! The format of the input, and the arguments that name it.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::{Input, source};
use crate::report::Stop;

/// The format of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// JSON objects or IDs, one per line
    Lines,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// Semicolon-separated values with a header, as spreadsheets write where the comma is the decimal separator
    Ssv,
}

impl Kind {
    /// Returns the given format, or the format that the name of the file shows, such as `chat.csv.gz`.
    pub(crate) fn of(given: Option<Self>, file: Option<&Path>) -> Self {
        let name = file.and_then(Path::file_name).unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        given.unwrap_or_else(|| match Path::new(name).extension() {
            Some(extension) if extension == "csv" => Self::Csv,
            Some(extension) if extension == "tsv" => Self::Tsv,
            _ => Self::Lines,
        })
    }

    /// Returns the byte between two fields, or `None` for lines.
    pub(crate) const fn delimiter(self) -> Option<u8> {
        match self {
            Self::Lines => None,
            Self::Csv => Some(b','),
            Self::Tsv => Some(b'\t'),
            Self::Ssv => Some(b';'),
        }
    }
}

/// The argument that names the format of the input.
#[derive(clap::Args)]
pub(crate) struct KindArg {
    /// Format of the input [default: csv or tsv if the name of FILE says so, such as chat.csv.gz, otherwise lines]
    #[arg(long = "in", value_name = "FORMAT")]
    pub(crate) kind: Option<Kind>,
}

/// The arguments that name the input of a command.
#[derive(clap::Args)]
pub(crate) struct InputArgs {
    /// File to read; without a file, or with -, standard input is read
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    format: KindArg,
}

impl InputArgs {
    /// Returns the file, or `None` for standard input.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Opens the file or standard input. On a terminal, `what` says what a person can type as lines.
    pub(crate) fn open(&self, what: &str) -> Result<Opened, Stop> {
        open(self.file(), self.format.kind, what)
    }
}

/// The arguments that name several files.
#[derive(clap::Args)]
pub(crate) struct FilesArgs {
    /// Files to read; without a file, or with -, standard input is read
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) format: KindArg,
}

impl FilesArgs {
    /// Returns the files; `None` is standard input.
    pub(crate) fn paths(&self) -> Vec<Option<&Path>> {
        paths(&self.files)
    }
}

/// Returns the files that a command reads; `None` is standard input.
pub(crate) fn paths(files: &[PathBuf]) -> Vec<Option<&Path>> {
    if files.is_empty() {
        return vec![None];
    }
    files.iter().map(|path| Some(path.as_path()).filter(|path| path.as_os_str() != "-")).collect()
}

/// Opens a file, or standard input if there is no path.
pub(crate) fn open(path: Option<&Path>, given: Option<Kind>, what: &str) -> Result<Opened, Stop> {
    let delimiter = Kind::of(given, path).delimiter();
    let (source, name) = source(path, if delimiter.is_some() { "a table with a header" } else { what })?;
    let input = Input::new(source, name)?;
    Ok(match delimiter {
        Some(delimiter) => Opened::Records(input, delimiter),
        None => Opened::Lines(input.without_mark()),
    })
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
