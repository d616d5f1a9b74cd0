//! `imid grep`: finds IDs in any text.

mod given;
mod seams;
mod search;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use imid::dialect::Dialect;
use imid_inspect::{Finder, Id, STANDARD, Scheme, identify};

use self::given::{FEW, GivenIds};
use self::search::Search;
use crate::Out;
use crate::candidates::read_or_hint;
use crate::input::{self, Input, trim_line_end, utf8};
use crate::json::JsonArg;
use crate::report::{Report, Stop, quote, quote_path};
use crate::scheme::scheme;
use crate::session::{NO_SESSION, SessionArgs, SessionFilter};
use crate::time::{TIME_FORMS, TimeRange, ZoneArg, now_ms};

/// Find IDs in any text, such as logs, and print the lines that contain one
///
/// Finds the text of an ID with its dashes, in upper or lower case, and its UUID view, wherever no letter or digit is next
/// to it; the escape of a color, of JSON or of a URL before an ID does not count. The dashes can be those of a word processor,
/// or escaped as in a URL, in HTML or in a mail, and a line can end after one of them. Without --dialect, finds the IDs of all
/// dialects with dashes whose time is between 2005 and two years from now. With --dialect, finds only IDs of this dialect
/// or Snowflake layout, of any time. To find an 80-bit ID written as hex digits or as an integer, use --id.
///
/// The input can be binary, or compressed with gzip or zstd. With several files, each line is preceded by the name of its
/// file.
#[derive(clap::Args)]
#[command(mut_arg("session_type", |arg| arg.help("Session type that the IDs must have: a code from 0 to 15, or a name such as private or group, in any case")))]
#[command(after_help = format!("{EXAMPLES}\n\n{TIME_FORMS}\n\n{STATUS}"))]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct Args {
    /// Files to search; without a file, or with -, standard input is searched
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Find only this ID, in each of its forms: text in either case, hex, integer, UUID view, base64
    #[arg(long, value_name = "ID", conflicts_with_all = ["from", "to", "session_type", "session"])]
    id: Vec<String>,
    /// Find only the IDs in this file, one per line, as --id does; - is standard input
    #[arg(short = 'f', long = "file", value_name = "FILE", conflicts_with_all = ["from", "to", "session_type", "session"])]
    id_file: Option<PathBuf>,
    #[command(flatten)]
    times: TimeRange,
    #[command(flatten)]
    zone: ZoneArg,
    #[command(flatten)]
    session: SessionArgs,
    /// Find only IDs of this dialect or Snowflake layout
    #[arg(long = "dialect", value_name = "NAME", value_parser = scheme())]
    scheme: Option<Scheme>,
    /// Print each ID instead of the whole line
    #[arg(short = 'o')]
    only_ids: bool,
    /// Print the line number before each line or ID
    #[arg(short = 'n')]
    line_number: bool,
    /// Print only the number of lines with an ID; with -o, the number of IDs
    #[arg(short, long, conflicts_with = "json")]
    count: bool,
    /// Print only the names of files that contain an ID
    #[arg(short = 'l', conflicts_with_all = ["json", "count"])]
    files_with_ids: bool,
    /// Print nothing and stop at the first ID: only the exit status says whether there is one
    #[arg(short, long, conflicts_with_all = ["json", "count", "files_with_ids"])]
    quiet: bool,
    /// Search the files in folders
    #[arg(short, long)]
    recursive: bool,
    #[command(flatten)]
    json: JsonArg,
}

const EXAMPLES: &str = "\
Examples:
  imid grep *.log
  imid grep -o --from -1h --to now app.log.gz
  imid grep -o app.log | imid check
  imid grep -n --id EMAQ-2948-WCRV-T3DD app.log
  imid grep -o -f ids.txt *.log
  imid grep --type group --session room-42 app.log
  imid grep --dialect twitter --json events.csv";

const STATUS: &str = "\
Exit status:
  0  an ID was found
  1  no ID was found
  2  the arguments are wrong, or a file cannot be read

JSON members:
  file: the file; null for standard input
  line, at: number of the line, from 1, and of the byte in it, from 0
  id, dialect, timestamp_ms, time, spin, type, type_name, hash, node, sequence, hex, int, uuid, form: as in imid inspect";

/// What the IDs must have.
struct Filter {
    times: std::ops::Range<u64>,
    /// What the IDs of the session have in each dialect that can have it; `None` for any session.
    sessions: Option<Vec<(&'static str, SessionFilter)>>,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let (needle, filter) = (self.needle(report)?, self.filter()?);
        let (mut files, mut has_found) = (Vec::new(), false);
        self.check_files()?;
        for path in input::files(&self.files) {
            match path {
                Some(path) if self.recursive => {
                    list(path, &mut files).unwrap_or_else(|problem| report.unreadable(problem));
                }
                path => files.push(path.map(Path::to_path_buf)),
            }
        }
        files.retain(|file| {
            let is_folder = file.as_ref().filter(|path| path.is_dir());
            if let Some(path) = is_folder {
                report.unreadable(format_args!("{} is a folder; to search it, use -r", quote_path(path)));
            }
            is_folder.is_none()
        });
        let has_names = self.recursive || files.len() > 1;
        for file in files {
            let name = file.as_ref().map(|path| path.to_string_lossy().into_owned());
            let (args, needle, filter) = (self, &needle, &filter);
            let mut search = Search { args, needle, filter, file: name, has_names, lines: 0, count: 0, long: None };
            match search.run(file.as_deref(), out, report) {
                // The other files are searched, as in other tools of this kind.
                Err(Stop::Error(message)) => report.unreadable(message),
                searched => searched?,
            }
            has_found |= search.count > 0;
            if self.quiet && has_found {
                return Ok(());
            }
            if self.count {
                search.write_name(out)?;
                writeln!(out, "{}", search.count)?;
            } else if self.files_with_ids && search.count > 0 {
                writeln!(out, "{}", search.file.as_deref().unwrap_or("(standard input)"))?;
            }
        }
        if !has_found {
            report.set_failed();
        }
        Ok(())
    }

