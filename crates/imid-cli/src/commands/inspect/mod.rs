//! `imid inspect`: shows what IDs are.

mod candidates;
mod order;
mod page;

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use imid_inspect::{Form, Hint, Id, Read, STANDARD, Scheme, likelier, read_pasted, scan};
use jiff::tz::TimeZone;

use self::page::Page;
use crate::Out;
use crate::candidates::describe;
use crate::commands::id_texts::{IdTexts, Place};
use crate::form::{NO_UUID, form};
use crate::id_object::IdObject;
use crate::output::{FormatArgs, Writer};
use crate::report::{KeepGoing, Report, Stop};
use crate::scheme::scheme;
use crate::session::{NO_SESSION, SessionArgs, SessionFilter};
use crate::time::{ZoneArg, now_ms};

/// Show what IDs are: fields, times, order, and the systems that could have minted them; or convert them to another form
///
/// imid ID does the same. Without --dialect, an ID of another system is listed with each dialect and Snowflake layout that
/// could have minted it, the most likely ones first: compare their times with the time of a message that you know. The IDs
/// in a longer text, such as a log line, are shown one by one. Several IDs are followed by a table of their order, the time
/// between them, and the sessions that they share.
///
/// Reads the text of an ID in upper or lower case, with or without dashes; its 20 hex digits, also after 0x or \x; its
/// integer of 21 to 25 digits; and its UUID view. The result says which form was read. Without arguments, reads standard
/// input, one ID per line. --id-form declares the form of all IDs; it also allows integers of any length.
///
/// With --format, prints one ID per line in another form. With --session, shows whether the ID's hash is that of the name;
/// with --type, also whether its type matches. If not, the exit status is 1.
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
  imid inspect --json < ids.txt")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: IdTexts,
    /// Form of the IDs that are read [default: the form that the shape of each ID shows]
    #[arg(long, value_name = "FORM", value_parser = form())]
    id_form: Option<Form>,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    zone: ZoneArg,
    /// Dialect or Snowflake layout of the IDs [default: standard, and all others for a text that is not a standard ID]
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
        let mut show = Show {
            session,
            has_mismatch: false,
            shown: Vec::new(),
            to: match self.format.writer(scheme)? {
                Some(writer) => To::Writer(writer),
                None => To::Page(Page {
                    has_colors: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
                    zone: self.zone.given.clone().unwrap_or_else(TimeZone::system),
                }),
            },
        };
        let shown = self.show_all(out, report, &mut show);
        if show.has_mismatch {
            report.set_failed();
        }
        shown?;
        let is_several = (2..=order::MAX_IDS).contains(&show.shown.len());
        if is_several { order::write(out, &show.shown, &self.zone) } else { Ok(()) }
    }

    fn show_all(&self, out: &mut Out, report: &mut Report, show: &mut Show) -> Result<(), Stop> {
        self.ids.each(out, |out, place, text| match text {
            Ok(text) => self.show_text(out, report, show, place, text),
            Err(problem) => report.bad_input(place, problem),
        })
    }

    /// Shows what a text is.
    fn show_text(
        &self,
        out: &mut Out,
        report: &mut Report,
        show: &mut Show,
        place: Place,
        text: &str,
    ) -> Result<(), Stop> {
        let (now_ms, form) = (now_ms(), self.id_form);
        let scheme = self.scheme.unwrap_or(STANDARD);
        let not_pasted = match read_pasted(scheme, text, form, now_ms) {
            Ok(read) => {
                if matches!(show.to, To::Page(_))
                    && let Some(id) = likelier(read.id, text, now_ms)
                {
                    let (scheme, time) = (id.scheme_name(), self.zone.rfc3339(id.timestamp_ms()));
                    report.note(format_args!("{place}: --dialect {scheme} reads it as {id}, {time}"));
                }
                return show.write(out, read);
            }
            Err(not_pasted) => not_pasted,
        };
        // A program that asks for one form or dialect, or about a session, must not get the ID of another system.
        let is_any = self.scheme.is_none() && form.is_none() && self.session.is_empty();
        match (&show.to, &not_pasted.hint) {
            (To::Page(_), Some(Hint::Other(readings))) if is_any => {
                let has_heading = !self.ids.is_one();
                if has_heading {
                    writeln!(out, "{}", text.trim())?;
                }
                candidates::write(out, readings, &self.zone)?;
                if has_heading { Ok(writeln!(out)?) } else { Ok(()) }
            }
            (To::Writer(writer @ Writer::Json), Some(Hint::Other(readings))) if is_any => {
                let input = Some(text.trim());
                readings.iter().try_for_each(|read| {
                    let (form, plausible) = (Some(read.form), Some(read.id.is_plausible(now_ms)));
                    writer.write(out, &IdObject { form, plausible, input, ..IdObject::new(read.id) })
                })
            }
            (To::Page(_), Some(Hint::Inside(first))) if self.scheme.is_none() && form.is_none() => {
                let mut found: Vec<_> = scan(text, now_ms).map(|found| found.read).collect();
                if found.is_empty() {
                    found.push(first.read);
                }
                found.into_iter().try_for_each(|read| show.write(out, read))
            }
            _ => report.bad_input(place, describe(scheme, text, form, not_pasted)),
        }
    }
}

/// Shows IDs one by one.
struct Show {
    session: Option<SessionFilter>,
    has_mismatch: bool,
    /// The IDs that have a page, for the table: at most one more than it has room for.
    shown: Vec<Id>,
    to: To,
}

enum To {
    Writer(Writer),
    Page(Page),
}

impl Show {
    fn write(&mut self, out: &mut Out, Read { id, form }: Read) -> Result<(), Stop> {
        let session_match = match id {
            Id::Message { id, .. } => self.session.map(|session| session.accepts(id)),
            Id::Snowflake(_) => None,
        };
        self.has_mismatch |= session_match == Some(false);
        let object = IdObject { form: Some(form), session_match, ..IdObject::new(id) };
        match &self.to {
            To::Writer(writer) => writer.write(out, &object),
            To::Page(page) => {
                if self.shown.len() <= order::MAX_IDS {
                    self.shown.push(id);
                }
                Ok(page.write(out, &object)?)
            }
        }
    }
}
