//! `imid identify`: lists the schemes that could have made an ID.

use std::io::Write;

use imid::clock::{Clock, SystemClock};
use imid::identify::identify_at;

use crate::Out;
use crate::json::{self, Findings};
use crate::report::{Stop, quote};
use crate::scheme::{Id, named_type};
use crate::time::rfc3339;

/// List the dialects and Snowflake layouts that could have made an ID, with the time that each one reads
///
/// Plausible candidates come first: their time is between 2005 and two years from now. If there are several, compare
/// their times with that of a message that you know. Then use imid inspect --dialect NAME.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid identify BUFE-A62U-32C4-01I2
  imid identify --json 204697221847986177")]
pub(crate) struct Args {
    /// ID, as text
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Print one JSON object per candidate
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let text = self.text.trim();
        // Without a clock, every time since 2005 is plausible.
        let now_ms = SystemClock.now_ms().unwrap_or(u64::MAX);
        let mut candidates = identify_at(text, now_ms).peekable();
        if candidates.peek().is_none() {
            return Err(Stop::Error(format!("{} is not an ID of any known dialect or Snowflake layout", quote(text))));
        }
        for (candidate, id) in candidates.filter_map(|candidate| Some((candidate, Id::of(candidate)?))) {
            let plausible = candidate.is_plausible(now_ms);
            if self.json {
                json::write_id(out, &id, Findings { plausible: Some(plausible), ..Findings::default() })?;
                continue;
            }
            let (name, time) = (candidate.name(), rfc3339(candidate.timestamp_ms()));
            let doubt = if plausible { "" } else { ", but the time is implausible" };
            writeln!(out, "{name:<18}{time}  {}{doubt}", fields(&id))?;
        }
        Ok(())
    }
}

/// Returns the fields with their names, without the time.
fn fields(id: &Id) -> String {
    match id {
        Id::Message { dialect, id } => {
            let spin = id.spin().map(|spin| format!("spin {spin}, ")).unwrap_or_default();
            format!("{spin}type {}, hash {}", named_type(dialect, id.type_code()), id.hash())
        }
        Id::Snowflake(id) => {
            let overflowed = if id.is_overflowed() { ", the time overflows into the sign bit" } else { "" };
            format!("node {}, seq {}{overflowed}", id.node(), id.sequence())
        }
    }
}
