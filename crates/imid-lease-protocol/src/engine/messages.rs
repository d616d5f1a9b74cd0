//! What an engine and the loop that drives it tell each other.

use crate::record::{Name, Space};

/// The settings of an engine.
#[derive(Clone, Debug)]
pub struct Config {
    /// The lanes.
    pub space: Space,
    /// The name of the holder.
    pub name: Name,
    /// How far ahead of use the ceiling is raised.
    pub horizon_ms: u64,
    /// The largest error of a clock.
    pub max_skew_ms: u64,
    /// Whether it begins even if all lanes are far ahead of its clock.
    pub any_lead: bool,
}

/// When something happens, and what the generator has used by then.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The process's monotonic clock.
    pub mono_ms: u64,
    /// The time that is believed ([`clock_judgement`](super::clock_judgement)); `None` where there is none.
    pub now_ms: Option<u64>,
    /// The first millisecond after the last stamp of the running generator; 0 if there is none.
    pub used_until_ms: u64,
}

impl Moment {
    /// Returns the same moment on a monotonic clock that is behind.
    pub(super) fn before(self, ms: u64) -> Self {
        Self { mono_ms: self.mono_ms.saturating_sub(ms), ..self }
    }
}

/// A lane, from a floor to a ceiling that was acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    /// The number of the lane.
    pub lane: u16,
    /// The first millisecond that may be used: after all stamps of this process.
    pub floor_ms: u64,
    /// The first millisecond that must not be used.
    pub ceiling_ms: u64,
}

/// What to do next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Read all records of the space. Reply: [`Reply::Listed`].
    List,
    /// Read one record. Reply: [`Reply::Read`].
    Read {
        /// The key of the record.
        key: String,
    },
    /// Write a record if it is still `seen`. Reply: [`Reply::Written`].
    Write {
        /// The number of the attempt, for the reply.
        attempt: u64,
        /// The key of the record.
        key: String,
        /// The record that it replaces; `None` if there must be none.
        seen: Option<String>,
        /// The new record.
        value: String,
    },
    /// Seal the running generator, if there is one. Reply: [`Reply::Sealed`].
    Seal,
    /// Start a generator. The one before is sealed.
    Start(Grant),
    /// Raise the ceiling of the running generator.
    Raise {
        /// The first Unix millisecond that must not be used.
        ceiling_ms: u64,
    },
    /// Do nothing until this monotonic time, or until the generator needs a higher ceiling.
    Sleep {
        /// On the monotonic clock.
        until_ms: u64,
    },
    /// Wait for a reply.
    Wait,
    /// Do nothing from now on.
    Done,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Reply {
    /// All records whose keys begin with the prefix of the space, each with its key; `Err` if the register did not answer.
    Listed(Result<Vec<(String, String)>, Silence>),
    /// The record; `Err` if the register did not answer.
    Read(Result<Option<String>, Silence>),
    /// The outcome of an attempt to write.
    Written {
        /// The number of the attempt.
        attempt: u64,
        /// What became of it.
        outcome: Outcome,
    },
    /// The generator is sealed.
    Sealed {
        /// The first millisecond after each stamp that it has minted, or will return from a call under way; 0 if there is none.
        end_ms: u64,
    },
}

/// The register did not answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Silence;

/// The outcome of an attempt to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was written.
    Acknowledged,
    /// The record was not the one that was expected.
    Conflict,
    /// No answer. It may have been written, or may be written later.
    Unknown,
}

/// How far lanes are ahead of the clock, if none was taken because of that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FarAhead {
    /// How far the nearest of them is.
    pub found_ms: u64,
    /// How far that one may be.
    pub most_ms: u64,
    /// Whether the lanes that others hold are far ahead as well, so that it does not help to wait for one of them.
    pub are_all: bool,
}

/// What a lease is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// It looks for a lane and has none.
    Seeking,
    /// It has a lane.
    Holding,
    /// Its lane was taken by another process. It uses what is left below the ceiling, and looks for another lane.
    Lost,
    /// It has stopped: it was closed, the register cannot be used, or this process is a forked child.
    Stopped,
}

/// Why an engine has stopped for good.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// It was closed.
    Closed,
    /// A record is older than what was acknowledged: the register was restored, or has lost a write.
    Reverted {
        /// The key of the record.
        key: String,
    },
    /// The space has another layout or another number of lanes.
    Mismatch {
        /// The layout that was found.
        layout: String,
        /// The number of lane bits that was found.
        bits: u32,
    },
    /// There is no such space, and no lane of one.
    NoSpace,
    /// There are lanes, and no record that describes the space.
    Undescribed {
        /// The key of the record that is missing.
        key: String,
    },
    /// The record that describes the space has another format.
    Format(String),
}

/// A lease as its engine sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// What the lease is doing.
    pub phase: Phase,
    /// Why it has stopped, or stops.
    pub stopped: Option<Stopped>,
    /// The lane that was granted last.
    pub grant: Option<Grant>,
    /// The UUID of the space, once it was read.
    pub space_id: Option<String>,
    /// How many lanes were held when they were last listed.
    pub held_lanes: Option<u32>,
    /// The monotonic time at which a lane can be taken, if no one gives one back before.
    pub next_time_out_ms: Option<u64>,
    /// How far the lanes are ahead of the clock, if none was taken because of that.
    pub far_ahead: Option<FarAhead>,
    /// Whether no lane is held in the register for it, as far as it knows.
    pub is_given_back: bool,
    /// The monotonic time of the last acknowledgement.
    pub acknowledged_at_ms: Option<u64>,
    /// The monotonic time of the last attempt to write.
    pub attempted_at_ms: Option<u64>,
    /// How many writes were acknowledged.
    pub acknowledgements: u64,
    /// How many leases were lost.
    pub lost: u64,
}
