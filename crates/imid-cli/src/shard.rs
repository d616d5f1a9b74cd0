//! `imid shard`: the shard that owns a session.

use std::io::Write;
use std::num::NonZeroU32;

use imid::dialect::Dialect;

use crate::Out;
use crate::args::{SessionArgs, pasted_id};
use crate::report::{Report, Stop, quote};

/// Print the shard that owns a session, 0 to N - 1, from its name or from any of its IDs
///
/// Jump consistent hash of type and session hash, which every ID carries: from N to N + 1 shards only one session in N
/// + 1 moves. One number per line, in the order of the IDs.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid shard -n 8 EMAQ-2948-WCRV-T3DD
  imid shard -n 8 --type group --session room-42
  imid shard -n 8 --session alice --peer bob")]
pub(crate) struct Args {
    /// How many shards there are
    #[arg(short = 'n', value_name = "N", value_parser = shards, allow_negative_numbers = true)]
    shards: NonZeroU32,
    /// IDs whose sessions are asked for
    #[arg(value_name = "ID", conflicts_with_all = ["session_type", "session"])]
    ids: Vec<String>,
    #[command(flatten)]
    session: SessionArgs,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        if self.ids.is_empty() {
            if !self.session.is_named() {
                return Err(Stop::Usage("expected IDs, or a session by --session".into()));
            }
            return Ok(writeln!(out, "{}", self.session.session(&Dialect::STANDARD)?.shard(self.shards))?);
        }
        for (index, text) in self.ids.iter().enumerate() {
            match pasted_id(text) {
                Ok(id) => writeln!(out, "{}", id.session().shard(self.shards))?,
                Err(what) => report.bad(format_args!("argument {}", index + 1), what)?,
            }
        }
        Ok(())
    }
}

fn shards(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| format!("expected a number of shards, 1 to {}, found {}", u32::MAX, quote(text)))
}
