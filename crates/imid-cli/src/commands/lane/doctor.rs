//! `imid lane doctor`: what a register promises, and what to change.

use std::fmt;
use std::io::Write;
use std::time::{Duration, Instant};

use imid_lease::admin::{self, View};
use imid_lease::record::LaneState;
use imid_lease::register::{Promise, Register, RegisterError, open_url, open_url_read_only};

use super::{SpaceArgs, chain, now_ms};
use crate::Out;
use crate::report::Stop;

#[derive(clap::Args)]
#[command(after_help = "\
It reads only, unless --write is given. The exit status is 0 also if there is something to change.

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

/// What an adapter looks at, and what it cannot see, by the scheme of the URL.
fn sight(scheme: &str) -> (&'static str, &'static [&'static str]) {
    match scheme {
        "postgres" | "postgresql" => (
            "fsync, full_page_writes, synchronous_standby_names beside standbys, slots and the timeline, an unlogged table",
            &[
                "whether the disk keeps what it has synced",
                "whether a fail-over takes the synchronous standby",
                "whether a backup was restored",
            ],
        ),
        "mysql" | "mariadb" => (
            "innodb_flush_log_at_trx_commit, innodb_doublewrite, sync_binlog, Galera, the engine of the table",
            &[
                "whether the disk keeps what it has synced",
                "whether replicas are semi-synchronous, and which one a fail-over takes",
                "whether a backup was restored",
            ],
        ),
        "redis" | "rediss" | "valkey" | "valkeys" => {
            ("no setting, because it is always weak", &["which acknowledged writes were lost"])
        }
        "etcd" | "etcds" | "https" => (
            "no setting",
            &[
                "whether old versions are compacted: without --auto-compaction-retention, 16 lanes fill 2 GB in 19 days",
                "whether it syncs its log, as it does without --unsafe-no-fsync",
                "whether a snapshot was restored",
            ],
        ),
        "zookeeper" | "zookeepers" => (
            "no setting",
            &[
                "whether it syncs its log (forceSync), as it does by default",
                "whether members lost their disks, so that a majority has forgotten writes",
            ],
        ),
        "file" => (
            "network file systems, other machines, links, the checksum",
            &[
                "whether the disk keeps what it has synced",
                "whether the disk is thrown away with a container",
                "whether the file is copied, or restored from a backup",
            ],
        ),
        _ => ("nothing that this command knows of", &["what the documentation of its adapter names"]),
    }
}

impl Doctor {
    pub(super) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let scheme = self.space.url()?.0.split(':').next().unwrap_or_default().to_owned();
        let mut register = self.space.open(if self.write { open_url } else { open_url_read_only })?;
        let failed = |error: RegisterError| Stop::Error(chain(&error));
        let mut changes = Vec::new();

        // The first call connects.
        let key = format!("{}/meta", self.space.name);
        register.read(&key).map_err(|error| {
            let mut message = chain(&error);
            // The name of the table. A wrong password has another reason.
            if !self.write && error.is_final() && message.contains("imid_register") {
                message += "; if no process has used this register yet, --write makes it";
            }
            Stop::Error(message)
        })?;
        let reads = measure(|| register.read(&key).map(drop).map_err(failed))?;
        writeln!(out, "reads     {reads}")?;
        if self.write {
            let writes = measure_writes(&mut *register)?;
            writeln!(out, "writes    {writes}, of the record {KEY}")?;
            if writes.greatest > Duration::from_millis(500) {
                changes
                    .push("a write took more than 500 ms, and a call may take 2 s: find out what is slow".to_owned());
            }
        } else {
            writeln!(out, "writes    not measured; --write measures them")?;
        }

        self.clock(&scheme, &mut *register, out, &mut changes)?;

        let (seen, not_seen) = sight(&scheme);
        let promise = register.promise();
        writeln!(out, "promise   {promise}")?;
        writeln!(out, "looked at {seen}")?;
        for what in not_seen {
            writeln!(out, "not seen  {what}")?;
        }
        if let Promise::Weak(_) = promise {
            changes.push("the register is weak: after it has lost a write, IDs can come twice".to_owned());
        }

        self.spaces(&mut *register, out, &mut changes)?;
        if changes.is_empty() {
            writeln!(out, "change    nothing that this command can see")?;
        }
        for change in changes {
            writeln!(out, "change    {change}")?;
        }
        Ok(())
    }

    /// Compares the clock of the store with the one here.
    fn clock(
        &self,
        scheme: &str,
        register: &mut dyn Register,
        out: &mut Out,
        changes: &mut Vec<String>,
    ) -> Result<(), Stop> {
        let start = Instant::now();
        let store = match register.now_ms() {
            Ok(store) => store,
            Err(error) => return Ok(writeln!(out, "clock     cannot be read: {}", chain(&error))?),
        };
        let round_trip = start.elapsed();
        let Some(store) = store else {
            let reason =
                if !self.write && scheme.starts_with("zookeeper") { ", or tells it only to a writer" } else { "" };
            return Ok(writeln!(out, "clock     the store has no time of its own{reason}")?);
        };
        // The answer is from the middle of the call.
        let here = i128::from(now_ms()) - i128::try_from(round_trip.as_millis() / 2).unwrap_or_default();
        let difference = i64::try_from(i128::from(store) - here).unwrap_or(i64::MAX);
        let (by, way) = (difference.unsigned_abs(), if difference < 0 { "behind" } else { "ahead of" });
        writeln!(out, "clock     of the store is {by} ms {way} the clock here")?;
        if difference.abs() > MOST_DIFFERENCE_MS + i64::try_from(round_trip.as_millis()).unwrap_or_default() {
            changes
                .push(format!("the clocks differ by {by} ms: synchronize both, and keep max_skew above what remains"));
        }
        Ok(())
    }

    /// Lists the spaces of the register, and looks at the lanes of each.
    fn spaces(&self, register: &mut dyn Register, out: &mut Out, changes: &mut Vec<String>) -> Result<(), Stop> {
        let records = register.list("").map_err(|error| Stop::Error(chain(&error)))?;
        let spaces: Vec<_> = records.iter().filter_map(|(key, _)| key.strip_suffix("/meta")).collect();
        for &name in &spaces {
            match admin::view(&mut *register, name) {
                Ok(view) => look_at(name, &view, out, changes)?,
                // One that another version wrote does not hide the others.
                Err(error) => {
                    writeln!(out, "space     {name}: {}", chain(&error))?;
                    changes.push(format!("the space {name} cannot be read: {}", chain(&error)));
                }
            }
        }
        if !spaces.contains(&self.space.name.as_str()) {
            writeln!(out, "space     {} is not in this register; the first process creates it", self.space.name)?;
        }
        let segments = records.iter().filter(|(key, _)| key.starts_with("seg/")).count();
        if segments > 0 {
            writeln!(out, "segments  {segments}")?;
        }
        Ok(())
    }
}

