//! `imid lane`: shows and frees the lanes that a register grants.

mod doctor;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;
use std::{env, fs, iter};

use clap::Subcommand;
use imid_lease::admin::{self, AdminError, FreeIf, LaneView, Recovery, ResizeIf};
use imid_lease::record::LaneState;
use imid_lease::register::{DEFAULT_TIME_LIMIT, Register, RegisterError, open_url, open_url_read_only, tool::STORES};
use serde_json::{Value, json};

use super::whole_number;
use crate::Out;
use crate::json::{self, JsonArg};
use crate::report::{Report, Stop, quote, quote_path};
use crate::time::{AboveTime, LAST_MS, ZoneArg, parse_duration};

/// Show the lanes of a register, and free a lane whose holder is gone
///
/// A process leases a lane from a register, which is a database, a server or a file. The register stores who holds each
/// lane, and up to which time that process may mint: its ceiling. docs/LEASES.md describes lanes.
#[derive(clap::Args)]
#[command(before_help = how_to_get_servers(), after_help = "\
Examples:
  imid lane list --register file:/var/lib/chat/ids
  imid lane list --register file:/var/lib/chat/ids --json
  imid lane release --register redis://cache 3
  IMID_REGISTER=postgres://chat:secret@db/chat imid lane list")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print all lanes
    List(List),
    /// Free a lane whose holder is gone, so that another process can take it immediately
    ///
    /// First watches the lane for its holder's horizon. If the holder renews it in this time, the lane is in use and is not
    /// freed.
    Release(Release),
    /// Make a space safe again after its register was restored from a backup, or lost writes
    ///
    /// No process may use the space in the meantime. All lanes become free, and start after everything that may have been
    /// minted.
    Recover(Recover),
    /// Create a space, once, before the first process starts
    ///
    /// Processes do not create their space, so that a register that was emptied or replaced is noticed. It also repairs a space
    /// whose description was deleted: it closes the old lanes, so their holders stop.
    ///
    /// An emptied register looks like a new one, so the lanes start past everything that may have been minted: a horizon and an
    /// error of a clock from now. Processes mint from then on with that lead. `--first` starts at the present.
    Create(Create),
    /// Change the number of lanes
    ///
    /// It watches the lanes that are held for half of their longest horizon, and is refused if one is renewed. Stop them, and start them with the new number.
    Resize(Resize),
    /// Report what a register promises, how fast it is, whose clock is wrong, and what to change
    Doctor(doctor::Doctor),
}

#[derive(clap::Args)]
#[command(after_help = "\
JSON members:
  register_id: the UUID of the register, or null if there is none to read
  space_id: the UUID of the space in this register
  promise: strong, or weak and the reason: whether writes can be lost
  space: name of the space
  layout: layout of the IDs
  lanes: objects, one for each lane
  lanes[].lane: number of the lane
  lanes[].state: held, free, closed, unused or unreadable
  lanes[].holder: the process that holds or held the lane, or null
  lanes[].ceiling_ms, lanes[].ceiling_time: the ceiling, or null
  lanes[].error: why the record cannot be read; only if it is unreadable")]
struct List {
    #[command(flatten)]
    space: SpaceArgs,
    #[command(flatten)]
    json: JsonArg,
    #[command(flatten)]
    zone: ZoneArg,
}

/// The space of lanes.
#[derive(clap::Args)]
struct SpaceArgs {
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "register_file",
        help = help_of_register(),
        long_help = format!(
            "{}\n\nA URL can contain a password, and other users can see the arguments of a process: \
             pass it in the environment variable `IMID_REGISTER` or in a file instead.",
            help_of_register()
        )
    )]
    register: Option<String>,
    /// File whose first line is the URL of the register
    #[arg(long, value_name = "FILE")]
    register_file: Option<PathBuf>,
    /// Name of the space of lanes, as in the options of the generator
    #[arg(long = "space", value_name = "NAME", default_value = "lanes")]
    name: String,
}

