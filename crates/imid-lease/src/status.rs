//! The state of a lease, for operators.

use std::time::Duration;

use crate::record::{Name, Uuid};
use crate::register::Promise;

/// The state of a lease at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Status {
    /// What the lease is doing.
    pub phase: Phase,
    /// The name of the space. It tells the spaces of one register apart.
    pub space: Name,
    /// The UUID of the space in this register, or `None` until it was read. All processes of one ID space must show the
    /// same UUID. Each space of a register has its own.
    pub space_id: Option<Uuid>,
    /// The UUID of the register, or `None` until it was read. All spaces of one register show the same one. It is written
    /// once, so a copy of a register has it too.
    pub register_id: Option<Uuid>,
    /// What other processes have in the space, or `None` until it was read.
    pub others: Option<Others>,
    /// How many milliseconds the store's clock was ahead of this process's when it was last asked, or `None` if the store has no
    /// time of its own. Below zero it was behind. Beyond [`max_skew`](crate::Options::max_skew) one of both is wrong.
    pub store_ahead_ms: Option<i64>,
    /// Whether this process found the register empty at its start. If the register was in use before, its records are
    /// lost. An example is a file on a disk that is new after each start of a container.
    pub is_new_register: bool,
    /// Whether the register can lose acknowledged writes, and why.
    pub promise: Promise,
    /// The name under which this process holds its lane.
    pub holder: Name,
    /// The lane that was granted last, or `None` before the first one.
    pub lane: Option<u16>,
    /// The first unix millisecond that no ID of this lane may have.
    pub ceiling_ms: Option<u64>,
    /// How far the ceiling is ahead of the clock; zero if it is not.
    pub time_left: Duration,
    /// How long ago the last write was acknowledged.
    pub last_renewal: Option<Duration>,
    /// How many writes were acknowledged.
    pub renewals: u64,
    /// How many leases were lost to other processes.
    pub lost: u64,
    /// The error of the register's last call, if it failed.
    pub last_error: Option<String>,
}

/// What other processes have in a space, as of the last look at the register.
///
/// A process looks while it searches for a lane. While it holds one it looks once a minute, or once in as many seconds as
/// the space has records if that is longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Others {
    /// How many lanes they held with a ceiling ahead of this clock. They could mint in these.
    pub lanes: usize,
    /// How far the furthest of their ceilings was ahead of this clock; zero if none was. The lanes that they had given back
    /// count too: the IDs of such a lane end there. More than the longest horizon and `max_skew` together means that a
    /// clock is wrong, or was.
    pub lead: Duration,
    /// How long ago the look was.
    pub age: Duration,
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
    /// It has stopped: it was closed, the register cannot be used, or this process is a forked child.
    Stopped,
}
