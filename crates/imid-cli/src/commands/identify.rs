//! `imid identify`: lists the schemes that could have made an ID.

use std::io::Write;

use crate::Out;
use crate::candidates::{Reading, pasted_readings, place_of_id};
use crate::commands::id_texts::IdTexts;
use crate::foreign::Foreign;
use crate::form::{Form, ReadForm};
use crate::id_object::IdObject;
use crate::json::{self, JsonArg};
use crate::report::{KeepGoing, Report, Stop, quote};
use crate::scheme::{Id, STANDARD, named_type};
use crate::terminal::Terminal;
use crate::time::{ZoneArg, now_ms, rfc3339};

/// List the dialects and Snowflake layouts that could have made an ID, with the time that each one reads
///
/// Reads the same forms as imid inspect: text in upper or lower case, hex, integers and UUID views. Without arguments,
/// reads standard input, one ID per line.
///
/// Candidates with a time in the years in which their system existed come first, then other times between 2005 and two
/// years from now. Among these, the time nearest to now is first. Each candidate says when the time of its layout ends. If
/// there are several, compare their times with the time of a message that you know. Then use imid inspect
/// --dialect NAME.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid identify BUFE-A62U-32C4-01I2
  imid identify emaq2948wcrvt3dd 204697221847986177
  imid identify --json 204697221847986177")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: IdTexts,
    #[command(flatten)]
    json: JsonArg,
    #[command(flatten)]
    zone: ZoneArg,
    #[command(flatten)]
    keep_going: KeepGoing,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        report.keep_going(&self.keep_going);
        let mut list = List {
            is_json: self.json.json,
            // One ID needs no heading.
            has_headings: self.ids.count() != Some(1),
            is_first: true,
            terminal: Terminal::stdout(),
            zone: &self.zone,
        };
        self.ids.each(out, |out, place, text| {
            let listed = match text {
                Ok(text) => list.write(out, text.trim(), report)?,
                Err(problem) => Err(problem),
            };
            listed.or_else(|problem| report.bad_input(place, problem))
        })
    }
}

/// Writes the candidates of texts.
struct List<'a> {
    is_json: bool,
    has_headings: bool,
    is_first: bool,
    terminal: Terminal,
    zone: &'a ZoneArg,
}

impl List<'_> {
    /// Writes the candidates for one text. The inner error says that there are none.
    fn write(&mut self, out: &mut Out, text: &str, report: &Report) -> Result<Result<(), String>, Stop> {
        let readings = pasted_readings(text, now_ms());
        if readings.is_empty() {
            if let Some(foreign) = Foreign::read(text) {
                return Ok(Err(format!("{} is {foreign}, not an ID of this family", quote(text))));
            }
            let place = place_of_id(STANDARD, text).map(|place| format!("; {place}")).unwrap_or_default();
            return Ok(Err(format!("{} is not an ID of any known dialect or Snowflake layout{place}", quote(text))));
        }
        if let Some(time @ Foreign::Time { .. }) = Foreign::read(text) {
            report.note(format_args!("{} is also {time}", quote(text)));
        }
        if !self.is_json && self.has_headings {
            writeln!(out, "{}{text}", if self.is_first { "" } else { "\n" })?;
            self.is_first = false;
        }
        if self.is_json {
            for reading in readings {
                let (id, form, plausible) = (reading.read.id, reading.read.form, reading.is_plausible);
                let object =
                    IdObject { form: Some(form), plausible: Some(plausible), input: Some(text), ..IdObject::new(id) };
                json::write_line(out, &object)?;
            }
            return Ok(Ok(()));
        }
        let candidates: Vec<_> =
            readings.into_iter().map(|reading| Candidate::new(reading, now_ms(), self.zone)).collect();
        let lines: Vec<_> = candidates.iter().map(Candidate::line).collect();
        if lines.iter().all(|line| self.terminal.fits(line.len())) {
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            return Ok(Ok(()));
        }
        for (index, candidate) in candidates.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            candidate.write_fields(out)?;
        }
        Ok(Ok(()))
    }
}

/// A candidate as a person reads it.
struct Candidate {
    scheme: &'static str,
    time: String,
    /// The other fields, with their names.
    fields: Vec<(&'static str, String)>,
    /// The form of the text, unless it is the usual one.
    form: Option<&'static str>,
    /// The day on which the time of the layout ends, with "ends" or "ended".
    end: String,
    /// The time of a Snowflake uses the sign bit.
    is_overflowed: bool,
    is_plausible: bool,
}

impl Candidate {
    fn new(reading: Reading, now_ms: u64, zone: &ZoneArg) -> Self {
        let id = reading.read.id;
        let fields = match id {
            Id::Message { dialect, id } => {
                let spin = id.spin().map(|spin| ("spin", spin.to_string()));
                let others = [("type", named_type(dialect, id.type_code())), ("hash", id.session_hash().to_string())];
                spin.into_iter().chain(others).collect()
            }
            Id::Snowflake(id) => vec![("node", id.node().to_string()), ("sequence", id.sequence().to_string())],
        };
        let form = match reading.read.form {
            ReadForm::Exact(Form::Text) => None,
            form => Some(form.name()),
        };
        let (scheme, time) = (id.scheme_name(), zone.rfc3339(id.timestamp_ms()));
        let overflowed = matches!(id, Id::Snowflake(id) if id.is_overflowed());
        let verb = if id.layout_end_ms() < now_ms { "ended" } else { "ends" };
        let end = format!("{verb} {}", &rfc3339(id.layout_end_ms())[..10]);
        Self { scheme, time, fields, form, end, is_overflowed: overflowed, is_plausible: reading.is_plausible }
    }

    /// Returns the candidate as one line.
    fn line(&self) -> String {
        let fields = self.fields.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
        let overflowed = if self.is_overflowed { ", the time overflows into the sign bit" } else { "" };
        let form = self.form.map(|form| format!(", from {form}")).unwrap_or_default();
        let doubt = if self.is_plausible { "" } else { ", but the time is implausible" };
        format!("{:<18}{}  {fields}, {}{overflowed}{form}{doubt}", self.scheme, self.time, self.end)
    }

    /// Writes the candidate with a line for each field, for a narrow terminal.
    fn write_fields(&self, out: &mut Out) -> Result<(), Stop> {
        let mut lines = vec![("scheme", self.scheme), ("time", &self.time)];
        lines.extend(self.fields.iter().map(|(name, value)| (*name, value.as_str())));
        lines.push(("layout", &self.end));
        lines.extend(self.is_overflowed.then_some(("sign", "the time overflows")));
        lines.extend(self.form.map(|form| ("from", form)));
        lines.extend((!self.is_plausible).then_some(("note", "implausible time")));
        Ok(lines.iter().try_for_each(|(name, value)| writeln!(out, "{name:<9}{value}"))?)
    }
}
