//! Reads input in blocks of whole lines: lines are not copied, and memory does not grow with the input.

mod compressed;
mod escapes;
mod format;
mod records;

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::mem;
use std::path::Path;

use bstr::ByteSlice;

pub(crate) use self::compressed::read_some;
use self::compressed::{Source, decompressed};
pub(crate) use self::escapes::write as escape;
pub(crate) use self::format::{KindArg, Opened, file, files};
pub(crate) use self::records::{Header, Record, Records, TAB};
use crate::Out;
use crate::output_file::check_is_not_stdout;
use crate::report::{Stop, quote_path};

/// Number of bytes per read. They fit the second-level cache together with the output made from them.
const BLOCK: usize = 1 << 18;

/// The longest line that is read, in bytes with its line feed. It limits the memory. Messages are much shorter.
pub(crate) const MAX_LINE: usize = 1 << 26;

/// Lines of a file or of standard input. Compressed input is decompressed.
pub(crate) struct Input {
    /// The source before the first read, which shows whether it is compressed.
    unread: Option<Source>,
    source: Source,
    name: String,
    buffer: Vec<u8>,
    /// Bytes that were read but not returned yet are at `start..end` of the buffer. Before `searched` they have no line
    /// feed.
    start: usize,
    searched: usize,
    end: usize,
    /// A byte order mark that comes next is removed.
    is_before_mark: bool,
}

/// The byte order mark that some editors put in front of UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// A piece of the input.
pub(crate) enum Block<'a> {
    /// One or more whole lines, each with its line feed. The last line of the input may have none.
    Lines(&'a [u8]),
    /// A piece of a line of more than [`MAX_LINE`] bytes. If it is read in pieces, the last [`OVERLAP`] bytes also begin the next
    /// block, and otherwise the rest of the line is skipped.
    TooLong(&'a [u8]),
}

/// Number of bytes that two pieces of a line share. All forms of an ID, with what is around them, are shorter than half of it.
pub(crate) const OVERLAP: usize = 1 << 12;

impl Input {
    /// Opens a file, or standard input if there is no path. On a terminal, `what` says what a person can type.
    pub(crate) fn open(path: Option<&Path>, what: &str) -> Result<Self, Stop> {
        check_is_not_stdout(path)?;
        let Some(path) = path else {
            if io::stdin().is_terminal() {
                // If standard error cannot be written, the input still is read.
                let _ = writeln!(anstream::stderr(), "note: waiting for {what} on standard input; {END_KEY} ends it");
            }
            return Self::new(Box::new(io::stdin()), "standard input".into());
        };
        let name = quote_path(path);
        let file = File::open(path).map_err(|error| Stop::Error(format!("cannot open {name}: {error}")))?;
        Self::new(Box::new(file), name)
    }

    pub(crate) fn new(source: Source, name: String) -> Result<Self, Stop> {
        let mut buffer = Vec::new();
        grow(&mut buffer, BLOCK)?;
        Ok(Self {
            unread: Some(source),
            source: Box::new(io::empty()),
            name,
            buffer,
            start: 0,
            searched: 0,
            end: 0,
            is_before_mark: false,
        })
    }

    /// Removes a byte order mark at the start.
    pub(crate) fn without_mark(self) -> Self {
        Self { is_before_mark: true, ..self }
    }

    /// Calls `each` with each line and its number, from 1. For a line that is too long, it passes the error.
    ///
    /// Flushes the output before it waits for more input, so the result of each line of a slow writer is written
    /// immediately.
    pub(crate) fn each_line(
        mut self,
        out: &mut Out,
        mut each: impl FnMut(&mut Out, u64, Result<&[u8], String>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut number = 0;
        while let Some(block) = self.next(false)? {
            let (lines, too_long) = match block {
                Block::Lines(lines) => (lines, None),
                Block::TooLong(_) => (&[][..], Some(Err(too_long()))),
            };
            for line in lines.lines_with_terminator().map(Ok).chain(too_long) {
                number += 1;
                each(out, number, line)?;
            }
            out.flush()?;
        }
        Ok(())
    }

    /// Returns all whole lines that were read, or `None` at the end of the input. Reads a line that is too long in pieces, or skips
    /// it.
    ///
    /// Waits only if the buffer has no whole line, so the lines of a slow writer are returned one by one.
    pub(crate) fn next(&mut self, in_pieces: bool) -> Result<Option<Block<'_>>, Stop> {
        loop {
            if let Some(at) = self.buffer[self.searched..self.end].rfind_byte(b'\n') {
                let lines = self.after_mark()..self.searched + at + 1;
                (self.start, self.searched) = (lines.end, self.end);
                return Ok(Some(Block::Lines(&self.buffer[lines])));
            }
            self.searched = self.end;
            if self.end - self.start >= MAX_LINE {
                let piece = self.start..self.end;
                if in_pieces {
                    self.start = self.end - OVERLAP;
                    return Ok(Some(Block::TooLong(&self.buffer[piece])));
                }
                self.skip_line()?;
                return Ok(Some(Block::TooLong(&[])));
            }
            if self.read()? == 0 {
                let rest = self.after_mark()..self.end;
                self.start = self.end;
                return Ok((!rest.is_empty()).then_some(Block::Lines(&self.buffer[rest])));
            }
        }
    }

    /// Returns where the next line starts. The buffer has all of it.
    fn after_mark(&mut self) -> usize {
        let has_mark = mem::take(&mut self.is_before_mark) && self.buffer[self.start..self.end].starts_with(MARK);
        self.start + if has_mark { MARK.len() } else { 0 }
    }

    /// Drops the buffer and reads up to the next line feed or the end of the input.
    fn skip_line(&mut self) -> Result<(), Stop> {
        loop {
            self.start = self.end;
            let n = self.read()?;
            let line_feed = self.buffer[..self.end].find_byte(b'\n');
            if n == 0 || line_feed.is_some() {
                self.start = line_feed.map_or(self.end, |at| at + 1);
                self.searched = self.start;
                return Ok(());
            }
        }
    }

    /// Reads more into the buffer, which grows if it is full. Returns 0 at the end of the input.
    fn read(&mut self) -> Result<usize, Stop> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        (self.start, self.searched) = (0, self.end);
        if self.end == self.buffer.len() {
            grow(&mut self.buffer, self.end * 2)?;
        }
        let name = &self.name;
        let cannot_read = |error| Stop::Error(format!("cannot read {name}: {error}"));
        if let Some(source) = self.unread.take() {
            self.source = decompressed(source).map_err(cannot_read)?;
        }
        let read = read_some(&mut self.source, &mut self.buffer[self.end..]).map_err(cannot_read)?;
        self.end += read;
        Ok(read)
    }
}

