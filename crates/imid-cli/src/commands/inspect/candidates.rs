//! Shows the systems that could have made an ID.

use std::io::Write;

use imid_inspect::time::date;
use imid_inspect::{Form, Id, Read, ReadForm, named_type};

use crate::Out;
use crate::report::Stop;
use crate::terminal::Terminal;
use crate::time::{ZoneArg, now_ms};

/// Writes the candidates for one text, one per line if the terminal is wide enough.
pub(super) fn write(out: &mut Out, readings: &[Read], zone: &ZoneArg) -> Result<(), Stop> {
    let candidates: Vec<_> = readings.iter().map(|read| Candidate::new(read, now_ms(), zone)).collect();
    let (lines, terminal): (Vec<_>, _) = (candidates.iter().map(Candidate::line).collect(), Terminal::stdout());
    if lines.iter().all(|line| terminal.fits(line.len())) {
        return Ok(lines.iter().try_for_each(|line| writeln!(out, "{line}"))?);
    }
    for (index, candidate) in candidates.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        candidate.write_fields(out)?;
    }
    Ok(())
}

/// A candidate as a person reads it.
struct Candidate {
    scheme: &'static str,
    time: String,
    /// The other fields, with their names.
    fields: Vec<(&'static str, String)>,
    /// The day on which the time of the layout ends, with "ends" or "ended".
    end: String,
    /// What is unusual: its name and value on a separate line, and the words in the line of the candidate.
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
        let end = format!("{verb} {}", date(id.layout_end_ms()));
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
