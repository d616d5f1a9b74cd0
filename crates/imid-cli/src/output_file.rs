//! Files that commands write. No command replaces an input, or a file that it did not write itself.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use same_file::Handle;

use crate::report::{Stop, quote, quote_path};

/// A file that is written beside its place, as `FILE.part`, and moved there when it is whole. A run that ends early leaves
/// the part. Another run writes the same bytes, which are compared with the part up to its end, and written from there.
pub(crate) struct PartFile {
    path: PathBuf,
    part: PathBuf,
    /// Its position is where it is compared or written: at its end, once all of it was compared.
    file: BufReader<File>,
    /// Number of bytes that were compared and are equal.
    equal: u64,
}

impl PartFile {
    /// Creates the part, or opens the one of an earlier run if there is one and `resume` is set.
    pub(crate) fn open(path: &Path, resume: bool, input: Option<&Path>) -> Result<Self, Stop> {
        if !is_free(path) {
            return Err(is_taken(path));
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let opened =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).create_new(!resume).open(&part);
        let file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let hint =
                    "an earlier run ended early; with its --seed, --resume continues it; without one, delete the file";
                Stop::Error(format!("{} exists: {hint}", quote_path(&part)))
            }
            _ => cannot_write(&part, &error),
        })?;
        if is_same_file(file.try_clone().and_then(Handle::from_file), open_input(input)) {
            return Err(is_input_and_output(Some(&part)));
        }
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(Stop::Error(format!("another process writes {}", quote_path(&part))));
            }
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let target = Self { path: path.to_owned(), part, file: BufReader::new(file), equal: 0 };
        // Another run can have finished the part before it was locked here, or deleted it, because it was empty.
        if !is_free(path) {
            return Err(is_taken(path));
        }
        if target.is_moved() {
            return Err(Stop::Error(format!("{} was deleted at this moment; run this again", target.name())));
        }
        Ok(target)
    }

    /// Returns whether the part has another name now, or none. Nobody moves it while it is locked.
    fn is_moved(&self) -> bool {
        let file = self.file.get_ref().try_clone().and_then(Handle::from_file);
        file.is_ok_and(|file| Handle::from_path(&self.part).map_or(true, |part| part != file))
    }

    /// Returns the name of the part for messages.
    pub(crate) fn name(&self) -> String {
        quote_path(&self.part)
    }

    /// Compares bytes with the part, and writes those after its end.
    ///
    /// # Errors
    /// The part has other bytes here, which is [`InvalidData`](io::ErrorKind::InvalidData), or it cannot be read or written.
    pub(crate) fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let part = self.file.fill_buf()?;
            if part.is_empty() {
                return self.file.get_mut().write_all(bytes);
            }
            let len = part.len().min(bytes.len());
            if part[..len] != bytes[..len] {
                let equal = part.iter().zip(bytes).take_while(|(part, made)| part == made).count();
                let [made, found] = [bytes, part].map(|text| quote(&text[equal..].to_str_lossy()));
                let at = self.equal + equal as u64;
                return Err(self.is_of_another_run(&format!("expected {made} at {at}, found {found}")));
            }
            self.file.consume(len);
            self.equal += len as u64;
            bytes = &bytes[len..];
        }
        Ok(())
    }

    fn is_of_another_run(&self, problem: &str) -> io::Error {
        let hint = "--resume needs the input and the options of the first run; or delete the file";
        io::Error::new(io::ErrorKind::InvalidData, format!("{} is of another run: {problem}; {hint}", self.name()))
    }

    /// Moves the file to its place.
    pub(crate) fn finish(mut self) -> Result<(), Stop> {
        let has_more = self.file.fill_buf().map(|rest| !rest.is_empty());
        if has_more.map_err(|error| cannot_write(&self.part, &error))? {
            let problem = format!("expected its end at {}, found more", self.equal);
            return Err(Stop::Error(self.is_of_another_run(&problem).to_string()));
        }
        // After a crash of the system, the file is also whole.
        self.file.get_ref().sync_all().map_err(|error| cannot_write(&self.part, &error))?;
        match move_to_free_name(&self.part, &self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(is_taken(&self.path)),
            moved => moved.map_err(|error| cannot_write(&self.path, &error)),
        }
    }
}