#[derive(clap::Args)]
struct Release {
    #[command(flatten)]
    space: SpaceArgs,
    /// Number of the lane
    #[arg(value_name = "LANE", value_parser = whole_number(0..=u16::MAX), allow_negative_numbers = true)]
    lane: u16,
    /// Free the lane immediately, even if its holder is alive
    ///
    /// No ID is duplicated: the holder mints up to its ceiling, and then needs another lane. If no lane is free, it cannot
    /// mint.
    #[arg(long)]
    force: bool,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  imid lane recover --register file:ids --horizon 30s --max-skew 5s")]
struct Recover {
    #[command(flatten)]
    space: SpaceArgs,
    /// The longest horizon that a process of this space has used since the backup was made
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    horizon: Duration,
    /// The largest error of a clock, as in the options of the generator
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    max_skew: Duration,
    #[command(flatten)]
    above: AboveTime,
    #[command(flatten)]
    zone: ZoneArg,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  imid lane create --register postgres://chat:secret@db/chat --bits 6")]
struct Create {
    #[command(flatten)]
    space: SpaceArgs,
    /// Number of lane bits: 6 bits are 64 lanes
    #[arg(long, value_name = "BITS", value_parser = whole_number(0..=u32::MAX), default_value = "6", allow_negative_numbers = true)]
    bits: u32,
    /// Start at the present: nothing has ever minted here, in this register or in one that was lost
    ///
    /// After a loss this repeats IDs.
    #[arg(long, conflicts_with_all = ["horizon", "max_skew", "above"])]
    first: bool,
    /// Layout of the IDs, as `imid lane list` prints it
    #[arg(long, value_name = "LAYOUT", default_value = admin::LANES_LAYOUT)]
    layout: String,
    /// The longest horizon that a process of this space has used, if there was one in this register
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "10s", allow_hyphen_values = true)]
    horizon: Duration,
    /// The largest error of a clock, as in the options of the generator
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "5s", allow_hyphen_values = true)]
    max_skew: Duration,
    #[command(flatten)]
    above: AboveTime,
    #[command(flatten)]
    zone: ZoneArg,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  imid lane resize --register file:/var/lib/chat/ids 7")]
struct Resize {
    #[command(flatten)]
    space: SpaceArgs,
    /// Number of lane bits: 7 bits are 128 lanes
    #[arg(value_name = "BITS", value_parser = whole_number(0..=u32::MAX), allow_negative_numbers = true)]
    bits: u32,
    /// Change it although processes renew their lanes
    ///
    /// Each of them mints nothing from then on, until it is restarted with the new number.
    #[arg(long)]
    stop_holders: bool,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &Report) -> Result<(), Stop> {
        match &self.action {
            Action::List(args) => args.list(out),
            Action::Release(args) => args.release(out, report),
            Action::Recover(args) => args.recover(out, report),
            Action::Create(args) => args.create(out),
            Action::Resize(args) => args.resize(out),
            Action::Doctor(args) => args.run(out),
        }
    }
}

type Opened = Result<Box<dyn Register>, RegisterError>;

impl SpaceArgs {
    /// Opens the register by `open_url`, or by `open_url_read_only`.
    fn open(&self, open: fn(&str, Duration) -> Opened) -> Result<Box<dyn Register>, Stop> {
        self.open_with_url(open).map(|(register, _)| register)
    }

    /// Opens the register, and returns its URL too. A file of the URL can be a pipe, which is read only once.
    fn open_with_url(&self, open: fn(&str, Duration) -> Opened) -> Result<(Box<dyn Register>, String), Stop> {
        let (url, place) = self.url()?;
        // Opening the register of a new path to write would create it.
        if let Some(path) = url.strip_prefix("file:").filter(|path| !path.is_empty())
            && let Err(error) = fs::metadata(path)
        {
            return Err(Stop::Error(format!("{place}: cannot open {}: {error}", quote(path))));
        }
        Ok((open_at(open, &url, place)?, url))
    }

    /// Returns the URL, and what it is from.
    fn url(&self) -> Result<(String, &'static str), Stop> {
        if let Some(url) = &self.register {
            return Ok((url.clone(), "--register"));
        }
        if let Some(path) = &self.register_file {
            let text = fs::read_to_string(path)
                .map_err(|error| Stop::Error(format!("--register-file: cannot read {}: {error}", quote_path(path))))?;
            return Ok((text.lines().next().unwrap_or_default().trim().to_owned(), "--register-file"));
        }
        match env::var("IMID_REGISTER") {
            Ok(url) if !url.is_empty() => Ok((url, "IMID_REGISTER")),
            _ => {
                let expected = "expected --register, --register-file or the variable IMID_REGISTER, found none of them";
                Err(Stop::Usage(expected.into()))
            }
        }
    }
}

/// Opens the register of a URL, which is from this option or variable.
fn open_at(open: fn(&str, Duration) -> Opened, url: &str, place: &str) -> Result<Box<dyn Register>, Stop> {
    open(url, DEFAULT_TIME_LIMIT).map_err(|error| {
        let message = format!("{place}: {}", install_hint(&chain(&error)));
        if error.is_url() { Stop::Usage(message) } else { Stop::Error(message) }
    })
}

/// What `--register` takes.
fn help_of_register() -> String {
    let servers: Vec<_> = STORES.iter().filter(|store| store.is_server()).map(|store| store.name).collect();
    let (last, others) = servers.split_last().expect("there are servers");
    format!("The register: file: and a path, or a URL of {} or {last}", others.join(", "))
}

