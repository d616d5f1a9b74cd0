//! `imid tag`: gives each JSON line an ID.

mod progress;
mod replay;

use std::borrow::Cow;
use std::io::{self, Write};

use imid::{Generator, MessageId, Session, SessionType};

use self::replay::Replay;
use super::{MAX_WAIT, whole_number};
use crate::Out;
use crate::input::Input;
use crate::json_line::{self, JsonLine};
use crate::report::{KeepGoing, Report, Stop, quote, quote_json};
use crate::scheme::pasted_id;
use crate::session::{pair_type, session_type};
use crate::time::parse_timestamp_ms;

/// Add an ID to each JSON line of standard input, as its last member
///
/// Writes the lines in the order of the input, and does not change their other bytes. The IDs strictly increase in this
/// order. Blank lines are copied. Fields are found only in the outermost object. A field that occurs twice is an error,
/// because some JSON readers take the first value and some the last.
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
  zcat chat.jsonl.gz | imid tag --type group --session-field topic --time-field time_ms
  imid tag --session-field to --peer-field from --type-field kind < mixed.jsonl
  imid tag --session-field room --time-field at --after EMAQ-2948-WCRV-T3DD < more.jsonl")]
pub(crate) struct Args {
    /// Field with the session name: a string, or an integer, which stands for its decimal text
    #[arg(long, value_name = "FIELD")]
    session_field: String,
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
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>, allow_negative_numbers = true)]
    seed: Option<u64>,
    #[command(flatten)]
    keep_going: KeepGoing,
}

/// Where the times of the IDs come from.
#[expect(clippy::large_enum_variant, reason = "a run has only one value of this type")]
enum Minter {
    TimeField(Replay),
    Clock(Generator),
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        report.keep_going(&self.keep_going);
        let default_type = pair_type(self.session_type, self.peer_field.is_some())?;
        let mut minter = self.minter()?;
        // The key with its quotes and escapes. It is the same for all lines.
        let key = serde_json::to_string(&self.id_field).map_err(io::Error::from)?;
        let bar = progress::bar();
        report.set_bar(bar.clone());

        let mut member = String::new();
        let mut tagged = 0_u64;
        Input::stdin().with_bar(&bar).each_line(out, |out, number, line| {
            if let Ok(line) = &line
                && line.trim_ascii().is_empty()
            {
                return Ok(out.write_all(line)?);
            }
            let object = line.and_then(JsonLine::read);
            match object.and_then(|object| Ok((self.id(&object, default_type, &mut minter, number)?, object))) {
                Ok((id, object)) => {
                    member.clear();
                    member.extend([&key, ":\"", &id.to_text(), "\""]);
                    object.write_with_last(out, self.overwrite.then_some(&*self.id_field), &member)?;
                    tagged += 1;
                    Ok(())
                }
                Err(problem) => report.bad_input(format_args!("line {number}"), problem),
            }
        })?;
        bar.finish_and_clear();
        if let Minter::TimeField(replay) = minter {
            let shifts = replay.shifts();
            let tagged = counted(tagged, "line");
            report.note(match shifts.count {
                0 => format!("tagged {tagged}; no ID moved forward"),
                n => {
                    format!("tagged {tagged}; {} moved forward, by at most {} ms", counted(n, "ID"), shifts.largest_ms)
                }
            });
        }
        Ok(())
    }

    fn minter(&self) -> Result<Minter, Stop> {
        let mut builder = Generator::builder();
        if let Some(seed) = self.seed {
            builder = builder.seed(seed);
        }
        if self.time_field.is_some() {
            let mut replay = Replay::new(builder, self.max_shift).map_err(|error| Stop::Error(error.to_string()))?;
            if let Some(after) = self.after {
                replay.continue_after(after).map_err(|error| Stop::Error(error.to_string()))?;
            }
            return Ok(Minter::TimeField(replay));
        }
        if let Some(after) = self.after {
            builder = builder.floor(after);
        }
        builder.build().map(Minter::Clock).map_err(|error| Stop::Error(error.to_string()))
    }

    /// Mints the ID of one line. If the line is bad, returns the problem without minting an ID.
    fn id(
        &self,
        object: &JsonLine<'_>,
        default_type: SessionType,
        minter: &mut Minter,
        line: u64,
    ) -> Result<MessageId, String> {
        if !self.overwrite && object.has(&self.id_field) {
            return Err(format!("field {} already exists (--overwrite replaces it)", quote(&self.id_field)));
        }
        let session = self.session(object, default_type)?;
        match minter {
            Minter::Clock(generator) => generator.generate_within(session, MAX_WAIT).map_err(|error| error.to_string()),
            Minter::TimeField(replay) => {
                // PANIC: this variant is made only if there is a time field.
                let field = self.time_field.as_deref().expect("a time field");
                let unix_ms = self::field(object, field, |value| parse_timestamp_ms(&text(value)?))?;
                replay.mint(session, unix_ms, line)
            }
        }
    }

    fn session(&self, object: &JsonLine<'_>, default_type: SessionType) -> Result<Session, String> {
        let session_type = match &self.type_field {
            Some(name) => field(object, name, |value| self::session_type(&text(value)?))?,
            None => default_type,
        };
        let name = field(object, &self.session_field, session_name)?;
        Ok(match &self.peer_field {
            Some(peer) if session_type == SessionType::PRIVATE => {
                Session::pair(&name, &field(object, peer, session_name)?)
            }
            _ => Session::new(session_type, &name),
        })
    }
}

/// Reads the value of a field. The error names the field.
fn field<'a, T>(
    object: &JsonLine<'a>,
    name: &str,
    read: impl FnOnce(&'a str) -> Result<T, String>,
) -> Result<T, String> {
    read(object.value(name)?).map_err(|problem| format!("field {}: {problem}", quote(name)))
}

fn text(value: &str) -> Result<Cow<'_, str>, String> {
    json_line::text(value).ok_or_else(|| format!("expected valid Unicode, found {}", quote_json(value)))
}

/// Returns the name of a session: a string, or the decimal text of an integer of any size.
fn session_name(value: &str) -> Result<Cow<'_, str>, String> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    // -0 would be a second text of the integer 0, and so a second session.
    if value.starts_with('"') || is_integer && value != "-0" {
        return text(value);
    }
    Err(format!("expected a string or an integer, found {}", quote_json(value)))
}

fn counted(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
