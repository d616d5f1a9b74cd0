//! Gauges and counters of leases, through the [`metrics`] facade.
//!
//! | name | kind | what |
//! | --- | --- | --- |
//! | `imid_lease_held` | gauge | 1 while it has a lane, else 0 |
//! | `imid_lease_lane` | gauge | the lane that was granted last |
//! | `imid_lease_seconds_left` | gauge | how far the ceiling is ahead of the clock |
//! | `imid_lease_renewals_total` | counter | acknowledged writes |
//! | `imid_lease_lost_total` | counter | leases that were lost to other processes |
//! | `imid_lease_register_up` | gauge | 1 if the last call of the register was answered, else 0 |
//!
//! Each has the labels `space` and `holder`. They are updated at each renewal and at each change, so
//! `imid_lease_seconds_left` is what was left then.

use metrics::{Label, counter, gauge};

use crate::status::{Phase, Status};

/// Publishes the state of a lease.
pub(crate) fn record_lease(space: &str, status: &Status) {
    let labels = [Label::new("space", space.to_owned()), Label::new("holder", status.holder.to_string())];
    gauge!("imid_lease_held", labels.iter()).set(flag(status.phase == Phase::Holding));
    if let Some(lane) = status.lane {
        gauge!("imid_lease_lane", labels.iter()).set(f64::from(lane));
    }
    gauge!("imid_lease_seconds_left", labels.iter()).set(status.time_left.as_secs_f64());
    counter!("imid_lease_renewals_total", labels.iter()).absolute(status.renewals);
    counter!("imid_lease_lost_total", labels.iter()).absolute(status.lost);
    gauge!("imid_lease_register_up", labels.iter()).set(flag(status.last_error.is_none()));
}

fn flag(value: bool) -> f64 {
    if value { 1.0 } else { 0.0 }
}
