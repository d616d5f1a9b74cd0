//! `imid range`: prints the first and the last ID of a range of times.

use std::ops::Range;

use imid::MessageId;
use imid_inspect::{Form, Id, STANDARD};
use serde::Serialize;
use uuid::Uuid;

use crate::Out;
use crate::json;
use crate::output::{FormatArgs, Writer};
use crate::report::{Report, Stop};
use crate::time::{TIME_FORMS, TimeRange, ZoneArg};

/// Print the first and the last ID of a range of times, to scan a store by time
///
/// The range includes --from and excludes --to.
///
/// The time of an ID can be ahead of the clock: by at most 1 ms in ordinary use, and by more after the events in the table
/// "How far IDs can be ahead of the clock" in the documentation of the crate imid. If you must find all messages, move --to
/// by that much.
#[derive(clap::Args)]
#[command(mut_arg("from", |from| from.required(true).help("Start of the range")))]
#[command(mut_arg("to", |to| to.required(true).help("End of the range, which is not in the range")))]
#[command(after_help = format!("{EXAMPLES}\n\n{TIME_FORMS}\n\n{JSON_MEMBERS}"))]
pub(crate) struct Args {
    #[command(flatten)]
    times: TimeRange,
    #[command(flatten)]
    zone: ZoneArg,
    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  imid range --from 2024-11-19 --to 2024-11-20
  imid range --from 2024-11-19T09:00:00 --to now --time-zone Asia/Shanghai
  imid range --from -1h --to now --format uuid
  imid range --from 1731974400000 --to 1732060800000 --json";

const JSON_MEMBERS: &str = "\
JSON members:
  first, last: the IDs as text
  from_ms, to_ms: the times as unix milliseconds; to_ms is not in the range
  first_hex, last_hex: the IDs as hex digits
  first_uuid, last_uuid: the UUID views of the IDs";

/// The bounds as a JSON object.
#[derive(Serialize)]
struct Bounds {
    first: String,
    last: String,
    from_ms: u64,
    to_ms: u64,
    first_hex: String,
    last_hex: String,
    first_uuid: Uuid,
    last_uuid: Uuid,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &Report) -> Result<(), Stop> {
        let Range { start: from_ms, end: to_ms } = self.times.times(&self.zone, report)?;
        let ids = MessageId::range(from_ms..to_ms).map_err(|error| Stop::Usage(error.to_string()))?;
        let (first, last) = ids.into_inner();
        let writer = self.format.writer(STANDARD)?;
        if self.format.json.json {
            let (first_hex, last_hex) = (first.to_hex().into(), last.to_hex().into());
            let (first_uuid, last_uuid) = (first.to_uuid(), last.to_uuid());
            let (first, last) = (first.to_string(), last.to_string());
            let bounds = Bounds { first, last, from_ms, to_ms, first_hex, last_hex, first_uuid, last_uuid };
            return json::write_line(out, &bounds);
        }
        let writer = writer.unwrap_or(Writer::Form(Form::Text));
        for id in [first, last] {
            writer.write_id(out, &Id::from(id))?;
        }
        Ok(())
    }
}
