//! Files that commands write: an input or a foreign file is never replaced by accident.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::report::{Stop, quote};

/// Writes a whole file. A file that exists is replaced only if it starts with `mark`: an earlier run of the command wrote it.
pub(crate) fn write(path: &Path, mark: &str, text: &str) -> Result<(), Stop> {
    let name = quote(&path.to_string_lossy());
    match starts_with(path, mark) {
        Ok(false) => {
            return Err(Stop::Error(format!("{name} exists, and this command did not write it")));
        }
        Ok(true) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Stop::Error(format!("cannot write {name}: {error}"))),
    }
    fs::write(path, text).map_err(|error| Stop::Error(format!("cannot write {name}: {error}")))
}

fn starts_with(path: &Path, mark: &str) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(mark.len() as u64).read_to_end(&mut start)?;
    Ok(start == mark.as_bytes())
}

/// Returns the error for an input that is standard output too, such as `imid tag F >> F`: it would grow for ever.
pub(crate) fn check_is_not_stdout(path: &Path) -> Result<(), Stop> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        use std::os::unix::fs::MetadataExt;
        let stdout = io::stdout().as_fd().try_clone_to_owned().and_then(|stdout| File::from(stdout).metadata());
        if let (Ok(stdout), Ok(input)) = (stdout, path.metadata())
            && input.is_file()
            && (stdout.dev(), stdout.ino()) == (input.dev(), input.ino())
        {
            return Err(Stop::Usage(format!("{} is the input and the output", quote(&path.to_string_lossy()))));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