    /// Checks that no argument is an ID instead of a file.
    fn check_files(&self) -> Result<(), Stop> {
        let is_id = |path: &&PathBuf| !path.exists() && read_or_hint(STANDARD, &path.to_string_lossy(), None).is_ok();
        match self.files.iter().find(is_id) {
            Some(path) => Err(Stop::Usage(format!(
                "{} is an ID, and there is no such file; to find it, give --id {}",
                quote_path(path),
                path.display()
            ))),
            None => Ok(()),
        }
    }

    /// Returns what is searched.
    fn needle(&self, report: &Report) -> Result<Needle, Stop> {
        if self.id.is_empty() && self.id_file.is_none() {
            return Ok(Needle::Any(Finder::new(self.scheme, now_ms())));
        }
        let read = |text: &str| {
            let id = read_or_hint(self.scheme.unwrap_or(STANDARD), text, None).map(|read| read.id);
            // An ID of another system, if it has one meaning.
            let first = || identify(text, now_ms()).first().map(|read| read.id).filter(|_| self.scheme.is_none());
            id.or_else(|problem| first().ok_or(problem))
        };
        let argument = |text: &String| read(text).map_err(|problem| Stop::Usage(format!("--id: {problem}")));
        let mut ids = self.id.iter().map(argument).collect::<Result<Vec<_>, _>>()?;
        if let Some(path) = &self.id_file {
            let file = input::file(path);
            if file.is_none() && self.files.is_empty() {
                return Err(Stop::Usage(
                    "--file: expected a FILE to search, because the IDs are on standard input".into(),
                ));
            }
            let before = ids.len();
            Input::open(file, "IDs, one per line,")?.without_mark().each_line(
                &mut Out::default(),
                |_, number, line| {
                    let text = line.and_then(|line| utf8(trim_line_end(line)));
                    if text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
                        return Ok(());
                    }
                    let id = text.and_then(read);
                    ids.push(id.map_err(|problem| Stop::Usage(format!("--file: line {number}: {problem}")))?);
                    Ok(())
                },
            )?;
            if ids.len() == before {
                return Err(Stop::Usage(format!(
                    "--file: expected an ID, found none in {}",
                    quote(&path.to_string_lossy())
                )));
            }
        }
        if ids.len() > FEW {
            let left_out = "their bytes are not found as lists, escapes and dumps, but as text, hex digits, integers, UUIDs and base64";
            report.note(format_args!("these are more than {FEW} IDs: {left_out}"));
        }
        Ok(Needle::Ids(GivenIds::new(ids)))
    }

    fn filter(&self) -> Result<Filter, Stop> {
        let times = self.times.times(&self.zone)?;
        if self.session.is_empty() {
            return Ok(Filter { times, sessions: None });
        }
        let session_in = |dialect: &'static Dialect<'static>| {
            Ok::<_, Stop>(self.session.filter(dialect)?.map(|session| (dialect.name(), session)))
        };
        let sessions = match self.scheme {
            Some(Scheme::Snowflake(_)) => return Err(Stop::Usage(NO_SESSION.into())),
            Some(Scheme::Dialect(dialect)) => session_in(dialect)?.into_iter().collect(),
            None => {
                // A session that the standard dialect does not have is an error. Other dialects can lack it.
                session_in(&Dialect::STANDARD)?;
                Dialect::ALL.iter().filter_map(|dialect| session_in(dialect).ok().flatten()).collect()
            }
        };
        Ok(Filter { times, sessions: Some(sessions) })
    }
}

impl Filter {
    fn accepts(&self, id: Id) -> bool {
        if !self.times.contains(&id.timestamp_ms()) {
            return false;
        }
        let Id::Message { dialect, id } = id else { return true };
        let accepts = |(name, session): &(&str, SessionFilter)| *name == dialect.name() && session.accepts(id);
        self.sessions.as_ref().is_none_or(|sessions| sessions.iter().any(accepts))
    }
}

/// What is searched.
enum Needle {
    /// IDs of a scheme, or of all.
    Any(Finder),
    /// These IDs, in all of their forms.
    Ids(GivenIds),
}

/// Adds a file, or the files of a folder and of the folders in it. Links in a folder are not followed, because they can lead
/// back. Named pipes and devices in a folder are not read, because they can have no end.
fn list(path: &Path, files: &mut Vec<Option<PathBuf>>) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("cannot open {}: {error}", quote_path(path));
    if !path.is_dir() {
        files.push(Some(path.to_owned()));
        return Ok(());
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(problem)?;
    let is_searched = |path: &PathBuf| !path.is_symlink() && (path.is_file() || path.is_dir());
    let mut paths: Vec<_> = entries.iter().map(fs::DirEntry::path).filter(is_searched).collect();
    paths.sort();
    paths.iter().try_for_each(|path| list(path, files))
}
