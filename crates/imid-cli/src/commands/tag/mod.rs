//! `imid tag`: gives each message an ID.

mod batch;
mod columns;
mod csv;
mod minter;
mod pipeline;
mod plan;
mod replay;
mod resume;
mod template;

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bstr::ByteSlice;
use imid::MessageId;
use imid::dialect::Dialect;
use imid_inspect::{Form, Id, Scheme};
use indicatif::ProgressBar;

use self::batch::Batch;
use self::columns::{Addition, Column, Slot};
use self::minter::Minter;
use self::pipeline::{Block, Pipeline, Source};
use self::plan::{Plan, dialects};
use self::resume::PreviousOutput;
use self::template::Template;
use super::whole_number;
use crate::candidates::read_id;
use crate::form::form;
use crate::input::{InBuffer, Input, InputArgs, Opened};
use crate::json::JsonLine;
use crate::output_file::PartFile;
use crate::report::{KeepGoing, Report, Stop, quote};
use crate::session::{ONLY_STANDARD_PAIRS, pair_type, session_type_in};
use crate::stdout::{self, Tagged};
use crate::time::{TimeField, note_rounded, parse_duration};
use crate::{Out, progress};

/// Add an ID to each message of a file or of standard input: JSON lines, CSV or TSV
///
/// The ID becomes the last member of a JSON object, or the last field of a record. Writes the lines in the order of the
/// input and leaves their other bytes unchanged. The IDs strictly increase in this order. Blank lines are copied. Input
/// that is compressed with gzip or zstd is decompressed.
///
/// A field is a member of the outermost object. A name with dots that is not a member is a path: message.room is the member
/// "room" of the object "message". A field that occurs twice is an error, because some JSON readers take the first value
/// and some the last.
///
/// Without --time-field, the IDs have the present time. With --time-field, they have the times of the messages. If a line
/// is earlier than one before it, its ID moves forward to the latest time so far. At the end, standard error shows how many
/// IDs moved, and the longest move.
///
/// A bad line ends the run after all lines before it are written. With --keep-going, bad lines are skipped.
///
/// With --output, the tool writes FILE.part, and renames it to FILE when it is complete. A run that ends early, for example
/// because of a signal, leaves FILE.part. The same command with --resume continues it: it removes an incomplete last line,
/// skips the input lines that FILE.part already has, and makes all IDs greater than its last one. With the same --seed,
/// both runs together write what one run would have written. --resume regenerates the first and the last line of FILE.part
/// and compares them, so it refuses other input and other options. It does not detect an option that changes neither of the
/// two lines. Without --seed or --time-field, it compares only the session and the time of the IDs.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid tag --session-field room < chat.jsonl
  imid tag --type group --session-field topic --time-field time_ms chat.jsonl.gz
  imid tag --session-field '{app}:{message.room}' < chat.jsonl
  imid tag --session-field to --peer-field from --type-field kind < mixed.jsonl
  imid tag --session-field room -o with-ids.jsonl --resume chat.jsonl
  imid tag --dialect rongcloud --type group --session-field room < chat.jsonl")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Dialect of the IDs, of the hash of session names and of the names of session types
    #[arg(long, value_name = "NAME", default_value = "standard", value_parser = dialects())]
    dialect: &'static Dialect<'static>,
    /// Field with the session name: a string, or an integer, which stands for its decimal text. To combine several fields,
    /// put them in braces, such as {app}:{room}; {{ and }} stand for one brace
    #[arg(long, value_name = "FIELD")]
    session_field: Template,
    /// Field with the other user of a private conversation; read only if the type is PRIVATE
    #[arg(long, value_name = "FIELD")]
    peer_field: Option<String>,
    /// Session type of all lines: a code from 0 to 15, or a name in any case [default: 0; private with --peer-field]
    #[arg(long = "type", value_name = "TYPE", allow_negative_numbers = true)]
    session_type: Option<String>,
    /// Field with the session type, a code or a name as for --type
    #[arg(long, value_name = "FIELD", conflicts_with = "session_type")]
    type_field: Option<String>,
    #[command(flatten)]
    time: TimeField,
    /// Fields for the ID, separated by commas
    #[arg(long, value_name = "FIELD", default_value = "id", value_delimiter = ',')]
    id_field: Vec<String>,
    /// Forms of the ID, one for each field; int is a string of digits, because many JSON readers lose bits of large numbers
    #[arg(long, value_name = "FORM", value_parser = form(), default_value = "text", value_delimiter = ',')]
    id_form: Vec<Form>,
    /// Replace the ID fields of lines that have them; without this option, such a line is an error
    #[arg(long)]
    overwrite: bool,
    /// Report an error if an ID would move forward by more than this, such as 500ms or 10s
    #[arg(long, value_name = "DURATION", requires = "time_field", value_parser = parse_duration, allow_hyphen_values = true)]
    max_shift: Option<Duration>,
    /// Make all IDs greater than this one, the last ID of the previous run
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Write to this new file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Continue a run that ended early and left FILE.part
    #[arg(long, requires = "output", conflicts_with = "keep_going")]
    resume: bool,
    /// Seed to repeat a run with --time-field: the same lines and seed give the same IDs
    #[arg(long, value_name = "N", requires = "time_field", value_parser = whole_number(0..=u64::MAX), allow_negative_numbers = true)]
    seed: Option<u64>,
    #[command(flatten)]
    keep_going: KeepGoing,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        report.keep_going(&self.keep_going);
        let columns = self.columns()?;
        let plan = self.plan(&columns)?;
        let opened = self.input.open("messages as JSON lines")?;
        let target =
            self.output.as_ref().map(|path| PartFile::open(path, self.resume, self.input.file())).transpose()?;
        let written = self.written(target.as_ref(), &opened)?;
        let mut minter = Minter::new(self, written.last().or(self.after()?))?;
        // The lines themselves are on the terminal.
        let shows_lines = target.is_none() && io::stdout().is_terminal();
        let bar = if shows_lines { ProgressBar::hidden() } else { progress::bar(&[self.input.file()]) };
        report.set_bar(bar.clone());
        let mut tagger = Tagger {
            minter: &mut minter,
            slots: Vec::new(),
            out,
            report,
            lines: 0,
            tagged: 0,
            last: None,
            output: Vec::new(),
        };
        let ran = match opened.with_bar(&bar) {
            Opened::Records(..) if self.overwrite => {
                return Err(Stop::Usage("--overwrite does not work with CSV or TSV".into()));
            }
            Opened::Records(input, delimiter) => {
                let table = csv::Table::new(input, delimiter, columns, plan, written);
                tagger.slots.clone_from(&table.addition().slots);
                // A record can have line feeds, so several threads could not find one without reading those before it.
                tagger.run_alone(table, |_| Ok(()))
            }
            Opened::Lines(input) => {
                let addition = Arc::new(Addition::json(&columns));
                tagger.slots.clone_from(&addition.slots);
                let (plan_of_lines, added) = (Arc::clone(&plan), Arc::clone(&addition));
                let lines = Lines { input, count: 0, written, plan: plan_of_lines, addition: added };
                let work = move |block: &mut Block| {
                    block.batch.add_json_lines(&block.buffer[block.lines.clone()], &plan, &addition)
                };
                match threads() {
                    1 => tagger.run_alone(lines, work),
                    several => tagger.run_pipeline(Pipeline::start(several, lines, work)?),
                }
            }
        };
        let count = tagger.tagged;
        tagger.report.end_bar();
        // Also after an error, because the lines before it were written.
        minter.finish(report);
        note_rounded(report);
        ran?;
        target.map_or(Ok(()), |target| target.finish())?;
        minter.summary(count, report);
        Ok(())
    }

    /// Returns what the run that this one continues wrote. From here on, all output is written after it.
    fn written(&self, target: Option<&PartFile>, opened: &Opened) -> Result<PreviousOutput, Stop> {
        let Some(target) = target else { return Ok(PreviousOutput::default()) };
        let delimiter = match opened {
            Opened::Lines(_) => None,
            Opened::Records(_, delimiter) => Some(*delimiter),
        };
        let written = PreviousOutput::read(target, delimiter, self)?;
        stdout::set_file(target.writer(written.len)?, quote(&target.part().to_string_lossy()));
        Ok(written)
    }

    /// Returns the ID that all new IDs come after.
    fn after(&self) -> Result<Option<MessageId>, Stop> {
        let read = |text: &String| read_id(Scheme::Dialect(self.dialect), text).map(Id::sort_key);
        self.after.as_ref().map(read).transpose().map_err(|problem| Stop::Usage(format!("--after: {problem}")))
    }

    fn plan(&self, columns: &[Column]) -> Result<Arc<Plan>, Stop> {
        let session_type = self.session_type.as_deref().map(|text| session_type_in(self.dialect, text)).transpose();
        let session_type = session_type.map_err(|problem| Stop::Usage(format!("--type: {problem}")))?;
        if self.peer_field.is_some() && self.dialect.name() != Dialect::STANDARD.name() {
            return Err(Stop::Usage(format!("--peer-field {ONLY_STANDARD_PAIRS}")));
        }
        Ok(Arc::new(Plan {
            dialect: self.dialect,
            session: self.session_field.clone(),
            peer_field: self.peer_field.clone(),
            default_type: pair_type(session_type, self.peer_field.is_some())?,
            type_field: self.type_field.clone(),
            time: self.time.clone(),
            id_fields: columns.iter().map(|column| column.name.clone()).collect(),
            overwrite: self.overwrite,
        }))
    }

    /// Returns the fields that get the ID. The first one is read by --resume.
    fn columns(&self) -> Result<Vec<Column>, Stop> {
        let (fields, forms) = (&self.id_field, &self.id_form);
        if fields.len() != forms.len() {
            let (fields, forms) = (fields.len(), forms.len());
            return Err(Stop::Usage(format!(
                "--id-form: expected a form for each --id-field, {fields}, found {forms}"
            )));
        }
        let mut columns = Vec::<Column>::new();
        for (name, form) in fields.iter().zip(forms) {
            if columns.iter().any(|column| column.name == *name) {
                let problem = format!("expected different fields, found {} twice", quote(name));
                return Err(Stop::Usage(format!("--id-field: {problem}")));
            }
            columns.push(Column { name: name.clone(), form: *form, dialect: self.dialect });
        }
        Ok(columns)
    }
}

