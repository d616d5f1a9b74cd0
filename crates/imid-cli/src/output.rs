//! The forms of the output: one ID per line, or a JSON object per line.

use std::io::Write;

use imid_inspect::{Form, Id, Scheme};

use crate::Out;
use crate::form::{NO_UUID, form};
use crate::id_object::IdObject;
use crate::json::{self, JsonArg};
use crate::report::Stop;

/// The arguments that choose the output.
#[derive(clap::Args)]
pub(crate) struct FormatArgs {
    /// Form of the IDs that are printed, one per line
    #[arg(long, value_name = "FORM", value_parser = form(), conflicts_with = "json")]
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
        Ok(if self.json.json { Some(Writer::Json) } else { self.format.map(Writer::Form) })
    }
}

/// Writes IDs in a format.
#[derive(Clone, Copy)]
pub(crate) enum Writer {
    Form(Form),
    /// The fields of each ID.
    Json,
}

impl Writer {
    pub(crate) fn write(self, out: &mut Out, object: &IdObject<'_>) -> Result<(), Stop> {
        let text = match self {
            Self::Json => return json::write_line(out, object),
            Self::Form(form) => {
                object.id.in_form(form).ok_or_else(|| Stop::Error(format!("{}: {NO_UUID}", object.id)))?
            }
        };
        Ok(writeln!(out, "{text}")?)
    }

    /// Writes an ID without findings of a command.
    pub(crate) fn write_id(self, out: &mut Out, id: &Id) -> Result<(), Stop> {
        self.write(out, &IdObject::new(*id))
    }
}
