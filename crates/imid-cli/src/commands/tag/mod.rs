//! `imid tag`: gives each JSON line an ID.

mod batch;
mod minter;
mod pipeline;
mod plan;
mod progress;
mod replay;
mod template;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use imid::{MessageId, SessionType};

use self::batch::Batch;
use self::minter::Minter;
use self::pipeline::{Block, Pipeline, Source};
use self::plan::{Plan, SessionSource};
use self::template::Template;
use super::whole_number;
use crate::Out;
use crate::input::{self, Input};
use crate::report::{KeepGoing, Report, Stop};
use crate::scheme::pasted_id;
use crate::session::{pair_type, session_type};
use crate::stdout::Tagged;

/// Add an ID to each JSON line of a file or of standard input, as its last member
///
/// Writes the lines in the order of the input, and does not change their other bytes. The IDs strictly increase in this
/// order. Blank lines are copied. Input that is compressed with gzip or zstd is decompressed.
///
/// A field is a member of the outermost object. A name with dots that is not there is a path: message.room is the member
/// "room" of the object "message". A field that occurs twice is an error, because some JSON readers take the first value
/// and some the last.
///
/// Without --time-field, the IDs have the present time. With --time-field, they have the times of the messages. If a
/// line is earlier than a line before it, its ID moves forward to the latest time so far. At the end, standard error
/// shows how many IDs moved, and the longest move.
///
/// A bad line ends the run after all lines before it are written. With --keep-going, a bad line is left out.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid tag --session-field room < chat.jsonl
  imid tag --type group --session-field topic --time-field time_ms chat.jsonl.gz
  imid tag --session-template '{app}:{message.room}' < chat.jsonl
  imid tag --session-field to --peer-field from --type-field kind < mixed.jsonl
  imid tag --session-field room --time-field at --after EMAQ-2948-WCRV-T3DD < more.jsonl")]
pub(crate) struct Args {
    /// File to read; without a file, or with -, standard input is read
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Field with the session name: a string, or an integer, which stands for its decimal text
    #[arg(long, value_name = "FIELD", required_unless_present = "session_template")]
    session_field: Option<String>,
    /// Session name that is made from several fields, such as {app}:{room}; {{ and }} stand for one brace
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "session_field")]
    session_template: Option<Template>,
    /// Field with the other user of a private conversation; read only if the type is PRIVATE
    #[arg(long, value_name = "FIELD")]
    peer_field: Option<String>,
    /// Session type of all lines: a code from 0 to 15, or a name in any case [default: 0; private with --peer-field]
    #[arg(long = "type", value_name = "TYPE", value_parser = session_type, allow_negative_numbers = true)]
    session_type: Option<SessionType>,
    /// Field with the session type, a code or a name as for --type
    #[arg(long, value_name = "FIELD", conflicts_with = "session_type")]
    type_field: Option<String>,
    /// Field with the time of the message: unix milliseconds or RFC 3339
    #[arg(long, value_name = "FIELD")]
    time_field: Option<String>,
    /// Field for the ID
    #[arg(long, value_name = "FIELD", default_value = "id")]
    id_field: String,
    /// Replace the ID field of lines that have one; without this option, such a line is an error
    #[arg(long)]
    overwrite: bool,
    /// Report an error if an ID would move forward by more than this many milliseconds
    #[arg(long, value_name = "MS", requires = "time_field", value_parser = whole_number::<u64>, allow_negative_numbers = true)]
    max_shift: Option<u64>,
    /// Make all IDs greater than this one, the last ID of the previous run
    #[arg(long, value_name = "ID", value_parser = pasted_id)]
    after: Option<MessageId>,
    /// Seed to repeat a run with --time-field: the same lines and the same seed give the same IDs
    #[arg(long, value_name = "N", requires = "time_field", value_parser = whole_number::<u64>, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Number of threads that read lines [default: the number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    keep_going: KeepGoing,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        report.keep_going(&self.keep_going);
        let mut minter = Minter::new(self)?;
        let plan = self.plan()?;

        // The key with its quotes and escapes. It is the same for all lines.
        let key = serde_json::to_string(&self.id_field).map_err(io::Error::from)?;
        let bar = progress::bar(self.file.as_deref());
        report.set_bar(bar.clone());
        let lines = Lines(Input::open(self.file.as_deref())?.with_bar(&bar));
        let pipeline =
            Pipeline::start(self.threads(), lines, move |block| block.batch.add_json_lines(&block.bytes, &plan))?;
        let mut tagger = Tagger { minter: &mut minter, key: &key, out, report, lines: 0, tagged: 0, last: None };
        let ran = tagger.run(pipeline);
        let tagged = tagger.tagged;
        // Also after an error, because the lines before it were written.
        let flushed = out.flush().map_err(Stop::from);
        bar.finish_and_clear();
        minter.finish(report);
        ran.and(flushed)?;
        minter.summary(tagged, report);
        Ok(())
    }

    fn plan(&self) -> Result<Arc<Plan>, Stop> {
        let session = match (&self.session_field, &self.session_template) {
            (_, Some(template)) => SessionSource::Template(template.clone()),
            (field, None) => SessionSource::Field(field.clone().unwrap_or_default()),
        };
        Ok(Arc::new(Plan {
            session,
            peer_field: self.peer_field.clone(),
            default_type: pair_type(self.session_type, self.peer_field.is_some())?,
            type_field: self.type_field.clone(),
            time_field: self.time_field.clone(),
            id_fields: vec![self.id_field.clone()],
            overwrite: self.overwrite,
        }))
    }

    fn threads(&self) -> usize {
        let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.threads.map_or_else(cores, NonZeroUsize::get)
    }
}

