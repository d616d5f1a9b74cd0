//! What `imid lane doctor` finds in an etcd.

use imid_lease::register::EtcdRegister;
use imid_lease::register::tool::{EtcdRoom, member_leads, room};
use serde_json::json;

use super::{Findings, ahead_of, failed};
use crate::report::Stop;

/// A member of etcd whose clock differs more from the others is reported. The date of an answer is right to half a second.
const MOST_MEMBER_DIFFERENCE_MS: i64 = 2_000;

/// More versions in etcd are reported. Sixteen lanes write as many in two days, and 2 GB, its default quota, hold ten times as many.
const MOST_VERSIONS: u64 = 1_000_000;

/// Looks at the room and the members of an etcd.
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
    let members = member_leads(&mut register);
    look_at_members(&members, found);
    let (kilobytes, alarm) = (bytes / 1000, if alarms.is_empty() { "no alarm".to_owned() } else { alarms.join(", ") });
    found.say("room", format_args!("{versions} versions that are not compacted, {kilobytes} kB, {alarm}"));
    for (member, lead_ms) in &members {
        match lead_ms {
            Some(ms) => {
                found.say("member", format_args!("{member}, whose clock is {} the clock here", ahead_of(*ms)));
            }
            None => found.say("member", format_args!("{member}, which does not answer")),
        }
    }
    let object = |(member, ms): &(_, _)| json!({ "member": member, "clock_difference_ms": ms });
    let members: Vec<_> = members.iter().map(object).collect();
    found.set("room", json!({ "bytes": bytes, "versions": versions, "alarms": alarms, "members": members }));
    Ok(())
}

/// Finds the members whose clock differs from most of the others, and those that do not answer.
fn look_at_members(members: &[(String, Option<i64>)], found: &mut Findings) {
    // The clock here decides only between members.
    let mut votes: Vec<_> = members.iter().filter_map(|(_, lead_ms)| *lead_ms).chain([0]).collect();
    votes.sort_unstable();
    let usual = votes[(votes.len() - 1) / 2];
    for (member, lead_ms) in members {
        match lead_ms.map(|ms| ms - usual) {
            None => found.change(format_args!("the member {member} does not answer")),
            // Against a single member, the clock here decides nothing. The line `clock` has the difference.
            Some(ms) if ms.abs() > MOST_MEMBER_DIFFERENCE_MS && votes.len() > 2 => {
                let ahead_of = ahead_of(ms);
                found.change(format_args!("the clock of the member {member} is {ahead_of} the others: synchronize it"));
            }
            Some(_) => {}
        }
    }
}
