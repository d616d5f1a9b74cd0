//! Gauges and counters of leases and sequences, through the [`metrics`] facade.
//!
//! | name | kind | what |
//! | --- | --- | --- |
//! | `imid_lease_held` | gauge | 1 while it has a lane, else 0 |
//! | `imid_lease_lane` | gauge | the lane that was granted last |
//! | `imid_lease_seconds_left` | gauge | how far the ceiling is ahead of the clock |
//! | `imid_lease_renewals_total` | counter | acknowledged writes |
//! | `imid_lease_lost_total` | counter | leases that were lost to other processes |
//! | `imid_lease_register_up` | gauge | 1 if the last call of the register was answered, else 0 |
//! | `imid_sequence_held` | gauge | sections that this process holds |
//! | `imid_sequence_reverted` | gauge | sections that stand still because the register lost a write |
//! | `imid_sequence_lost_total` | counter | sections that other processes took |
//! | `imid_sequence_writes_total` | counter | writes of sections' records that were tried |
//! | `imid_sequence_sessions` | gauge | sessions in memory |
//! | `imid_sequence_bytes` | gauge | bytes that their tables take |
//! | `imid_sequence_register_up` | gauge | 1 if the last call of the register was answered, else 0 |
//!
//! Those of a lease have the labels `space` and `holder`. They are updated at each renewal and at each change, so
//! `imid_lease_seconds_left` is what was left then. Those of a sequence have the labels `sequence` and `holder`. They
//! are updated when its thread has done its work: at least once in each quarter of the time-out while it holds a
//! section.

use metrics::{Label, counter, gauge};

use crate::sequence::SequenceStatus;
use crate::status::{Phase, Status};

/// Publishes the state of a lease.
pub(crate) fn record_lease(space: &str, status: &Status) {
    let labels = labels("space", space, &status.holder.to_string());
    gauge!("imid_lease_held", labels.iter()).set(flag(status.phase == Phase::Holding));
    if let Some(lane) = status.lane {
        gauge!("imid_lease_lane", labels.iter()).set(f64::from(lane));
    }
    gauge!("imid_lease_seconds_left", labels.iter()).set(status.time_left.as_secs_f64());
    counter!("imid_lease_renewals_total", labels.iter()).absolute(status.renewals);
    counter!("imid_lease_lost_total", labels.iter()).absolute(status.lost);
    gauge!("imid_lease_register_up", labels.iter()).set(flag(status.last_error.is_none()));
}

/// Publishes the state of a sequence.
#[expect(clippy::cast_precision_loss, reason = "no memory has 2^52 bytes")]
pub(crate) fn record_sequence(sequence: &str, holder: &str, status: &SequenceStatus) {
    let labels = labels("sequence", sequence, holder);
    gauge!("imid_sequence_held", labels.iter()).set(f64::from(status.held));
    gauge!("imid_sequence_reverted", labels.iter()).set(f64::from(status.reverted));
    counter!("imid_sequence_lost_total", labels.iter()).absolute(status.lost);
    counter!("imid_sequence_writes_total", labels.iter()).absolute(status.writes);
    gauge!("imid_sequence_sessions", labels.iter()).set(status.sessions as f64);
    gauge!("imid_sequence_bytes", labels.iter()).set(status.bytes as f64);
    gauge!("imid_sequence_register_up", labels.iter()).set(flag(status.last_error.is_none()));
}

/// Returns the labels of a lease or a sequence: what `kind` it has, by name, and who holds it.
fn labels(kind: &'static str, name: &str, holder: &str) -> [Label; 2] {
    [Label::new(kind, name.to_owned()), Label::new("holder", holder.to_owned())]
}

fn flag(value: bool) -> f64 {
    if value { 1.0 } else { 0.0 }
}
