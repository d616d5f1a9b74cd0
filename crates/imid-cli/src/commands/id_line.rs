//! A line that is an ID, or a JSON object with an ID, for the commands that read many of them.

use std::borrow::Cow;

use crate::form::Form;
use crate::input::{trim_line_end, utf8};
use crate::json::{self, JsonLine, not_unicode};
use crate::report::{quote, quote_json};
use crate::scheme::{Id, Scheme};

/// A line with an ID.
pub(super) struct IdLine<'a> {
    pub(super) id: Id,
    /// The object, if the line is one.
    pub(super) object: Option<JsonLine<'a>>,
}

/// Reads a line that is not blank: an ID, or a JSON object with an ID in a field.
pub(super) fn read_line<'a>(
    line: &'a [u8],
    field: &str,
    scheme: Scheme,
    form: Option<Form>,
) -> Result<IdLine<'a>, String> {
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
pub(super) fn read_id(text: &[u8], scheme: Scheme, form: Option<Form>) -> Result<Id, String> {
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
    json::text(value).ok_or_else(|| format!("field {}: {}", quote(field), not_unicode(value)))
}

fn not_a_string(value: &str, field: &str) -> String {
    format!("field {}: expected a string, found {}", quote(field), quote_json(value))
}
