//! `imid range`: the bounds of a scan by time.

use std::io::Write;

use imid::MessageId;
use serde::Serialize;

use crate::Out;
use crate::args::time_ms;
use crate::parts;
use crate::report::Stop;

/// Print the first and the last ID of a half-open range of times, for a scan of a store
///
/// Times are unix milliseconds or RFC 3339. An ID's time can be ahead of the clock: by a millisecond in ordinary use,
/// by up to a second under overload, after a step of the clock by that step, and after an observed ID by up to five
/// seconds. Widen the range by so much where no message may be missed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid range --from 2024-11-19T00:00:00Z --to 2024-11-20T00:00:00Z
  imid range --from 1731974400000 --to 1732060800000 --json")]
pub(crate) struct Args {
    /// First time of the range
    #[arg(long, value_name = "TIME", value_parser = time_ms, allow_hyphen_values = true)]
    from: u64,
    /// First time after the range
    #[arg(long, value_name = "TIME", value_parser = time_ms, allow_hyphen_values = true)]
    to: u64,
    /// Print one JSON object
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
            return parts::write_line(out, &Bounds { first, last, from_ms: self.from, to_ms: self.to });
        }
        Ok(writeln!(out, "{first}\n{last}")?)
    }
}