/// Returns the number of threads that parse JSON lines.
fn threads() -> usize {
    // Each one has buffers of a megabyte, and one thread writes what all of them read.
    const MOST: usize = 256;
    thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MOST)
}

/// The lines of the input, in blocks.
struct Lines {
    input: Input,
    /// Number of lines so far, up to the first one that was not written before.
    count: u64,
    /// What the run that this one continues wrote.
    written: PreviousOutput,
    plan: Arc<Plan>,
    addition: Arc<Addition>,
}

impl Lines {
    /// Removes the lines that were written from a block of lines.
    fn skip_written(&mut self, block: &mut Block) -> Result<(), Stop> {
        let lines = &block.buffer[block.lines.clone()];
        let left = self.written.items - self.count;
        let skipped = lines.lines_with_terminator().take(usize::try_from(left).unwrap_or(usize::MAX));
        let (mut count, mut len) = (0, 0);
        for line in skipped {
            (count, len) = (count + 1, len + line.len());
            self.check(self.count + count, line)?;
        }
        self.count += count;
        block.lines.start += len;
        block.batch.lines += count;
        Ok(())
    }

    /// Checks that the line of this number was written by this run, if it is one of those that are checked.
    fn check(&mut self, number: u64, line: &[u8]) -> Result<(), Stop> {
        let Self { written, plan, addition, .. } = self;
        written.check(number, number, |id| {
            let (object, mut made) = (JsonLine::read(line)?, Vec::new());
            object.write_with_last(&mut made, plan.removed(), &addition.with(id));
            Ok((plan.read(&object)?, made))
        })
    }
}

