//! Shows an ID to a person: a drawing of its bits and of the field that each bit belongs to, and its values.

use std::io::Write;
use std::mem;

use anstyle::{AnsiColor, Effects, Style};
use imid::snowflake::Snowflake;
use itoa::Buffer as Digits;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::form::Form;
use crate::id_object::IdObject;
use crate::scheme::Id;
use crate::terminal::Terminal;
use crate::time::{self, LocalTimes, TimeText};

const HEADING: Style = Style::new().bold();
const LABEL: Style = Style::new().effects(Effects::DIMMED);
const PLAIN: Style = Style::new();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// The texts about IDs of one scheme. They are built in memory, so that the texts of many IDs are written together.
pub(crate) struct Page {
    text: Vec<u8>,
    /// The part of the drawing that is the same for all IDs.
    frame: Vec<u8>,
    /// A form of the ID.
    form: Vec<u8>,
    terminal: Terminal,
    times: TimeText,
    local: LocalTimes,
}

impl Page {
    pub(crate) fn new(terminal: Terminal, zone: TimeZone) -> Self {
        let (text, form, times, local) = (Vec::new(), Vec::new(), TimeText::default(), LocalTimes::new(zone));
        Self { text, frame: Vec::new(), form, terminal, times, local }
    }

    /// Returns the text about an ID.
    pub(crate) fn show(&mut self, object: &IdObject<'_>, now: Timestamp) -> &[u8] {
        self.text.clear();
        let id = &object.id;
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
        if let Some(is_match) = object.session_match {
            self.show_match(is_match);
        }
        self.show_form("hex", id, Form::Hex);
        // The text of most Snowflakes is their integer.
        if let Id::Message { .. } = id {
            self.show_form("integer", id, Form::Int);
            self.show_form("uuid", id, Form::Uuid);
        }
        if let Some(form) = object.form {
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
    fn paint(&mut self, style: Style, write: impl FnOnce(&mut Vec<u8>)) {
        paint(&mut self.text, self.terminal, style, write);
    }

    fn end_line(&mut self) {
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

fn start_line(text: &mut Vec<u8>, terminal: Terminal, label: &str) {
    paint(text, terminal, LABEL, |text| {
        text.extend(label.as_bytes());
        text.extend(&SPACES[label.len()..LABEL_WIDTH]);
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

/// A field of the drawing, with one column per bit.
struct Field {
    name: &'static str,
    /// The name in the list of fields, which is narrower. `None` if the page has a line for the field anyway.
    short_name: Option<&'static str>,
    value: u64,
    width: usize,
    style: Style,
}

fn fields(id: &Id) -> Vec<Field> {
    let field = |name, short_name, value, width: u32, color: AnsiColor| Field {
        name,
        short_name,
        value,
        width: width as usize,
        style: color.on_default(),
    };
    let mut fields = match id {
        Id::Message { id, .. } => {
            let layout = id.layout();
            vec![
                field(
                    "timestamp, unix ms",
                    Some("unix ms"),
                    id.timestamp_ms(),
                    layout.timestamp_bits(),
                    AnsiColor::Cyan,
                ),
                field(
                    "spin",
                    Some("spin"),
                    id.spin().unwrap_or_default().into(),
                    layout.spin_bits(),
                    AnsiColor::Yellow,
                ),
                field("type", None, id.type_code().into(), layout.type_bits(), AnsiColor::Magenta),
                field("session hash", None, id.session_hash().into(), layout.hash_bits(), AnsiColor::Green),
            ]
        }
        Id::Snowflake(id) => {
            let (node, sequence) = (id.layout().node_bits(), id.layout().sequence_bits());
            vec![
                field("tick", Some("tick"), id.tick(), u64::BITS - node - sequence, AnsiColor::Cyan),
                field("node", None, id.node().into(), node, AnsiColor::Magenta),
                field("sequence", None, id.sequence().into(), sequence, AnsiColor::Yellow),
            ]
        }
    };
    fields.retain(|field| field.width > 0);
    fields
}

/// Draws the bits in four rows, each field in its own color. On a terminal that is too narrow, lists the fields
/// that the page does not show elsewhere.
fn draw(page: &mut Page, id: &Id) {
    let fields = fields(id);
    if !page.terminal.fits(fields.iter().map(|field| field.width).sum()) {
        for Field { short_name, value, width, style, .. } in fields {
            let Some(short_name) = short_name else { continue };
            page.paint(style, |text| text.extend(format!("{short_name:9}{value}").as_bytes()));
            page.paint(PLAIN, |text| text.extend(format!(", {width} bits\n").as_bytes()));
        }
        return;
    }
    row(page, &fields, &|field, text| {
        text.extend((0..field.width).rev().map(|bit| b'0' + (field.value >> bit & 1) as u8));
    });
    // The next two rows are the same for all IDs of a layout.
    let mut frame = mem::take(&mut page.frame);
    if frame.is_empty() {
        let start = page.text.len();
        draw_frame(page, &fields);
        frame = page.text.split_off(start);
    }
    page.text.extend(&frame);
    page.frame = frame;
    row(page, &fields, &|field, text| center(text, itoa::Buffer::new().format(field.value), field.width));
}

/// Draws a bracket under each field, and the names of the fields.
fn draw_frame(page: &mut Page, fields: &[Field]) {
    let (left, line, right) = if page.terminal.is_ascii { ("+", DASHES, "+") } else { ("└", LINE, "┘") };
    row(page, fields, &|field, text| {
        text.extend(left.as_bytes());
        // Each character of a line takes as many bytes.
        text.extend(&line.as_bytes()[..field.width.saturating_sub(2) * (line.len() / MAX_WIDTH)]);
        text.extend(right.as_bytes());
    });
    row(page, fields, &|field, text| center(text, field.name, field.width));
}

/// Draws one row. The function draws a field.
fn row(page: &mut Page, fields: &[Field], draw: &dyn Fn(&Field, &mut Vec<u8>)) {
    for (index, field) in fields.iter().enumerate() {
        page.paint(field.style, |text| {
            draw(field, text);
            // Lines must not end in spaces.
            if index + 1 == fields.len() {
                text.truncate(text.trim_ascii_end().len());
            }
        });
    }
    page.end_line();
}

/// The greatest width of a field.
const MAX_WIDTH: usize = 64;
const LINE: &str = "────────────────────────────────────────────────────────────────";
const DASHES: &str = "----------------------------------------------------------------";
const SPACES: &[u8; MAX_WIDTH] = &[b' '; MAX_WIDTH];

const _: () = assert!(LINE.len() == MAX_WIDTH * "─".len() && DASHES.len() == MAX_WIDTH, "lines for the widest field");

/// Writes a text in the middle of a column. If the spaces are odd, one more is after the text.
fn center(out: &mut Vec<u8>, text: &str, width: usize) {
    let spaces = width.saturating_sub(text.len());
    out.extend(&SPACES[..spaces / 2]);
    out.extend(text.as_bytes());
    out.extend(&SPACES[..spaces - spaces / 2]);
}
