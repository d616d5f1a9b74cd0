//! What workers write: files of IDs, ten bytes each, in the order in which one generator minted them; and counts.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use imid::MessageId;

/// How many IDs are written at once.
const GROUP: usize = 16;

/// Where one generator's IDs go. They are written in small groups, so a killed process has kept a few IDs to itself.
pub(crate) struct Output {
    file: File,
    group: Vec<u8>,
}

impl Output {
    /// Creates a file of its own. `kind` is part of its name.
    pub(crate) fn create(folder: &Path, kind: &str) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // A PID can come again after a while.
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let name = format!("{kind}-{}-{time}-{}.ids", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Ok(Self { file: File::create_new(folder.join(name))?, group: Vec::new() })
    }

    pub(crate) fn write(&mut self, id: MessageId) -> io::Result<()> {
        self.group.extend(id.to_bytes());
        if self.group.len() < GROUP * MessageId::BYTE_LEN { Ok(()) } else { self.flush() }
    }

    /// Writes what is left.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.group)?;
        self.group.clear();
        Ok(())
    }
}

/// What workers count, because only they see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A child that was forked has tried to mint.
    Forked,
    /// No lane was free.
    NoLane,
    /// The store did not answer, or its answer was not usable.
    NoAnswer,
    /// A lease ended for good although nobody closed it.
    Ended,
}

impl Event {
    /// Adds one. Each event is a byte in a file to which all workers append, so that a killed process loses no count.
    pub(crate) fn count(self, folder: &Path) -> io::Result<()> {
        File::options().create(true).append(true).open(self.path(folder))?.write_all(b".")
    }

    /// Returns how often all workers counted it.
    pub(crate) fn counted(self, folder: &Path) -> u64 {
        fs::metadata(self.path(folder)).map_or(0, |file| file.len())
    }

    fn path(self, folder: &Path) -> PathBuf {
        folder.join(format!("{self:?}.count"))
    }
}

/// Lists the files of a folder.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ids") {
            files.push(path);
        }
    }
    Ok(files)
}

/// Reads the IDs of one file.
pub(crate) struct Ids(BufReader<File>);

impl Ids {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(BufReader::with_capacity(1 << 16, File::open(path)?)))
    }

    /// Returns the next ID as a number. An ID that was cut by a kill was not used by anyone.
    pub(crate) fn next(&mut self) -> io::Result<Option<u128>> {
        let mut bytes = [0; 16];
        match self.0.read_exact(&mut bytes[6..]) {
            Ok(()) => Ok(Some(u128::from_be_bytes(bytes))),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }
}
