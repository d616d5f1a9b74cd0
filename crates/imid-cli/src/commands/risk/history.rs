//! Reads the messages of the past.

use std::path::Path;

use crate::Out;
use crate::input::{Kind, Opened, open};
use crate::json::JsonLine;
use crate::message::{Message, Value, field};
use crate::report::{Report, Stop};
use crate::risk::{Found, History};
use crate::time::TimeField;

/// The fields that are read.
pub(super) struct Fields<'a> {
    pub(super) session: &'a String,
    pub(super) time: &'a TimeField,
}

impl Fields<'_> {
    /// Adds a message.
    fn add(&self, message: &impl Message, history: &mut History) -> Result<(), String> {
        let session = field(message, self.session, Value::session_name)?;
        // clap requires the time field.
        history.add(&session, self.time.read(message)?.unwrap_or_default());
        Ok(())
    }
}

/// Reads a file, or standard input.
pub(super) fn read(file: &Path, kind: Option<Kind>, fields: &Fields<'_>, report: &mut Report) -> Result<Found, Stop> {
    let mut history = History::default();
    let path = (file.as_os_str() != "-").then_some(file);
    match open(path, kind, "messages as JSON lines")? {
        Opened::Lines(input) => input.each_line(&mut Out::default(), |_, number, line| {
            let added = line.and_then(|line| {
                if line.trim_ascii().is_empty() { Ok(()) } else { fields.add(&JsonLine::read(line)?, &mut history) }
            });
            added.or_else(|problem| report.bad_input(format_args!("line {number}"), problem))
        })?,
        Opened::Records(input, delimiter) => input.each_record(delimiter, |record| {
            if let Some(header) = record.as_header() {
                return header.require([fields.session].into_iter().chain(&fields.time.name));
            }
            let added = record.check().and_then(|()| fields.add(&record, &mut history));
            added.or_else(|problem| report.bad_input(format_args!("line {}", record.line), problem))
        })?,
    }
    history.finish().ok_or_else(|| Stop::Error("expected messages of at least two different times, found fewer".into()))
}
