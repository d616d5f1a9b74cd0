//! `imid inspect`: reads IDs.

use std::io::{self, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Effects, Style};
use imid::dialect::Dialect;
use imid::identify::Candidate;
use jiff::tz::TimeZone;
use jiff::{SpanRound, Unit, Zoned};

use crate::Out;
use crate::args::SessionName;
use crate::family::{Family, FamilyArg};
use crate::input::{Input, utf8, without_end};
use crate::parts::Remarks;
use crate::report::{Report, Stop};
use crate::{drawing, parts};

/// Read IDs: time, spin, session type and session hash
///
/// Takes what a person pastes: either case, with or without dashes. Without arguments, one ID per line from standard
/// input. With --session it says whether the ID's hash is the one of that name.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid inspect EMAQ-2948-WCRV-T3DD
  imid inspect --json emaq2948wcrvt3dd
  imid inspect --session room-42 EMAQ-2948-WCRV-T3DD
  imid new -n 3 | imid inspect --json
  imid inspect --dialect rongcloud --session 24 BUFE-A62U-32C4-01I2
  imid inspect --dialect twitter --json 204697221847986177")]
pub(crate) struct Args {
    /// IDs; where there are none, those of standard input, one per line
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,
    /// Print one JSON object per ID
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    family: FamilyArg,
    #[command(flatten)]
    session: SessionName,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let hash = match self.family.family {
            Family::Message(dialect) => self.session.hash(dialect)?,
            Family::Snowflake(_) if self.session.is_given() => return Err(Stop::Usage(NO_SESSION.into())),
            Family::Snowflake(_) => None,
        };
        for (index, text) in self.ids.iter().enumerate() {
            match self.family.family.parse_pasted(text) {
                Ok(id) => self.write(out, &id, hash)?,
                Err(what) => report.bad(format_args!("argument {}", index + 1), what)?,
            }
        }
        if self.ids.is_empty() { self.read(out, report, hash) } else { Ok(()) }
    }

    /// One ID per line of standard input; blank lines are passed over.
    fn read(&self, out: &mut Out, report: &mut Report, hash: Option<u32>) -> Result<(), Stop> {
        Input::stdin().each_line(out, |out, number, line| {
            if line.as_ref().is_ok_and(|line| line.trim_ascii().is_empty()) {
                return Ok(());
            }
            match line.and_then(|line| self.family.family.parse_pasted(utf8(without_end(line))?)) {
                Ok(id) => self.write(out, &id, hash),
                Err(what) => report.bad(format_args!("line {number}"), what),
            }
        })
    }

    fn write(&self, out: &mut Out, id: &Candidate, hash: Option<u32>) -> Result<(), Stop> {
        let session_match = match id {
            Candidate::Message { dialect, id } => hash.map(|hash| dialect.fields(*id).hash == hash),
            Candidate::Snowflake(_) => None,
        };
        if self.json {
            return parts::write_json(out, id, Remarks { session_match, ..Remarks::default() });
        }
        let out: &mut dyn Write = out;
        let mut out = AutoStream::new(out, AutoStream::choice(&io::stdout()));
        Ok(write_human(&mut out, id, session_match)?)
    }
}

/// What is wrong with a session where there are none.
pub(crate) const NO_SESSION: &str = "a Snowflake has no session: --type, --session and --peer are for message IDs";

const HEADING: Style = Style::new().bold();
const LABEL: Style = Style::new().effects(Effects::DIMMED);
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

fn write_human(out: &mut impl Write, id: &Candidate, session_match: Option<bool>) -> io::Result<()> {
    writeln!(out, "{HEADING}{id}{HEADING:#}")?;
    drawing::draw(out, id)?;
    let mut line = |label: &str, value: &str| writeln!(out, "{LABEL}{label:8}{LABEL:#}{value}");
    let local = parts::timestamp(id.timestamp_ms()).to_zoned(TimeZone::system());
    line("UTC", &parts::rfc3339(id.timestamp_ms()))?;
    line("local", &local.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z %Q").to_string())?;
    line("age", &age(&local, &Zoned::now()))?;
    match id {
        Candidate::Message { dialect, id } => {
            let fields = dialect.fields(*id);
            line("type", &named_type(dialect, fields.type_code))?;
            line("hash", &fields.hash.to_string())?;
        }
        Candidate::Snowflake(id) => {
            let split = id.datacenter().map(|datacenter| format!(" (datacenter {datacenter}, worker {})", id.worker()));
            line("node", &format!("{}{}", id.node(), split.unwrap_or_default()))?;
            line("seq", &id.seq().to_string())?;
            if id.is_overflowed() {
                line("sign", &format!("{BAD}the time has run over into the sign bit{BAD:#}"))?;
            }
        }
    }
    if let Some(is_match) = session_match {
        let (style, says) = if is_match {
            (GOOD, "the hash matches: a hint, for one name in 4,194,304 does so by chance")
        } else {
            (BAD, "the hash does not match: it is another session")
        };
        line("session", &format!("{style}{says}{style:#}"))?;
    }
    line("hex", &parts::hex(id))?;
    if let Candidate::Message { id, .. } = id {
        line("integer", &id.to_u128().to_string())?;
    }
    writeln!(out)
}

/// A session type by its code, with the name that it has in a dialect.
pub(crate) fn named_type(dialect: &Dialect, code: u8) -> String {
    dialect.type_name(code).map_or_else(|| code.to_string(), |name| format!("{code} {name}"))
}

/// How long ago a time was, to the second, or how far ahead it is.
fn age(time: &Zoned, now: &Zoned) -> String {
    let (past, (from, to)) = if time <= now { (true, (time, now)) } else { (false, (now, time)) };
    let rounding = SpanRound::new().largest(Unit::Year).smallest(Unit::Second).relative(from);
    match from.until((Unit::Year, to)).and_then(|span| span.round(rounding)) {
        Ok(span) if past => format!("{span:#}"),
        Ok(span) => format!("{span:#} ahead of this machine's clock"),
        Err(_) => "unknown".into(),
    }
}
