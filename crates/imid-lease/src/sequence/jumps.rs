//! The history of jumps, for readers that see a gap.

use std::collections::BTreeMap;

use super::error::OpenError;
use super::record::{Jump, Keys, SectionRecord};
use super::{Conversation, Number};
use crate::Register;

/// The recorded jumps of a sequence.
///
/// A reader that misses the numbers before some number `n` asks [`explains`](Self::explains). If `n` is the first number
/// of an epoch, the missing numbers that the message store does not have will never come.
///
/// The answer is final once the message store has accepted a number of the new epoch for this conversation and refuses
/// lower epochs. Before that a paused former owner can still send a number below `n`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Jumps {
    /// By section, epoch and first number.
    jumps: BTreeMap<(u32, u64, u64), Jump>,
}

impl Jumps {
    /// Reads the history of a sequence. Any process may do this.
    ///
    /// # Errors
    /// The name is not a name of a sequence, the register does not answer, or a record cannot be read.
    pub fn read(register: &mut impl Register, name: &str) -> Result<Self, OpenError> {
        let keys = Keys::new(name);
        super::options::check_name("name of a sequence", name)?;
        let mut jumps = BTreeMap::new();
        let mut keep = |jump: Jump| jumps.insert((jump.section, jump.epoch, jump.to), jump);
        // The present epochs first: a jump is in the history before its section's record is overwritten.
        for (key, text) in register.list(&keys.sections())? {
            let Some(section) = keys.section_of(&key) else { continue };
            let record: SectionRecord = text.parse().map_err(|error| OpenError::record(&key, error))?;
            keep(record.jump(section));
        }
        for (key, text) in register.list(&keys.jumps())? {
            keep(text.parse().map_err(|error| OpenError::record(&key, error))?);
        }
        Ok(Self { jumps })
    }

    /// Returns whether the gap before a number comes from a jump: the number is the first one of its epoch.
    pub fn explains(&self, conversation: Conversation, number: Number) -> bool {
        self.jumps.contains_key(&(conversation.section(), number.epoch(), number.value()))
    }

    /// Returns all jumps, in the order of their sections and epochs. There can be jumps of epochs that never began,
    /// because the register lost a record that was not acknowledged. No number belongs to such an epoch.
    pub fn iter(&self) -> impl Iterator<Item = Jump> {
        self.jumps.values().copied()
    }
}
