//! `imid new`: mints IDs.

use std::io::Write;

use imid::Generator;
use imid::dialect::Dialect;
use imid_inspect::{Form, Id, Scheme};

use super::whole_number;
use crate::Out;
use crate::candidates::read_id;
use crate::lead::{self, MAX_WAIT};
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
    /// Make all IDs greater than this one, the last ID of a previous run
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    after: Option<String>,
    #[command(flatten)]
    format: FormatArgs,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &Report) -> Result<(), Stop> {
        let writer = self.format.writer(Scheme::Dialect(self.dialect))?.unwrap_or(Writer::Form(Form::Text));
        let mut last = None;
        let minted = self.mint(out, writer, &mut last);
        // A reader gets the IDs before the wait. After an error, the IDs that it has count too.
        let flushed = out.flush();
        lead::wait_out(last, report);
        minted.and(flushed.map_err(Stop::from))
    }

    fn mint(&self, out: &mut Out, writer: Writer, last: &mut Option<Id>) -> Result<(), Stop> {
        let session = self.session.session(self.dialect)?;
        let mut builder = Generator::builder();
        let after = self.after()?;
        if let Some(after) = after {
            // The dialects that can mint have the standard layout.
            builder = builder.floor(after.sort_key());
        }
        let generator = builder.build().map_err(|error| Stop::Error(error.to_string()))?;
        for _ in 0..self.number {
            let id = generator.generate_within(session, MAX_WAIT).map_err(|error| {
                let ahead = after.filter(|_| error.is_rollback()).and_then(lead::ahead_of_clock);
                Stop::Error(ahead.unwrap_or_else(|| error.to_string()))
            })?;
            writer.write_id(out, last.insert(Id::Message { dialect: self.dialect, id: id.into() }))?;
        }
        Ok(())
    }

    /// Returns the ID that all new IDs come after.
    fn after(&self) -> Result<Option<Id>, Stop> {
        let after = self.after.as_deref().map(|text| read_id(Scheme::Dialect(self.dialect), text)).transpose();
        after.map_err(|problem| Stop::Usage(format!("--after: {problem}")))
    }
}
