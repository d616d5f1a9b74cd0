//! JSON output: one object per line.

use std::io::Write;

use serde::Serialize;

use crate::report::Stop;
use crate::scheme::Id;
use crate::time::rfc3339;

/// An ID and its fields, in the order of the output.
#[derive(Serialize)]
struct IdObject {
    id: String,
    dialect: &'static str,
    unix_ms: u64,
    time: String,
    #[serde(flatten)]
    fields: Fields,
    hex: String,
    /// A string: many JSON readers lose bits of numbers above 2^53.
    #[serde(skip_serializing_if = "Option::is_none")]
    u128: Option<String>,
    #[serde(flatten)]
    findings: Findings,
}

/// The fields that differ between message IDs and Snowflakes.
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
        /// Present only if it is true.
        #[serde(skip_serializing_if = "Option::is_none")]
        overflowed: Option<bool>,
    },
}

/// Results of a command for an ID. A member is left out if the command does not have this result.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct Findings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_match: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plausible: Option<bool>,
}

/// Writes an ID and its fields as one line of JSON.
pub(crate) fn write_id(out: &mut impl Write, id: &Id, findings: Findings) -> Result<(), Stop> {
    let (fields, u128) = match id {
        Id::Message { dialect, id } => {
            let r#type = id.type_code();
            let type_name = dialect.type_name(r#type);
            let fields = Fields::Message { spin: id.spin(), r#type, type_name, hash: id.hash() };
            (fields, Some(id.to_u128().to_string()))
        }
        Id::Snowflake(id) => {
            let overflowed = id.is_overflowed().then_some(true);
            (Fields::Snowflake { node: id.node(), seq: id.sequence(), overflowed }, None)
        }
    };
    let object = IdObject {
        id: id.to_string(),
        dialect: id.scheme_name(),
        unix_ms: id.timestamp_ms(),
        time: rfc3339(id.timestamp_ms()),
        fields,
        hex: id.hex(),
        u128,
        findings,
    };
    write_line(out, &object)
}

/// Writes a value as one line of JSON.
pub(crate) fn write_line(out: &mut impl Write, value: &impl Serialize) -> Result<(), Stop> {
    // Plain structs always serialize, so an error is an error of the writer.
    serde_json::to_writer(&mut *out, value).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}
