//! A register in a file, for the processes of one machine.
//!
//! ```text
//! imid-register/1 machine=3d1219c7c4c5404aaa1f6d2a48adfda4
//! lanes/meta imid-lease/1 meta version=1 ...
//! lanes/1/00000 imid-lease/1 lane version=17 ...
//! sum=8c5c3cdd2d1b8f0a
//! ```
//!
//! A write creates a new file, syncs it, renames it over the old one, and syncs the folder, so the file is always complete, either
//! old or new. The lock is a separate file, `NAME.lock`, which is never replaced: a lock on a file that is renamed away would let
//! two processes in.

mod lock;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use imid_lease_protocol::register::{check_key, check_prefix, check_write};

use super::{DEFAULT_TIME_LIMIT, Promise, Register, RegisterError, place};
use lock::Lock;

/// What the first line begins with.
const FORMAT: &str = "imid-register/1";

/// A register in a file, for the processes of one machine.
///
/// | | [`owned`](Self::owned) | [`shared`](Self::shared) |
/// | --- | --- | --- |
/// | who uses it | one process | several processes of one machine |
/// | the lock is held | until the register is dropped or the process exits; each call takes a second one | during each call |
/// | another process | is refused immediately | waits, for at most the time limit |
///
/// **Strong** on Linux and Android: a write is on disk before it is acknowledged, as long as the disk does not lie. If the folder
/// cannot be synced, the outcome is unknown. A forked child inherits no lock. **Weak** elsewhere, because a network file system
/// cannot be told from a local one there, and Windows cannot sync a folder.
///
/// Refused are a file on a network file system, a file with a wrong checksum, a file with several names (hard links), and a file
/// that another machine wrote, where both machines have an ID (`/etc/machine-id`). A file on a disk that does not survive a restart
/// of the machine or container cannot be detected.
#[derive(Debug)]
pub struct FileRegister {
    path: PathBuf,
    time_limit: Duration,
    /// Held for life by the one owner.
    lock: Option<Lock>,
    allows_another_machine: bool,
    is_read_only: bool,
}

impl FileRegister {
    /// Opens a register for this process alone. The file is created if it does not exist; its folder must exist.
    ///
    /// # Errors
    /// Another process, or another register of this process, uses the file; or as for [`shared`](Self::shared).
    pub fn owned(path: impl AsRef<Path>) -> Result<Self, RegisterError> {
        Self::open(path.as_ref(), false)?.locked_for_life()
    }

    /// Opens a register for several processes of one machine. The file is created with the first record; its folder
    /// must exist.
    ///
    /// # Errors
    /// The folder does not exist or cannot be written to; the file is on a network file system, has a wrong checksum,
    /// or was written by another machine.
    pub fn shared(path: impl AsRef<Path>) -> Result<Self, RegisterError> {
        Self::open(path.as_ref(), false)
    }

    fn open(path: &Path, allows_another_machine: bool) -> Result<Self, RegisterError> {
        let failed = |error: io::Error| {
            RegisterError::new(format!("cannot use {} as a register", path.display())).caused_by(error)
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name =
            path.file_name().ok_or_else(|| failed(io::Error::other("expected a path that ends in a file name")))?;
        // One path for each file, whatever folder the process changes to.
        let path = fs::canonicalize(folder).map_err(failed)?.join(name);
        let path = the_only_name(path).map_err(failed)?;
        let time_limit = DEFAULT_TIME_LIMIT;
        let register = Self { path, time_limit, lock: None, allows_another_machine, is_read_only: false };
        if let Some(kind) =
            place::network_file_system(register.folder()).map_err(|e| register.failed("cannot open", e))?
        {
            let wrong = io::Error::other(format!("expected a local file system, found {kind}"));
            return Err(register.failed("cannot use", wrong));
        }
        register.load()?;
        Ok(register)
    }

    /// Opens a register read-only. It takes no lock and creates nothing: a reader always finds a complete file, because a write
    /// replaces it. Each write is an error.
    ///
    /// # Errors
    /// As for [`shared`](Self::shared).
    pub fn read_only(path: impl AsRef<Path>) -> Result<Self, RegisterError> {
        let mut register = Self::shared(path)?;
        register.is_read_only = true;
        Ok(register)
    }

    /// Sets how long a call waits for other processes. Default: 2 s.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Opens a file that another machine wrote, and makes it this machine's with the first write.
    ///
    /// Only for a disk that was moved. If the other machine still has the file or a copy of it, both will mint the same
    /// IDs.
    ///
    /// # Errors
    /// As for [`owned`](Self::owned), except for the machine.
    pub fn owned_from_another_machine(path: impl AsRef<Path>) -> Result<Self, RegisterError> {
        let path = path.as_ref();
        match Self::owned(path) {
            Err(error) if error.is_another_machine() => {}
            other => return other,
        }
        let mut register = Self::open(path, true)?.locked_for_life()?;
        let records = register.load()?;
        register.store(&records)?;
        register.allows_another_machine = false;
        Ok(register)
    }

    fn locked_for_life(mut self) -> Result<Self, RegisterError> {
        let lock = Lock::acquire(&self.lock_path());
        self.lock = Some(lock.map_err(|error| self.failed("expected no other user of", error))?);
        Ok(self)
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    fn lock_path(&self) -> PathBuf {
        with_suffix(&self.path, ".lock")
    }

    fn failed(&self, what: &str, error: io::Error) -> RegisterError {
        RegisterError::new(format!("{what} {}", self.path.display())).caused_by(error)
    }

    /// Runs a call while no other process is in one.
    fn locked<T>(&self, call: impl FnOnce() -> Result<T, RegisterError>) -> Result<T, RegisterError> {
        if self.is_read_only {
            return call();
        }
        let path = self.lock_path();
        let end = Instant::now() + self.time_limit;
        let failed = |error| self.failed("cannot lock", error);
        let held;
        let lock = if let Some(lock) = &self.lock {
            lock
        } else {
            held = lock::wait(end, || Lock::acquire(&path)).map_err(failed)?;
            &held
        };
        let _call = lock::wait(end, || lock.begin_call()).map_err(failed)?;
        // Without its file the lock keeps no one out. If it was lost during the call, another process may have loaded what this
        // one has replaced, and replaces it in turn.
        let check = || match lock.is_of(&path) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let gone = io::Error::other(format!("expected the lock file {} to stay in its place", path.display()));
                Err(self.failed("cannot use", gone))
            }
            Err(error) => Err(failed(error)),
        };
        check()?;
        let result = call()?;
        check()?;
        Ok(result)
    }

