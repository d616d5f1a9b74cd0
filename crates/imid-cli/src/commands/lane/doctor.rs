//! `imid lane doctor`: what a register promises, and what to change.

#[cfg(feature = "etcd")]
mod etcd;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::Write;
use std::time::{Duration, Instant};

use imid_lease::admin::{self, View};
use imid_lease::record::{LaneRecord, LaneState, MetaRecord};
use imid_lease::register::{Promise, Register, RegisterError, open_url, open_url_read_only, tool::store_of_url};

use super::{SpaceArgs, chain, now_ms};
use crate::Out;
use crate::report::Stop;

#[derive(clap::Args)]
#[command(after_help = "\
It reads only, unless --write is given.

Exit status:
  0: the register answered, also if there is something to change
  1: it did not, or it cannot be understood
  2: the arguments are wrong

Example:
  imid lane doctor --register file:/var/lib/chat/ids")]
pub(super) struct Doctor {
    #[command(flatten)]
    space: SpaceArgs,
    /// Also measure writes: write the record `doctor` of the register 10 times
    ///
    /// No lease uses this record. It stays. As the first write of a process would, this creates the table or the node of the
    /// register if there is none.
    #[arg(long)]
    write: bool,
}

/// How often a call is measured.
const CALLS: usize = 10;

/// The record that is written. A space has a `/` in its keys.
const KEY: &str = "doctor";

/// A greater difference of the clocks is reported. The time of etcd is right to half a second.
const MOST_DIFFERENCE_MS: i64 = 600;

/// How far a ceiling may be ahead of the clock besides its horizon: a lead, and a difference of clocks.
const MOST_LEAD_MS: u64 = 5_000;

/// If each lane begins further ahead of the clock, it is reported.
const MOST_NEAREST_MS: u64 = 1_000;

/// If a space was created or recovered to begin further ahead of the clock, it is reported: longer than a horizon and a wrong clock explain.
const MOST_FLOOR_MS: u64 = 120_000;

/// What to do about records that were lost, in order.
const LOST: &str = "(1) stop all processes; (2) restore the newest backup, and run `imid lane recover --horizon H --max-skew S`; (3) \
                    without a backup, `imid lane create --bits N --horizon H --max-skew S`, which starts past everything that may have \
                    been minted, never with --first; (4) start the processes";

/// What was found: lines, each with a label, and what to change.
#[derive(Default)]
struct Findings {
    lines: Vec<(&'static str, String)>,
    changes: Vec<String>,
}

impl Findings {
    fn say(&mut self, label: &'static str, text: impl Display) {
        self.lines.push((label, format!("{text}")));
    }

    fn change(&mut self, what: impl Display) {
        self.changes.push(format!("{what}"));
    }
}

impl Doctor {
    pub(super) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let Findings { mut lines, changes } = self.examine()?;
        if changes.is_empty() {
            lines.push(("change", "nothing that this command can see".into()));
        }
        lines.extend(changes.into_iter().map(|change| ("change", change)));
        Ok(lines.iter().try_for_each(|(label, text)| writeln!(out, "{label:<10}{text}"))?)
    }

    fn examine(&self) -> Result<Findings, Stop> {
        let mut register = self.space.open(if self.write { open_url } else { open_url_read_only })?;
        // PANIC: the URL was opened.
        let store = store_of_url(&self.space.register).expect("a URL of a register is that of a store");
        let mut found = Findings::default();

        // The first call connects.
        let key = format!("{}/meta", self.space.name);
        register.read(&key).map_err(|error| {
            let mut message = chain(&error);
            // The name of the table. A wrong password or a missing right has another reason.
            if !self.write && error.is_permanent() && message.contains("imid_register") && message.contains("exist") {
                message = format!(
                    "{message}; if the table was lost: {LOST}. Only if nothing has ever minted in it: `imid lane create --first --bits N`"
                );
            }
            Stop::Error(message)
        })?;
        let register_id = admin::register_id(&mut *register).unwrap_or_else(|error| {
            found.change(format_args!("the ID of the register cannot be read: {}", chain(&error)));
            None
        });
        let no_id = "has no ID that can be read; `imid lane create` writes one with the first space";
        found.say("register", register_id.as_deref().unwrap_or(no_id));
        // Before the writes, which a full etcd refuses.
        #[cfg(feature = "etcd")]
        if store.name == "etcd" {
            etcd::look_at_room(&self.space.register, &mut found)?;
        }
        let (reads, _) = measure(|| register.read(&key).map(drop).map_err(|error| failed(&error)))?;
        found.say("reads", reads);
        if self.write {
            let (writes, greatest) = measure_writes(&mut *register)?;
            if greatest > Duration::from_millis(500) {
                found.change("a write took more than 500 ms, and a call may take 2 s: find out what is slow");
            }
            found.say("writes", format_args!("{writes}, of the record {KEY}"));
        } else {
            found.say("writes", "not measured; --write measures them");
        }
        self.look_at_clock(store.name, &mut *register, &mut found);
        let promise = register.promise();
        if let Promise::Weak(_) = promise {
            found.change("the register is weak: after it has lost a write, IDs can be duplicated");
        }
        found.say("promise", &promise);
        found.say("looked at", store.checks);
        for what in store.cannot_see {
            found.say("not seen", what);
        }
        self.look_at_spaces(&mut *register, &mut found)?;
        Ok(found)
    }

