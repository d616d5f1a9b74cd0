//! Standard output, or a file instead of it, with a large buffer. Only whole lines are written, so that a signal ends the output at the end of a
//! line.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use bstr::ByteSlice;
use imid_inspect::Id;

use crate::output_file::PartFile;

/// Number of bytes of output that are buffered before they are written.
const CAPACITY: usize = 1 << 16;

/// Standard output.
#[derive(Default)]
pub(crate) struct Out {
    buffer: Vec<u8>,
    /// The buffer has no line feed before this position.
    searched: usize,
}

/// A line of the input, and its ID.
#[derive(Clone, Copy)]
pub(crate) struct Tagged {
    pub(crate) line: u64,
    pub(crate) id: Id,
}

/// What was written.
pub(crate) struct Written {
    /// The last line that was given an ID.
    pub(crate) tagged: Option<Tagged>,
    /// The file that is written instead of standard output.
    pub(crate) file: Option<PartFile>,
}

/// Locked while a system call writes.
static WRITTEN: Mutex<Written> = Mutex::new(Written { tagged: None, file: None });

impl Out {
    /// Writes whole lines or records in one piece. `last` is the last one that has an ID, in these or before.
    pub(crate) fn write_tagged(&mut self, bytes: &[u8], last: Option<Tagged>) -> io::Result<()> {
        self.flush()?;
        send(bytes, last)
    }

    /// Returns how much of the buffer is written now: its whole lines, once it is full.
    fn ready(&mut self) -> usize {
        if self.buffer.len() < CAPACITY {
            return 0;
        }
        let line_end = self.buffer[self.searched..].rfind_byte(b'\n').map(|at| self.searched + at + 1);
        self.searched = self.buffer.len();
        line_end.unwrap_or(0)
    }

    /// Writes the first bytes of the buffer.
    fn send(&mut self, len: usize) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        self.searched = 0;
        send(&self.buffer[..len], None)?;
        self.buffer.drain(..len);
        Ok(())
    }
}

/// Writes bytes in one piece: a signal ends the tool before or after them.
fn send(bytes: &[u8], tagged: Option<Tagged>) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut written = written();
    if let Some(file) = &mut written.file {
        file.write_all(bytes)?;
    } else {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()?;
    }
    written.tagged = tagged;
    Ok(())
}

fn written() -> MutexGuard<'static, Written> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes to a file instead of standard output.
pub(crate) fn set_file(file: PartFile) {
    written().file = Some(file);
}

/// Returns the file, which is not written any more.
pub(crate) fn take_file() -> Option<PartFile> {
    written().file.take()
}

/// Returns the message for output that cannot be written.
pub(crate) fn cannot_write(error: &io::Error) -> String {
    let written = written();
    let name = written.file.as_ref().map_or_else(|| "standard output".into(), PartFile::name);
    format!("cannot write to {name}: {error}")
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.is_empty() && bytes.len() >= CAPACITY {
            // Large pieces are not copied.
            let lines = bytes.rfind_byte(b'\n').map_or(0, |at| at + 1);
            send(&bytes[..lines], None)?;
            self.buffer.extend_from_slice(&bytes[lines..]);
            return Ok(bytes.len());
        }
        self.buffer.extend_from_slice(bytes);
        let len = self.ready();
        self.send(len)?;
        Ok(bytes.len())
    }

    /// Writes the whole buffer, even if it ends within a line.
    fn flush(&mut self) -> io::Result<()> {
        self.send(self.buffer.len())
    }
}

/// Waits until no system call writes, and prevents further ones. Returns `None` if a write takes too long: the reader of
/// a pipe may have stopped.
pub(crate) fn pause() -> Option<MutexGuard<'static, Written>> {
    const PATIENCE: Duration = Duration::from_secs(1);
    let start = Instant::now();
    loop {
        match WRITTEN.try_lock() {
            Ok(written) => return Some(written),
            Err(TryLockError::Poisoned(error)) => return Some(error.into_inner()),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_is_written_up_to_its_last_line_end() {
        let mut out = Out { buffer: vec![b'x'; CAPACITY - 1], ..Out::default() };
        assert_eq!(out.ready(), 0, "not full");
        out.buffer.push(b'x');
        assert_eq!(out.ready(), 0, "no whole line");
        out.buffer.extend(b"x\ny\nz");
        assert_eq!(out.ready(), CAPACITY + 4);
        assert_eq!(out.searched, out.buffer.len());
    }
}
