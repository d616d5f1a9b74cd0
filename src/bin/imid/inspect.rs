//! `imid inspect`: reads IDs.

use std::io::{self, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Effects, Style};
use bstr::ByteSlice;
use imid::MessageId;
use jiff::tz::TimeZone;
use jiff::{SpanRound, Unit, Zoned};

use crate::Out;
use crate::args::{SessionName, pasted_id};
use crate::input::{Block, Input, too_long, utf8, without_end};
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
  imid new -n 3 | imid inspect --json")]
pub(crate) struct Args {
    /// IDs; where there are none, those of standard input, one per line
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Print one JSON object per ID
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    session: SessionName,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        for (index, text) in self.ids.iter().enumerate() {
            match pasted_id(text) {
                Ok(id) => self.write(out, id)?,
                Err(what) => report.bad(format_args!("argument {}", index + 1), what)?,
            }
        }
        if self.ids.is_empty() { self.read(out, report) } else { Ok(()) }
    }

    /// One ID per line of standard input; blank lines are passed over.
    fn read(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let mut input = Input::stdin();
        let mut number = 0_u64;
        while let Some(block) = input.next()? {
            let Block::Lines(lines) = block else {
                number += 1;
                report.bad(format_args!("line {number}"), too_long())?;
                continue;
            };
            for line in lines.lines_with_terminator() {
                number += 1;
                if line.trim_ascii().is_empty() {
                    continue;
                }
                match utf8(without_end(line)).and_then(pasted_id) {
                    Ok(id) => self.write(out, id)?,
                    Err(what) => report.bad(format_args!("line {number}"), what)?,
                }
            }
            // Whoever types IDs sees each answer.
            out.flush()?;
        }
        Ok(())
    }

    fn write(&self, out: &mut Out, id: MessageId) -> Result<(), Stop> {
        let session_match = self.session.hash().map(|hash| id.session_hash() == hash);
        if self.json {
            return parts::write_json(out, id, session_match);
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

fn write_human(out: &mut impl Write, id: MessageId, session_match: Option<bool>) -> io::Result<()> {
    writeln!(out, "{HEADING}{id}{HEADING:#}")?;
    drawing::draw(out, id)?;
    let mut line = |label: &str, value: &str| writeln!(out, "{LABEL}{label:8}{LABEL:#}{value}");
    let local = parts::timestamp(id.timestamp_ms()).to_zoned(TimeZone::system());
    line("UTC", &parts::rfc3339(id.timestamp_ms()))?;
    line("local", &local.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z %Q").to_string())?;
    line("age", &age(&local, &Zoned::now()))?;
    let (code, hash) = (id.session_type().code(), id.session_hash().value());
    line("type", &id.session_type().name().map_or_else(|| format!("{code}"), |name| format!("{code} {name}")))?;
    line("hash", &hash.to_string())?;
    if let Some(is_match) = session_match {
        let (style, says) = if is_match {
            (GOOD, "the hash matches: a hint, for one name in 4,194,304 does so by chance")
        } else {
            (BAD, "the hash does not match: it is another session")
        };
        line("session", &format!("{style}{says}{style:#}"))?;
    }
    line("hex", &format!("{id:x}"))?;
    line("integer", &id.to_u128().to_string())?;
    writeln!(out)
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
