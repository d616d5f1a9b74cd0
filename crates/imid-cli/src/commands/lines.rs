//! Lines that are an ID, or a JSON object with an ID, for the commands that read many of them.

use std::borrow::Cow;

use itertools::Itertools;

use crate::form::{Form, FormArg};
use crate::input::{trim_line_end, utf8};
use crate::json_line::{self, JsonLine, not_unicode};
use crate::report::{Report, quote, quote_json};
use crate::scheme::{Id, Scheme};

/// A line with an ID.
pub(super) struct IdLine<'a> {
    pub(super) id: Id,
    /// The object, if the line is one.
    pub(super) object: Option<JsonLine<'a>>,
}

/// Reads a line that is not blank: an ID, or a JSON object with an ID in a field.
pub(super) fn read_line<'a>(line: &'a [u8], field: &str, scheme: Scheme, form: FormArg) -> Result<IdLine<'a>, String> {
    if !line.trim_ascii_start().starts_with(b"{") {
        return Ok(IdLine { id: read_id(trim_line_end(line), scheme, form)?, object: None });
    }
    let object = JsonLine::read(line)?;
    let value = object.value(field)?;
    // A Snowflake can be a number in JSON. A message ID is always a string.
    let text = if scheme.is_text() { id_text(&object, field)? } else { text(value, field)? };
    Ok(IdLine { id: read_id(text.as_bytes(), scheme, form)?, object: Some(object) })
}

/// Reads an ID in its strict form, or in another form that the tool writes.
pub(super) fn read_id(text: &[u8], scheme: Scheme, FormArg(form): FormArg) -> Result<Id, String> {
    if matches!(form, None | Some(Form::Text)) {
        match (scheme.parse(text), form) {
            (Ok(id), _) => return Ok(id),
            (Err(problem), Some(_)) => return Err(problem),
            (Err(_), None) => {}
        }
    }
    scheme.read(utf8(text)?, form).map(|read| read.id)
}

/// Returns the text of a field with a message ID, which is always a string.
pub(super) fn id_text<'a>(object: &JsonLine<'a>, field: &str) -> Result<Cow<'a, str>, String> {
    let value = object.value(field)?;
    if value.starts_with('"') { text(value, field) } else { Err(not_a_string(value, field)) }
}

fn text<'a>(value: &'a str, field: &str) -> Result<Cow<'a, str>, String> {
    json_line::text(value).ok_or_else(|| format!("field {}: {}", quote(field), not_unicode(value)))
}

fn not_a_string(value: &str, field: &str) -> String {
    format!("field {}: expected a string, found {}", quote(field), quote_json(value))
}

/// Prints the first problems, and notes that there were problems.
pub(super) struct Problems<'a> {
    report: &'a mut Report,
    found: u64,
    /// The files that were read, each with the number of lines before it. Empty if there is only one.
    files: Vec<(String, u64)>,
}

impl<'a> Problems<'a> {
    const MAX_PRINTED: u64 = 10;

    pub(super) fn new(report: &'a mut Report) -> Self {
        Self { report, found: 0, files: Vec::new() }
    }

    /// Notes that the next lines are in this file.
    pub(super) fn begin_file(&mut self, name: &str, lines_before: u64) {
        self.files.push((name.to_owned(), lines_before));
    }

    /// Returns the file and the line of a line, which has this number among the lines of all files.
    pub(super) fn place(&self, number: u64) -> String {
        match self.files.iter().rfind(|(_, before)| *before < number) {
            Some((name, before)) => format!("{name}:{}", number - before),
            None => format!("line {number}"),
        }
    }

    /// Returns the places of several lines.
    pub(super) fn places(&self, numbers: &[u64]) -> String {
        if self.files.is_empty() {
            return format!("lines {}", numbers.iter().join(", "));
        }
        numbers.iter().map(|number| self.place(*number)).join(", ")
    }

    pub(super) fn add(&mut self, message: impl FnOnce() -> String) {
        self.report.set_failed();
        self.found += 1;
        if self.found <= Self::MAX_PRINTED {
            self.report.error(message());
        } else if self.found == Self::MAX_PRINTED + 1 {
            self.report.note("only the first 10 problems are shown; the summary counts all of them");
        }
    }
}
