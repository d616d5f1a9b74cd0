//! What an engine shows of itself.

use super::Engine;
use super::messages::{FarAhead, Grant, Phase, Stopped};

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

impl Engine {
    /// Returns the lease as the engine sees it.
    pub fn view(&self) -> View {
        View {
            phase: self.phase(),
            stopped: self.stopped().cloned(),
            grant: self.grant(),
            space_id: self.meta.as_ref().map(|meta| meta.space_id.clone()),
            held_lanes: self.held_lanes,
            next_time_out_ms: self.next_time_out_ms(),
            far_ahead: self.far_ahead(),
            is_given_back: self.is_given_back(),
            acknowledged_at_ms: self.acknowledged_at_ms,
            attempted_at_ms: self.attempted_at_ms,
            acknowledgements: self.acknowledgements,
            lost: self.lost,
        }
    }
}