impl Source for Lines {
    fn read(&mut self, block: &mut Block) -> Result<bool, Stop> {
        block.lines = 0..0;
        match self.input.next_in(&mut block.buffer)? {
            None if self.count < self.written.items => return Err(self.written.too_few(self.count, "lines")),
            None => return Ok(false),
            Some(InBuffer::TooLong) => block.batch.add_too_long(),
            Some(InBuffer::Lines(lines)) => {
                block.lines = lines;
                self.skip_written(block)?;
            }
        }
        Ok(true)
    }
}

/// Mints the IDs and writes the lines, in the order of the input.
struct Tagger<'a> {
    minter: &'a mut Minter,
    slots: Vec<Slot>,
    out: &'a mut Out,
    report: &'a mut Report,
    /// Number of lines before the present block.
    lines: u64,
    tagged: u64,
    last: Option<Tagged>,
    /// The part of a block that is not written from the block itself.
    output: Vec<u8>,
}

impl Tagger<'_> {
    /// Tags the messages of a source on this thread alone.
    fn run_alone(
        &mut self,
        mut source: impl Source,
        work: impl Fn(&mut Block) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut block = Block::default();
        while source.read(&mut block).map_err(|stop| self.with_last(stop))? {
            work(&mut block)?;
            self.write(&mut block.batch)?;
            self.lines += block.batch.lines;
            block.batch.clear();
        }
        Ok(())
    }

    /// Tags the lines that other threads parse.
    fn run_pipeline(&mut self, mut pipeline: Pipeline) -> Result<(), Stop> {
        while let Some(mut block) = pipeline.next().map_err(|stop| self.with_last(stop))? {
            self.write(&mut block.batch)?;
            self.lines += block.batch.lines;
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

    /// Writes a block, with the IDs of its messages, in one piece: a signal does not divide a line or record.
    fn write(&mut self, batch: &mut Batch) -> Result<(), Stop> {
        let before = self.last;
        let text = &mut batch.text;
        // The text before `taken` is in `output`, or is left out.
        let mut taken = 0;
        let mut ran = Ok(());
        for entry in &batch.entries {
            let line = self.lines + entry.line + 1;
            let minted = match &entry.result {
                Ok(ready) => self.minter.mint(ready.facts, line).map(|id| (id, ready.addition)),
                Err(problem) => Err(problem.to_string()),
            };
            match minted {
                Ok((id, addition)) => {
                    for slot in &self.slots {
                        let (start, end) = (addition + slot.start, addition + slot.start + slot.len());
                        let len = slot.fill(id, &mut text[start..end]);
                        if start + len < end {
                            collect(&mut self.output, &text[taken..start + len])?;
                            taken = end;
                        }
                    }
                    self.last = Some(Tagged { line, id });
                    self.tagged += 1;
                }
                Err(problem) => {
                    collect(&mut self.output, &text[taken..entry.start])?;
                    taken = entry.result.as_ref().map_or(entry.start, |ready| ready.end);
                    ran = self.report.bad_input(format_args!("line {line}"), problem);
                    if ran.is_err() {
                        taken = text.len();
                        break;
                    }
                }
            }
        }
        let rest = &text[taken..];
        if self.output.is_empty() {
            self.out.write_tagged(rest, self.last).map_err(|error| cannot_write(error, before))?;
        } else {
            collect(&mut self.output, rest)?;
            self.out.write_tagged(&self.output, self.last).map_err(|error| cannot_write(error, before))?;
            self.output.clear();
        }
        ran
    }
}

/// Returns the error for lines that cannot be written, with the last line before them. A part of them can be written.
fn cannot_write(error: io::Error, last: Option<Tagged>) -> Stop {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Stop::Output(error);
    }
    let problem = stdout::cannot_write(&error);
    Stop::Error(match last {
        Some(Tagged { line, id }) => format!("{problem}; the output is whole up to line {line}, which has the ID {id}"),
        None => format!("{problem}; no line is certain to be whole"),
    })
}

fn collect(output: &mut Vec<u8>, text: &[u8]) -> Result<(), Stop> {
    output.try_reserve(text.len()).map_err(|_| Stop::out_of_memory())?;
    output.extend_from_slice(text);
    Ok(())
}
