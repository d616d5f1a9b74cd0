//! `imid tag`: gives each message an ID.

mod columns;
mod lines;
mod minter;
mod plan;
mod records;
mod replay;
mod tagger;
mod template;

use std::path::{Path, PathBuf};
use std::time::Duration;

use imid::dialect::Dialect;
use imid_inspect::Form;

use self::columns::{Addition, Column};
use self::minter::Minter;
use self::plan::Plan;
use self::records::Table;
use self::tagger::Tagger;
use self::template::Template;
use super::whole_number;
use crate::Out;
use crate::clock_minter::AfterArg;
use crate::form::form;
use crate::input::{self, KindArg, Opened};
use crate::output_file::PartFile;
use crate::report::{KeepGoing, Report, Stop, quote};
use crate::scheme::minting_dialect;
use crate::stdout;
use crate::time::{TimeField, note_rounded, parse_duration};

/// Add an ID to each message of a file or of standard input: JSON lines, CSV or TSV
///
/// The ID becomes the last member of a JSON object, or the last field of a record. Writes the lines in the order of the
/// input and leaves their other bytes unchanged. The IDs strictly increase in this order. Blank lines are copied. Input
/// that is compressed with gzip or zstd is decompressed. TSV is what databases write: see --in.
///
/// A field is a member of the outermost object. A name with dots that is not a member is a path: message.room is the member
/// "room" of the object "message". A field that occurs twice is an error, because some JSON readers take the first value
/// and some the last.
///
/// Without --time-field, the IDs have the present time. With --time-field, they have the times of the messages. If a line
/// is earlier than one before it, its ID moves forward to the latest time so far. A time before 2005, or more than two years
/// ahead of now, is an error unless --any-time is given. At the end, standard error shows the first and the last time, how many
/// IDs moved, and the longest move.
///
/// A bad line ends the run after all lines before it are written. With --keep-going, bad lines are skipped.
///
/// With --output, the tool writes FILE.part, and renames it to FILE when it is complete. A run that ends early, for example
/// because of a signal, leaves FILE.part. If it had a --seed, the same command with --resume continues it: it tags the input
/// from its start, compares all lines of FILE.part with the same ones, and writes those after them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid tag --session-field room < chat.jsonl
  imid tag --type group --session-field topic --time-field time_ms chat.jsonl.gz
  imid tag --session-field '{app}:{message.room}' < chat.jsonl
  imid tag --session-field to --peer-field from --type-field kind < mixed.jsonl
  imid tag --session-field room --time-field at --seed 1 -o ids.jsonl chat.jsonl
  imid tag --dialect rongcloud --type group --session-field room < chat.jsonl")]
pub(crate) struct Args {
    /// File to read; without a file, or with -, standard input is read
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    format: KindArg,
    /// Dialect of the IDs, of the hash of session names and of the names of session types
    #[arg(long, value_name = "NAME", default_value = "standard", value_parser = minting_dialect())]
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
    /// Fields for the ID, separated by commas; a message must not have them
    #[arg(long, value_name = "FIELD", default_value = "id", value_delimiter = ',')]
    id_field: Vec<String>,
    /// Forms of the ID, one for each field; int is a string of digits, because many JSON readers lose bits of large numbers
    #[arg(long, value_name = "FORM", value_parser = form(), default_value = "text", value_delimiter = ',')]
    id_form: Vec<Form>,
    /// Report an error if an ID would move forward by more than this, such as 500ms or 10s
    #[arg(long, value_name = "DURATION", requires = "time_field", value_parser = parse_duration, allow_hyphen_values = true)]
    max_shift: Option<Duration>,
    #[command(flatten)]
    after: AfterArg,
    /// Write to this new file instead of standard output; it is not compressed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Continue a run with --seed that ended early and left FILE.part
    #[arg(long, requires_all = ["output", "seed"])]
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
        let plan = Plan::new(self)?;
        self.check_output()?;
        let file = self.file.as_deref().and_then(input::file);
        let opened = self.format.open(file, "messages as JSON lines")?;
        let addition = match opened {
            Opened::Records(_, delimiter) => Addition::record(&columns, delimiter),
            Opened::Lines(_) => Addition::json(&columns),
        };
        let minter = Minter::new(self, self.after.id(self.dialect)?)?;
        if let Some(path) = &self.output {
            stdout::set_file(PartFile::open(path, self.resume, file)?);
        }
        let mut tagger =
            Tagger { plan, addition, minter, out, report, count: 0, first: None, last: None, output: Vec::new() };
        let ran = match opened {
            Opened::Lines(input) => tagger.tag_lines(input),
            Opened::Records(input, delimiter) => tagger.tag_records(input, Table { delimiter, columns: &columns }),
        };
        let target = stdout::take_file();
        let Tagger { minter, report, count, first, last, .. } = tagger;
        // Also after an error, because the lines before it were written.
        minter.finish(report);
        note_rounded(report);
        ran?;
        target.map_or(Ok(()), PartFile::finish)?;
        let ids = first.zip(last).map(|(first, last)| [first, last.id]);
        minter.summary(count, ids, &self.time.zone, report);
        Ok(())
    }

    /// Checks that the name of the output does not promise another form. The output is not compressed.
    fn check_output(&self) -> Result<(), Stop> {
        let name = self.output.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let ends = |end: &&&str| name.to_ascii_lowercase().ends_with(**end);
        match [".gz", ".tgz", ".zst", ".zstd", ".bz2", ".xz", ".lz4", ".zip", ".parquet", ".xlsx"].iter().find(ends) {
            Some(end) => {
                let hint = "to compress it, use a pipe such as | gzip";
                Err(Stop::Usage(format!("--output: expected a name of a text file, found {end}: {hint}")))
            }
            None => Ok(()),
        }
    }

    /// Returns the fields that get the ID.
    fn columns(&self) -> Result<Vec<Column<'_>>, Stop> {
        let (fields, forms) = (&self.id_field, &self.id_form);
        if fields.len() != forms.len() {
            let (fields, forms) = (fields.len(), forms.len());
            return Err(Stop::Usage(format!(
                "--id-form: expected a form for each --id-field, {fields}, found {forms}"
            )));
        }
        let mut columns = Vec::<Column<'_>>::new();
        for (name, form) in fields.iter().zip(forms) {
            if columns.iter().any(|column| column.name == name) {
                let problem = format!("expected different fields, found {} twice", quote(name));
                return Err(Stop::Usage(format!("--id-field: {problem}")));
            }
            columns.push(Column { name, form: *form });
        }
        Ok(columns)
    }
}
