//! The faults of a soak.

use std::fmt;

/// Draws numbers. Each run prints its seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number below `n`, as splitmix64 draws it.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % n
    }
}

/// What is broken at random times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    /// SIGKILL, and a new process with the name of the old one.
    Kill,
    /// SIGSTOP for three time-outs.
    Pause,
    /// The clock of one process is an hour ahead or behind for some seconds.
    Clock,
    /// A process gives its lane back and ends.
    Quit,
    /// A process forks, and the child tries to mint.
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
    /// The register's disk has no room.
    FullDisk,
    /// Another process holds the lock of the register file.
    LockedFile,
}

impl Fault {
    const PROCESSES: [Self; 5] = [Self::Kill, Self::Pause, Self::Clock, Self::Quit, Self::Fork];
    const SERVER: [Self; 4] = [Self::Cut, Self::LostReplies, Self::StoreStopped, Self::StoreKilled];
    const FILE: [Self; 3] = [Self::TornFile, Self::FullDisk, Self::LockedFile];

    /// Draws a fault. Three of four concern processes, because the store's faults last longer.
    pub(crate) fn draw(random: &mut Random, is_file: bool) -> Self {
        let store: &[Self] = if is_file { &Self::FILE } else { &Self::SERVER };
        let among = if random.below(4) == 0 { store } else { &Self::PROCESSES };
        among[usize::try_from(random.below(among.len() as u64)).unwrap_or_default()]
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kill => "processes killed",
            Self::Pause => "processes paused",
            Self::Clock => "clocks wrong by an hour",
            Self::Quit => "lanes given back",
            Self::Fork => "forks",
            Self::Cut => "times connections cut",
            Self::LostReplies => "times replies lost",
            Self::StoreStopped => "times the store stopped",
            Self::StoreKilled => "times the store killed",
            Self::TornFile => "times the file torn",
            Self::FullDisk => "times the disk full",
            Self::LockedFile => "times the file locked",
        })
    }
}
