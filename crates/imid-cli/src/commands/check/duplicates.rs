//! Finds equal IDs in input of any order. It sorts on disk, so its memory does not grow with the number of IDs.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, Write};
use std::iter;

use imid::MessageId;
use itertools::{Itertools, process_results};

/// How many IDs are sorted in memory: 64 MiB. The others go to temporary files, 10 bytes each.
const MAX_IN_MEMORY: usize = 1 << 22;

/// Collects IDs and then finds the IDs that occur more than once.
pub(crate) struct Duplicates {
    max_in_memory: usize,
    ids: Vec<MessageId>,
    /// Sorted runs of IDs. The files have no names, so the system deletes them when the process ends.
    runs: Vec<File>,
}

impl Duplicates {
    pub(crate) fn new() -> Self {
        Self::with_memory_for(MAX_IN_MEMORY)
    }

    fn with_memory_for(ids: usize) -> Self {
        Self { max_in_memory: ids, ids: Vec::new(), runs: Vec::new() }
    }

    pub(crate) fn push(&mut self, id: MessageId) -> io::Result<()> {
        if self.ids.len() == self.max_in_memory {
            self.spill()?;
        }
        self.ids.push(id);
        Ok(())
    }

    #[cold]
    fn spill(&mut self) -> io::Result<()> {
        self.ids.sort_unstable();
        let mut run = BufWriter::new(tempfile::tempfile()?);
        for id in self.ids.drain(..) {
            run.write_all(&id.to_bytes())?;
        }
        let mut run = run.into_inner()?;
        run.rewind()?;
        self.runs.push(run);
        Ok(())
    }

    /// Calls `found` with each ID that occurs more than once and its count, in the order of the IDs.
    pub(crate) fn for_each(mut self, mut found: impl FnMut(MessageId, usize)) -> io::Result<()> {
        self.ids.sort_unstable();
        let spilled = self.runs.into_iter().map(|run| Box::new(read_run(run)) as Box<dyn Iterator<Item = _>>);
        let rest = Box::new(self.ids.into_iter().map(Ok)) as Box<dyn Iterator<Item = _>>;
        // An error sorts first and ends the merge.
        let ascending = |a: &io::Result<MessageId>, b: &io::Result<MessageId>| match (a, b) {
            (Ok(a), Ok(b)) => a < b,
            _ => a.is_err(),
        };
        process_results(spilled.chain([rest]).kmerge_by(ascending), |ids| {
            ids.dedup_with_count().filter(|(times, _)| *times > 1).for_each(|(times, id)| found(id, times));
        })
    }
}

/// Returns the IDs of a run, in order.
fn read_run(run: File) -> impl Iterator<Item = io::Result<MessageId>> {
    let mut run = BufReader::new(run);
    iter::from_fn(move || {
        let mut bytes = [0; MessageId::BYTES];
        match run.read_exact(&mut bytes) {
            Ok(()) => Some(Ok(MessageId::from_bytes(bytes))),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => None,
            Err(error) => Some(Err(error)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_ids_are_found_in_memory_and_on_disk() {
        // 0 to 99 in scattered order, with 7 three times and 99 twice.
        let ids = (0..100).map(|n| n * 37 % 100).chain([7, 99, 7]).map(|ms| MessageId::first_at(ms).unwrap());
        for (in_memory, runs) in [(1_000, 0), (103, 0), (40, 2), (3, 34)] {
            let mut duplicates = Duplicates::with_memory_for(in_memory);
            ids.clone().for_each(|id| duplicates.push(id).unwrap());
            assert_eq!(duplicates.runs.len(), runs);
            let mut found = Vec::new();
            duplicates.for_each(|id, times| found.push((id.timestamp_ms(), times))).unwrap();
            assert_eq!(found, [(7, 3), (99, 2)], "{in_memory} in memory");
        }
    }
}
