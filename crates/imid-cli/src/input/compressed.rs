//! Finds compressed input by its first bytes, and decompresses it.

use std::io::{self, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// Where the bytes come from.
pub(super) type Source = Box<dyn Read>;

/// What the first bytes show.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Start {
    Plain,
    Gzip,
    Zstd,
    /// A format that is not read: its name, and the program that turns it into text.
    Foreign(&'static str, &'static str),
    /// More bytes are needed.
    TooShort,
}

const DUCKDB: &str = "DuckDB writes its rows as JSON lines, see docs/MIGRATING.md";

/// The first bytes of formats.
const SIGNS: [(&[u8], Start); 10] = [
    (&[0x1f, 0x8b], Start::Gzip),
    (&[0x28, 0xb5, 0x2f, 0xfd], Start::Zstd),
    (b"\xfd7zXZ\0", Start::Foreign("xz data", "decompress it with xz -dc")),
    (b"BZh91A", Start::Foreign("bzip2 data", "decompress it with bzip2 -dc")),
    (b"PK\x03\x04", Start::Foreign("a zip archive", "extract it with unzip -p")),
    // The byte after the name starts the first page. An ID of RongCloud can start with the name.
    (b"PAR1\x15", Start::Foreign("a Parquet file", DUCKDB)),
    (b"ARROW1", Start::Foreign("an Arrow file", DUCKDB)),
    (&[0xff; 4], Start::Foreign("an Arrow stream", DUCKDB)),
    (&[0xff, 0xfe], Start::Foreign("UTF-16", "convert it with iconv -f UTF-16 -t UTF-8")),
    (&[0xfe, 0xff], Start::Foreign("UTF-16", "convert it with iconv -f UTF-16 -t UTF-8")),
];

/// The length of the longest sign.
const SIGN_LEN: usize = 6;

/// Returns the source, decompressed if its first bytes are those of gzip or zstd. Other binary formats are errors.
pub(super) fn decompressed(mut source: Source) -> io::Result<Source> {
    let (mut head, mut len) = ([0; SIGN_LEN], 0);
    // Reads no more than it needs, because the source can be a slow writer.
    while start(&head[..len]) == Start::TooShort && len < SIGN_LEN {
        match read_some(&mut source, &mut head[len..])? {
            0 => break,
            n => len += n,
        }
    }
    let start = start(&head[..len]);
    let whole = Cursor::new(head[..len].to_vec()).chain(source);
    Ok(match start {
        Start::Plain | Start::TooShort => Box::new(whole),
        Start::Gzip => Box::new(Named("gzip", MultiGzDecoder::new(BufReader::with_capacity(1 << 16, whole)))),
        Start::Zstd => Box::new(Named("zstd", zstd::Decoder::new(whole)?)),
        Start::Foreign(name, hint) => {
            return Err(io::Error::other(format!("expected text, gzip or zstd, found {name}: {hint}")));
        }
    })
}

fn start(head: &[u8]) -> Start {
    if let Some((_, start)) = SIGNS.iter().find(|(sign, _)| head.starts_with(sign)) {
        return *start;
    }
    match head {
        // A frame to skip, which some writers of zstd put first.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Start::Zstd,
        [0x50..=0x5f] | [0x50..=0x5f, 0x2a] | [0x50..=0x5f, 0x2a, 0x4d] => Start::TooShort,
        _ if SIGNS.iter().any(|(sign, _)| sign.starts_with(head)) => Start::TooShort,
        _ => Start::Plain,
    }
}

/// Reads once. An interrupted call is repeated.
pub(crate) fn read_some(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// A decompressor whose errors name the format.
struct Named<R>(&'static str, R);

impl<R: Read> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other(format!("the {} data ends early", self.0)),
            io::ErrorKind::Interrupted => error,
            _ => io::Error::other(format!("the {} data is damaged: {error}", self.0)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;

    use super::*;

    /// Returns one byte per read.
    struct Slow(Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = buffer.len().min(1);
            self.0.read(&mut buffer[..n])
        }
    }

    fn read(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut read = Vec::new();
        let source = decompressed(Box::new(Slow(Cursor::new(bytes.to_vec())))).map_err(|error| error.to_string())?;
        BufReader::new(source).read_to_end(&mut read).map_err(|error| error.to_string())?;
        Ok(read)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        // Without it, a damaged byte can be read as another one.
        encoder.include_checksum(true).unwrap();
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn plain_input_is_not_changed() {
        for plain in [
            "",
            "{",
            "{}\n",
            "(",
            "P",
            "P*",
            "P*M",
            "P*Mx",
            "PAR1",
            "PAR1-A62U-32C4-01I2\n",
            "ARROW-1",
            "BZh9",
            "PK",
            "\u{1f}",
            "abcdefgh",
        ] {
            assert_eq!(read(plain.as_bytes()), Ok(plain.into()), "{plain:?}");
        }
        assert_eq!(read(&[0x28, 0xb5, 0x2f]), Ok(vec![0x28, 0xb5, 0x2f]));
    }

    #[test]
    fn other_binary_formats_are_errors_with_a_hint() {
        for (bytes, found) in [
            (&b"PAR1\x15\x04"[..], "a Parquet file: DuckDB writes its rows as JSON lines, see docs/MIGRATING.md"),
            (b"ARROW1\0\0", "an Arrow file: DuckDB writes its rows as JSON lines, see docs/MIGRATING.md"),
            (b"\xff\xff\xff\xff\x10", "an Arrow stream: DuckDB writes its rows as JSON lines, see docs/MIGRATING.md"),
            (b"\xfd7zXZ\0\0", "xz data: decompress it with xz -dc"),
            (b"BZh91AY&SY", "bzip2 data: decompress it with bzip2 -dc"),
            (b"PK\x03\x04\x14", "a zip archive: extract it with unzip -p"),
            (b"\xff\xfe{\0", "UTF-16: convert it with iconv -f UTF-16 -t UTF-8"),
            (b"\xfe\xff\0{", "UTF-16: convert it with iconv -f UTF-16 -t UTF-8"),
        ] {
            assert_eq!(read(bytes), Err(format!("expected text, gzip or zstd, found {found}")), "{bytes:?}");
        }
    }

    #[test]
    fn compressed_input_of_several_parts_is_read_to_its_end() {
        let text = b"{\"a\":1}\n".repeat(10_000);
        let skipped = [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        assert_eq!(read(&[gzip(&text), gzip(b"x")].concat()), Ok([&text[..], b"x"].concat()));
        assert_eq!(read(&[&skipped, &zstd(&text)[..], &zstd(b"x")].concat()), Ok([&text[..], b"x"].concat()));
    }

    #[test]
    fn damaged_or_incomplete_input_is_an_error() {
        for (name, packed) in [("gzip", gzip(&b"text ".repeat(999))), ("zstd", zstd(&b"text ".repeat(999)))] {
            // The shortest beginning that is recognized has four bytes.
            for len in 4..packed.len() {
                assert_eq!(read(&packed[..len]), Err(format!("the {name} data ends early")), "{len} bytes");
            }
            let mut damaged = packed.clone();
            damaged[packed.len() / 2] ^= 0x55;
            let error = read(&damaged).map(|text| text.len()).unwrap_err();
            assert!(error.starts_with(&format!("the {name} data ")), "{error}");
        }
        assert!(
            read(&[gzip(b"x"), b"text that is not compressed".to_vec()].concat())
                .unwrap_err()
                .starts_with("the gzip data is damaged")
        );
    }
}
