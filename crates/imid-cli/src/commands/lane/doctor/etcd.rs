//! What `imid lane doctor` finds in an etcd.

use imid_lease::register::EtcdRegister;
use imid_lease::register::tool::{EtcdRoom, room};
use serde_json::json;

use super::{Findings, failed};
use crate::report::Stop;

/// More versions in etcd are reported. Sixteen lanes write as many in two days, and 2 GB, its default quota, hold ten times as many.
const MOST_VERSIONS: u64 = 1_000_000;

/// Looks at the room of an etcd.
pub(super) fn look_at_room(url: &str, found: &mut Findings) -> Result<(), Stop> {
    let mut register = EtcdRegister::from_url(url).map_err(|error| failed(&error))?.read_only();
    let EtcdRoom { bytes, versions, alarms } = room(&mut register).map_err(|error| failed(&error))?;
    for alarm in &alarms {
        match alarm.as_str() {
            "NOSPACE" => found.change(
                "etcd has no room and refuses each write (NOSPACE): compact and defragment it, and disarm the alarm",
            ),
            other => found.change(format_args!("etcd has the alarm {other}: see its documentation")),
        }
    }
    if versions > MOST_VERSIONS {
        found.change(format_args!(
            "etcd keeps {versions} versions, so its quota will be full: start it with --auto-compaction-retention=1h"
        ));
    }
    let (kilobytes, alarm) = (bytes / 1000, if alarms.is_empty() { "no alarm".to_owned() } else { alarms.join(", ") });
    found.say("room", format_args!("{versions} versions that are not compacted, {kilobytes} kB, {alarm}"));
    found.set("room", json!({ "bytes": bytes, "versions": versions, "alarms": alarms }));
    Ok(())
}
