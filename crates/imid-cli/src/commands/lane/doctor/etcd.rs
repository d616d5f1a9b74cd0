//! What `imid lane doctor` finds in an etcd.

use imid_lease::register::EtcdRegister;
use imid_lease::register::tool::{EtcdRoom, room};

use super::{Findings, failed};
use crate::report::Stop;

/// A larger etcd is reported: half of its default quota, which sixteen lanes fill in about 19 days if nothing is compacted.
const MOST_BYTES: u64 = 1 << 30;

/// Looks at the room of an etcd.
pub(super) fn look_at_room(url: &str, found: &mut Findings) -> Result<(), Stop> {
    let mut register = EtcdRegister::from_url(url).map_err(|error| failed(&error))?.read_only();
    let EtcdRoom { bytes, alarms } = room(&mut register).map_err(|error| failed(&error))?;
    for alarm in &alarms {
        match alarm.as_str() {
            "NOSPACE" => found.change(
                "etcd has no room and refuses each write (NOSPACE): compact and defragment it, and disarm the alarm",
            ),
            other => found.change(format_args!("etcd has the alarm {other}: see its documentation")),
        }
    }
    if bytes > MOST_BYTES {
        found.change("etcd has filled half of its default quota: start it with --auto-compaction-retention=1h, and defragment it");
    }
    let (kilobytes, alarm) = (bytes / 1000, if alarms.is_empty() { "no alarm".to_owned() } else { alarms.join(", ") });
    found.say("room", format_args!("{kilobytes} kB, {alarm}"));
    Ok(())
}
