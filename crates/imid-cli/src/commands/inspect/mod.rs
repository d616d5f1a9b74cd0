//! `imid inspect`: shows what IDs are.

mod candidates;
mod order;
mod page;

use std::fmt::Arguments;
use std::io::{self, Write};
use std::num::NonZeroU32;

use anstream::{AutoStream, ColorChoice};
use imid_inspect::{Form, Found, Id, NotPasted, Pasted, Read, STANDARD, Scan, Scheme, read, read_declared, scan};
use jiff::tz::TimeZone;

use self::page::Page;
use super::whole_number;
use crate::Out;
use crate::candidates::{broken_word, describe, numbers, of_others, place as place_of};
use crate::form::{NO_UUID, form};
use crate::id_object::IdObject;
use crate::input::{Input, trim_line_end, utf8};
use crate::output::{FormatArgs, Writer};
use crate::report::{KeepGoing, Report, Stop, quote};
use crate::scheme::scheme;
use crate::session::{NO_SESSION, SessionArgs, SessionFilter};
use crate::time::{ZoneArg, now_ms};

/// Show what IDs are: fields, times, order, and the systems that could have minted them; or convert them to another form
///
/// imid ID does the same. Reads an ID in each form that databases and clients print: its text in upper or lower case, with or
/// without dashes; hex digits, integer, UUID view, base64, and bytes as a list, as escapes or in a dump. Without --dialect, a text
/// that several systems could have minted is listed with each of them, the most likely ones first: compare their times with
/// the time of a message that you know. A standard ID from 2018 on is not. The IDs in a longer text, such as a log line or a
/// ticket, are shown one by one: what has the dashes of an ID, 0x or \x, the UUID form, or a key or path that names an ID.
/// Several IDs are followed by a table of their order, the time between them, and the sessions that they share.
///
/// Without arguments, reads standard input: IDs, one per line, or a text with IDs. --id-form declares the form of all IDs.
///
/// With --format, prints one ID per line in another form, and with --shards the shard that owns its session. Then each line
/// must be one ID, and one that several systems could have minted needs --dialect. With --session, shows whether the ID's hash
/// is that of the name; with --type, also whether its type matches. If not, the exit status is 1.
///
/// A shard is a number from 0 to N - 1: the jump consistent hash of the session type and the session hash. When N grows to
/// N + 1, about one session in N + 1 moves, and it moves to the new shard.
///
/// A JSON object has only the members that apply to its ID: a Snowflake has a node and a sequence, other IDs have a spin, a
/// type and a hash. A member that has no value for this ID is null. int is a string, because many JSON readers lose bits of
/// large numbers.
#[derive(clap::Args)]
#[command(mut_arg("time_zone", |zone| zone.help("Time zone of the local time, such as Europe/Berlin [default: that of the system]; JSON has times in UTC")))]
#[command(mut_arg("session_type", |arg| arg.help("Session type that the ID must have: a code from 0 to 15, or a name such as private or group, in any case")))]
#[command(after_help = "\
Examples:
  imid inspect EMAQ-2948-WCRV-T3DD
  imid inspect EUN6-KDW2-5J2G-DUMH EUN6-KDW5-PB4G-DUMH
  imid inspect 204697221847986177
  imid inspect --json emaq2948wcrvt3dd
  imid inspect 0x64d1601c46e2afbc856b 01934580-711b-78ab-bbc8-56bfffffffff
  imid inspect --type 14 --session room-42 EMAQ-2948-WCRV-T3DD
  imid inspect --time-zone Asia/Shanghai EMAQ-2948-WCRV-T3DD
  imid inspect --dialect rongcloud --session 24 BUFE-A62U-32C4-01I2
  imid inspect --dialect twitter --json 204697221847986177
  imid inspect --dialect rongcloud --format hex < ids.txt
  imid inspect --shards 8 EMAQ-2948-WCRV-T3DD
  imid new --type group --session room-42 | imid inspect --shards 8
  imid inspect --json < ids.txt")]
