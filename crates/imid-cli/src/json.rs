//! JSON output: one object per line.

use std::io::Write;

use serde::Serialize;

use crate::report::Stop;

/// Writes a value as one line of JSON.
pub(crate) fn write_line(out: &mut impl Write, value: &impl Serialize) -> Result<(), Stop> {
    // Plain structs always serialize, so an error is an error of the writer.
    serde_json::to_writer(&mut *out, value).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}
