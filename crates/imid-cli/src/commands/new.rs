//! `imid new`: mints IDs.

use std::io::Write;
use std::thread;
use std::time::Duration;

use imid::Generator;
use imid::dialect::Dialect;
use imid::snowflake::{self, Layout, Preset};

use super::{MAX_WAIT, whole_number};
use crate::Out;
use crate::json::{self, Findings};
use crate::report::Stop;
use crate::scheme::{Id, Scheme, SchemeArg};
use crate::session::{NO_SESSION, SessionArgs};

/// Mint IDs from the system clock, one per line, strictly increasing
///
/// Without a session, the IDs have type 0 and the hash of the empty name. A millisecond has room for 4,096 IDs. If you
/// request more, the times of the IDs go ahead of the clock by up to one second. Then the command waits for the clock.
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
    scheme: SchemeArg,
    #[command(flatten)]
    session: SessionArgs,
    /// Node of a Snowflake; two generators that run at the same time need different nodes [default: 0]
    #[arg(long, value_name = "NODE", value_parser = whole_number::<u32>, allow_negative_numbers = true)]
    node: Option<u32>,
    /// Number of IDs
    #[arg(short = 'n', value_name = "N", default_value_t = 1, value_parser = whole_number::<u64>, allow_negative_numbers = true)]
    count: u64,
    /// Print each ID with its fields as a JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out) -> Result<(), Stop> {
        match self.scheme.scheme {
            Scheme::Dialect(_) if self.node.is_some() => {
                Err(Stop::Usage("--node works only with Snowflake layouts".into()))
            }
            Scheme::Dialect(dialect) => self.messages(out, dialect),
            Scheme::Snowflake(_) if !self.session.is_empty() => Err(Stop::Usage(NO_SESSION.into())),
            Scheme::Snowflake(layout) => self.snowflakes(out, layout),
        }
    }

    fn messages(&self, out: &mut Out, dialect: &'static Dialect<'static>) -> Result<(), Stop> {
        let session = self.session.session(dialect)?;
        let generator = Generator::new();
        for _ in 0..self.count {
            let id = generator.generate_within(session, MAX_WAIT).map_err(|error| Stop::Error(error.to_string()))?;
            self.write(out, &Id::Message { dialect, id: id.into() })?;
        }
        Ok(())
    }

    fn snowflakes(&self, out: &mut Out, layout: Layout) -> Result<(), Stop> {
        let preset = Preset::ALL.iter().find(|preset| preset.layout() == layout);
        let preset = preset.copied().unwrap_or(Preset::new(layout));
        let generator = snowflake::Generator::try_new(preset, self.node.unwrap_or_default());
        let generator = generator.map_err(|error| Stop::Usage(error.to_string()))?;
        for _ in 0..self.count {
            let id = loop {
                match generator.generate_within(MAX_WAIT) {
                    // Some originals fail when a tick is full. A user who requests many IDs wants to wait for the next
                    // tick.
                    Err(error) if error.is_overload() => thread::sleep(Duration::from_millis(1)),
                    other => break other,
                }
            };
            let id = id.map_err(|error| Stop::Error(format!("{}: {error}", layout.name().unwrap_or_default())))?;
            self.write(out, &Id::Snowflake(id))?;
        }
        Ok(())
    }

    fn write(&self, out: &mut Out, id: &Id) -> Result<(), Stop> {
        if self.json { json::write_id(out, id, Findings::default()) } else { Ok(writeln!(out, "{id}")?) }
    }
}
