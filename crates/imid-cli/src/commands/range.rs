//! `imid range`: prints the first and the last ID of a range of times.

use std::io::Write;

use imid::MessageId;
use serde::Serialize;

use crate::Out;
use crate::json;
use crate::report::Stop;
use crate::time::parse_unix_ms;

/// Print the first and the last ID of a range of times, to scan a store by time
///
/// Times are unix milliseconds or RFC 3339. The range includes --from and excludes --to.
///
/// The time of an ID can be ahead of the clock: by 1 ms in ordinary use, by up to 1 s under overload, by the size of
/// the step after the clock was set back, and by up to 5 s after an observed ID. If you must find all messages, move
/// --to by that much.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid range --from 2024-11-19T00:00:00Z --to 2024-11-20T00:00:00Z
  imid range --from 1731974400000 --to 1732060800000 --json")]
pub(crate) struct Args {
    /// Start of the range
    #[arg(long, value_name = "TIME", value_parser = parse_unix_ms, allow_hyphen_values = true)]
    from: u64,
    /// End of the range, which is not in the range
    #[arg(long, value_name = "TIME", value_parser = parse_unix_ms, allow_hyphen_values = true)]
    to: u64,
    /// Print the bounds as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Bounds {
    first: String,
    last: String,
    from_ms: u64,
    to_ms: u64,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let ids = MessageId::range(self.from..self.to).map_err(|error| Stop::Usage(error.to_string()))?;
        let (first, last) = (ids.start().to_string(), ids.end().to_string());
        if self.json {
            return json::write_line(out, &Bounds { first, last, from_ms: self.from, to_ms: self.to });
        }
        Ok(writeln!(out, "{first}\n{last}")?)
    }
}
