//! An ID and its parts as JSON.

use std::io::Write;

use imid::MessageId;
use jiff::Timestamp;
use serde::Serialize;

use crate::report::Stop;

/// The members of the object, in the order in which they are printed.
#[derive(Serialize)]
struct Parts {
    id: String,
    dialect: &'static str,
    unix_ms: u64,
    time: String,
    spin: u16,
    r#type: u8,
    type_name: Option<&'static str>,
    hash: u32,
    hex: String,
    /// As text: JSON readers that hold numbers as doubles lose bits past 2^53.
    u128: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_match: Option<bool>,
}

/// Writes an ID and its parts as one line of JSON, with whether it matches a session where one was asked for.
pub(crate) fn write_json(out: &mut impl Write, id: MessageId, session_match: Option<bool>) -> Result<(), Stop> {
    let parts = Parts {
        id: id.to_string(),
        dialect: "standard",
        unix_ms: id.timestamp_ms(),
        time: rfc3339(id.timestamp_ms()),
        spin: id.spin(),
        r#type: id.session_type().code(),
        type_name: id.session_type().name(),
        hash: id.session_hash().value(),
        hex: format!("{id:x}"),
        u128: id.to_u128().to_string(),
        session_match,
    };
    write_line(out, &parts)
}

/// Writes a value as one line of JSON.
pub(crate) fn write_line(out: &mut impl Write, value: &impl Serialize) -> Result<(), Stop> {
    // The only error that plain structs leave is the writer's.
    serde_json::to_writer(&mut *out, value).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

/// A timestamp as RFC 3339 in UTC, with milliseconds.
pub(crate) fn rfc3339(unix_ms: u64) -> String {
    format!("{:.3}", timestamp(unix_ms))
}

/// A timestamp as a time that a calendar knows.
pub(crate) fn timestamp(unix_ms: u64) -> Timestamp {
    // PANIC: 42 bits of milliseconds end in the year 2109.
    Timestamp::from_millisecond(unix_ms.cast_signed()).expect("a timestamp is a time before the year 9999")
}
