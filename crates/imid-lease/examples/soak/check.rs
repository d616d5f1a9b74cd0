//! Counts duplicates and IDs that are out of order, exactly, for any number of IDs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use imid::MessageId;

use crate::output::{Ids, files};

/// What the files of a folder hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub(crate) ids: u64,
    /// IDs that were minted before.
    pub(crate) duplicates: u64,
    /// IDs that are not greater than the ID before them in their file.
    pub(crate) out_of_order: u64,
    pub(crate) generators: usize,
}

impl Found {
    pub(crate) fn has_faults(self) -> bool {
        self.duplicates > 0 || self.out_of_order > 0
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ids, duplicates, out_of_order, generators } = self;
        write!(f, "{ids} IDs, {duplicates} duplicates, {out_of_order} out of order, {generators} generators")
    }
}

/// Prints the IDs of a folder, file by file, as texts. So `imid check --unsorted` has to sort them itself.
pub(crate) fn texts(folder: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for path in files(folder)? {
        let mut input = Ids::open(&path)?;
        while let Some(id) = input.next()? {
            writeln!(out, "{}", MessageId::from_u128(id).map_err(io::Error::other)?)?;
        }
    }
    out.flush()
}

/// Merges the files of a folder. Equal IDs become neighbours, because each file is in order.
pub(crate) fn check(folder: &Path) -> io::Result<Found> {
    let mut found = Found::default();
    let mut inputs = Vec::new();
    let mut next = BinaryHeap::new();
    for path in files(folder)? {
        let mut input = Ids::open(&path)?;
        if let Some(id) = input.next()? {
            next.push(Reverse((id, inputs.len())));
            inputs.push(input);
        }
    }
    found.generators = inputs.len();
    let mut previous = None;
    while let Some(Reverse((id, index))) = next.pop() {
        found.ids += 1;
        found.duplicates += u64::from(previous == Some(id));
        previous = Some(id);
        // An ID that is out of order stands where its file has it. It is a fault in any case, and counted here.
        if let Some(following) = inputs[index].next()? {
            found.out_of_order += u64::from(following <= id);
            next.push(Reverse((following, index)));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::check;

    #[test]
    fn duplicates_in_different_files_and_ids_out_of_order_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, ids: &[u8]| {
            let bytes: Vec<u8> = ids.iter().flat_map(|&id| [0, 0, 0, 0, 0, 0, 0, 0, 0, id]).collect();
            fs::write(folder.path().join(name), bytes).unwrap();
        };
        write("a.ids", &[1, 3, 5, 9]);
        write("b.ids", &[2, 3, 9]);
        write("c.ids", &[3, 2, 10]);
        write("other", &[1, 3]);
        let found = check(folder.path()).unwrap();
        assert_eq!((found.ids, found.duplicates, found.out_of_order, found.generators), (10, 3, 1, 3));
    }
}
