//! `imid lane`: shows and frees the lanes that a register grants.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write;
use std::thread;
use std::time::Duration;

use clap::Subcommand;
use imid_lease::admin::{self, FreeIf, LaneView, View};
use imid_lease::record::LaneState;
use imid_lease::register::{Register, open_url};

use crate::Out;
use crate::commands::whole_number;
use crate::report::{Report, Stop};
use crate::time::rfc3339;

/// Show and free the lanes that processes lease from a register
///
/// A register stores which process mints in which lane, and up to which time it may mint there (its ceiling).
/// docs/LEASES.md describes lanes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid lane list --register file:/var/lib/chat/ids
  imid lane watch --register postgres://chat:secret@db/chat
  imid lane release --register redis://cache 3")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print all lanes
    List(Place),
    /// Free a lane whose holder is gone, so that another process can take it at once
    ///
    /// Watches the lane first. If its holder renews it in this time, the lane is in use and is not freed.
    Release(Release),
    /// Print each change of a lane, until the tool is ended
    Watch(Watch),
}

/// Where the lanes are.
#[derive(clap::Args)]
struct Place {
    /// The store: file: and a path, or a URL of postgres, mysql, redis, etcd or zookeeper
    ///
    /// For all stores except files, the tool must be built with the feature of the store, such as --features postgres.
    #[arg(long, value_name = "URL")]
    register: String,
    /// Name of the space of lanes, as in the options of the generator
    #[arg(long, value_name = "NAME", default_value = "lanes")]
    space: String,
}

#[derive(clap::Args)]
struct Release {
    #[command(flatten)]
    place: Place,
    /// Number of the lane
    #[arg(value_name = "LANE", value_parser = whole_number::<u16>)]
    lane: u16,
    /// How long to watch the lane, in seconds; at least the horizon of its holder
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = whole_number::<u32>)]
    time_out: u32,
    /// Free the lane even if its holder is alive. No ID is repeated: the holder mints up to its ceiling, and then needs
    /// another lane. If no lane is free, it cannot mint
    #[arg(long)]
    force: bool,
}

#[derive(clap::Args)]
struct Watch {
    #[command(flatten)]
    place: Place,
    /// How often to look, in milliseconds
    #[arg(long, value_name = "MS", default_value = "1000", value_parser = whole_number::<u32>)]
    interval: u32,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &Report) -> Result<(), Stop> {
        match &self.action {
            Action::List(place) => place.list(out),
            Action::Release(args) => args.release(out, report),
            Action::Watch(args) => args.watch(out, report),
        }
    }
}

impl Place {
    fn open(&self) -> Result<Box<dyn Register>, Stop> {
        open_url(&self.register).map_err(|error| Stop::Error(error.to_string()))
    }

    fn view(&self, register: &mut dyn Register) -> Result<View, Stop> {
        admin::view(register, &self.space).map_err(|error| stop(&error))
    }

    fn list(&self, out: &mut Out) -> Result<(), Stop> {
        let mut register = self.open()?;
        let view = self.view(&mut *register)?;
        let meta = &view.meta;
        writeln!(out, "register {}: {}", meta.register, register.promise())?;
        writeln!(out, "space {}: {} lanes of {}", self.space, view.lanes.len(), meta.layout)?;
        for lane in &view.lanes {
            writeln!(out, "{:>5}  {}", lane.lane, describe(lane))?;
        }
        Ok(())
    }
}

impl Release {
    fn release(&self, out: &mut Out, report: &Report) -> Result<(), Stop> {
        let mut register = self.place.open()?;
        let when = if self.force {
            report.note(
                "--force: a holder that is alive goes on up to its ceiling, and cannot mint after that if no lane is free",
            );
            FreeIf::Forced
        } else {
            FreeIf::UnchangedFor(Duration::from_secs(self.time_out.into()))
        };
        admin::free(&mut *register, &self.place.space, self.lane, when).map_err(|error| {
            let hint = if error.is_in_use() { "; --force frees it all the same" } else { "" };
            Stop::Error(chain(&error) + hint)
        })?;
        Ok(writeln!(out, "lane {} is free", self.lane)?)
    }
}

impl Watch {
    fn watch(&self, out: &mut Out, report: &Report) -> Result<(), Stop> {
        let mut register = self.place.open()?;
        let mut seen = Vec::new();
        let mut is_silent = false;
        loop {
            match admin::view(&mut *register, &self.place.space) {
                Ok(view) => {
                    is_silent = false;
                    let lanes: Vec<_> =
                        view.lanes.iter().map(|lane| (lane.lane, change_of(lane), describe(lane))).collect();
                    for (lane, key, text) in &lanes {
                        // Renewals are not changes: they come several times a second.
                        if !seen.iter().any(|(seen_lane, seen_key)| seen_lane == lane && seen_key == key) {
                            writeln!(out, "{}  {lane:>5}  {text}", rfc3339(now_ms()))?;
                        }
                    }
                    out.flush()?;
                    seen = lanes.into_iter().map(|(lane, key, _)| (lane, key)).collect();
                }
                // The store may come back. Each outage is reported once.
                Err(error) if error.is_register() && !seen.is_empty() => {
                    if !is_silent {
                        report.note(chain(&error));
                    }
                    is_silent = true;
                }
                Err(error) => return Err(stop(&error)),
            }
            thread::sleep(Duration::from_millis(self.interval.into()));
        }
    }
}

/// Returns what an operator wants to know of a lane.
fn describe(lane: &LaneView) -> String {
    let record = match &lane.record {
        Ok(Some(record)) => record,
        Ok(None) => return "never used".into(),
        Err(error) => return format!("cannot be read: {error}"),
    };
    let ceiling = rfc3339(record.ceiling_ms);
    let mut text = match record.state {
        LaneState::Held => format!("held by {} up to {ceiling}", record.holder),
        LaneState::Free => format!("free from {ceiling}, last held by {}", record.holder),
        _ => format!("closed at {ceiling}"),
    };
    if record.state == LaneState::Held && record.ceiling_ms <= now_ms() {
        // A String can always be written.
        let _ = write!(text, " (over, the holder has not renewed it)");
    }
    text
}

/// Returns what stays the same while a holder renews its lane.
fn change_of(lane: &LaneView) -> String {
    match &lane.record {
        Ok(Some(record)) => format!("{} {:?}", record.holder, record.state),
        _ => describe(lane),
    }
}

/// The present time, or 1970 if the clock is before it.
fn now_ms() -> u64 {
    jiff::Timestamp::now().as_millisecond().try_into().unwrap_or(0)
}

fn stop(error: &admin::AdminError) -> Stop {
    Stop::Error(chain(error))
}

/// Returns an error with its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let _ = write!(text, ": {cause}");
        next = cause.source();
    }
    text
}
