//! `imid new`: mints IDs.

use std::io::Write;
use std::thread;
use std::time::Duration;

use imid::Generator;
use imid::dialect::Dialect;
use imid_inspect::{Form, Id, Scheme};
use imid_snowflake::{Layout, Preset};

use super::whole_number;
use crate::Out;
use crate::candidates::read_id;
use crate::lead::{self, MAX_WAIT};
use crate::output::{FormatArgs, Writer};
use crate::report::{Report, Stop};
use crate::scheme::SchemeArg;
use crate::session::{NO_SESSION, SessionArgs};

/// Mint IDs from the system clock, one per line, strictly increasing
///
/// Without a session, the IDs have type 0 and the hash of the empty name. A millisecond has room for 4,096 IDs. If you
/// request more, the times of the IDs run ahead of the clock by up to one second.
///
/// The command exits once the clock has passed its last ID, so a later run does not repeat IDs. If the clock was set back,
/// pass the last ID to --after.
///
/// Concurrent runs share no state: two of their IDs with the same session and millisecond are equal with probability
/// 1/4096. To avoid duplicates, mint in one process, or assign each session to one process. Each run that mints Snowflakes
/// needs its own --node.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid new
  imid new --type group --session room-42 -n 3
  imid new --session alice --peer bob --json
  imid new -n 3 --format uuid
  imid new --dialect rongcloud --type private --session user9
  imid new --dialect twitter --node 35 -n 3")]
pub(crate) struct Args {
    #[command(flatten)]
    scheme: SchemeArg,
    #[command(flatten)]
    session: SessionArgs,
    /// Node of a Snowflake; two generators that run at the same time need different nodes [default: 0]
    #[arg(long, value_name = "NODE", value_parser = whole_number(0..=u32::MAX), allow_negative_numbers = true)]
    node: Option<u32>,
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
        let scheme = self.scheme.scheme;
        let writer = self.format.writer(scheme)?.unwrap_or(Writer::Form(Form::Text));
        let mut last = None;
        let minted = match scheme {
            Scheme::Dialect(_) if self.node.is_some() => {
                return Err(Stop::Usage("--node works only with Snowflake layouts".into()));
            }
            Scheme::Dialect(dialect) => self.messages(out, writer, dialect, &mut last),
            Scheme::Snowflake(_) if !self.session.is_empty() => return Err(Stop::Usage(NO_SESSION.into())),
            Scheme::Snowflake(layout) => self.snowflakes(out, writer, layout, &mut last),
        };
        // A reader gets the IDs before the wait. After an error, the IDs that it already has count as well.
        let flushed = out.flush();
        lead::wait_out(last, report);
        minted.and(flushed.map_err(Stop::from))
    }

    fn messages(
        &self,
        out: &mut Out,
        writer: Writer,
        dialect: &'static Dialect<'static>,
        last: &mut Option<Id>,
    ) -> Result<(), Stop> {
        let session = self.session.session(dialect)?;
        let mut builder = Generator::builder();
        let after = self.after()?;
        if let Some(after) = after {
            // The built-in dialects that can mint have the standard layout.
            builder = builder.floor(after.sort_key());
        }
        let generator = builder.build().map_err(|error| Stop::Error(error.to_string()))?;
        for _ in 0..self.number {
            let id = generator.generate_within(session, MAX_WAIT).map_err(|error| {
                let ahead = after.filter(|_| error.is_rollback()).and_then(lead::ahead_of_clock);
                Stop::Error(ahead.unwrap_or_else(|| error.to_string()))
            })?;
            writer.write_id(out, last.insert(Id::Message { dialect, id: id.into() }))?;
        }
        Ok(())
    }

    fn snowflakes(&self, out: &mut Out, writer: Writer, layout: Layout, last: &mut Option<Id>) -> Result<(), Stop> {
        let preset = Preset::ALL.iter().find(|preset| preset.layout() == layout);
        let preset = preset.copied().unwrap_or(Preset::new(layout));
        let generator = imid_snowflake::Generator::try_new(preset, self.node.unwrap_or_default());
        let generator = generator.map_err(|error| Stop::Usage(format!("--node: {error}")))?;
        if let Some(after) = self.after()?
            && lead::wait_until_past(after).is_err()
            && let Some(error) = lead::ahead_of_clock(after)
        {
            return Err(Stop::Error(error));
        }
        for _ in 0..self.number {
            let id = loop {
                match generator.generate_within(MAX_WAIT) {
                    // Some originals fail when a tick is full. A user who requests many IDs wants to wait for the next
                    // tick.
                    Err(error) if error.is_overload() => thread::sleep(Duration::from_millis(1)),
                    other => break other,
                }
            };
            let id = id.map_err(|error| Stop::Error(format!("{}: {error}", layout.name().unwrap_or_default())))?;
            writer.write_id(out, last.insert(Id::Snowflake(id)))?;
        }
        Ok(())
    }

    /// Returns the ID that all new IDs come after.
    fn after(&self) -> Result<Option<Id>, Stop> {
        let after = self.after.as_deref().map(|text| read_id(self.scheme.scheme, text)).transpose();
        after.map_err(|problem| Stop::Usage(format!("--after: {problem}")))
    }
}
