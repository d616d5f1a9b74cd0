//! Shows an ID to a person.

use std::io::Write;

use anstyle::{AnsiColor, Effects, Style};
use imid::snowflake::Snowflake;
use itoa::Buffer as Digits;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::drawing::draw;
use crate::form::Form;
use crate::row::Row;
use crate::scheme::Id;
use crate::terminal::Terminal;
use crate::time::{self, LocalTimes, TimeText};

const HEADING: Style = Style::new().bold();
const LABEL: Style = Style::new().effects(Effects::DIMMED);
pub(super) const PLAIN: Style = Style::new();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// The texts about IDs of one scheme. They are built in memory, so that the texts of many IDs are written together.
pub(crate) struct Page {
    pub(super) text: Vec<u8>,
    /// The part of the drawing that is the same for all IDs.
    pub(super) frame: Vec<u8>,
    /// A form of the ID.
    form: Vec<u8>,
    pub(super) terminal: Terminal,
    times: TimeText,
    local: LocalTimes,
}

impl Page {
    pub(crate) fn new(terminal: Terminal, zone: TimeZone) -> Self {
        let (text, form, times, local) = (Vec::new(), Vec::new(), TimeText::default(), LocalTimes::new(zone));
        Self { text, frame: Vec::new(), form, terminal, times, local }
    }

    /// Returns the text about an ID.
    pub(crate) fn show(&mut self, row: &Row<'_>, now: Timestamp) -> &[u8] {
        self.text.clear();
        let id = &row.id;
        self.form.clear();
        id.write_form(Form::Text, &mut self.form);
        paint(&mut self.text, self.terminal, HEADING, |text| text.extend(&self.form));
        self.end_line();
        draw(self, id);
        self.show_times(id.timestamp_ms(), now);
        let (end, verb) = layout_end(*id, now);
        let says = [verb, " the last day of this layout"];
        let fits = self.terminal.fits(LABEL_WIDTH + end.len() + says.concat().len());
        self.line("ends", PLAIN, &[&end, if fits { verb } else { "" }, if fits { says[1] } else { "" }]);
        match id {
            Id::Message { dialect, id } => {
                let name = dialect.type_name(id.type_code());
                let space = if name.is_some() { " " } else { "" };
                let code = &mut Digits::new();
                self.line("type", PLAIN, &[code.format(id.type_code()), space, name.unwrap_or_default()]);
                self.line("hash", PLAIN, &[Digits::new().format(id.session_hash())]);
            }
            Id::Snowflake(id) => self.show_snowflake(*id),
        }
        if let Some(is_match) = row.session_match {
            self.show_match(is_match);
        }
        self.show_form("hex", id, Form::Hex);
        // The text of most Snowflakes is their integer.
        if let Id::Message { .. } = id {
            self.show_form("integer", id, Form::Int);
            self.show_form("uuid", id, Form::Uuid);
        }
        if let Some(form) = row.form {
            self.line("read as", PLAIN, &[form.name(), " of ", id.scheme_name()]);
        }
        self.end_line();
        &self.text
    }

    fn show_times(&mut self, unix_ms: u64, now: Timestamp) {
        let Self { text, terminal, times, local, .. } = self;
        line(text, *terminal, "UTC", PLAIN, &[times.rfc3339(unix_ms)]);
        let (time, offset_and_zone) = local.at(unix_ms);
        line(text, *terminal, "local", PLAIN, &[time, offset_and_zone]);
        // A clock before 1970 is as good as one of 1970: every ID is ahead of it.
        let now_ms = u64::try_from(now.as_millisecond()).unwrap_or_default();
        line(text, *terminal, "age", PLAIN, &[&time::age(unix_ms, now_ms)]);
    }

    fn show_snowflake(&mut self, id: Snowflake) {
        let split = id.datacenter().map(|datacenter| format!(" (datacenter {datacenter}, worker {})", id.worker()));
        self.line("node", PLAIN, &[Digits::new().format(id.node()), &split.unwrap_or_default()]);
        self.line("sequence", PLAIN, &[Digits::new().format(id.sequence())]);
        if id.is_overflowed() {
            self.line("sign", BAD, &["the time overflows into the sign bit"]);
        }
    }

    fn show_match(&mut self, is_match: bool) {
        let (style, says, hint) = if is_match {
            (GOOD, "the hash matches", " (a hint: one name in 4,194,304 matches by chance)")
        } else {
            (BAD, "no match", ": this ID is of another session")
        };
        let fits = self.terminal.fits(LABEL_WIDTH + says.len() + hint.len());
        self.line("session", style, &[says, if fits { hint } else { "" }]);
    }

    fn show_form(&mut self, label: &str, id: &Id, form: Form) {
        self.form.clear();
        if id.write_form(form, &mut self.form) {
            start_line(&mut self.text, self.terminal, label);
            self.text.extend(&self.form);
            self.end_line();
        }
    }

    /// Writes a line with a label. The value is in pieces.
    fn line(&mut self, label: &str, style: Style, value: &[&str]) {
        line(&mut self.text, self.terminal, label, style, value);
    }

    /// Writes a text in a style.
    pub(super) fn paint(&mut self, style: Style, write: impl FnOnce(&mut Vec<u8>)) {
        paint(&mut self.text, self.terminal, style, write);
    }

    pub(super) fn end_line(&mut self) {
        self.text.push(b'\n');
    }
}

/// Returns the day on which the time of a layout ends, and a verb in the tense of that day.
fn layout_end(id: Id, now: Timestamp) -> (String, &'static str) {
    let end_ms = id.layout_end_ms();
    (time::rfc3339(end_ms)[..10].into(), if time::timestamp(end_ms) < now { " was" } else { " is" })
}

/// The width of the labels.
const LABEL_WIDTH: usize = 9;
const SPACES: &[u8; LABEL_WIDTH] = b"         ";

fn start_line(text: &mut Vec<u8>, terminal: Terminal, label: &str) {
    paint(text, terminal, LABEL, |text| {
        text.extend(label.as_bytes());
        text.extend(&SPACES[label.len()..]);
    });
}

fn line(text: &mut Vec<u8>, terminal: Terminal, label: &str, style: Style, value: &[&str]) {
    start_line(text, terminal, label);
    paint(text, terminal, style, |text| value.iter().for_each(|piece| text.extend(piece.as_bytes())));
    text.push(b'\n');
}

fn paint(text: &mut Vec<u8>, terminal: Terminal, style: Style, write: impl FnOnce(&mut Vec<u8>)) {
    if !terminal.has_colors || style == PLAIN {
        return write(text);
    }
    // Memory can always be written.
    let _ = write!(text, "{style}");
    write(text);
    let _ = write!(text, "{style:#}");
}
