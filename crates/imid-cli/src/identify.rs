//! `imid identify`: who could have made an ID.

use std::io::Write;

use imid::clock::{Clock, SystemClock};
use imid::identify::{Candidate, identify_at};

use crate::Out;
use crate::inspect::named_type;
use crate::parts::{self, Remarks, rfc3339};
use crate::report::{Stop, quote};

/// Name the dialects and Snowflake layouts that could have made a text, with the time that each reads in it
///
/// The plausible come first: those with a time between 2005 and two years from now. Texts that several could have made
/// are not decided: inspect reads them by the dialect that you name.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid identify BUFE-A62U-32C4-01I2
  imid identify --json 204697221847986177")]
pub(crate) struct Args {
    /// The ID
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Print one JSON object per candidate
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let text = self.text.trim();
        // Without a clock every time since 2005 is plausible.
        let now_ms = SystemClock.now_ms().unwrap_or(u64::MAX);
        let mut candidates = identify_at(text, now_ms).peekable();
        if candidates.peek().is_none() {
            return Err(Stop::Error(format!("{} is no ID of any dialect or Snowflake layout", quote(text))));
        }
        for candidate in candidates {
            let plausible = candidate.is_plausible(now_ms);
            if self.json {
                parts::write_json(out, &candidate, Remarks { plausible: Some(plausible), ..Remarks::default() })?;
                continue;
            }
            let (name, time) = (candidate.name(), rfc3339(candidate.timestamp_ms()));
            let doubt = if plausible { "" } else { ", but the time is implausible" };
            writeln!(out, "{name:<18}{time}  {}{doubt}", fields(&candidate))?;
        }
        Ok(())
    }
}

/// The fields but for the time, by name.
fn fields(candidate: &Candidate) -> String {
    match candidate {
        Candidate::Message { dialect, id } => {
            let fields = dialect.fields(*id);
            let spin = fields.spin.map(|spin| format!("spin {spin}, ")).unwrap_or_default();
            format!("{spin}type {}, hash {}", named_type(dialect, fields.type_code), fields.hash)
        }
        Candidate::Snowflake(id) => {
            let overflowed = if id.is_overflowed() { ", time in the sign bit" } else { "" };
            format!("node {}, seq {}{overflowed}", id.node(), id.seq())
        }
    }
}
