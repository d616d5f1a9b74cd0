//! `imid inspect`: shows the fields of IDs.

mod drawing;

use std::io::{self, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Effects, Style};
use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::Out;
use crate::input::{Input, trim_line_end, utf8};
use crate::json::{self, Findings};
use crate::report::{Report, Stop};
use crate::scheme::{Id, Scheme, SchemeArg, named_type};
use crate::session::{NO_SESSION, SessionName};
use crate::time;

/// Show the fields of IDs: time, spin, session type and session hash
///
/// Reads IDs in upper or lower case, with or without dashes. Without arguments, reads standard input, one ID per line.
/// With --session, shows whether the hash of the ID is the hash of that name.
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
    /// IDs; without IDs, standard input is read, one ID per line
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,
    /// Print one JSON object per ID
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    scheme: SchemeArg,
    #[command(flatten)]
    session: SessionName,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let hash = match self.scheme.scheme {
            Scheme::Dialect(dialect) => self.session.hash(dialect)?,
            Scheme::Snowflake(_) if self.session.is_given() => return Err(Stop::Usage(NO_SESSION.into())),
            Scheme::Snowflake(_) => None,
        };
        for (index, text) in self.ids.iter().enumerate() {
            match self.scheme.scheme.parse_pasted(text) {
                Ok(id) => self.write(out, &id, hash)?,
                Err(problem) => report.bad_input(format_args!("argument {}", index + 1), problem)?,
            }
        }
        if self.ids.is_empty() { self.read_stdin(out, report, hash) } else { Ok(()) }
    }

    /// Reads one ID per line from standard input. Skips blank lines.
    fn read_stdin(&self, out: &mut Out, report: &mut Report, hash: Option<u32>) -> Result<(), Stop> {
        Input::stdin()?.each_line(out, |out, number, line| {
            if line.as_ref().is_ok_and(|line| line.trim_ascii().is_empty()) {
                return Ok(());
            }
            match line.and_then(|line| self.scheme.scheme.parse_pasted(utf8(trim_line_end(line))?)) {
                Ok(id) => self.write(out, &id, hash),
                Err(problem) => report.bad_input(format_args!("line {number}"), problem),
            }
        })
    }

    fn write(&self, out: &mut Out, id: &Id, hash: Option<u32>) -> Result<(), Stop> {
        let session_match = match id {
            Id::Message { id, .. } => hash.map(|hash| id.hash() == hash),
            Id::Snowflake(_) => None,
        };
        if self.json {
            return json::write_id(out, id, Findings { session_match, ..Findings::default() });
        }
        let out: &mut dyn Write = out;
        let mut out = AutoStream::new(out, AutoStream::choice(&io::stdout()));
        Ok(write_human(&mut out, id, session_match)?)
    }
}

const HEADING: Style = Style::new().bold();
const LABEL: Style = Style::new().effects(Effects::DIMMED);
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

fn write_human(out: &mut impl Write, id: &Id, session_match: Option<bool>) -> io::Result<()> {
    writeln!(out, "{HEADING}{id}{HEADING:#}")?;
    drawing::draw(out, id)?;
    let mut line = |label: &str, value: &str| writeln!(out, "{LABEL}{label:8}{LABEL:#}{value}");
    let local = time::timestamp(id.timestamp_ms()).to_zoned(TimeZone::system());
    line("UTC", &time::rfc3339(id.timestamp_ms()))?;
    line("local", &local.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z %Q").to_string())?;
    line("age", &time::age(&local, &Zoned::now()))?;
    match id {
        Id::Message { dialect, id } => {
            line("type", &named_type(dialect, id.type_code()))?;
            line("hash", &id.hash().to_string())?;
        }
        Id::Snowflake(id) => {
            let split = id.datacenter().map(|datacenter| format!(" (datacenter {datacenter}, worker {})", id.worker()));
            line("node", &format!("{}{}", id.node(), split.unwrap_or_default()))?;
            line("seq", &id.sequence().to_string())?;
            if id.is_overflowed() {
                line("sign", &format!("{BAD}the time overflows into the sign bit{BAD:#}"))?;
            }
        }
    }
    if let Some(is_match) = session_match {
        let (style, says) = if is_match {
            (GOOD, "the hash matches (a hint: one name in 4,194,304 matches by chance)")
        } else {
            (BAD, "the hash does not match: this is another session")
        };
        line("session", &format!("{style}{says}{style:#}"))?;
    }
    line("hex", &id.hex())?;
    if let Id::Message { id, .. } = id {
        line("integer", &id.to_u128().to_string())?;
    }
    writeln!(out)
}
