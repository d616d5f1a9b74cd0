//! `imid inspect`: shows the fields of IDs.

mod page;

use imid_inspect::{Form, Id, Read, Scheme, likelier};
use jiff::tz::TimeZone;

use self::page::Page;
use crate::Out;
use crate::candidates::read_or_hint;
use crate::commands::id_texts::IdTexts;
use crate::form::{IdFormArg, NO_UUID};
use crate::id_object::IdObject;
use crate::output::{FormatArgs, Writer};
use crate::report::{KeepGoing, Report, Stop};
use crate::scheme::SchemeArg;
use crate::session::{NO_SESSION, SessionArgs, SessionFilter};
use crate::terminal::Terminal;
use crate::time::{ZoneArg, now_ms};

/// Show the fields of IDs, or convert IDs to another form
///
/// Reads the text of an ID in upper or lower case, with or without dashes; its 20 hex digits, also after 0x or \x; its
/// integer of 21 to 25 digits; and its UUID view. The result says which form was read. Without arguments, reads standard
/// input, one ID per line. --id-form says that all IDs have one form. It reads integers of any length.
///
/// With --format, prints one ID per line in another form. With --session, shows whether the hash of the ID is
/// the hash of that name; with --type, also whether its type is this one. If it is not, the exit status is 1.
///
/// A JSON object has only the members that its ID has: a Snowflake has a node and a sequence, and other IDs have a spin, a
/// type and a hash. A member that has no value for this ID is null. int is a string, because many JSON readers lose bits of
/// large numbers.
#[derive(clap::Args)]
#[command(mut_arg("time_zone", |zone| zone.help("Time zone of the local time, such as Europe/Berlin [default: that of the system]; JSON has times in UTC")))]
#[command(mut_arg("session_type", |arg| arg.help("Session type that the ID must have: a code from 0 to 15, or a name such as private or group, in any case")))]
#[command(after_help = "\
Examples:
  imid inspect EMAQ-2948-WCRV-T3DD
  imid inspect --json emaq2948wcrvt3dd
  imid inspect 0x64d1601c46e2afbc856b 01934580-711b-78ab-bbc8-56b000000000
  imid inspect --type 14 --session room-42 EMAQ-2948-WCRV-T3DD
  imid inspect --time-zone Asia/Shanghai EMAQ-2948-WCRV-T3DD
  imid inspect --dialect rongcloud --session 24 BUFE-A62U-32C4-01I2
  imid inspect --dialect twitter --json 204697221847986177
  imid inspect --dialect rongcloud --format hex < ids.txt
  imid inspect --json < ids.txt")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: IdTexts,
    #[command(flatten)]
    form: IdFormArg,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    zone: ZoneArg,
    #[command(flatten)]
    scheme: SchemeArg,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    keep_going: KeepGoing,
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        report.keep_going(&self.keep_going);
        let scheme = self.scheme.scheme;
        let session = match scheme {
            _ if self.session.is_empty() => None,
            _ if !self.session.is_named() => return Err(Stop::Usage("--type: expected --session with it".into())),
            Scheme::Dialect(dialect) => self.session.filter(dialect)?,
            Scheme::Snowflake(_) => return Err(Stop::Usage(NO_SESSION.into())),
        };
        match self.form.get() {
            Some(Form::Uuid) if !scheme.has_uuid() => return Err(Stop::Usage(format!("--id-form uuid: {NO_UUID}"))),
            _ => {}
        }
        let mut show = Show {
            session,
            has_mismatch: false,
            to: match self.format.writer(scheme)? {
                Some(writer) => To::Writer(writer),
                None => To::Page(Page {
                    terminal: Terminal::stdout(),
                    zone: self.zone.given.clone().unwrap_or_else(TimeZone::system),
                }),
            },
        };
        let shown = self.show_all(out, report, &mut show);
        if show.has_mismatch {
            report.set_failed();
        }
        shown
    }

    fn show_all(&self, out: &mut Out, report: &mut Report, show: &mut Show) -> Result<(), Stop> {
        self.ids.each(out, |out, place, text| {
            match text.clone().and_then(|text| read_or_hint(self.scheme.scheme, text, self.form.get())) {
                Ok(read) => {
                    if let (To::Page(_), Some(id)) = (&show.to, likelier(read.id, text.unwrap_or_default(), now_ms())) {
                        let (scheme, time) = (id.scheme_name(), self.zone.rfc3339(id.timestamp_ms()));
                        report.note(format_args!("{place}: --dialect {scheme} reads it as {id}, {time}"));
                    }
                    show.write(out, read)
                }
                Err(problem) => report.bad_input(place, problem),
            }
        })
    }
}

/// Shows IDs one by one.
struct Show {
    session: Option<SessionFilter>,
    has_mismatch: bool,
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
            To::Page(page) => Ok(page.write(out, &object)?),
        }
    }
}
