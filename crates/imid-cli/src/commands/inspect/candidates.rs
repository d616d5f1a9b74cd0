//! Shows the systems that could have made an ID.

use std::io::Write;

use imid_inspect::time::date;
use imid_inspect::{Form, Id, Read, named_type};

use crate::Out;
use crate::report::Stop;
use crate::time::{ZoneArg, now_ms};

/// Writes the candidates for one text, one per line.
pub(super) fn write(out: &mut Out, readings: &[Read], zone: &ZoneArg) -> Result<(), Stop> {
    Ok(readings.iter().try_for_each(|read| writeln!(out, "{}", line(read, now_ms(), zone)))?)
}

/// Returns a candidate as a person reads it: its fields, when its layout ends, and what is unusual.
fn line(read: &Read, now_ms: u64, zone: &ZoneArg) -> String {
    let id = read.id;
    let mut parts = Vec::new();
    match id {
        Id::Message { dialect, id } => {
            parts.extend(id.spin().map(|spin| format!("spin {spin}")));
            parts.push(format!("type {}", named_type(dialect, id.type_code())));
            parts.push(format!("hash {}", id.session_hash()));
        }
        Id::Snowflake(id) => parts.extend([format!("node {}", id.node()), format!("sequence {}", id.sequence())]),
    }
    let verb = if id.layout_end_ms() < now_ms { "ended" } else { "ends" };
    parts.push(format!("{verb} {}", date(id.layout_end_ms())));
    if matches!(id, Id::Snowflake(id) if id.is_overflowed()) {
        parts.push("the time overflows into the sign bit".to_owned());
    }
    if read.form != Form::Text {
        parts.push(format!("from {}", read.form.name()));
    }
    if !id.is_plausible(now_ms) {
        parts.push("but the time is implausible".to_owned());
    }
    format!("{:<18}{}  {}", id.scheme_name(), zone.rfc3339(id.timestamp_ms()), parts.join(", "))
}