    fn look_at_spaces(&self, register: &mut dyn Register, found: &mut Findings) -> Result<(), Stop> {
        let records = register.list("").map_err(|error| failed(&error))?;
        // A segment can have the name of the record of a space, and a space the name of the segments.
        let is_segment =
            |(key, text): &&(String, String)| key.starts_with("seg/") && text.split(' ').nth(1) == Some("line");
        let spaces =
            records.iter().filter(|record| !is_segment(record)).filter_map(|(key, _)| key.strip_suffix("/meta"));
        let mut has_space = false;
        for name in spaces {
            has_space |= name == self.space.name;
            match admin::view(register, name) {
                Ok(view) => {
                    found.changes.extend(strays(name, &view.meta, &records));
                    look_at(name, &view, found);
                }
                // One that another version wrote does not hide the others.
                Err(error) => {
                    let error = chain(&error);
                    found.change(format_args!("the space {name} cannot be read: {error}"));
                    found.say("space", format_args!("{name}: {error}"));
                }
            }
        }
        if !has_space {
            let name = &self.space.name;
            found.say("space", format_args!("{name} is not in this register"));
            if !undescribed(&records).contains(name.as_str()) {
                found.change(format_args!(
                    "there is no space {name}. If it was ever used, its records were lost: {LOST}. Only if nothing has ever minted in it: \
                     `imid lane create --first --bits N`"
                ));
            }
        }
        for name in undescribed(&records) {
            found.change(format_args!(
                "the space {name} has lanes and no record {name}/meta that describes them, so no process can start: {LOST}"
            ));
        }
        let segments = records.iter().filter(is_segment).count();
        if segments > 0 {
            found.say("segments", segments);
        }
        Ok(())
    }

    /// Compares the clock of the store with the one here.
    fn look_at_clock(&self, store: &str, register: &mut dyn Register, found: &mut Findings) {
        let start = Instant::now();
        let read = register.now_ms();
        let round_trip_ms = i64::try_from(start.elapsed().as_millis()).unwrap_or(i64::MAX);
        match read {
            Ok(Some(store_ms)) => {
                // The answer is from the middle of the call.
                let here = i128::from(now_ms()) - i128::from(round_trip_ms / 2);
                let difference = i64::try_from(i128::from(store_ms) - here).unwrap_or(i64::MAX);
                let by = difference.unsigned_abs();
                if difference.abs() > MOST_DIFFERENCE_MS.saturating_add(round_trip_ms) {
                    found.change(format_args!(
                        "the clocks differ by {by} ms: synchronize both, and keep max_skew above what remains"
                    ));
                }
                let relation = if difference < 0 { "behind" } else { "ahead of" };
                found.say("clock", format_args!("of the store is {by} ms {relation} the clock here"));
            }
            Ok(None) => {
                let is_hidden = !self.write && store == "zookeeper";
                let reason = if is_hidden { ", or tells it only to a writer" } else { "" };
                found.say("clock", format_args!("the store has no clock{reason}"));
            }
            Err(error) => found.say("clock", format_args!("cannot be read: {}", chain(&error))),
        }
    }
}

/// Returns the names of the spaces that have lanes and no description.
fn undescribed(records: &[(String, String)]) -> BTreeSet<&str> {
    let is_lane = |text: &str| text.split(' ').nth(1) == Some("lane");
    let lanes = records.iter().filter(|(_, text)| is_lane(text));
    let names = lanes.filter_map(|(key, _)| key.rsplitn(3, '/').nth(2));
    let is_described = |name: &str| records.iter().any(|(key, _)| key.strip_suffix("/meta") == Some(name));
    let names: BTreeSet<_> = names.collect();
    names.into_iter().filter(|name| !is_described(name)).collect()
}

/// Compares the lanes that are held with the description of their space. A change of the number of lanes closes those of before, so
/// holders of others know another description.
fn strays(name: &str, meta: &MetaRecord, records: &[(String, String)]) -> Option<String> {
    let is_described = |era: &str, lane: &str| {
        era.parse() == Ok(meta.era) && lane.parse::<u64>().is_ok_and(|lane| lane < 1 << meta.bits)
    };
    let mut strays = records.iter().filter_map(|(key, text)| {
        let (era, lane) = key.strip_prefix(name)?.strip_prefix('/')?.split_once('/')?;
        let record = LaneRecord::parse(text).ok().filter(|record| record.state == LaneState::Held)?;
        (!is_described(era, lane)).then_some((key, record.holder))
    });
    let (key, holder) = strays.next()?;
    let (count, lanes, era) = (1 + strays.count(), 1_u64 << meta.bits, meta.era);
    Some(format!(
        "{count} lanes of {name} are held that {name}/meta does not describe ({lanes} lanes, era {era}), such as {key} by {holder}: it \
         was replaced, and IDs can be duplicated; stop these holders"
    ))
}

