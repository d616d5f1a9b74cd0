//! Gives messages their IDs and writes them, in the order of the input.

use std::io;

use imid_inspect::Id;

use super::columns::Addition;
use super::minter::Minter;
use super::plan::{Facts, Plan};
use crate::Out;
use crate::report::{Report, Stop};
use crate::stdout::{self, Tagged};

/// Mints the IDs of a run, and writes its output.
pub(super) struct Tagger<'a> {
    pub(super) plan: Plan<'a>,
    pub(super) addition: Addition,
    pub(super) minter: Minter,
    pub(super) out: &'a mut Out,
    pub(super) report: &'a mut Report,
    /// Number of messages that were given an ID.
    pub(super) count: u64,
    /// The ID of the first one of them.
    pub(super) first: Option<Id>,
    /// The last one of them.
    pub(super) last: Option<Tagged>,
    /// Whole lines or records that are not written yet.
    pub(super) output: Vec<u8>,
}

impl Tagger<'_> {
    /// Mints the ID of the message of a line, from what was read of it. Returns `None` for a bad line, which is left out.
    pub(super) fn mint<T>(&mut self, line: u64, read: Result<(Facts, T), String>) -> Result<Option<(Id, T)>, Stop> {
        let minted = read.and_then(|(facts, message)| Ok((self.minter.mint(facts, line)?, message)));
        match minted {
            Ok((id, message)) => {
                self.last = Some(Tagged { line, id });
                self.first.get_or_insert(id);
                self.count += 1;
                Ok(Some((id, message)))
            }
            Err(problem) => self.report.bad_input(format_args!("line {line}"), problem).map(|()| None),
        }
    }

    /// Makes room for so many bytes of output.
    pub(super) fn reserve(&mut self, len: usize) -> Result<(), Stop> {
        self.output.try_reserve(len).map_err(|_| Stop::out_of_memory())
    }

    /// Writes the output in one piece: a signal does not divide a line or record. `before` is the last message that was written
    /// before.
    pub(super) fn write(&mut self, before: Option<Tagged>) -> Result<(), Stop> {
        self.out.write_tagged(&self.output, self.last).map_err(|error| cannot_write(error, before))?;
        self.output.clear();
        if let Some(Tagged { line, id }) = self.last {
            self.report.progress(|| (line, Some(id.timestamp_ms())));
        }
        Ok(())
    }

    /// Adds to an error of the input what was written.
    pub(super) fn with_last(&self, stop: Stop) -> Stop {
        match (stop, self.last) {
            (Stop::Error(message), Some(Tagged { line, id })) => {
                Stop::Error(format!("{message}; the output ends with line {line}, which has the ID {id}"))
            }
            (stop, _) => stop,
        }
    }
}

/// Returns the error for lines that cannot be written, with the last line before them. A part of them can be written.
fn cannot_write(error: io::Error, last: Option<Tagged>) -> Stop {
    match error.kind() {
        io::ErrorKind::BrokenPipe => return Stop::Output(error),
        // The part of an earlier run.
        io::ErrorKind::InvalidData => return Stop::Error(error.to_string()),
        _ => {}
    }
    let problem = stdout::cannot_write(&error);
    Stop::Error(match last {
        Some(Tagged { line, id }) => format!("{problem}; the output is whole up to line {line}, which has the ID {id}"),
        None => format!("{problem}; no line is certain to be whole"),
    })
}
