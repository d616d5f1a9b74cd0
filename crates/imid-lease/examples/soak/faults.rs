//! The faults of a soak.

use std::fmt;

use crate::random::Random;

/// What is broken at random times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    /// SIGKILL, and a new process, with the name of the old one or another name.
    Kill,
    /// SIGSTOP for three time-outs.
    Pause,
    /// The clock of one process is an hour ahead for some seconds.
    ClockAhead,
    /// The clock of one process is an hour behind for some seconds.
    ClockBehind,
    /// A process gives its lane back and ends.
    Quit,
    /// Processes fork, and the children try to mint. It is counted for each child.
    Fork,
    /// All connections of some processes are cut.
    Cut,
    /// The replies for one process are lost after the store has done the work.
    LostReplies,
    /// The store is stopped in order, and started later.
    StoreStopped,
    /// The store is killed and started at once.
    StoreKilled,
    /// The register file is replaced by half of it, and later put back.
    TornFile,
    /// The register file is copied while processes write, and the copy takes its place while they do not.
    CopiedFile,
    /// The register's disk has no room.
    FullDisk,
    /// Another process holds the lock of the register file.
    LockedFile,
}

impl Fault {
    const PROCESSES: [Self; 6] = [Self::Kill, Self::Pause, Self::ClockAhead, Self::ClockBehind, Self::Quit, Self::Fork];
    const SERVER: [Self; 4] = [Self::Cut, Self::LostReplies, Self::StoreStopped, Self::StoreKilled];
    const FILE: [Self; 4] = [Self::TornFile, Self::CopiedFile, Self::FullDisk, Self::LockedFile];

    const fn of_store(is_file: bool) -> &'static [Self] {
        if is_file { &Self::FILE } else { &Self::SERVER }
    }

    /// Returns all faults that a store can have.
    pub(crate) fn all(is_file: bool) -> Vec<Self> {
        [&Self::PROCESSES, Self::of_store(is_file)].concat()
    }

    /// Draws a fault. Three of four concern processes, because the store's faults last longer.
    pub(crate) fn draw(random: &mut Random, is_file: bool) -> Self {
        if random.below(4) == 0 { random.one_of(Self::of_store(is_file)) } else { Self::draw_process(random) }
    }

    /// Draws a fault of a process.
    pub(crate) fn draw_process(random: &mut Random) -> Self {
        random.one_of(&Self::PROCESSES)
    }

    /// Whether nobody can write to the store for a while.
    pub(crate) const fn is_outage(self) -> bool {
        matches!(self, Self::StoreStopped | Self::FullDisk | Self::LockedFile)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kill => "processes killed",
            Self::Pause => "processes paused",
            Self::ClockAhead => "clocks an hour ahead",
            Self::ClockBehind => "clocks an hour behind",
            Self::Quit => "lanes given back",
            Self::Fork => "forks",
            Self::Cut => "times connections cut",
            Self::LostReplies => "times replies lost",
            Self::StoreStopped => "times the store stopped",
            Self::StoreKilled => "times the store killed",
            Self::TornFile => "times the file torn",
            Self::CopiedFile => "times the file copied",
            Self::FullDisk => "times the disk full",
            Self::LockedFile => "times the file locked",
        })
    }
}
