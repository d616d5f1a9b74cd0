//! Finds equal IDs in input of any order. It sorts on disk, so its memory does not grow with the number of IDs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::{iter, mem};

use imid::MessageId;
use itertools::{Itertools, process_results};

/// An ID and its line, in one number that sorts by ID and then by line: 80 bits and 48 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

const LINE_BITS: u32 = u128::BITS - 8 * MessageId::BYTE_LEN as u32;

/// Number of bytes that are read from a run in one call.
const READ_AT_ONCE: usize = 1 << 14;

/// Number of entries in memory. They take 64 MiB.
const MAX_IN_MEMORY: usize = 1 << 22;

/// Number of runs that become one.
const MAX_RUNS: usize = 64;

/// Collects IDs and then finds the IDs that occur more than once.
pub(super) struct Duplicates {
    max_in_memory: usize,
    max_runs: usize,
    entries: Vec<Entry>,
    /// Sorted runs of entries. When a level is full, its runs become one run of the next level. The files have no names,
    /// so the system deletes them when the process ends.
    levels: Vec<Vec<File>>,
}

/// Why IDs cannot be sorted.
pub(super) enum SortError {
    OutOfMemory,
    Io(io::Error),
}

impl From<io::Error> for SortError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Entry {
    fn new(id: MessageId, line: u64) -> Self {
        Self(id.to_u128() << LINE_BITS | u128::from(line))
    }

    fn id(self) -> MessageId {
        // PANIC: the shift leaves 80 bits.
        MessageId::from_u128(self.0 >> LINE_BITS).expect("80 bits are an ID")
    }

    fn line(self) -> u64 {
        (self.0 & ((1 << LINE_BITS) - 1)) as u64
    }
}

impl Duplicates {
    pub(super) fn new() -> Self {
        Self::with_limits(MAX_IN_MEMORY, MAX_RUNS)
    }

    fn with_limits(max_in_memory: usize, max_runs: usize) -> Self {
        Self { max_in_memory, max_runs, entries: Vec::new(), levels: Vec::new() }
    }

    /// Adds the ID of a line.
    pub(super) fn push(&mut self, id: MessageId, line: u64) -> Result<(), SortError> {
        if self.entries.len() == self.entries.capacity() {
            self.make_room()?;
        }
        self.entries.push(Entry::new(id, line));
        Ok(())
    }

    #[cold]
    fn make_room(&mut self) -> Result<(), SortError> {
        if self.entries.len() >= self.max_in_memory {
            return self.spill();
        }
        let wanted = (self.entries.len() * 2).clamp(1 << 10, self.max_in_memory.max(1 << 10));
        let more = wanted.min(self.max_in_memory) - self.entries.len();
        self.entries.try_reserve_exact(more).map_err(|_| SortError::OutOfMemory)
    }

    /// Writes the entries in memory to a run.
    fn spill(&mut self) -> Result<(), SortError> {
        self.entries.sort_unstable();
        let run = write_run(self.entries.drain(..).map(Ok))?;
        self.add_run(run, 0)
    }

    fn add_run(&mut self, run: File, level: usize) -> Result<(), SortError> {
        if self.levels.len() == level {
            self.levels.push(Vec::new());
        }
        self.levels[level].push(run);
        if self.levels[level].len() == self.max_runs {
            let runs = mem::take(&mut self.levels[level]);
            let merged = process_results(merge(runs), |entries| write_run(entries.map(Ok)))??;
            return self.add_run(merged, level + 1);
        }
        Ok(())
    }

    /// Calls `found` with each ID that occurs more than once and its lines. The IDs come in order.
    ///
    /// `found` gets the lines in order, as an iterator that it need not finish.
    pub(super) fn for_each(mut self, mut found: impl FnMut(MessageId, &Lines)) -> Result<(), SortError> {
        if self.levels.is_empty() {
            self.entries.sort_unstable();
            group(self.entries.into_iter(), &mut found);
            return Ok(());
        }
        self.spill()?;
        self.entries = Vec::new();
        let mut runs: Vec<_> = self.levels.into_iter().flatten().collect();
        while runs.len() > self.max_runs {
            // The first runs are the shortest.
            let first = runs.drain(..self.max_runs).collect();
            runs.push(process_results(merge(first), |entries| write_run(entries.map(Ok)))??);
        }
        Ok(process_results(merge(runs), |entries| group(entries, &mut found))?)
    }
}

/// The lines of an ID that occurs more than once.
pub(super) struct Lines {
    /// The first ones.
    pub(super) first: Vec<u64>,
    pub(super) count: u64,
}

impl Lines {
    /// Number of lines that are named.
    const MAX_NAMED: usize = 10;
}

