//! `imid tag`: gives every JSON line an ID.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal, Write};

use imid::generator::GenerateError;
use imid::{Generator, MessageId, Session, SessionType};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Out;
use crate::args::{pair_type, pasted_id, session_type, timestamp_ms};
use crate::input::Input;
use crate::members::{self, Object};
use crate::replay::Replay;
use crate::report::{Report, Stop, plain, quote};
use crate::wait::patiently;

/// Append an ID to every JSON line of standard input, as its last member
///
/// The lines come out in the order in which they went in, every other byte as it was. IDs increase strictly in that
/// order. Blank lines pass through. Fields are looked up in the outermost object only; one of these fields that stands
/// there twice is an error, for readers of JSON differ in which of the two they take.
///
/// Without a time field the IDs are of now. With one they are of the messages' times: where a line is earlier than one
/// before it, its ID is moved forward to the time reached, and standard error says at the end how many were moved and
/// by how much at most.
///
/// A bad line ends the run, after all lines before it have been written; with --keep-going it is left out.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  imid tag --session-field room < chat.jsonl
  zcat chat.jsonl.gz | imid tag --type group --session-field topic --time-field time_ms
  imid tag --session-field to --peer-field from --type-field kind < mixed.jsonl
  imid tag --session-field room --time-field at --after EMAQ-2948-WCRV-T3DD < more.jsonl")]
pub(crate) struct Args {
    /// Field with the name of the session: a string or an integer, which stands for its decimal text
    #[arg(long, value_name = "FIELD")]
    session_field: String,
    /// Field with the other end of a private conversation, read where the type is PRIVATE
    #[arg(long, value_name = "FIELD")]
    peer_field: Option<String>,
    /// Type of every session: a code 0 to 15, or a name in any case [default: 0; private with --peer-field]
    #[arg(long = "type", value_name = "TYPE", value_parser = session_type, allow_negative_numbers = true)]
    session_type: Option<SessionType>,
    /// Field with the type of the session, in the same forms
    #[arg(long, value_name = "FIELD", conflicts_with = "session_type")]
    type_field: Option<String>,
    /// Field with the time of the message: unix milliseconds or RFC 3339
    #[arg(long, value_name = "FIELD")]
    time_field: Option<String>,
    /// Field that takes the ID
    #[arg(long, value_name = "FIELD", default_value = "id")]
    id_field: String,
    /// Replace the ID field of lines that have one; without this, such a line is an error
    #[arg(long)]
    overwrite: bool,
    /// Make it an error to move an ID forward by more than this many milliseconds
    #[arg(long, value_name = "MS", requires = "time_field")]
    max_shift: Option<u64>,
    /// Go on after this ID, the last of a former run
    #[arg(long, value_name = "ID", value_parser = pasted_id)]
    after: Option<MessageId>,
    /// Make a run with a time field repeatable: the same lines and the same seed give the same IDs
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// What mints: by the times of the lines, or by the clock. One of them for a whole run, so its size is no matter.
#[expect(clippy::large_enum_variant, reason = "there is one")]
enum Mint {
    Replay(Replay),
    Now(Generator),
}

impl Args {
    pub(crate) fn run(&self, out: &mut Out, report: &mut Report) -> Result<(), Stop> {
        let default_type = pair_type(self.session_type, self.peer_field.is_some())?;
        let mut mint = self.mint()?;
        // Quotes and escapes of the key are the same on every line.
        let key = serde_json::to_string(&self.id_field).map_err(io::Error::from)?;
        let bar = progress_bar();
        report.set_bar(bar.clone());

        let mut member = String::new();
        let mut tagged = 0_u64;
        Input::stdin().with_bar(&bar).each_line(out, |out, number, line| {
            if let Ok(line) = &line
                && line.trim_ascii().is_empty()
            {
                return Ok(out.write_all(line)?);
            }
            let object = line.and_then(Object::read);
            match object.and_then(|object| Ok((self.id(&object, default_type, &mut mint, number)?, object))) {
                Ok((id, object)) => {
                    member.clear();
                    member.extend([&key, ":\"", &id.to_text(), "\""]);
                    object.write_with_last(out, self.overwrite.then_some(&*self.id_field), &member)?;
                    tagged += 1;
                    Ok(())
                }
                Err(what) => report.bad(format_args!("line {number}"), what),
            }
        })?;
        bar.finish_and_clear();
        if let Mint::Replay(replay) = mint {
            let moved = replay.shifts();
            report.note(match moved.count {
                0 => format!("tagged {tagged} lines; none was moved forward"),
                n => format!("tagged {tagged} lines; {n} moved forward, by at most {} ms", moved.largest_ms),
            });
        }
        Ok(())
    }

