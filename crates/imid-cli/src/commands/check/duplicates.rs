//! Finds equal IDs in input of any order, by sorting them in memory.

use imid::MessageId;

use crate::report::Stop;

/// An ID and its line, in one number that sorts by ID and then by line: 80 bits and 48 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry(u128);

const LINE_BITS: u32 = u128::BITS - 8 * MessageId::BYTE_LEN as u32;

impl Entry {
    fn new(id: MessageId, line: u64) -> Self {
        Self(id.to_u128() << LINE_BITS | u128::from(line))
    }

    pub(super) fn id(self) -> MessageId {
        // PANIC: the shift leaves 80 bits.
        MessageId::from_u128(self.0 >> LINE_BITS).expect("80 bits are an ID")
    }

    pub(super) fn line(self) -> u64 {
        (self.0 & ((1 << LINE_BITS) - 1)) as u64
    }
}

/// Collects IDs and then finds those that occur more than once.
#[derive(Default)]
pub(super) struct Duplicates(Vec<Entry>);

impl Duplicates {
    /// Adds the ID of a line.
    pub(super) fn push(&mut self, id: MessageId, line: u64) -> Result<(), Stop> {
        self.0.try_reserve(1).map_err(|_| {
            let len = self.0.len();
            Stop::Error(format!(
                "out of memory after {len} IDs, which take 16 bytes each; for more, sort their texts: LC_ALL=C sort FILE | imid check"
            ))
        })?;
        self.0.push(Entry::new(id, line));
        Ok(())
    }

    /// Returns all lines of each ID that occurs more than once. The IDs and the lines are in order.
    pub(super) fn find(&mut self) -> impl Iterator<Item = &[Entry]> {
        self.0.sort_unstable();
        self.0.chunk_by(|a, b| a.id() == b.id()).filter(|copies| copies.len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_ids_are_found_with_their_lines() {
        // 0 to 99 in mixed order, with 7 three times and 99 twice.
        let ids = (0..100).map(|n| n * 37 % 100).chain([7, 99, 7]).map(|ms| MessageId::first_at(ms).unwrap());
        let mut duplicates = Duplicates::default();
        for (id, line) in ids.zip(1..) {
            assert!(duplicates.push(id, line).is_ok());
        }
        let found: Vec<_> = duplicates
            .find()
            .map(|copies| (copies[0].id().timestamp_ms(), copies.iter().map(|copy| copy.line()).collect::<Vec<_>>()))
            .collect();
        assert_eq!(found, [(7, vec![12, 101, 103]), (99, vec![28, 102])]);
    }
}
