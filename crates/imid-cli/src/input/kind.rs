//! The format of the input.

use std::path::Path;

use clap::ValueEnum;

/// The format of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// JSON objects or IDs, one per line
    Lines,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// A Parquet file
    Parquet,
    /// An Arrow IPC file or stream
    Arrow,
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
            Self::Lines | Self::Parquet | Self::Arrow => None,
            Self::Csv => Some(b','),
            Self::Tsv => Some(b'\t'),
        }
    }
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
