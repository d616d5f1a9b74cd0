//! `imid identify`: lists the schemes that could have made an ID.

use std::io::Write;

use imid_inspect::{Foreign, Form, Id, Read, ReadForm, STANDARD, identify, named_type};

use crate::Out;
use crate::candidates::place_of_id;
use crate::commands::id_texts::IdTexts;
use crate::id_object::IdObject;
use crate::json::{self, JsonArg};
use crate::report::{KeepGoing, Report, Stop, quote};
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
        let now_ms = now_ms();
        let readings = identify(text, now_ms);
        if readings.is_empty() {
            if let Some(foreign) = Foreign::read(text, now_ms) {
                return Ok(Err(format!("{} is {foreign}, not an ID of this family", quote(text))));
            }
            let place = place_of_id(STANDARD, text).map(|place| format!("; {place}")).unwrap_or_default();
            return Ok(Err(format!("{} is not an ID of any known dialect or Snowflake layout{place}", quote(text))));
        }
        if let Some(time @ Foreign::Time { .. }) = Foreign::read(text, now_ms) {
            report.note(format_args!("{} is also {time}", quote(text)));
        }
        if !self.is_json && self.has_headings {
            writeln!(out, "{}{text}", if self.is_first { "" } else { "\n" })?;
            self.is_first = false;
        }
        if self.is_json {
            for read in readings {
                let (form, plausible) = (Some(read.form), Some(read.id.is_plausible(now_ms)));
                let object = IdObject { form, plausible, input: Some(text), ..IdObject::new(read.id) };
                json::write_line(out, &object)?;
            }
            return Ok(Ok(()));
        }
        let candidates: Vec<_> = readings.iter().map(|read| Candidate::new(read, now_ms, self.zone)).collect();
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
    /// The day on which the time of the layout ends, with "ends" or "ended".
    end: String,
    /// What is unusual: its name and value on a line of their own, and the words in the line of the candidate.
    notes: Vec<(&'static str, &'static str, String)>,
}

impl Candidate {
    fn new(read: &Read, now_ms: u64, zone: &ZoneArg) -> Self {
        let id = read.id;
        let mut notes = Vec::new();
        let fields = match id {
            Id::Message { dialect, id } => {
                let spin = id.spin().map(|spin| ("spin", spin.to_string()));
                let others = [("type", named_type(dialect, id.type_code())), ("hash", id.session_hash().to_string())];
                spin.into_iter().chain(others).collect()
            }
            Id::Snowflake(id) => {
                if id.is_overflowed() {
                    notes.push(("sign", "the time overflows", "the time overflows into the sign bit".to_owned()));
                }
                vec![("node", id.node().to_string()), ("sequence", id.sequence().to_string())]
            }
        };
        if read.form != ReadForm::Exact(Form::Text) {
            notes.push(("from", read.form.name(), format!("from {}", read.form.name())));
        }
        if !id.is_plausible(now_ms) {
            notes.push(("note", "implausible time", "but the time is implausible".to_owned()));
        }
        let verb = if id.layout_end_ms() < now_ms { "ended" } else { "ends" };
        let end = format!("{verb} {}", &rfc3339(id.layout_end_ms())[..10]);
        Self { scheme: id.scheme_name(), time: zone.rfc3339(id.timestamp_ms()), fields, end, notes }
    }

    /// Returns the candidate as one line.
    fn line(&self) -> String {
        let fields = self.fields.iter().map(|(name, value)| format!("{name} {value}"));
        let words = self.notes.iter().map(|(.., words)| words.clone());
        let parts: Vec<_> = fields.chain([self.end.clone()]).chain(words).collect();
        format!("{:<18}{}  {}", self.scheme, self.time, parts.join(", "))
    }

    /// Writes the candidate with a line for each field, for a narrow terminal.
    fn write_fields(&self, out: &mut Out) -> Result<(), Stop> {
        let fields = self.fields.iter().map(|(name, value)| (*name, value.as_str()));
        let notes = self.notes.iter().map(|(name, value, _)| (*name, *value));
        let lines = [("scheme", self.scheme), ("time", &self.time)].into_iter().chain(fields);
        let mut lines = lines.chain([("layout", self.end.as_str())]).chain(notes);
        Ok(lines.try_for_each(|(name, value)| writeln!(out, "{name:<9}{value}"))?)
    }
}
