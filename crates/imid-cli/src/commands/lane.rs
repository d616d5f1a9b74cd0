//! `imid lane`: shows and frees the lanes that a register grants.

mod doctor;

use std::error::Error;
use std::io::Write;
use std::time::Duration;
use std::{fs, iter};

use clap::Subcommand;
use clap::builder::{Resettable, StyledStr};
use imid_lease::admin::{self, AdminError, FreeIf, LaneView, Recovery, ResizeIf};
use imid_lease::record::LaneState;
use imid_lease::register::{DEFAULT_TIME_LIMIT, Register, RegisterError, open_url, open_url_read_only, tool::STORES};
use serde_json::{Value, json};

use super::whole_number;
use crate::Out;
use crate::json::{self, JsonArg};
use crate::report::{Report, Stop, quote};
use crate::time::{LAST_MS, TimeArg, ZoneArg, now_ms, parse_duration};

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
    /// The register: file: and a path, or a URL of PostgreSQL, MySQL, MariaDB, Redis, Valkey, etcd or ZooKeeper
    ///
    /// A URL can contain a password, and other users can see the arguments of a process: pass it in the environment variable
    /// instead.
    #[arg(
        long,
        value_name = "URL",
        env = "IMID_REGISTER",
        hide_env_values = true,
        default_value = "",
        hide_default_value = true
    )]
    register: String,
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

/// How far IDs may have been minted.
#[derive(clap::Args)]
struct Minted {
    /// The longest horizon that a process of this space has used, since the backup was made if there is one
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    horizon: Duration,
    /// The largest error of a clock, as in the options of the generator
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    max_skew: Duration,
    /// A time above all IDs that were minted, such as that of the greatest one in the message store
    ///
    /// After the backup was made, a process whose clock was ahead by more than --max-skew may have minted IDs that the
    /// register cannot show.
    #[arg(long, value_name = "TIME", value_parser = TimeArg::parse, allow_hyphen_values = true)]
    above: Option<TimeArg>,
    #[command(flatten)]
    zone: ZoneArg,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  imid lane recover --register file:ids --horizon 30s --max-skew 5s")]
struct Recover {
    #[command(flatten)]
    space: SpaceArgs,
    #[command(flatten)]
    minted: Minted,
}

#[derive(clap::Args)]
#[command(mut_arg("horizon", |arg| arg.required(false).default_value("10s")))]
#[command(mut_arg("max_skew", |arg| arg.required(false).default_value("5s")))]
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
    #[command(flatten)]
    minted: Minted,
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
    /// Opens the register by `open_url`, or by `open_url_read_only`, if it is there.
    fn open(&self, open: fn(&str, Duration) -> Opened) -> Result<Box<dyn Register>, Stop> {
        // Opening the register of a new path to write would create it.
        if let Some(path) = self.register.strip_prefix("file:").filter(|path| !path.is_empty())
            && let Err(error) = fs::metadata(path)
        {
            return Err(Stop::Error(format!("--register: cannot open {}: {error}", quote(path))));
        }
        self.open_or_create(open)
    }

    fn open_or_create(&self, open: fn(&str, Duration) -> Opened) -> Result<Box<dyn Register>, Stop> {
        if self.register.is_empty() {
            return Err(Stop::Usage("expected --register URL or the variable IMID_REGISTER, found neither".into()));
        }
        open(&self.register, DEFAULT_TIME_LIMIT).map_err(|error| {
            let install = format!(", which this tool was installed without; {INSTALL}");
            let message = chain(&error).replace(" of imid-lease, which was not compiled in", &install);
            let message = format!("--register: {message}");
            if error.is_url() { Stop::Usage(message) } else { Stop::Error(message) }
        })
    }
}

/// Installs the tool with the clients of all stores.
const INSTALL: &str = "cargo install --path crates/imid-cli --features postgres,mysql,redis,etcd,zookeeper,tls-ring";

/// How to get the clients of the servers, in a tool without any of them.
fn how_to_get_servers() -> Resettable<StyledStr> {
    let has_servers = STORES.iter().any(|store| store.is_server() && store.is_compiled_in());
    let how = format!("This tool was installed for registers in files. With all databases and servers:\n  {INSTALL}");
    (!has_servers).then(|| how.into()).into()
}

