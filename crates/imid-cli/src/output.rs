//! The forms of the output: one ID per line, or a JSON object per line.

use std::io::Write;

use crate::Out;
use crate::form::{Form, NO_UUID};
use crate::id_object::{IdObject, Member, Value};
use crate::json::JsonArg;
use crate::report::Stop;
use crate::scheme::{Id, Scheme};
use crate::time::TimeText;

/// The arguments that choose the output.
#[derive(clap::Args)]
pub(crate) struct FormatArgs {
    /// Form of the IDs that are printed, one per line
    #[arg(long, value_name = "FORM", conflicts_with = "json")]
    format: Option<Form>,
    #[command(flatten)]
    pub(crate) json: JsonArg,
}

impl FormatArgs {
    /// Returns a writer, or `None` if no format was chosen.
    pub(crate) fn writer(&self, scheme: Scheme) -> Result<Option<Writer>, Stop> {
        if self.format == Some(Form::Uuid) && !scheme.has_uuid() {
            return Err(Stop::Usage(format!("--format uuid: {NO_UUID}")));
        }
        if self.json.json {
            return Ok(Some(Writer::json()));
        }
        Ok(self.format.map(Writer::new))
    }
}

/// Writes IDs in a format.
pub(crate) struct Writer {
    /// `None` for JSON.
    form: Option<Form>,
    /// The line that is written next.
    line: Vec<u8>,
    times: TimeText,
}

impl Writer {
    /// Writes each ID in a form.
    pub(crate) fn new(form: Form) -> Self {
        Self { form: Some(form), ..Self::json() }
    }

    /// Writes the fields of each ID.
    pub(crate) fn json() -> Self {
        Self { form: None, line: Vec::new(), times: TimeText::default() }
    }

    pub(crate) fn write(&mut self, out: &mut Out, object: &IdObject<'_>) -> Result<(), Stop> {
        self.line.clear();
        match self.form {
            Some(form) if !object.id.write_form(form, &mut self.line) => {
                return Err(Stop::Error(format!("{}: {NO_UUID}", object.id)));
            }
            Some(_) => {}
            None => self.write_fields(object),
        }
        self.line.push(b'\n');
        Ok(out.write_all(&self.line)?)
    }

    /// Writes an ID without findings of a command.
    pub(crate) fn write_id(&mut self, out: &mut Out, id: &Id) -> Result<(), Stop> {
        self.write(out, &IdObject::new(*id))
    }

    fn write_fields(&mut self, object: &IdObject<'_>) {
        let line = &mut self.line;
        line.push(b'{');
        for member in Member::ALL {
            object.value(*member, &mut self.times, |value| {
                if !matches!(value, Value::Absent) {
                    line.push(b'"');
                    line.extend(member.name().as_bytes());
                    line.extend(b"\":");
                    write_json(line, value);
                    line.push(b',');
                }
            });
        }
        line.pop();
        line.push(b'}');
    }
}

fn write_json(line: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Word(text) => {
            line.push(b'"');
            line.extend(text.as_bytes());
            line.push(b'"');
        }
        // PANIC: memory can be written, and a string always serializes.
        Value::Text(text) => serde_json::to_writer(line, text).expect("a string serializes"),
        Value::Number(number) => line.extend(itoa::Buffer::new().format(number).as_bytes()),
        Value::Bool(value) => line.extend(value.to_string().as_bytes()),
        Value::Null | Value::Absent => line.extend(b"null"),
    }
}
