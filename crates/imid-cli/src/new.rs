//! `imid new`: mints.

use std::io::Write;
use std::time::Duration;

use imid::Generator;
use imid::dialect::Dialect;
use imid::generator::GenerateError;
use imid::identify::Candidate;
use imid::snowflake::{self, Layout, Preset};

use crate::Out;
use crate::args::SessionArgs;
use crate::family::{Family, FamilyArg};
use crate::inspect::NO_SESSION;
use crate::parts::{self, Remarks};
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
  imid new --session alice --peer bob --json
  imid new --dialect rongcloud --type private --session user9
  imid new --dialect twitter --node 35 -n 3")]
pub(crate) struct Args {
    #[command(flatten)]
    family: FamilyArg,
    #[command(flatten)]
    session: SessionArgs,
    /// Node of the Snowflakes; no two generators that run at the same time may have the same [default: 0]
    #[arg(long, value_name = "NODE")]
    node: Option<u32>,
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
        match self.family.family {
            Family::Message(_) if self.node.is_some() => Err(Stop::Usage("--node is for Snowflakes".into())),
            Family::Message(dialect) => self.messages(out, dialect),
            Family::Snowflake(_) if !self.session.is_empty() => Err(Stop::Usage(NO_SESSION.into())),
            Family::Snowflake(layout) => self.snowflakes(out, layout),
        }
    }

    fn messages(&self, out: &mut Out, dialect: &'static Dialect) -> Result<(), Stop> {
        let session = self.session.session(dialect)?;
        let generator = Generator::new();
        let mut left = self.count;
        while left > 0 {
            let run = left.min(RUN);
            let batch = patiently(|| generator.batch(session, run as usize), GenerateError::retry_after);
            for id in batch.map_err(|error| Stop::Error(error.to_string()))? {
                self.write(out, &Candidate::Message { dialect, id })?;
            }
            left -= run;
        }
        Ok(())
    }

    fn snowflakes(&self, out: &mut Out, layout: &'static Layout) -> Result<(), Stop> {
        let preset = Preset::ALL.iter().find(|preset| preset.layout() == layout);
        let preset = preset.copied().unwrap_or(Preset::new(layout));
        let generator = snowflake::Generator::new(preset, self.node.unwrap_or_default());
        let generator = generator.map_err(|error| Stop::Usage(error.to_string()))?;
        for _ in 0..self.count {
            // Where the original fails on a full tick, whoever asks for many IDs waits for the next.
            let wait = |error: snowflake::GenerateError| {
                if error.is_full() { Some(Duration::from_millis(1)) } else { error.retry_after() }
            };
            let id = patiently(|| generator.generate(), wait);
            let id = id.map_err(|error| Stop::Error(format!("{}: {error}", layout.name())))?;
            self.write(out, &Candidate::Snowflake(id))?;
        }
        Ok(())
    }

    fn write(&self, out: &mut Out, id: &Candidate) -> Result<(), Stop> {
        if self.json { parts::write_json(out, id, Remarks::default()) } else { Ok(writeln!(out, "{id}")?) }
    }
}