/// The lines of the input, in blocks.
struct Lines(Input);

impl Source for Lines {
    fn read(&mut self, block: &mut Block) -> Result<bool, Stop> {
        block.bytes.clear();
        match self.0.next()? {
            None => return Ok(false),
            Some(input::Block::TooLong) => block.batch.add_too_long(),
            Some(input::Block::Lines(lines)) => {
                block.bytes.try_reserve(lines.len()).map_err(|_| Stop::out_of_memory())?;
                block.bytes.extend_from_slice(lines);
            }
        }
        Ok(true)
    }
}

/// Mints the IDs and writes the lines, in the order of the input.
struct Tagger<'a> {
    minter: &'a mut Minter,
    key: &'a str,
    out: &'a mut Out,
    report: &'a mut Report,
    /// Number of lines before the present block.
    lines: u64,
    tagged: u64,
    last: Option<Tagged>,
}

impl Tagger<'_> {
    fn run(&mut self, mut pipeline: Pipeline) -> Result<(), Stop> {
        while let Some(block) = pipeline.next().map_err(|stop| self.with_last(stop))? {
            self.write(&block.batch)?;
            self.lines += block.batch.lines;
            self.out.flush()?;
            pipeline.recycle(block);
        }
        Ok(())
    }

    /// Adds to an error of the input what was written.
    fn with_last(&self, stop: Stop) -> Stop {
        match (stop, self.last) {
            (Stop::Error(message), Some(Tagged { line, id })) => {
                Stop::Error(format!("{message}; the output ends with line {line}, which has the ID {id}"))
            }
            (stop, _) => stop,
        }
    }

    /// Writes a block, with the IDs of its messages.
    fn write(&mut self, batch: &Batch) -> Result<(), Stop> {
        // The text before `written` was written, or belongs to a message that is left out.
        let mut written = 0;
        for entry in &batch.entries {
            let line = self.lines + entry.line + 1;
            let minted = match &entry.result {
                Ok(ready) => self.minter.mint(ready.facts, line).map(|id| (id, ready.insert_at)),
                Err(problem) => Err(problem.to_string()),
            };
            let until = minted.as_ref().map_or(entry.start, |(_, insert_at)| *insert_at);
            self.out.write_all(&batch.text[written..until])?;
            match minted {
                Ok((id, insert_at)) => {
                    // The next write finishes this line.
                    self.last = Some(Tagged { line, id });
                    self.out.set_tagged(Tagged { line, id });
                    self.tagged += 1;
                    for part in [self.key, ":\"", &id.to_text(), "\""] {
                        self.out.write_all(part.as_bytes())?;
                    }
                    written = insert_at;
                }
                Err(problem) => {
                    self.report.bad_input(format_args!("line {line}"), problem)?;
                    written = entry.result.as_ref().map_or(entry.start, |ready| ready.end);
                }
            }
        }
        Ok(self.out.write_all(&batch.text[written..])?)
    }
}
