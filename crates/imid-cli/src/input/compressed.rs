//! Finds compressed input by its first bytes, and decompresses it.

use std::io::{self, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// A reader that another thread can use.
pub(super) type Source = Box<dyn Read + Send>;

/// What the first bytes show.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    Plain,
    Gzip,
    Zstd,
    /// More bytes are needed.
    TooShort,
}

/// Returns the source, decompressed if its first bytes are those of gzip or zstd.
pub(super) fn decompressed(source: Source) -> io::Result<Source> {
    let (head, whole) = read_head::<4>(source, |head| start(head) == Start::TooShort)?;
    Ok(match start(&head) {
        Start::Plain | Start::TooShort => whole,
        Start::Gzip => Box::new(Named("gzip", MultiGzDecoder::new(BufReader::with_capacity(1 << 16, whole)))),
        Start::Zstd => Box::new(Named("zstd", zstd::Decoder::new(whole)?)),
    })
}

fn start(head: &[u8]) -> Start {
    match head {
        [0x1f, 0x8b, ..] => Start::Gzip,
        // A frame, or a frame to skip, which some writers put first.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Start::Zstd,
        []
        | [0x1f | 0x28 | 0x50..=0x5f]
        | [0x28, 0xb5]
        | [0x28, 0xb5, 0x2f]
        | [0x50..=0x5f, 0x2a]
        | [0x50..=0x5f, 0x2a, 0x4d] => Start::TooShort,
        _ => Start::Plain,
    }
}

/// Reads the first bytes of a source while they are too short to decide something, and at most `N`. Returns them and the
/// whole source.
///
/// Reads no more than it needs, because the source can be a slow writer.
pub(super) fn read_head<const N: usize>(
    mut source: Source,
    is_too_short: impl Fn(&[u8]) -> bool,
) -> io::Result<(Vec<u8>, Source)> {
    let (mut head, mut len) = ([0; N], 0);
    while is_too_short(&head[..len]) {
        match read_some(&mut source, &mut head[len..])? {
            0 => break,
            n => len += n,
        }
    }
    let head = head[..len].to_vec();
    Ok((head.clone(), Box::new(Cursor::new(head).chain(source))))
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
        for plain in ["", "{", "{}\n", "(", "P", "P*", "P*M", "P*Mx", "\u{1f}", "abcdefgh"] {
            assert_eq!(read(plain.as_bytes()), Ok(plain.into()), "{plain:?}");
        }
        assert_eq!(read(&[0x28, 0xb5, 0x2f]), Ok(vec![0x28, 0xb5, 0x2f]));
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
