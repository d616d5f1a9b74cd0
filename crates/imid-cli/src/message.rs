//! Messages whose fields are found by name: JSON objects and records of tables.

use std::borrow::Cow;

use crate::input::Record;
use crate::json::{self, JsonLine};
use crate::report::{quote, quote_json};
use crate::time::TimeField;

/// A message whose fields are found by name.
pub(crate) trait Message {
    fn value(&self, field: &str) -> Result<Value<'_>, String>;
}

impl Message for JsonLine<'_> {
    fn value(&self, field: &str) -> Result<Value<'_>, String> {
        self.value(field).map(Value::Json)
    }
}

impl Message for Record<'_> {
    fn value(&self, field: &str) -> Result<Value<'_>, String> {
        self.field(field).map(Value::Text)
    }
}

/// The value of a field.
pub(crate) enum Value<'a> {
    /// A JSON value, as it is in the line.
    Json(&'a str),
    /// The text of a CSV or TSV field.
    Text(Cow<'a, str>),
}

/// Reads the value of a field. The error names the field.
pub(crate) fn field<'a, T>(
    message: &'a impl Message,
    name: &str,
    read: impl FnOnce(Value<'a>) -> Result<T, String>,
) -> Result<T, String> {
    read(message.value(name)?).map_err(|problem| format!("field {}: {problem}", quote(name)))
}

impl TimeField {
    /// Reads the time of a message, in Unix milliseconds. Returns `None` if there is no time field.
    pub(crate) fn read(&self, message: &impl Message) -> Result<Option<u64>, String> {
        let Some(name) = &self.name else { return Ok(None) };
        field(message, name, |value| value.parse(|text| self.parse(text))).map(Some)
    }
}

impl<'a> Value<'a> {
    /// Returns the text of a string, or another value as it is in the line.
    pub(crate) fn text(self) -> Result<Cow<'a, str>, String> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Json(value) => {
                json::text(value).ok_or_else(|| format!("expected valid Unicode, found {}", quote_json(value)))
            }
        }
    }

    /// Returns the text of a string.
    pub(crate) fn string(self) -> Result<Cow<'a, str>, String> {
        match self {
            Self::Json(value) if !value.starts_with('"') => {
                Err(format!("expected a string, found {}", quote_json(value)))
            }
            _ => self.text(),
        }
    }

    /// Parses the text. The error shows a JSON value as it is in the line: `null` is not `"null"`.
    pub(crate) fn parse<T>(self, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<T, String> {
        let bare = match &self {
            Self::Json(value) => Some(*value).filter(|value| !value.starts_with('"')),
            Self::Text(_) => None,
        };
        let text = self.text()?;
        parse(&text).map_err(|error| match (bare, error.strip_suffix(&quote(&text))) {
            (Some(value), Some(expected)) => expected.to_owned() + &quote_json(value),
            _ => error,
        })
    }

    /// Returns the name of a session: a string, or the decimal text of an integer of any size.
    pub(crate) fn session_name(self) -> Result<Cow<'a, str>, String> {
        if let Self::Json(value) = self
            && !value.starts_with('"')
        {
            let digits = value.strip_prefix('-').unwrap_or(value);
            // -0 would be a second text of the integer 0, and so a second session.
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) || value == "-0" {
                return Err(format!("expected a string or an integer, found {}", quote_json(value)));
            }
        }
        self.text()
    }
}
