//! Opens input whose format its name or its first bytes show.

use std::io;
use std::path::{Path, PathBuf};

use super::compressed::{Source, read_head};
use super::{Input, Kind, source};
use crate::report::Stop;

/// The arguments that name the input of a command.
#[derive(clap::Args)]
pub(crate) struct InputArgs {
    /// File to read; without a file, or with -, standard input is read
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Format of the input [default: parquet or arrow if the first bytes show it, csv or tsv if the name of FILE shows
    /// it, such as chat.csv.gz, otherwise lines]
    #[arg(long = "in", value_name = "FORMAT")]
    kind: Option<Kind>,
}

impl InputArgs {
    /// Returns the file, or `None` for standard input.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Opens the file or standard input. Without a given format, recognizes Parquet and Arrow by their first bytes.
    pub(crate) fn open(&self) -> Result<Opened, Stop> {
        open(self.file(), self.kind)
    }
}

/// An input, by the way in which it is read.
pub(crate) enum Opened {
    Lines(Input),
    /// Records, and the byte between two fields.
    Records(Input, u8),
    #[cfg(feature = "parquet")]
    Table(crate::columnar::Reader),
}

/// What the first bytes show.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Start {
    Text,
    Parquet,
    ArrowFile,
    ArrowStream,
    /// More bytes are needed.
    TooShort,
}

/// Number of bytes that are enough to decide.
const HEAD: usize = 6;

const ARROW_FILE: &[u8] = b"ARROW1";
/// In front of each message of a stream.
const ARROW_STREAM: &[u8] = &[0xff; 4];
const PARQUET: &[u8] = b"PAR1";

fn open(path: Option<&Path>, given: Option<Kind>) -> Result<Opened, Stop> {
    let (mut source, name) = source(path)?;
    if matches!(given, None | Some(Kind::Arrow)) {
        let (head, whole) = peek(source).map_err(|error| Stop::Error(format!("cannot read {name}: {error}")))?;
        source = whole;
        match head {
            Start::ArrowFile => return open_table(head, source, path, &name),
            // A stream of an old writer has no sign at its start.
            _ if given.is_some() => return open_table(Start::ArrowStream, source, path, &name),
            Start::Parquet | Start::ArrowStream => return open_table(head, source, path, &name),
            Start::Text | Start::TooShort => {}
        }
    }
    let kind = Kind::of(given, path);
    if kind == Kind::Parquet {
        return open_table(Start::Parquet, source, path, &name);
    }
    let input = Input::new(source, name)?;
    Ok(match kind.delimiter() {
        Some(delimiter) => Opened::Records(input, delimiter),
        None => Opened::Lines(input),
    })
}

#[cfg(feature = "parquet")]
fn open_table(start: Start, source: Source, path: Option<&Path>, name: &str) -> Result<Opened, Stop> {
    use crate::columnar::{Format, Reader};

    let format = match start {
        Start::Parquet => Format::Parquet,
        Start::ArrowFile => Format::ArrowFile,
        _ => Format::ArrowStream,
    };
    // A file that is not a pipe can be read from its end.
    let file = path.filter(|path| path.is_file()).and_then(|path| std::fs::File::open(path).ok());
    Reader::open(format, source, file, name.to_owned()).map(Opened::Table)
}

#[cfg(not(feature = "parquet"))]
fn open_table(start: Start, _: Source, _: Option<&Path>, name: &str) -> Result<Opened, Stop> {
    let format = if start == Start::Parquet { "Parquet" } else { "Arrow" };
    Err(Stop::Error(format!("cannot read {name} as {format}: this tool was built without the feature `parquet`")))
}

/// Returns what the first bytes show, and the whole source.
fn peek(source: Source) -> io::Result<(Start, Source)> {
    let (head, whole) = read_head::<HEAD>(source, |head| start(head) == Start::TooShort)?;
    Ok((start(&head), whole))
}

fn start(head: &[u8]) -> Start {
    let is_start_of = |magic: &[u8]| magic.starts_with(head);
    match head.strip_prefix(PARQUET) {
        // An ID of RongCloud, or a line of four letters.
        Some([b'-' | b'\r' | b'\n', ..]) => Start::Text,
        Some([_, ..]) => Start::Parquet,
        _ if head.starts_with(ARROW_FILE) => Start::ArrowFile,
        _ if head.starts_with(ARROW_STREAM) => Start::ArrowStream,
        _ if is_start_of(PARQUET) || is_start_of(ARROW_FILE) || is_start_of(ARROW_STREAM) => Start::TooShort,
        _ => Start::Text,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_first_bytes_show_the_format() {
        for (head, expected) in [
            (&b"PAR1\x15"[..], Start::Parquet),
            (b"PAR1-2345", Start::Text),
            (b"PAR1\n", Start::Text),
            (b"PAR2", Start::Text),
            (b"ARROW1", Start::ArrowFile),
            (b"ARROW2", Start::Text),
            (b"\xff\xff\xff\xff\x10\x02", Start::ArrowStream),
            (b"\xff\xfe", Start::Text),
            (b"{", Start::Text),
            (b"\n", Start::Text),
            (b"", Start::TooShort),
            (b"P", Start::TooShort),
            (b"PAR1", Start::TooShort),
            (b"ARROW", Start::TooShort),
            (b"\xff\xff", Start::TooShort),
        ] {
            assert_eq!(start(head), expected, "{head:?}");
        }
    }

    #[test]
    fn no_byte_is_lost() {
        for text in ["", "P", "PAR1", "PAR1-2345-6789-ABCD\n", "ARROW", "ARROW-1", "EMAQ-2948-WCRV-T3DD\n"] {
            let (start, mut source) = peek(Box::new(text.as_bytes())).unwrap();
            let mut read = String::new();
            source.read_to_string(&mut read).unwrap();
            assert_eq!((start == Start::Text || start == Start::TooShort, read.as_str()), (true, text));
        }
    }
}