pub(crate) struct Args {
    /// IDs; without IDs, or with -, standard input is read, one ID per line
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,
    /// Form of the IDs that are read [default: the form that the shape of each ID shows]
    #[arg(long, value_name = "FORM", value_parser = form())]
    id_form: Option<Form>,
    #[command(flatten)]
    format: FormatArgs,
    /// Print the shard of each ID's session, a number from 0 to N - 1
    #[arg(long, value_name = "N", value_parser = whole_number(NonZeroU32::MIN..=NonZeroU32::MAX), conflicts_with_all = ["format", "json", "time_zone", "session", "session_type"])]
    shards: Option<NonZeroU32>,
    /// Show the bits of each field
    #[arg(long, conflicts_with_all = ["format", "json", "shards"])]
    bits: bool,
    #[command(flatten)]
    zone: ZoneArg,
    /// Dialect or Snowflake layout of the IDs [default: standard, and all others that could have minted a text]
    #[arg(long = "dialect", value_name = "NAME", value_parser = scheme())]
    scheme: Option<Scheme>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    keep_going: KeepGoing,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        report.keep_going(&self.keep_going);
        let scheme = self.scheme.unwrap_or(STANDARD);
        let session = match scheme {
            _ if self.session.is_empty() => None,
            _ if !self.session.is_named() => return Err(Stop::Usage("--type: expected --session with it".into())),
            Scheme::Dialect(dialect) => self.session.filter(dialect)?,
            Scheme::Snowflake(_) => return Err(Stop::Usage(NO_SESSION.into())),
        };
        if self.id_form == Some(Form::Uuid) && !scheme.has_uuid() {
            return Err(Stop::Usage(format!("--id-form uuid: {NO_UUID}")));
        }
        let to = match (self.shards, self.format.writer(scheme)?) {
            (Some(shards), _) => To::Shard(shards),
            (None, Some(writer)) => To::Writer(writer),
            (None, None) => To::Page(Page {
                has_colors: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
                has_bits: self.bits,
                zone: self.zone.given.clone().unwrap_or_else(TimeZone::system),
            }),
        };
        let mut show = Show {
            session,
            has_mismatch: false,
            is_in_text: false,
            shown: Vec::new(),
            numbers: Vec::new(),
            broken: Vec::new(),
            skipped: None,
            to,
        };
        let shown = self.show_all(out, report, &mut show);
        if show.has_mismatch {
            report.set_failed();
        }
        shown?;
        if (2..=order::MAX_IDS).contains(&show.shown.len()) {
            order::write(out, &show.shown, &self.zone)?;
        }
        if show.shown.is_empty()
            && let Some(problem) = show.broken.first().or(show.skipped.as_ref())
        {
            return Err(Stop::Error(problem.clone()));
        }
        show.broken.iter().for_each(|problem| report.note(problem));
        if !show.numbers.is_empty() {
            writeln!(out, "\n{}", numbers(&show.numbers))?;
        }
        Ok(())
    }

    /// Shows what each argument is, or each line of standard input. Blank lines are skipped.
    fn show_all(&self, out: &mut Out, report: &mut Report, show: &mut Show) -> Result<(), Stop> {
        if !self.are_lines() {
            if self.ids.iter().any(|text| text == "-") {
                let problem = "expected no other IDs with it, because it stands for standard input";
                return Err(Stop::Usage(format!("-: {problem}")));
            }
            let mut texts = (1..).zip(&self.ids);
            return texts.try_for_each(|(number, text)| {
                self.show_text(out, report, show, format_args!("argument {number}"), text)
            });
        }
        Input::open(None, "IDs, one per line,")?.without_mark().each_line(out, |out, number, line| {
            match line.and_then(|line| utf8(trim_line_end(line))) {
                Ok(text) if text.trim_ascii().is_empty() => Ok(()),
                Ok(text) => self.show_text(out, report, show, format_args!("line {number}"), text),
                Err(problem) => report.bad_input(format_args!("line {number}"), problem),
            }
        })
    }

    /// Returns whether the texts are lines of standard input.
    fn are_lines(&self) -> bool {
        self.ids.is_empty() || self.ids == ["-"]
    }

    /// Shows what a text is.
    fn show_text(
        &self,
        out: &mut Out,
        report: &mut Report,
        show: &mut Show,
        place: Arguments<'_>,
        text: &str,
    ) -> Result<(), Stop> {
        let now_ms = now_ms();
        if self.scheme.is_some() || self.id_form.is_some() {
            let scheme = self.scheme.unwrap_or(STANDARD);
            return match read_declared(scheme, text, self.id_form, now_ms) {
                Ok(read) => show.write(out, read),
                Err(not_pasted) => report.bad_input(place, describe(scheme, text, not_pasted)),
            };
        }
        let readings = match read(text, now_ms) {
            Ok(Pasted::One(readings)) => {
                let in_text = show.is_in_text.then(|| scan(text.trim(), now_ms)).filter(|scan| scan.ids.is_empty());
                if let Some(scan) = in_text {
                    show.add_numbers(text, &scan.others);
                    if scan.others.is_empty() {
                        show.numbers.push(text.trim().to_owned());
                    }
                    return Ok(());
                }
                readings
            }
            Ok(Pasted::Text(scan)) if matches!(show.to, To::Page(_)) => {
                show.is_in_text |= self.session.is_empty() && self.is_sentence(text);
                show.add_numbers(text, &scan.others);
                if let Some(broken) = &scan.broken {
                    let word = &text.trim()[broken.at.clone()];
                    report.note(format_args!("{place}: {}: {}", quote(word), broken_word(broken)));
                }
                return scan.ids.into_iter().try_for_each(|found| show.write(out, found.read));
            }
            // A program must get what it asked for, or an error.
            Ok(Pasted::Text(scan)) => {
                let problem =
                    format!("{} is a longer text; {}", quote(text.trim()), place_of(STANDARD, text, &scan.ids[0]));
                return report.bad_input(place, problem);
            }
            Err(not_pasted) => return self.skip(report, show, place, text, not_pasted),
        };
        match (&show.to, &readings[..]) {
            (_, [read]) if read.id.is_standard() => show.write(out, *read),
            (To::Page(_), [read]) if self.session.is_empty() => show.write(out, *read),
            (To::Page(_), _) if self.session.is_empty() => {
                let has_heading = self.ids.len() > 1 || self.are_lines();
                if has_heading {
                    writeln!(out, "{}", text.trim())?;
                }
                candidates::write(out, &readings, &self.zone)?;
                if has_heading { Ok(writeln!(out)?) } else { Ok(()) }
            }
            (To::Writer(writer @ Writer::Json), _) if self.session.is_empty() => {
                let input = Some(text.trim());
                readings.iter().try_for_each(|read| {
                    let (form, plausible) = (Some(read.form), Some(read.id.is_plausible(now_ms)));
                    writer.write(out, &IdObject { form, plausible, input, ..IdObject::new(read.id) })
                })
            }
            _ => report.bad_input(place, of_others(text, &readings)),
        }
    }

    /// Returns whether a line shows that the input is a longer text, and not a list of IDs with a header.
    fn is_sentence(&self, line: &str) -> bool {
        let words = line.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
        self.are_lines() && words.count() > 2
    }

    /// Reports a text without an ID. A line of a longer text need not have one, unless it looks like an ID.
    fn skip(
        &self,
        report: &mut Report,
        show: &mut Show,
        place: Arguments<'_>,
        text: &str,
        not_pasted: NotPasted,
    ) -> Result<(), Stop> {
        let is_line = matches!(show.to, To::Page(_)) && self.session.is_empty() && self.are_lines();
        let is_broken = matches!(not_pasted.instead, Pasted::Text(Scan { broken: Some(_), .. }));
        show.is_in_text |= is_line && self.is_sentence(text);
        if let Pasted::Text(scan) = &not_pasted.instead
            && is_line
            && !is_broken
        {
            show.add_numbers(text, &scan.others);
        }
        let problem = describe(STANDARD, text, not_pasted);
        if !is_line {
            return report.bad_input(place, problem);
        }
        let problem = format!("{place}: {problem}");
        if is_broken && show.broken.len() < MAX_BROKEN {
            show.broken.push(problem);
        } else {
            show.skipped.get_or_insert(problem);
        }
        Ok(())
    }
}

