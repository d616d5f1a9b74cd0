//! `imid new`: mints IDs.

use std::io::Write;

use imid::dialect::Dialect;
use imid_inspect::{Form, Scheme};

use super::whole_number;
use crate::Out;
use crate::clock_minter::{AfterArg, ClockMinter};
use crate::output::{FormatArgs, Writer};
use crate::report::{Report, Stop};
use crate::scheme::minting_dialect;
use crate::session::SessionArgs;

/// Mint IDs from the system clock, one per line, strictly increasing
///
/// Without a session, the IDs have type 0 and the hash of the empty name. A millisecond has room for 4,096 IDs. If you
/// request more, the times of the IDs run ahead of the clock by up to one second.
///
/// The command exits once the clock has passed its last ID, so a later run does not repeat IDs. If the clock was set back,
/// pass the last ID to --after.
///
/// Concurrent runs share no state: two of their IDs with the same session and millisecond are equal with probability
/// 1/4096. To avoid duplicates, mint in one process, or assign each session to one process.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid new
  imid new --type group --session room-42 -n 3
  imid new --session alice --peer bob --json
  imid new -n 3 --format uuid
  imid new --type group --session room-42 --tag
  imid new --dialect rongcloud --type private --session user9")]
pub(crate) struct Args {
    /// Dialect of the IDs
    #[arg(long, value_name = "NAME", default_value = "standard", value_parser = minting_dialect())]
    dialect: &'static Dialect<'static>,
    #[command(flatten)]
    session: SessionArgs,
    /// Number of IDs
    #[arg(short = 'n', value_name = "N", default_value_t = 1, value_parser = whole_number(0..=u64::MAX), allow_negative_numbers = true)]
    number: u64,
    #[command(flatten)]
    after: AfterArg,
    /// Print the number of the session, its type and hash, which the SQL functions take, instead of IDs
    #[arg(long, conflicts_with_all = ["number", "after", "format", "json"])]
    tag: bool,
    #[command(flatten)]
    format: FormatArgs,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &Report) -> Result<(), Stop> {
        let writer = self.format.writer(Scheme::Dialect(self.dialect))?.unwrap_or(Writer::Form(Form::Text));
        let session = self.session.session(self.dialect)?;
        if self.tag {
            return Ok(writeln!(out, "{}", session.to_u32())?);
        }
        let mut minter = ClockMinter::new(self.dialect, self.after.id(self.dialect)?)?;
        let mut write_next = || writer.write_id(out, &minter.mint(session).map_err(Stop::Error)?);
        let written = (0..self.number).try_for_each(|_| write_next());
        // A reader gets the IDs before the wait. After an error, the IDs that it has count too.
        let flushed = out.flush();
        minter.finish(report);
        written.and(flushed.map_err(Stop::from))
    }
}