fn failed(error: &RegisterError) -> Stop {
    Stop::Error(chain(error))
}

/// Counts the lanes of a space, and finds those that need an operator.
fn look_at(name: &str, view: &View, found: &mut Findings) {
    let (mut held, mut unused, mut late, mut nearest_ms) = (0, 0, 0, u64::MAX);
    let floor_lead_ms = view.meta.floor_ms.saturating_sub(now_ms());
    for lane in &view.lanes {
        let record = match &lane.record {
            Ok(Some(record)) => record,
            Ok(None) => {
                unused += 1;
                nearest_ms = nearest_ms.min(floor_lead_ms);
                continue;
            }
            Err(error) => {
                found.change(format_args!("lane {} of {name} cannot be read: {error}", lane.lane));
                continue;
            }
        };
        let now_ms = now_ms();
        if record.state == LaneState::Held {
            held += 1;
            late += usize::from(record.ceiling_ms <= now_ms);
        }
        let lead_ms = record.ceiling_ms.saturating_sub(now_ms);
        if record.state != LaneState::Closed {
            nearest_ms = nearest_ms.min(lead_ms.max(floor_lead_ms));
        }
        // An operator has set the floor of the space.
        let is_granted = record.state != LaneState::Closed && record.ceiling_ms > view.meta.floor_ms;
        if is_granted && lead_ms > record.horizon_ms.saturating_add(MOST_LEAD_MS) {
            found.change(format_args!(
                "lane {} of {name} ({}) is {lead_ms} ms ahead, and its horizon is {} ms: a clock was wrong, or the one here is",
                lane.lane, record.holder, record.horizon_ms
            ));
        }
    }
    let (lanes, meta) = (view.lanes.len(), &view.meta);
    if late > 0 {
        found.change(format_args!("{late} holders in {name} have not renewed in time: find out whether they live"));
    }
    if held < lanes && held * 4 >= lanes * 3 {
        found.change(format_args!(
            "{held} of {lanes} lanes of {name} are held, and a new process waits once all are: see `imid lane resize`"
        ));
    }
    if floor_lead_ms > MOST_FLOOR_MS {
        found.change(format_args!(
            "{name} was created or recovered to begin {floor_lead_ms} ms ahead of the clock: a clock was wrong, or the one here is, unless \
             this was meant"
        ));
    } else if lanes > 1 && nearest_ms > MOST_NEAREST_MS.max(floor_lead_ms) {
        found.change(format_args!(
            "each lane of {name} begins more than 1 s ahead of the clock, and so do the IDs of a process that takes one: if this stays \
             so, see `imid lane resize`"
        ));
    }
    if held == lanes {
        found.change(format_args!("no lane of {name} is free, so no other process can start: see `imid lane resize`"));
    }
    let begins = if floor_lead_ms > 0 {
        format!(", created or recovered to begin in {floor_lead_ms} ms")
    } else {
        String::new()
    };
    found.say(
        "space",
        format_args!(
            "{name} ({}): {lanes} lanes of {}, {held} held, {unused} never used{begins}",
            meta.space_id, meta.layout
        ),
    );
}

/// Measures a call. Returns its times in words, and the greatest one.
fn measure(mut call: impl FnMut() -> Result<(), Stop>) -> Result<(String, Duration), Stop> {
    let mut times = [Duration::ZERO; CALLS];
    for time in &mut times {
        let start = Instant::now();
        call()?;
        *time = start.elapsed();
    }
    times.sort_unstable();
    let (median, greatest) = (times[CALLS / 2], times[CALLS - 1]);
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    Ok((format!("{:.1} ms (median of {CALLS}), at most {:.1} ms", ms(median), ms(greatest)), greatest))
}

/// Measures compare-and-sets of a record.
fn measure_writes(register: &mut dyn Register) -> Result<(String, Duration), Stop> {
    let mut seen = register.read(KEY).map_err(|error| failed(&error))?;
    let mut number = 0;
    measure(|| {
        number += 1;
        // Each value differs from the one before it, so each is a write.
        let next = format!("imid-doctor at={} number={number}", now_ms());
        if !register.compare_and_set(KEY, seen.as_deref(), &next).map_err(|error| failed(&error))? {
            return Err(Stop::Error(format!("another process changed the record {KEY}: is another doctor running?")));
        }
        seen = Some(next);
        Ok(())
    })
}
