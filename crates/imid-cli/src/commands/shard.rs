//! `imid shard`: prints the shard that owns a session.

use std::io::Write;
use std::num::NonZeroU32;

use imid::dialect::Dialect;

use crate::Out;
use crate::report::{KeepGoing, Report, Stop, quote};
use crate::scheme::pasted_id;
use crate::session::SessionArgs;

/// Print the shard that owns a session, from its name or from any of its IDs
///
/// Prints a number from 0 to N - 1 for each ID, one per line. The shard is the jump consistent hash of the session type
/// and the session hash, so a name needs its type (--type, or --peer for a private conversation). When N grows to N + 1,
/// about one session in N + 1 moves, and it moves to the new shard.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid shard -n 8 EMAQ-2948-WCRV-T3DD
  imid shard -n 8 --type group --session room-42
  imid shard -n 8 --session alice --peer bob")]
pub(crate) struct Args {
    /// Number of shards
    #[arg(short = 'n', value_name = "N", value_parser = shards, allow_negative_numbers = true)]
    shards: NonZeroU32,
    /// IDs of the sessions
    #[arg(value_name = "ID", conflicts_with_all = ["session_type", "session"])]
    ids: Vec<String>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    keep_going: KeepGoing,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        report.keep_going(&self.keep_going);
        if self.ids.is_empty() {
            if !self.session.is_named() {
                return Err(Stop::Usage("expected IDs or --session".into()));
            }
            if !self.session.has_type() {
                return Err(Stop::Usage(
                    "expected --type with --session: sessions of two types have two shards".into(),
                ));
            }
            return Ok(writeln!(out, "{}", self.session.session(&Dialect::STANDARD)?.shard(self.shards))?);
        }
        for (index, text) in self.ids.iter().enumerate() {
            match pasted_id(text) {
                Ok(id) => writeln!(out, "{}", id.session().shard(self.shards))?,
                Err(problem) => report.bad_input(format_args!("argument {}", index + 1), problem)?,
            }
        }
        Ok(())
    }
}

fn shards(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| format!("expected a number of shards from 1 to {}, found {}", u32::MAX, quote(text)))
}
