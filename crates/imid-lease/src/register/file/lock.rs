//! The lock of a file register.
//!
//! It is a record lock of POSIX (`F_SETLK`), not a `flock`: a forked child does not inherit it, so it ends with the process
//! that took it, whatever children that process has. Such a lock does not keep two parts of one process apart, and it is
//! lost if the process closes the file anywhere. Therefore the process has one list of the files that it has locked, and
//! opens none of them twice.
//!
//! Other code of the process can do that: a scanner, a backup. Therefore each call also takes a `flock`, which belongs to the open
//! file. It is unlocked explicitly, so that a child that was forked during the call does not keep it.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::wait::lock;

/// The files that this process has locked.
static HELD: Mutex<BTreeSet<Identity>> = Mutex::new(BTreeSet::new());

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: Option<File>,
    identity: Identity,
}

impl Lock {
    /// Locks a file until the process ends or the lock is dropped. The file is created if there is none.
    pub(super) fn acquire(path: &Path) -> io::Result<Self> {
        let busy = |who: &str| io::Error::new(ErrorKind::WouldBlock, format!("found {who} that has locked it"));
        let mut held = lock(&HELD);
        // By name, before it is opened: to close it again would end the lock that another part of this process has.
        if let Some(identity) = identity(path)?
            && held.contains(&identity)
        {
            return Err(busy("another register of this process"));
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if !try_lock(&file)? {
            return Err(busy("another process"));
        }
        let lock = Self::of(file, path)?;
        held.insert(Identity::clone(&lock.identity));
        Ok(lock)
    }

    /// Describes a lock on an open file. The path may lead to another file by now.
    fn of(file: File, path: &Path) -> io::Result<Self> {
        Ok(Self { identity: identity_of(&file, path)?, file: Some(file) })
    }

    /// Returns whether the file at this path is still the one that is locked.
    pub(super) fn is_of(&self, path: &Path) -> io::Result<bool> {
        Ok(identity(path)?.as_ref() == Some(&self.identity))
    }

    /// Keeps other processes out of a call, also if the lock was lost.
    pub(super) fn begin_call(&self) -> io::Result<Call<'_>> {
        match &self.file {
            Some(file) if !try_lock_open_file(file)? => {
                Err(io::Error::new(ErrorKind::WouldBlock, "found another process in a call"))
            }
            file => Ok(Call(file.as_ref())),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let mut held = lock(&HELD);
        // Closed before the entry is removed, so that no one opens it in between.
        drop(self.file.take());
        held.remove(&self.identity);
    }
}

/// The lock of an open file, for one call.
pub(super) struct Call<'a>(Option<&'a File>);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            unlock_open_file(file);
        }
    }
}

/// Tries to lock until the time is over, as long as somebody else has a lock.
pub(super) fn wait<T>(end: Instant, mut try_lock: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match try_lock() {
            Err(error) if error.kind() == ErrorKind::WouldBlock && Instant::now() < end => {
                thread::sleep(end.saturating_duration_since(Instant::now()).min(Duration::from_millis(2)));
            }
            done => return done,
        }
    }
}

#[cfg(unix)]
use unix::{Identity, identity, identity_of, try_lock, try_lock_open_file, unlock_open_file};

#[cfg(unix)]
mod unix {
    use std::fs::{File, metadata};
    use std::io::{self, ErrorKind};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use rustix::fs::{FlockOperation, fcntl_lock, flock};
    use rustix::io::Errno;

    /// Device and number of a file.
    pub(super) type Identity = (u64, u64);

    pub(super) fn identity(path: &Path) -> io::Result<Option<Identity>> {
        match metadata(path) {
            Ok(found) => Ok(Some((found.dev(), found.ino()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn identity_of(file: &File, _path: &Path) -> io::Result<Identity> {
        file.metadata().map(|found| (found.dev(), found.ino()))
    }

    /// Returns whether the open file is locked now.
    pub(super) fn try_lock_open_file(file: &File) -> io::Result<bool> {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::AGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn unlock_open_file(file: &File) {
        // Closing it does the same, unless a forked child also has it.
        let _ = flock(file, FlockOperation::Unlock);
    }

    /// Returns whether the file is locked now.
    pub(super) fn try_lock(file: &File) -> io::Result<bool> {
        match fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
use elsewhere::{Identity, identity, identity_of, try_lock, try_lock_open_file, unlock_open_file};

#[cfg(not(unix))]
mod elsewhere {
    use std::fs::{File, TryLockError};
    use std::io;
    use std::path::{Path, PathBuf};

    /// The path, which a register makes canonical.
    pub(super) type Identity = PathBuf;

    pub(super) fn identity(path: &Path) -> io::Result<Option<Identity>> {
        Ok(Some(path.to_owned()))
    }

    pub(super) fn identity_of(_file: &File, path: &Path) -> io::Result<Identity> {
        Ok(path.to_owned())
    }

    /// The lock belongs to the open file already.
    pub(super) fn try_lock_open_file(_file: &File) -> io::Result<bool> {
        Ok(true)
    }

    pub(super) fn unlock_open_file(_file: &File) {}

    /// Returns whether the file is locked now.
    pub(super) fn try_lock(file: &File) -> io::Result<bool> {
        match file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// As a scanner or a backup in the same process does. Then the process has no record lock anymore.
    #[test]
    fn a_call_keeps_others_out_when_other_code_closes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.lock");
        let is_free = || try_lock_open_file(&File::open(&path).unwrap()).unwrap();
        let lock = Lock::acquire(&path).unwrap();
        assert!(is_free(), "between calls");
        let call = lock.begin_call().unwrap();
        drop(File::open(&path).unwrap());
        assert!(!is_free());
        // A child that was forked during the call.
        let copy = lock.file.as_ref().unwrap().try_clone().unwrap();
        drop(call);
        assert!(is_free());
        drop(copy);
        let open = File::open(&path).unwrap();
        assert!(try_lock_open_file(&open).unwrap());
        assert_eq!(lock.begin_call().err().map(|error| error.kind()), Some(ErrorKind::WouldBlock));
        drop(open);
        assert!(lock.begin_call().is_ok());
    }

    /// Otherwise it would lock the deleted file, and keep no one out of the new one.
    #[test]
    fn a_file_that_was_replaced_after_it_was_opened_is_not_the_locked_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.lock");
        let file = File::create(&path).unwrap();
        let new = folder.path().join("new");
        File::create(&new).unwrap();
        std::fs::rename(new, &path).unwrap();
        let lock = Lock::of(file, &path).unwrap();
        assert!(!lock.is_of(&path).unwrap());
        assert!(Lock::of(File::open(&path).unwrap(), &path).unwrap().is_of(&path).unwrap());
    }
}