/// Prints how many lanes of a space are held, and finds those that need somebody.
fn look_at(name: &str, view: &View, out: &mut Out, changes: &mut Vec<String>) -> Result<(), Stop> {
    let (mut held, mut unused, mut late) = (0, 0, 0);
    for lane in &view.lanes {
        let record = match &lane.record {
            Ok(Some(record)) => record,
            Ok(None) => {
                unused += 1;
                continue;
            }
            Err(error) => {
                changes.push(format!("lane {} of {name} cannot be read: {error}", lane.lane));
                continue;
            }
        };
        let now_ms = now_ms();
        if record.state == LaneState::Held {
            held += 1;
            late += usize::from(record.ceiling_ms <= now_ms);
        }
        let lead_ms = record.ceiling_ms.saturating_sub(now_ms);
        if record.state != LaneState::Closed && lead_ms > record.horizon_ms.saturating_add(MOST_LEAD_MS) {
            changes.push(format!(
                "lane {} of {name} ({}) is {lead_ms} ms ahead, and its horizon is {} ms: a clock was wrong, or the one here is",
                lane.lane, record.holder, record.horizon_ms
            ));
        }
    }
    let (lanes, meta) = (view.lanes.len(), &view.meta);
    writeln!(
        out,
        "space     {name} ({}): {lanes} lanes of {}, {held} held, {unused} never used",
        meta.space_id, meta.layout
    )?;
    if late > 0 {
        changes.push(format!("{late} holders in {name} have not renewed in time: find out whether they live"));
    }
    if held == lanes {
        changes.push(format!("no lane of {name} is free, so no other process can start: see `imid lane resize`"));
    }
    Ok(())
}

/// The median and the greatest of some times.
struct Spread {
    median: Duration,
    greatest: Duration,
}

/// Measures a call.
fn measure(mut call: impl FnMut() -> Result<(), Stop>) -> Result<Spread, Stop> {
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let start = Instant::now();
        call()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(Spread { median: times[CALLS / 2], greatest: times[CALLS - 1] })
}

/// Measures compare-and-sets of a record.
fn measure_writes(register: &mut dyn Register) -> Result<Spread, Stop> {
    let failed = |error: RegisterError| Stop::Error(chain(&error));
    let mut seen = register.read(KEY).map_err(failed)?;
    let mut number = 0;
    measure(|| {
        number += 1;
        // Each value differs from the one before it, so each is a write.
        let next = format!("imid-doctor at={} number={number}", now_ms());
        if !register.compare_and_set(KEY, seen.as_deref(), &next).map_err(failed)? {
            return Err(Stop::Error(format!("the record {KEY} was changed by somebody else: is another doctor here?")));
        }
        seen = Some(next);
        Ok(())
    })
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        write!(f, "{:.1} ms (median of {CALLS}), at most {:.1} ms", ms(self.median), ms(self.greatest))
    }
}

#[cfg(test)]
mod tests {
    use super::sight;

    /// The schemes of `open_url`.
    #[test]
    fn each_store_has_words_of_its_own() {
        let schemes = ["postgres", "postgresql", "mysql", "mariadb", "redis", "rediss", "valkey", "valkeys"];
        for scheme in schemes.into_iter().chain(["etcd", "etcds", "https", "zookeeper", "zookeepers", "file"]) {
            assert_ne!(sight(scheme), sight("another"), "{scheme}");
        }
    }
}
