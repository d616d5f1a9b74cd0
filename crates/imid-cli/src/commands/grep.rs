//! `imid grep`: finds IDs in any text.

use std::io::Write;
use std::path::PathBuf;

use bstr::ByteSlice;
use imid::dialect::Dialect;
use imid_inspect::{Finder, Found, Id, STANDARD, Scheme};
use memchr::{memchr, memchr_iter, memrchr};
use serde::Serialize;

use crate::Out;
use crate::id_object::IdObject;
use crate::input::{Block, Input, paths, too_long};
use crate::json::{self, JsonArg};
use crate::report::{Report, Stop};
use crate::scheme::scheme;
use crate::session::{NO_SESSION, SessionArgs, SessionFilter};
use crate::time::{TIME_FORMS, TimeRange, ZoneArg, now_ms};

/// Find IDs in any text, such as logs, and print the lines that have one
///
/// Finds the text of an ID with its dashes, in upper or lower case, and its UUID view, wherever no letter or digit is next to
/// it. Without --dialect, finds the IDs of all dialects with dashes if they have letters and digits and a time between 2005 and
/// two years from now. With --dialect, finds only IDs of this dialect or Snowflake layout, of any time. IDs of 80 bits that
/// are written as hex digits or as integers are not found.
///
/// After a quotation mark, a % begins a pattern of LIKE, and elsewhere a % and two hex digits are an escape of a URL.
///
/// The input can be binary, and it can be compressed with gzip or zstd. With several files, the name of the file is in front of
/// each line.
#[derive(clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{TIME_FORMS}\n\n{STATUS}"))]
pub(crate) struct Args {
    /// Files to search; without a file, or with -, standard input is searched
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    times: TimeRange,
    #[command(flatten)]
    zone: ZoneArg,
    #[command(flatten)]
    session: SessionArgs,
    /// Find only IDs of this dialect or Snowflake layout
    #[arg(long = "dialect", value_name = "NAME", value_parser = scheme())]
    scheme: Option<Scheme>,
    /// Print each ID with the number of its line, and not the whole line
    #[arg(short = 'o')]
    only_ids: bool,
    /// Print only the number of lines with an ID; with -o, the number of IDs
    #[arg(long, conflicts_with = "json")]
    count: bool,
    #[command(flatten)]
    json: JsonArg,
}

const EXAMPLES: &str = "\
Examples:
  imid grep *.log
  imid grep -o --from -1h --to now app.log.gz
  imid grep --type group --session room-42 app.log
  imid grep --dialect twitter --json events.csv";

const STATUS: &str = "\
Exit status:
  0  an ID was found
  1  no ID was found, or a file cannot be read
  2  the arguments are wrong

JSON members:
  file: the file; null for standard input
  line, at: number of the line, from 1, and of the byte in it, from 0
  id, dialect, timestamp_ms, time, spin, type, type_name, hash, node, sequence, hex, int, uuid, form: as in imid inspect";

/// What the IDs must have.
struct Filter {
    times: std::ops::Range<u64>,
    /// What the IDs of the session have in each dialect that can have it.
    sessions: Vec<(&'static str, SessionFilter)>,
    is_any_session: bool,
}

#[derive(Serialize)]
struct FoundObject<'a> {
    file: Option<&'a str>,
    line: u64,
    at: usize,
    #[serde(flatten)]
    id: IdObject<'a>,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let scheme = self.scheme;
        let (finder, filter) = (Finder::new(scheme, now_ms()), self.filter(scheme, report)?);
        let mut has_found = false;
        for file in self.inputs() {
            let mut search = Search { args: self, finder, filter: &filter, file: file.clone(), lines: 0, count: 0 };
            let searched = match &file {
                Some(_) if self.files.len() > 1 => search.run(out, report).or_else(|stop| match stop {
                    // The other files are searched, as in other tools of this kind.
                    Stop::Error(message) => {
                        report.error(message);
                        Ok(())
                    }
                    stop => Err(stop),
                }),
                _ => search.run(out, report),
            };
            searched?;
            has_found |= search.count > 0;
            if self.count {
                search.write_name(out)?;
                writeln!(out, "{}", search.count)?;
            }
        }
        if !has_found {
            report.set_failed();
        }
        Ok(())
    }

    /// Returns the files; `None` is standard input.
    fn inputs(&self) -> Vec<Option<String>> {
        paths(&self.files).into_iter().map(|path| path.map(|path| path.to_string_lossy().into_owned())).collect()
    }

    fn filter(&self, scheme: Option<Scheme>, report: &Report) -> Result<Filter, Stop> {
        let times = self.times.times(&self.zone, report)?;
        let mut filter = Filter { times, sessions: Vec::new(), is_any_session: self.session.is_empty() };
        if filter.is_any_session {
            return Ok(filter);
        }
        let session_in = |dialect: &'static Dialect<'static>| {
            Ok::<_, Stop>(self.session.filter(dialect)?.map(|session| (dialect.name(), session)))
        };
        match scheme {
            Some(Scheme::Snowflake(_)) => return Err(Stop::Usage(NO_SESSION.into())),
            Some(Scheme::Dialect(dialect)) => filter.sessions.extend(session_in(dialect)?),
            None => {
                // A session that the standard dialect does not have is an error. Other dialects can lack it.
                filter.sessions.extend(session_in(&Dialect::STANDARD)?);
                let others = Dialect::ALL.iter().filter(|dialect| dialect.name() != Dialect::STANDARD.name());
                filter.sessions.extend(others.filter_map(|dialect| session_in(dialect).ok().flatten()));
            }
        }
        Ok(filter)
    }
}