/// How to get the clients of the servers, in a tool without any of them.
fn how_to_get_servers() -> Option<&'static str> {
    static HOW: LazyLock<String> = LazyLock::new(|| {
        let features: Vec<_> = STORES.iter().filter_map(|store| store.feature).collect();
        let install = format!("cargo install --path crates/imid-cli --features {},tls-ring", features.join(","));
        format!("This tool was installed for registers in files. With all databases and servers:\n  {install}")
    });
    let has_servers = STORES.iter().any(|store| store.is_server() && store.is_compiled_in());
    (!has_servers).then_some(&HOW)
}

/// Returns the message of the library. If it misses a feature, the message ends with the command that installs the tool with
/// that one, with those that it has, and with TLS.
fn install_hint(message: &str) -> String {
    let Some((start, rest)) = message.split_once("needs the feature `") else { return message.to_owned() };
    let missing = rest.split('`').next().unwrap_or_default();
    let servers = STORES.iter().filter(|store| store.is_compiled_in() || store.name == missing);
    let features: Vec<_> = servers.filter_map(|store| store.feature).chain(["tls-ring"]).collect();
    let install = format!("cargo install --path crates/imid-cli --features {}", features.join(","));
    format!("{start}needs the feature `{missing}`, which this tool was installed without; {install}")
}

impl List {
    fn list(&self, out: &mut Out) -> Result<(), Stop> {
        let mut register = self.space.open(open_url_read_only)?;
        let view = admin::view(&mut *register, &self.space.name).map_err(|error| stop(&error))?;
        let (meta, promise) = (&view.meta, register.promise());
        // One that cannot be read does not hide the lanes: another version can have written it, and a user can have no right to it.
        let register_id = admin::register_id(&mut *register);
        if self.json.json {
            let space = json!({
                "register_id": register_id.ok().flatten(),
                "space_id": meta.space_id,
                "promise": promise.to_string(),
                "space": self.space.name,
                "layout": meta.layout,
                "lanes": view.lanes.iter().map(object).collect::<Vec<_>>(),
            });
            return json::write_line(out, &space);
        }
        match register_id {
            Ok(Some(id)) => writeln!(out, "register {id}: {promise}")?,
            Ok(None) => writeln!(out, "register without an ID: {promise}")?,
            Err(error) => writeln!(out, "register whose ID cannot be read ({}): {promise}", chain(&error))?,
        }
        writeln!(out, "space {} ({})", self.space.name, meta.space_id)?;
        let plural = if view.lanes.len() == 1 { "" } else { "s" };
        writeln!(out, "{} lane{plural} of {}", view.lanes.len(), meta.layout)?;
        for lane in &view.lanes {
            writeln!(out, "{:>5}  {}", lane.lane, describe(lane, &self.zone))?;
        }
        Ok(())
    }
}

impl Release {
    fn release(&self, out: &mut Out, report: &Report) -> Result<(), Stop> {
        let mut register = self.space.open(open_url)?;
        if !self.force {
            report.note(format_args!("watching lane {} for the horizon of its holder", self.lane));
        }
        let when = if self.force { FreeIf::Forced } else { FreeIf::Unchanged };
        admin::free(&mut *register, &self.space.name, self.lane, when).map_err(|error| match stop(&error) {
            Stop::Error(message) if error.is_in_use() => Stop::Error(message + "; --force frees it nevertheless"),
            stop => stop,
        })?;
        if self.force {
            report.note("if its holder is alive, it mints up to its ceiling, and then needs another lane");
        }
        Ok(writeln!(out, "lane {} is free", self.lane)?)
    }
}

impl Recover {
    fn recover(&self, out: &mut Out, report: &Report) -> Result<(), Stop> {
        let mut register = self.space.open(open_url)?;
        let mut recovery = Recovery::new(self.horizon, self.max_skew);
        recovery.above_ms = self.above.ms(&self.zone)?;
        let recovered = admin::recover(&mut *register, &self.space.name, recovery);
        let floor_ms = recovered.map_err(|error| match stop(&error) {
            Stop::Error(message) if error.is_in_use() => Stop::Error(message + ": stop all processes, and repeat this"),
            Stop::Error(message) if error.is_no_space() => Stop::Error(
                message + ": if the backup has none, make it with `imid lane create`, which starts past everything that may have been minted",
            ),
            stop => stop,
        })?;
        if recovery.above_ms.is_none() {
            report.note(
                "a process whose clock was ahead after the backup was made is not in the backup: compare with the greatest ID in \
                 the message store, and repeat this with --above if that is later",
            );
        }
        let time = time_or_ms(floor_ms, &self.zone);
        Ok(writeln!(out, "all lanes of {} are free from {time}", self.space.name)?)
    }
}