/// A run that wrote nothing leaves no part.
impl Drop for PartFile {
    fn drop(&mut self) {
        if self.file.get_ref().metadata().is_ok_and(|metadata| metadata.len() == 0) && !self.is_moved() {
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Gives a file another name. A file that has this name already is not replaced, even if it comes at the same moment, but for file systems
/// that cannot give a file a second name.
fn move_to_free_name(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => {
            // The file is whole under its name, even if the other one stays.
            let _ = fs::remove_file(from);
            Ok(())
        }
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && is_free(to) => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

/// Returns whether there is no file with this name.
fn is_free(path: &Path) -> bool {
    path.symlink_metadata().is_err()
}

fn is_taken(path: &Path) -> Stop {
    Stop::Error(format!("{} exists, and is not replaced", quote_path(path)))
}

/// Returns the error for an input that is also standard output, such as `imid tag F >> F`: it would grow without end. Without
/// a path, the input is standard input.
pub(crate) fn check_is_not_stdout(path: Option<&Path>) -> Result<(), Stop> {
    if is_same_file(Handle::stdout(), open_input(path)) { Err(is_input_and_output(path)) } else { Ok(()) }
}

/// Opens an input to compare it. A named pipe is not opened, because that would wait for its writer.
fn open_input(path: Option<&Path>) -> io::Result<Handle> {
    match path {
        Some(path) if path.metadata()?.is_file() => Handle::from_path(path),
        Some(_) => Err(io::ErrorKind::Unsupported.into()),
        None => Handle::stdin(),
    }
}

/// Returns whether both are one file. Two terminals are not files.
fn is_same_file(a: io::Result<Handle>, b: io::Result<Handle>) -> bool {
    let is_file = |handle: &Handle| handle.as_file().metadata().is_ok_and(|metadata| metadata.is_file());
    a.is_ok_and(|a| b.is_ok_and(|b| a == b && is_file(&a)))
}

fn is_input_and_output(path: Option<&Path>) -> Stop {
    Stop::Usage(format!("{} is the input and the output", path.map_or_else(|| "standard input".into(), quote_path)))
}

fn cannot_write(path: &Path, error: &io::Error) -> Stop {
    Stop::Error(format!("cannot write {}: {error}", quote_path(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_two_files_that_take_a_name_at_once_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let barrier = std::sync::Barrier::new(2);
        for round in 0..200 {
            let to = folder.path().join(round.to_string());
            let moved = |from: &str| {
                let part = folder.path().join(from);
                fs::write(&part, from).unwrap();
                barrier.wait();
                (move_to_free_name(&part, &to).map_err(|error| error.kind()), part)
            };
            let (a, b) = std::thread::scope(|scope| {
                let a = scope.spawn(|| moved("a"));
                (moved("b"), a.join().unwrap())
            });
            let (won, lost) = if a.0.is_ok() { (a, b) } else { (b, a) };
            assert_eq!((won.0, lost.0), (Ok(()), Err(io::ErrorKind::AlreadyExists)), "round {round}");
            assert!(!won.1.exists() && lost.1.exists(), "round {round}");
        }
    }

    #[test]
    fn a_run_that_resumes_while_another_one_finishes_does_not_get_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let barrier = std::sync::Barrier::new(2);
        for round in 0..200 {
            let path = folder.path().join(round.to_string());
            let mut first = PartFile::open(&path, false, None).ok().unwrap();
            // Every second run has no line.
            first.write_all(&b"line\n"[..round % 2 * 5]).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    barrier.wait();
                    std::thread::sleep(std::time::Duration::from_micros(round as u64 % 20 * 10));
                    assert!(first.finish().is_ok());
                });
                barrier.wait();
                loop {
                    match PartFile::open(&path, true, None) {
                        Ok(_) => panic!("round {round}: it got a part although the file is there"),
                        Err(Stop::Error(error)) if error.ends_with("exists, and is not replaced") => break,
                        Err(Stop::Error(error)) => assert!(error.starts_with("another process writes"), "{error}"),
                        Err(Stop::Usage(_) | Stop::Output(_)) => panic!("it writes no output yet"),
                    }
                }
            });
            assert_eq!(fs::read(&path).unwrap().len(), round % 2 * 5, "round {round}");
            assert!(is_free(&folder.path().join(format!("{round}.part"))), "round {round}");
        }
    }

    #[test]
    fn a_run_that_resumes_while_another_one_ends_without_a_line_writes_a_file_with_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let barrier = std::sync::Barrier::new(2);
        for round in 0..200 {
            let path = folder.path().join(round.to_string());
            let first = PartFile::open(&path, false, None).ok().unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    barrier.wait();
                    drop(first);
                });
                barrier.wait();
                let mut part = loop {
                    match PartFile::open(&path, true, None) {
                        Ok(part) => break part,
                        Err(Stop::Error(_)) => {}
                        Err(Stop::Usage(_) | Stop::Output(_)) => panic!("it writes no output yet"),
                    }
                };
                part.write_all(b"line\n").unwrap();
                assert!(part.finish().is_ok(), "round {round}");
            });
            assert_eq!(fs::read(&path).unwrap(), b"line\n", "round {round}");
        }
    }
}
