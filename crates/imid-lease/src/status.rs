//! What an operator sees of a lease.

use std::time::Duration;

use crate::record::{Name, Uuid};
use crate::register::Promise;

/// The state of a lease at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// Names the register, once it was read. Two processes of one ID space must show the same UUID.
    pub register: Option<Uuid>,
    /// Whether this process found the register empty at its start. If it was in use before, its records are lost: for
    /// example it was a file on a disk that is new after each start of a container.
    pub is_new_register: bool,
    /// Whether the register can lose acknowledged writes.
    pub promise: Promise,
    /// The name that this process has in the records.
    pub holder: Name,
    /// The lane that was granted last.
    pub lane: Option<u16>,
    /// The first unix millisecond that no ID of this lane may have.
    pub ceiling_ms: Option<u64>,
    /// How far the ceiling is ahead of the clock.
    pub time_left: Duration,
    /// How long ago a write was acknowledged for the last time.
    pub last_renewal: Option<Duration>,
    /// How many writes were acknowledged.
    pub renewals: u64,
    /// How many leases were lost to other processes.
    pub lost: u64,
    /// The last call of the register that failed, if none has succeeded since.
    pub last_error: Option<String>,
}

/// What a lease is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Phase {
    /// It looks for a lane and has none.
    Seeking,
    /// It has a lane.
    Holding,
    /// Its lane was taken by another process. It uses what is left below the ceiling, and looks for another lane.
    Lost,
    /// It has stopped: it was closed, or the register cannot be used.
    Stopped,
}