/// Calls `found` with each ID that occurs more than once.
fn group(entries: impl Iterator<Item = Entry>, found: &mut impl FnMut(MessageId, &Lines)) {
    let mut lines = Lines { first: Vec::new(), count: 0 };
    let mut previous: Option<Entry> = None;
    for entry in entries {
        match previous.replace(entry) {
            Some(previous) if previous.id() == entry.id() => {
                if lines.count == 0 {
                    lines.first.push(previous.line());
                    lines.count = 1;
                }
                if lines.first.len() < Lines::MAX_NAMED {
                    lines.first.push(entry.line());
                }
                lines.count += 1;
            }
            Some(previous) if lines.count > 0 => {
                found(previous.id(), &lines);
                lines.first.clear();
                lines.count = 0;
            }
            _ => {}
        }
    }
    if let Some(last) = previous.filter(|_| lines.count > 0) {
        found(last.id(), &lines);
    }
}

/// Returns the entries of several runs, in order. An error comes first and ends the merge.
fn merge(runs: Vec<File>) -> impl Iterator<Item = io::Result<Entry>> {
    let ascending = |a: &io::Result<Entry>, b: &io::Result<Entry>| match (a, b) {
        (Ok(a), Ok(b)) => a < b,
        _ => a.is_err(),
    };
    runs.into_iter().map(read_run).kmerge_by(ascending)
}

/// Writes sorted entries to a temporary file.
fn write_run(entries: impl Iterator<Item = io::Result<Entry>>) -> io::Result<File> {
    let mut run = BufWriter::with_capacity(READ_AT_ONCE, tempfile::tempfile()?);
    for entry in entries {
        run.write_all(&entry?.0.to_be_bytes())?;
    }
    let mut run = run.into_inner()?;
    run.rewind()?;
    Ok(run)
}

/// Returns the entries of a run, in order.
fn read_run(run: File) -> impl Iterator<Item = io::Result<Entry>> {
    let mut run = BufReader::with_capacity(READ_AT_ONCE, run);
    iter::from_fn(move || {
        let mut bytes = [0; size_of::<Entry>()];
        match run.fill_buf() {
            Ok([]) => None,
            // The end of the file inside an entry is an error.
            Ok(_) => Some(run.read_exact(&mut bytes).map(|()| Entry(u128::from_be_bytes(bytes)))),
            Err(error) => Some(Err(error)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_ids_are_found_in_memory_and_on_disk_with_their_lines() {
        // 0 to 99 in mixed order, with 7 three times and 99 twice.
        let ids = (0..100).map(|n| n * 37 % 100).chain([7, 99, 7]).map(|ms| MessageId::first_at(ms).unwrap());
        for (in_memory, max_runs) in [(1_000, 2), (103, 2), (40, 2), (40, 9), (3, 2), (3, 3), (3, 64), (1, 2)] {
            let mut duplicates = Duplicates::with_limits(in_memory, max_runs);
            for (index, id) in ids.clone().enumerate() {
                assert!(duplicates.push(id, index as u64 + 1).is_ok());
                assert!(duplicates.levels.iter().all(|level| level.len() < max_runs));
                assert!(duplicates.entries.len() <= in_memory);
            }
            assert_eq!(duplicates.levels.is_empty(), in_memory >= 103);
            let mut found = Vec::new();
            let ran =
                duplicates.for_each(|id, lines| found.push((id.timestamp_ms(), lines.count, lines.first.clone())));
            assert!(ran.is_ok());
            assert_eq!(found, [(7, 3, vec![12, 101, 103]), (99, 2, vec![28, 102])], "{in_memory} in memory");
        }
    }

    #[test]
    fn only_the_first_lines_of_an_id_are_named() {
        let mut duplicates = Duplicates::with_limits(7, 2);
        for line in 1..=1_000 {
            assert!(duplicates.push(MessageId::MAX, line).is_ok());
        }
        let mut found = Vec::new();
        assert!(duplicates.for_each(|id, lines| found.push((id, lines.count, lines.first.clone()))).is_ok());
        assert_eq!(found, [(MessageId::MAX, 1_000, (1..=10).collect())]);
    }

    #[test]
    fn a_run_that_is_cut_inside_an_entry_is_an_error() {
        let entries = || [1, 2].map(|n| Ok(Entry(n))).into_iter();
        for (len, expected) in [(32, "ok ok"), (31, "ok cut"), (17, "ok cut"), (16, "ok"), (1, "cut"), (0, "")] {
            let run = write_run(entries()).unwrap();
            run.set_len(len).unwrap();
            let found: Vec<_> = read_run(run).map(|entry| entry.map_or("cut", |_| "ok")).take(3).collect();
            assert_eq!(found.join(" "), expected, "{len} bytes");
        }
    }
}
