//! `imid shard`: prints the shard that owns a session.

use std::io::Write;
use std::num::NonZeroU32;

use imid::dialect::Dialect;
use imid_inspect::STANDARD;

use super::id_texts::IdTexts;
use super::whole_number;
use crate::Out;
use crate::candidates::read_or_hint;
use crate::report::{KeepGoing, Report, Stop};
use crate::session::SessionArgs;

/// Print the shard that owns a session, from its name or from any of its IDs
///
/// Prints a number from 0 to N - 1 for each ID, one per line. Without arguments, reads standard input, one ID per line.
///
/// The shard is the jump consistent hash of the session type and the session hash. Therefore, --session needs --type, or
/// --peer for a private conversation. When N grows to N + 1, about one session in N + 1 moves, and it moves to the new
/// shard.
#[derive(clap::Args)]
#[command(mut_arg("ids", |ids| ids.conflicts_with_all(["session_type", "session"])))]
#[command(mut_arg("session_type", |arg| arg.help("Session type of --session: a code from 0 to 15, or a name such as private or group, in any case")))]
#[command(after_help = "\
Examples:
  imid shard -n 8 EMAQ-2948-WCRV-T3DD
  imid shard -n 8 --type group --session room-42
  imid shard -n 8 --session alice --peer bob
  imid shard -n 8 < ids.txt")]
pub(crate) struct Args {
    /// Number of shards
    #[arg(short = 'n', value_name = "N", value_parser = whole_number(NonZeroU32::MIN..=NonZeroU32::MAX), allow_negative_numbers = true)]
    shards: NonZeroU32,
    #[command(flatten)]
    ids: IdTexts,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    keep_going: KeepGoing,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        report.keep_going(&self.keep_going);
        match (self.session.is_named(), self.session.has_type()) {
            (true, true) => {
                return Ok(writeln!(out, "{}", self.session.session(&Dialect::STANDARD)?.shard(self.shards))?);
            }
            (true, false) => {
                let reason = "the shard depends on the session type too";
                return Err(Stop::Usage(format!("--session: expected --type with it, because {reason}")));
            }
            (false, true) => return Err(Stop::Usage("--type: expected --session with it".into())),
            (false, false) => {}
        }
        self.ids.each(out, |out, place, text| match text.and_then(|text| read_or_hint(STANDARD, text, None)) {
            Ok(read) => Ok(writeln!(out, "{}", read.id.sort_key().session_tag().shard(self.shards))?),
            Err(problem) => report.bad_input(place, problem),
        })
    }
}
