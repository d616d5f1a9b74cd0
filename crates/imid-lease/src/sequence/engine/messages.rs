//! What an engine and the keeper tell each other.

use crate::sequence::record::{Jump, SectionRecord};

/// What an owner is called and how it behaves.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) sections: u32,
    /// Random: differs with each process and each start.
    pub(crate) owner: u64,
    pub(crate) name: String,
    pub(crate) time_out_ms: u64,
    /// A step that is used up sooner than this doubles.
    pub(crate) horizon_ms: u64,
    pub(crate) min_step: u64,
    pub(crate) max_step: u64,
    /// Whether a floor is asked for before a section is taken.
    pub(crate) floor: bool,
    #[cfg(test)]
    pub(crate) broken: Option<Rule>,
}

/// A rule that the tests switch off, to see that they would find its absence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    UseOnlyAcknowledgedBounds,
    AReadGrantsNothing,
    StartAtTheBound,
    NewOwnerNewEpoch,
    AConflictIsNotSuccess,
    KnowOnlyOwnTokens,
    KeepTheJumpBeforeOverwritingIt,
    AskForTheFloor,
    StopIfTheRegisterReverted,
}

/// What the keeper should do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Read the records of all sections.
    List,
    /// Read the record of one section.
    Read(u32),
    /// Compare-and-set the record of a section.
    Write { section: u32, seen: Option<SectionRecord>, record: SectionRecord },
    /// Create the record of a jump. It may already exist.
    KeepJump(Jump),
    /// Ask the application for the greatest number and epoch of a section in its message table.
    AskFloor(u32),
    /// Do nothing until this time, or until something is wished.
    Wait(u64),
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The records. `None` stands for a record that cannot be read.
    Listed(Vec<(u32, Option<SectionRecord>)>),
    Read(Option<SectionRecord>),
    /// Whether it was written.
    Written(bool),
    JumpKept,
    Floor(LastStored),
    /// There is no answer, or none that can be understood. A write may have happened, or may happen later.
    Failed,
}

/// The greatest number and the greatest epoch of a section in the message table; 0 and 0 if it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "the application makes it")]
pub struct LastStored {
    /// The greatest number.
    pub number: u64,
    /// The greatest epoch.
    pub epoch: u64,
}

/// What may be minted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) section: u32,
    pub(crate) epoch: u64,
    pub(crate) start: u64,
    pub(crate) bound: u64,
    /// The first number at which the bound should be raised.
    pub(crate) raise_at: u64,
}

/// What the keeper must do to the numbers in memory after a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Grant(Grant),
    /// The section is lost: mint nothing more.
    Seal(u32),
}