/// The most lines with a broken word that are reported.
const MAX_BROKEN: usize = 10;

/// Shows IDs one by one.
struct Show {
    session: Option<SessionFilter>,
    has_mismatch: bool,
    /// Whether a line before was a part of a longer text: what is alone in a line is then read as in a text.
    is_in_text: bool,
    /// The IDs that have a page, for the table: at most one more than it has room for.
    shown: Vec<Id>,
    /// Numbers and words that could be IDs.
    numbers: Vec<String>,
    /// The first lines with a word that is not all of an ID.
    broken: Vec<String>,
    /// The first other line without an ID, and why it has none.
    skipped: Option<String>,
    to: To,
}

enum To {
    Writer(Writer),
    Shard(NonZeroU32),
    Page(Page),
}

impl Show {
    /// Adds words of a text that could be IDs.
    fn add_numbers(&mut self, text: &str, found: &[Found]) {
        let words = found.iter().map(|found| text.trim()[found.at.clone()].to_owned());
        self.numbers.extend(words.take(order::MAX_IDS));
    }

    fn write(&mut self, out: &mut Out, Read { id, form }: Read) -> Result<(), Stop> {
        let session_match = match id {
            Id::Message { id, .. } => self.session.map(|session| session.accepts(id)),
            Id::Snowflake(_) => None,
        };
        self.has_mismatch |= session_match == Some(false);
        let object = IdObject { form: Some(form), session_match, ..IdObject::new(id) };
        match &self.to {
            To::Writer(writer) => writer.write(out, &object),
            To::Shard(shards) if id.scheme().has_uuid() => {
                Ok(writeln!(out, "{}", id.sort_key().session_tag().shard(*shards))?)
            }
            To::Shard(_) => Err(Stop::Error(format!("{id}: expected an ID of the standard layout for a shard"))),
            To::Page(page) => {
                if self.shown.len() <= order::MAX_IDS {
                    self.shown.push(id);
                }
                Ok(page.write(out, &object)?)
            }
        }
    }
}