impl Minted {
    fn recovery(&self) -> Result<Recovery, Stop> {
        let mut recovery = Recovery::new(self.horizon, self.max_skew);
        recovery.above_ms = TimeArg::ms_of("--above", self.above.as_ref(), &self.zone)?;
        Ok(recovery)
    }
}

impl List {
    fn list(&self, out: &mut Out) -> Result<(), Stop> {
        let mut register = self.space.open(open_url_read_only)?;
        let view = admin::view(&mut *register, &self.space.name).map_err(|error| stop(&error, &[]))?;
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
        let freed = admin::free(&mut *register, &self.space.name, self.lane, when);
        freed.map_err(|error| stop(&error, &[(AdminError::is_in_use, "; --force frees it nevertheless")]))?;
        if self.force {
            report.note("if its holder is alive, it mints up to its ceiling, and then needs another lane");
        }
        Ok(writeln!(out, "lane {} is free", self.lane)?)
    }
}

impl Recover {
    fn recover(&self, out: &mut Out, report: &Report) -> Result<(), Stop> {
        let mut register = self.space.open(open_url)?;
        let recovery = self.minted.recovery()?;
        let floor_ms = admin::recover(&mut *register, &self.space.name, recovery).map_err(|error| {
            const NO_SPACE: &str =
                ": if the backup has none, make it with `imid lane create`, which starts past everything that may have been minted";
            let in_use = ": stop all processes, and repeat this";
            stop(&error, &[(AdminError::is_in_use, in_use), (AdminError::is_no_space, NO_SPACE)])
        })?;
        if recovery.above_ms.is_none() {
            report.note(
                "a process whose clock was ahead after the backup was made is not in the backup: compare with the greatest ID in \
                 the message store, and repeat this with --above if that is later",
            );
        }
        let time = time_or_ms(floor_ms, &self.minted.zone);
        Ok(writeln!(out, "all lanes of {} are free from {time}", self.space.name)?)
    }
}

impl Create {
    fn create(&self, out: &mut Out) -> Result<(), Stop> {
        let mut register = self.space.open_or_create(open_url)?;
        let recovery = self.minted.recovery()?;
        let (name, layout) = (&self.space.name, &self.layout);
        let made = if self.first {
            admin::create_first(&mut *register, name, layout, self.bits)
        } else {
            admin::create(&mut *register, name, layout, self.bits, recovery)
        };
        let used = ": the space was used, so make it without --first";
        let meta = made.map_err(|error| stop(&error, &[(AdminError::is_used, used)]))?;
        let from = match meta.floor_ms {
            0 => "now".to_owned(),
            floor_ms => time_or_ms(floor_ms, &self.minted.zone),
        };
        Ok(writeln!(out, "space {name} has {} lanes, free from {from}", 1_u64 << meta.bits)?)
    }
}

impl Resize {
    fn resize(&self, out: &mut Out) -> Result<(), Stop> {
        let mut register = self.space.open(open_url)?;
        let when = if self.stop_holders { ResizeIf::Forced } else { ResizeIf::Unused };
        let resized = admin::resize(&mut *register, &self.space.name, self.bits, when);
        let in_use = ": stop all processes, and repeat this; --stop-holders ends the minting of those that run";
        let meta = resized.map_err(|error| stop(&error, &[(AdminError::is_in_use, in_use)]))?;
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

/// A kind of error, and what to do about it.
type Cure = (fn(&AdminError) -> bool, &'static str);

/// Returns an error, with what to do about it.
fn stop(error: &AdminError, cures: &[Cure]) -> Stop {
    const CLOCK: &str =
        ": set the wrong one, and repeat this; --above TIME, with a time above all IDs, works with both";
    const ALL: [Cure; 2] = [(AdminError::is_ahead, "; --above names such a time"), (AdminError::is_clock, CLOCK)];
    let cure = cures.iter().chain(&ALL).find(|(is_kind, _)| is_kind(error));
    let message = chain(error) + cure.map_or("", |(_, cure)| cure);
    // It shows the value, and does not tell which option has it.
    if error.is_options() { Stop::Usage(message) } else { Stop::Error(message) }
}

/// Returns an error with its causes.
fn chain(error: &dyn Error) -> String {
    let texts: Vec<_> = iter::successors(Some(error), |error| Error::source(*error)).map(ToString::to_string).collect();
    texts.join(": ")
}
