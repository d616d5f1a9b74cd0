//! The steps of random schedules, for the TLA+ specification: `ci/spec.sh` has them written to a file, and spec/lease/traces.py translates
//! them. A step is a line, whose fields are separated by tabs.

use std::fmt::Write as _;

use super::random::{ALL, Weather, play_in};
use super::rules::Rules;
use super::store::{Flight, Store};
use super::world::{Random, World};
use imid_lease_protocol::engine::{Action, Outcome, Reply};

/// What has happened, if it is noted.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(Option<Vec<String>>);

impl Steps {
    pub(super) fn note(&mut self, step: impl FnOnce() -> String) {
        if let Some(steps) = &mut self.0 {
            steps.push(step());
        }
    }
}

impl World {
    /// Notes a step of a process.
    pub(super) fn note(&mut self, index: usize, step: impl FnOnce() -> String) {
        let start = self.holders[index].incarnation;
        self.store.steps.note(|| format!("{index}.{start}\t{}", step()));
    }

    /// Restores the store from a backup. What has happened before stays noted.
    pub(super) fn restore_store(&mut self, backup: Store) {
        let steps = std::mem::take(&mut self.store.steps);
        self.store = backup;
        self.store.steps = steps;
        let Store { records, steps, .. } = &mut self.store;
        steps.note(|| "\trestore".into());
        for (key, value) in records.iter() {
            steps.note(|| format!("\trecord\t{key}\t{value}"));
        }
    }
}

/// Returns the text of a call.
pub(super) fn call(flight: &Flight) -> String {
    let number = flight.number;
    match &flight.call {
        Action::List => format!("call\t{number}\tlist"),
        Action::Read { key } => format!("call\t{number}\tread\t{key}"),
        Action::Write { key, seen, value, .. } => {
            format!("call\t{number}\twrite\t{key}\t{}\t{value}", seen.as_deref().unwrap_or_default())
        }
        other => panic!("{other:?} is not a call"),
    }
}

/// Returns the text of a reply.
pub(super) const fn reply(reply: &Reply) -> &'static str {
    match reply {
        Reply::Written { outcome: Outcome::Acknowledged, .. } => "written",
        Reply::Written { outcome: Outcome::Conflict, .. } => "conflict",
        Reply::Written { outcome: Outcome::Unknown, .. } | Reply::Listed(Err(_)) | Reply::Read(Err(_)) => "unknown",
        Reply::Listed(Ok(_)) | Reply::Read(Ok(_)) | Reply::Sealed { .. } => "found",
    }
}

/// Writes the steps of schedules to the file `IMID_LEASE_STEPS`. No rule of the protocol is for cloned machines.
#[test]
#[ignore = "ci/spec.sh runs it"]
fn steps_of_schedules() {
    let mut text = String::new();
    for weather in ALL.into_iter().filter(|weather| *weather != Weather::Cloned) {
        for seed in super::random::seeds(8) {
            let mut world = World::new(Random(seed).next(), Rules::default());
            world.store.steps = Steps(Some(Vec::new()));
            let world = play_in(world, weather);
            assert_eq!(world.fault, None, "{weather:?} {seed}");
            writeln!(text, "\tschedule\t{weather:?}\t{seed}").unwrap();
            for step in world.store.steps.0.unwrap_or_default() {
                writeln!(text, "{step}").unwrap();
            }
        }
    }
    std::fs::write(std::env::var("IMID_LEASE_STEPS").expect("the name of a file"), text).unwrap();
}
