//! Reads the messages of the past.

use std::path::Path;

use crate::Out;
use crate::commands::tag::plan::{Message, Value, field};
use crate::input::{Kind, Opened, open};
use crate::json::JsonLine;
use crate::report::{Report, Stop};
use crate::risk::{Found, History};
use crate::time::TimeField;

/// The fields that are read.
pub(super) struct Fields<'a> {
    pub(super) session: &'a String,
    pub(super) time: &'a String,
    pub(super) times: &'a TimeField,
}

impl Fields<'_> {
    /// Adds a message.
    fn add(&self, message: &impl Message, history: &mut History) -> Result<(), String> {
        let session = field(message, self.session, Value::session_name)?;
        let ms = field(message, self.time, |value| value.parse(|text| self.times.parse(text)))?;
        history.add(&session, ms);
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
                return header.require([fields.session, fields.time]);
            }
            let added = record.check().and_then(|()| fields.add(&record, &mut history));
            added.or_else(|problem| report.bad_input(format_args!("line {}", record.line), problem))
        })?,
    }
    history.finish().ok_or_else(|| Stop::Error("expected messages of at least two different times, found fewer".into()))
}