impl Create {
    fn create(&self, out: &mut Out) -> Result<(), Stop> {
        let (url, place) = self.space.url()?;
        // A file that is not there is created.
        let mut register = open_at(open_url, &url, place)?;
        let mut recovery = Recovery::new(self.horizon, self.max_skew);
        recovery.above_ms = self.above.ms(&self.zone)?;
        let (name, layout) = (&self.space.name, &self.layout);
        let made = if self.first {
            admin::create_first(&mut *register, name, layout, self.bits)
        } else {
            admin::create(&mut *register, name, layout, self.bits, recovery)
        };
        let meta = made.map_err(|error| match stop(&error) {
            Stop::Error(message) if error.is_used() => {
                Stop::Error(message + ": the space was used, so make it without --first")
            }
            stop => stop,
        })?;
        let from = match meta.floor_ms {
            0 => "now".to_owned(),
            floor_ms => time_or_ms(floor_ms, &self.zone),
        };
        Ok(writeln!(out, "space {name} has {} lanes, free from {from}", 1_u64 << meta.bits)?)
    }
}

impl Resize {
    fn resize(&self, out: &mut Out) -> Result<(), Stop> {
        let mut register = self.space.open(open_url)?;
        let when = if self.stop_holders { ResizeIf::Forced } else { ResizeIf::Unused };
        let resized = admin::resize(&mut *register, &self.space.name, self.bits, when);
        let meta = resized.map_err(|error| match stop(&error) {
            Stop::Error(message) if error.is_in_use() => Stop::Error(
                message + ": stop all processes, and repeat this; --stop-holders ends the minting of those that run",
            ),
            stop => stop,
        })?;
        Ok(writeln!(out, "space {} has {} lanes now ({} bits)", self.space.name, 1_u64 << meta.bits, meta.bits)?)
    }
}

/// Returns a lane as a JSON object. Its state is "held", "free", "closed", "unused", or "unreadable" with an error.
fn object(lane: &LaneView) -> Value {
    let (state, record) = match &lane.record {
        Ok(Some(record)) => (state_name(record.state), Some(record)),
        Ok(None) => ("unused", None),
        Err(_) => ("unreadable", None),
    };
    let mut object = json!({
        "lane": lane.lane,
        "state": state,
        "holder": record.map(|record| record.holder.to_string()),
        "ceiling_ms": record.map(|record| record.ceiling_ms),
        "ceiling_time": record.and_then(|record| time(record.ceiling_ms, &ZoneArg::default())),
    });
    if let Err(error) = &lane.record {
        object["error"] = error.to_string().into();
    }
    object
}

fn state_name(state: LaneState) -> &'static str {
    match state {
        LaneState::Held => "held",
        LaneState::Free => "free",
        _ => "closed",
    }
}

/// Returns what an operator wants to know of a lane.
fn describe(lane: &LaneView, zone: &ZoneArg) -> String {
    let record = match &lane.record {
        Ok(Some(record)) => record,
        Ok(None) => return "never used".into(),
        Err(error) => return format!("cannot be read: {error}"),
    };
    let ceiling = time_or_ms(record.ceiling_ms, zone);
    let mut text = match record.state {
        LaneState::Held => format!("held by {} up to {ceiling}", record.holder),
        LaneState::Free => format!("free from {ceiling}, last held by {}", record.holder),
        _ => format!("closed at {ceiling}"),
    };
    if record.state == LaneState::Held && record.ceiling_ms <= now_ms() {
        text += ", which is past: the holder has not renewed it";
    }
    text
}

/// Returns the text of a time. A record can have any number as its ceiling; later times have no text.
fn time(unix_ms: u64, zone: &ZoneArg) -> Option<String> {
    (unix_ms <= LAST_MS).then(|| zone.rfc3339(unix_ms))
}

fn time_or_ms(unix_ms: u64, zone: &ZoneArg) -> String {
    time(unix_ms, zone).unwrap_or_else(|| format!("{unix_ms} ms"))
}

/// The present time, or 1970 if the clock is before it.
fn now_ms() -> u64 {
    jiff::Timestamp::now().as_millisecond().try_into().unwrap_or(0)
}

fn stop(error: &AdminError) -> Stop {
    let message = chain(error);
    match error {
        // It shows the value, and does not tell which option has it.
        _ if error.is_options() => Stop::Usage(message),
        _ if error.is_ahead() => Stop::Error(message + "; --above names such a time"),
        _ if error.is_clock() => Stop::Error(
            message + ": set the wrong one, and repeat this; --above TIME, with a time above all IDs, works with both",
        ),
        _ => Stop::Error(message),
    }
}

/// Returns an error with its causes.
fn chain(error: &dyn Error) -> String {
    let texts: Vec<_> = iter::successors(Some(error), |error| Error::source(*error)).map(ToString::to_string).collect();
    texts.join(": ")
}