    /// Reads all records.
    fn load(&self) -> Result<BTreeMap<String, String>, RegisterError> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(self.failed("cannot read", error)),
        };
        let wrong = |what: String| self.failed("cannot use", io::Error::new(ErrorKind::InvalidData, what));
        // Nothing of another file is shown: it can have secrets.
        if !text.starts_with(FORMAT) && !FORMAT.starts_with(&*text) {
            return Err(wrong(format!("expected a register, which begins with `{FORMAT}`, found another file")));
        }
        let sum_at = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
        let (body, last) = text.split_at(sum_at);
        let expected = format!("sum={:016x}\n", checksum(body));
        if last != expected {
            let found = last.trim_end();
            return Err(wrong(format!(
                "expected the checksum {:?}, found {found:?}: the file is torn or was edited",
                expected.trim_end()
            )));
        }
        let mut lines = body.lines();
        let first = lines.next().unwrap_or_default();
        let Some(machine) = first.strip_prefix(FORMAT).and_then(|rest| rest.strip_prefix(" machine=")) else {
            return Err(wrong(format!("expected the format `{FORMAT}`, found {first:?}")));
        };
        let here = place::machine();
        if place::is_another(machine, &here) && !self.allows_another_machine {
            let what = format!("expected a file of this machine ({here}), found one of the machine {machine}");
            return Err(wrong(what).of_another_machine());
        }
        let record = |line: &str| line.split_once(' ').map(|(key, value)| (key.to_owned(), value.to_owned()));
        lines
            .map(|line| record(line).ok_or_else(|| wrong(format!("expected a key and a record, found {line:?}"))))
            .collect()
    }

    /// Replaces the file.
    fn store(&self, records: &BTreeMap<String, String>) -> Result<(), RegisterError> {
        let mut text = format!("{FORMAT} machine={}\n", place::machine());
        for (key, value) in records {
            text.extend([key, " ", value, "\n"]);
        }
        let sum = format!("sum={:016x}\n", checksum(&text));
        text.push_str(&sum);
        let new = with_suffix(&self.path, ".new");
        let write = || -> io::Result<()> {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &self.path)?;
            sync_folder(self.folder())
        };
        write().map_err(|error| self.failed("cannot write", error))
    }
}

impl Register for FileRegister {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        check_key(key)?;
        self.locked(|| Ok(self.load()?.remove(key)))
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        check_prefix(prefix)?;
        let records = self.locked(|| self.load())?;
        Ok(records.into_iter().filter(|(key, _)| key.starts_with(prefix)).collect())
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        check_write(self.is_read_only, key, seen, value)?;
        self.locked(|| {
            let mut records = self.load()?;
            if records.get(key).map(String::as_str) != seen {
                return Ok(false);
            }
            records.insert(key.into(), value.into());
            self.store(&records)?;
            Ok(true)
        })
    }

    /// A file has no clock.
    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        Ok(None)
    }

    fn creates_missing_spaces(&self) -> bool {
        true
    }

    fn promise(&self) -> Promise {
        place::promise()
    }
}

/// Follows links to a file, and refuses one that has several names: each name would have a separate lock.
fn the_only_name(path: PathBuf) -> io::Result<PathBuf> {
    let real = match fs::canonicalize(&path) {
        Ok(real) => real,
        Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(&path).is_err() => return Ok(path),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(io::Error::other("expected a file or a free name, found a link to a file that does not exist"));
        }
        Err(error) => return Err(error),
    };
    let metadata = fs::metadata(&real)?;
    if metadata.is_dir() {
        return Err(io::Error::other("expected a file, found a folder"));
    }
    #[cfg(unix)]
    {
        let names = std::os::unix::fs::MetadataExt::nlink(&metadata);
        if names > 1 {
            return Err(io::Error::other(format!(
                "expected a file with one name, found one with {names} (hard links)"
            )));
        }
    }
    Ok(real)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes a rename last.
fn sync_folder(folder: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened as a file.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// FNV-1a of 64 bits. It notices a file that lost a part, not a forged one.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_whose_lock_file_was_deleted_meanwhile_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let mut register = FileRegister::shared(folder.path().join("ids")).unwrap();
        assert!(register.compare_and_set("a", None, "1").unwrap());
        let written = register.locked(|| {
            let mut records = register.load()?;
            fs::remove_file(register.lock_path()).unwrap();
            // Another process locks the new file, and loads the same records.
            let other = Lock::acquire(&register.lock_path());
            records.insert("a".into(), "2".into());
            register.store(&records)?;
            drop(other);
            Ok(true)
        });
        let error = format!("{:#}", written.unwrap_err());
        assert!(error.contains("expected the lock file") && error.contains("to stay in its place"), "{error}");
        assert_eq!(register.read("a").unwrap().as_deref(), Some("2"), "it was written, and could have been replaced");
    }
}