impl Filter {
    fn accepts(&self, id: Id) -> bool {
        if !self.times.contains(&id.timestamp_ms()) {
            return false;
        }
        let Id::Message { dialect, id } = id else { return true };
        self.is_any_session
            || self.sessions.iter().any(|(name, session)| *name == dialect.name() && session.accepts(id))
    }
}

/// The search of one file.
struct Search<'a> {
    args: &'a Args,
    finder: Finder,
    filter: &'a Filter,
    file: Option<String>,
    /// Number of lines before the present block.
    lines: u64,
    count: u64,
}

impl Search<'_> {
    fn run(&mut self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let mut input = match &self.file {
            Some(path) => Input::open(path.as_ref()).map_err(|stop| match stop {
                Stop::Error(error) if STANDARD.read_text(path).is_ok() => {
                    Stop::Error(format!("{error}; the arguments are files: to find one ID, use grep -i"))
                }
                stop => stop,
            })?,
            None => Input::stdin("text")?,
        };
        while let Some(block) = input.next()? {
            match block {
                Block::Lines(lines) => self.search(lines, out)?,
                Block::TooLong => {
                    self.lines += 1;
                    report.error(format_args!("line {}: {}", self.lines, too_long()));
                }
            }
            out.flush()?;
        }
        Ok(())
    }

    /// Searches whole lines.
    fn search(&mut self, text: &[u8], out: &mut Out) -> Result<(), Stop> {
        let needs_numbers = self.args.json.json || self.args.only_ids && !self.args.count;
        // All lines before `counted` are in `self.lines`.
        let (mut from, mut counted) = (0, 0);
        while let Some(Found { at, read }) = self.finder.next(text, from) {
            from = at.end;
            if !self.filter.accepts(read.id) {
                continue;
            }
            self.count += 1;
            if !self.args.only_ids && !self.args.json.json {
                // A line is written once.
                let start = memrchr(b'\n', &text[..at.start]).map_or(0, |line_feed| line_feed + 1);
                from = memchr(b'\n', &text[at.end..]).map_or(text.len(), |line_feed| at.end + line_feed + 1);
                if !self.args.count {
                    self.write_name(out)?;
                    out.write_all(&text[start..from])?;
                    if text[from - 1] != b'\n' {
                        writeln!(out)?;
                    }
                }
            } else if needs_numbers {
                self.lines += memchr_iter(b'\n', &text[counted..at.start]).count() as u64;
                counted = at.start;
                let start = memrchr(b'\n', &text[..at.start]).map_or(0, |line_feed| line_feed + 1);
                self.write_id(out, &Found { at: at.start - start..at.end - start, read })?;
            }
        }
        if needs_numbers {
            self.lines += memchr_iter(b'\n', &text[counted..]).count() as u64;
        }
        Ok(())
    }

    fn write_id(&self, out: &mut Out, found: &Found) -> Result<(), Stop> {
        let (id, line) = (found.read.id, self.lines + 1);
        if !self.args.json.json {
            self.write_name(out)?;
            return Ok(writeln!(out, "{line}:{id}")?);
        }
        let object = FoundObject {
            file: self.file.as_deref(),
            line,
            at: found.at.start,
            id: IdObject { form: Some(found.read.form), ..IdObject::new(id) },
        };
        json::write_line(out, &object)
    }

    /// Writes the name of the file, if there are several.
    fn write_name(&self, out: &mut Out) -> Result<(), Stop> {
        match &self.file {
            Some(name) if self.args.files.len() > 1 => Ok(write!(out, "{}:", name.as_bytes().as_bstr())?),
            _ => Ok(()),
        }
    }
}
