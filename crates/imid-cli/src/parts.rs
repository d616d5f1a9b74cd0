//! An ID and its parts as JSON.

use std::io::Write;

use imid::identify::Candidate;
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
    #[serde(flatten)]
    fields: Fields,
    hex: String,
    /// As text: JSON readers that hold numbers as doubles lose bits past 2^53.
    #[serde(skip_serializing_if = "Option::is_none")]
    u128: Option<String>,
    #[serde(flatten)]
    remarks: Remarks,
}

/// What differs between the two families.
#[derive(Serialize)]
#[serde(untagged)]
enum Fields {
    Message {
        spin: Option<u16>,
        r#type: u8,
        type_name: Option<&'static str>,
        hash: u32,
    },
    Snowflake {
        node: u32,
        seq: u32,
        /// Told only where it is so.
        #[serde(skip_serializing_if = "Option::is_none")]
        overflowed: Option<bool>,
    },
}

/// What was asked or found besides; left out where it was not.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct Remarks {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_match: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plausible: Option<bool>,
}

/// Writes an ID and its parts as one line of JSON.
pub(crate) fn write_json(out: &mut impl Write, candidate: &Candidate, remarks: Remarks) -> Result<(), Stop> {
    let (fields, u128) = match candidate {
        Candidate::Message { dialect, id } => {
            let fields = dialect.fields(*id);
            let type_name = dialect.type_name(fields.type_code);
            let fields = Fields::Message { spin: fields.spin, r#type: fields.type_code, type_name, hash: fields.hash };
            (fields, Some(id.to_u128().to_string()))
        }
        Candidate::Snowflake(id) => {
            let overflowed = id.is_overflowed().then_some(true);
            (Fields::Snowflake { node: id.node(), seq: id.seq(), overflowed }, None)
        }
    };
    let parts = Parts {
        id: candidate.to_string(),
        dialect: candidate.name(),
        unix_ms: candidate.timestamp_ms(),
        time: rfc3339(candidate.timestamp_ms()),
        fields,
        hex: hex(candidate),
        u128,
        remarks,
    };
    write_line(out, &parts)
}

/// All bits in hex.
pub(crate) fn hex(candidate: &Candidate) -> String {
    match candidate {
        Candidate::Message { id, .. } => format!("{id:x}"),
        Candidate::Snowflake(id) => id.to_hex().to_string(),
    }
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
    // PANIC: 43 bits of milliseconds, the most of any built-in dialect or layout, end in the year 2248.
    Timestamp::from_millisecond(unix_ms.cast_signed()).expect("a timestamp is a time before the year 9999")
}