/// The key that ends what a person types.
const END_KEY: &str = if cfg!(windows) { "Ctrl-Z and Enter" } else { "Ctrl-D" };

/// Makes a buffer larger.
fn grow(buffer: &mut Vec<u8>, len: usize) -> Result<(), Stop> {
    buffer.try_reserve_exact(len - buffer.len()).map_err(|_| Stop::out_of_memory())?;
    buffer.resize(len, 0);
    Ok(())
}

/// Returns a line without its `\n` or `\r\n`. The last line of the input may have neither.
pub(crate) fn trim_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns a line as text.
pub(crate) fn utf8(line: &[u8]) -> Result<&str, String> {
    str::from_utf8(line).map_err(|error| {
        let at = error.valid_up_to();
        format!("expected UTF-8, found byte 0x{:02x} at {at}", line[at])
    })
}

/// Returns the error for a line that is too long.
pub(crate) fn too_long() -> String {
    format!("expected a line of at most {MAX_LINE} bytes, found a longer one")
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io::Read;

    use super::*;

    /// Returns one piece per read, as a slow pipe does.
    struct Pieces(VecDeque<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(mut piece) = self.0.pop_front() else { return Ok(0) };
            let n = piece.len().min(buffer.len());
            buffer[..n].copy_from_slice(&piece[..n]);
            if n < piece.len() {
                self.0.push_front(piece.split_off(n));
            }
            Ok(n)
        }
    }

    /// Reads the pieces and asserts that they have these blocks. `None` is a line that is too long.
    fn assert_blocks(pieces: &[&[u8]], expected: &[Option<&[u8]>]) {
        let pieces = pieces.iter().map(|piece| piece.to_vec()).collect();
        let mut input = Input::new(Box::new(Pieces(pieces)), "pieces".into()).ok().unwrap();
        for (index, expected) in expected.iter().enumerate() {
            let block = match input.next(false) {
                Ok(Some(Block::Lines(lines))) => Some(lines),
                Ok(Some(Block::TooLong(_))) => None,
                _ => panic!("block {index} is missing"),
            };
            // Not `assert_eq`: some blocks are too long to print.
            assert!(block == *expected, "block {index}");
        }
        assert!(input.next(false).is_ok_and(|block| block.is_none()));
    }

    #[test]
    fn blocks_of_a_long_input_have_all_lines() {
        let lines: Vec<u8> = (0..200_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        for size in [7, 1_000, 99_999, BLOCK + 1] {
            let pieces = lines.chunks(size).map(<[u8]>::to_vec).collect();
            let mut input = Input::new(Box::new(Pieces(pieces)), "pieces".into()).ok().unwrap();
            let mut read = Vec::new();
            while let Ok(Some(Block::Lines(block))) = input.next(false) {
                assert!(block.ends_with(b"\n"));
                read.extend_from_slice(block);
            }
            assert!(read == lines, "pieces of {size}");
        }
    }

    #[test]
    fn blocks_hold_whole_lines_wherever_the_input_is_cut() {
        assert_blocks(&[], &[]);
        assert_blocks(&[b"a\nb\nc"], &[Some(b"a\nb\n"), Some(b"c")]);
        assert_blocks(&[b"a", b"b", b"\n", b"c\nd", b"\n"], &[Some(b"ab\n"), Some(b"c\n"), Some(b"d\n")]);
        assert_blocks(&[b"\n\n"], &[Some(b"\n\n")]);
    }

    #[test]
    fn a_line_larger_than_the_buffer_is_one_line() {
        let long = [vec![b'x'; 3 * BLOCK], b"\n".to_vec()].concat();
        assert_blocks(&[&long, b"y\n"], &[Some(&long), Some(b"y\n")]);
    }

    #[test]
    fn a_line_past_the_limit_is_skipped_and_the_next_ones_are_read() {
        let fits = [vec![b'x'; MAX_LINE - 1], b"\n".to_vec()].concat();
        let long = [vec![b'x'; MAX_LINE], b"\n".to_vec()].concat();
        let unfinished = &long[..MAX_LINE];
        assert_blocks(&[&fits, &long, b"y\nz\n", unfinished], &[Some(&fits), None, Some(b"y\nz\n"), None]);
    }
}