    fn mint(&self) -> Result<Mint, Stop> {
        let mut builder = Generator::builder();
        if let Some(seed) = self.seed {
            builder = builder.seed(seed);
        }
        if self.time_field.is_some() {
            let mut replay = Replay::new(builder, self.max_shift).map_err(|error| Stop::Error(error.to_string()))?;
            if let Some(after) = self.after {
                replay.go_on_after(after).map_err(|error| Stop::Error(error.to_string()))?;
            }
            return Ok(Mint::Replay(replay));
        }
        if let Some(after) = self.after {
            builder = builder.floor(after);
        }
        builder.build().map(Mint::Now).map_err(|error| Stop::Error(error.to_string()))
    }

    /// Mints for one line, once all that it says has proved right.
    fn id(
        &self,
        object: &Object<'_>,
        default_type: SessionType,
        mint: &mut Mint,
        line: u64,
    ) -> Result<MessageId, String> {
        if !self.overwrite && object.has(&self.id_field) {
            return Err(format!("field {} is there already (--overwrite replaces it)", quote(&self.id_field)));
        }
        let session = self.session(object, default_type)?;
        match mint {
            Mint::Now(generator) => {
                patiently(|| generator.generate(session), GenerateError::retry_after).map_err(|error| error.to_string())
            }
            Mint::Replay(replay) => {
                // PANIC: lines are replayed only where there is a time field.
                let field = self.time_field.as_deref().expect("a time field");
                let unix_ms = self::field(object, field, |value| timestamp_ms(&text(value)?))?;
                replay.mint(session, unix_ms, line)
            }
        }
    }

    fn session(&self, object: &Object<'_>, default_type: SessionType) -> Result<Session, String> {
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

/// Reads a field's value; an error names the field.
fn field<'a, T>(object: &Object<'a>, name: &str, read: impl FnOnce(&'a str) -> Result<T, String>) -> Result<T, String> {
    read(object.value(name)?).map_err(|what| format!("field {}: {what}", quote(name)))
}

fn text(value: &str) -> Result<Cow<'_, str>, String> {
    members::text(value).ok_or_else(|| format!("expected Unicode text, found {}", plain(value)))
}

/// The name of a session: a string, or the decimal text of an integer as it stands there, however large.
fn session_name(value: &str) -> Result<Cow<'_, str>, String> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    // -0 is a second text of one integer, and would be a second session.
    if value.starts_with('"') || is_integer && value != "-0" {
        return text(value);
    }
    Err(format!("expected a string or an integer, found {}", plain(value)))
}

/// Progress on standard error where that is a terminal, but not between lines that a terminal shows as they come or go.
fn progress_bar() -> ProgressBar {
    if io::stdin().is_terminal() || io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let length = input_length();
    let template = match length {
        Some(_) => "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        None => "{spinner} {bytes}, {bytes_per_sec}, {elapsed}",
    };
    // PANIC: the templates are the two above.
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr()).with_style(style)
}

/// The size of standard input, where it is a file.
fn input_length() -> Option<u64> {
    #[cfg(unix)]
    let stdin = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let stdin = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    #[cfg(not(any(unix, windows)))]
    let stdin: io::Result<File> = Err(io::ErrorKind::Unsupported.into());
    let about = File::from(stdin.ok()?).metadata().ok()?;
    about.is_file().then_some(about.len())
}
