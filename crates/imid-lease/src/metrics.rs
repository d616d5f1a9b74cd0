//! Gauges and counters of each lease, through the [`metrics`] facade.
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
//! Each has the label `space`. They are updated at each renewal and at each change, so `imid_lease_seconds_left` is what was
//! left then.

use metrics::{counter, gauge};

use crate::status::{Phase, Status};

/// Publishes a state.
pub(crate) fn record(space: &str, status: &Status) {
    let space = space.to_owned();
    let flag = |value: bool| if value { 1.0 } else { 0.0 };
    gauge!("imid_lease_held", "space" => space.clone()).set(flag(status.phase == Phase::Holding));
    if let Some(lane) = status.lane {
        gauge!("imid_lease_lane", "space" => space.clone()).set(f64::from(lane));
    }
    gauge!("imid_lease_seconds_left", "space" => space.clone()).set(status.time_left.as_secs_f64());
    counter!("imid_lease_renewals_total", "space" => space.clone()).absolute(status.renewals);
    counter!("imid_lease_lost_total", "space" => space.clone()).absolute(status.lost);
    gauge!("imid_lease_register_up", "space" => space).set(flag(status.last_error.is_none()));
}
