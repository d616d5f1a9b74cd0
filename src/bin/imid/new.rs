//! `imid new`: mints.

use std::io::Write;

use imid::Generator;

use crate::Out;
use crate::args::SessionArgs;
use crate::parts;
use crate::report::Stop;
use crate::wait::patiently;

/// Mint IDs by the system clock, one per line, strictly increasing
///
/// Without a session they are of type 0 and the empty name. Many of them are borrowed from the milliseconds to come, up
/// to one second ahead of the clock; then it waits.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid new
  imid new --type group --session room-42 -n 3
  imid new --session alice --peer bob --json")]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionArgs,
    /// How many
    #[arg(short = 'n', value_name = "N", default_value_t = 1)]
    count: u64,
    /// Print each with its parts as a JSON object
    #[arg(long)]
    json: bool,
}

/// How many IDs are taken in one step: what a millisecond holds.
const RUN: u64 = 1 << 12;

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        let session = self.session.session()?;
        let generator = Generator::new();
        let mut left = self.count;
        while left > 0 {
            let run = left.min(RUN);
            let batch = patiently(|| generator.batch(session, run as usize));
            for id in batch.map_err(|error| Stop::Error(error.to_string()))? {
                if self.json {
                    parts::write_json(out, id, None)?;
                } else {
                    writeln!(out, "{id}")?;
                }
            }
            left -= run;
        }
        Ok(())
    }
}
