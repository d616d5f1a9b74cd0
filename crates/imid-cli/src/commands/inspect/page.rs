//! Shows an ID to a person: a drawing of its bits and of the field that each bit belongs to, and its values.

use std::fmt::Display;
use std::io::{self, Write};

use anstyle::{AnsiColor, Effects, Style};
use imid_inspect::{FieldName, Form, Id, ReadForm, named_type};
use jiff::tz::TimeZone;

use crate::id_object::IdObject;
use crate::terminal::Terminal;
use crate::time::{age, now_ms, rfc3339, timestamp};

const HEADING: Style = Style::new().bold();
const LABEL: Style = Style::new().effects(Effects::DIMMED);
const PLAIN: Style = Style::new();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Where and how IDs are shown.
pub(super) struct Page {
    pub(super) terminal: Terminal,
    /// The zone of the local time.
    pub(super) zone: TimeZone,
}

impl Page {
    /// Writes the text about an ID.
    pub(super) fn write(&self, out: &mut impl Write, object: &IdObject<'_>) -> io::Result<()> {
        let id = object.id;
        writeln!(out, "{}", self.paint(HEADING, id))?;
        self.draw(out, id)?;
        let (unix_ms, now_ms) = (id.timestamp_ms(), now_ms());
        self.line(out, "UTC", PLAIN, rfc3339(unix_ms))?;
        let local = timestamp(unix_ms).to_zoned(self.zone.clone());
        self.line(out, "local", PLAIN, local.strftime("%Y-%m-%dT%H:%M:%S.%3f%:z %Q"))?;
        self.line(out, "age", PLAIN, age(unix_ms, now_ms))?;
        let verb = if id.layout_end_ms() < now_ms { "was" } else { "is" };
        let says = format!(" {verb} the last day of this layout");
        self.line_with_hint(out, "ends", PLAIN, &rfc3339(id.layout_end_ms())[..10], &says)?;
        match id {
            Id::Message { dialect, id } => {
                self.line(out, "type", PLAIN, named_type(dialect, id.type_code()))?;
                self.line(out, "hash", PLAIN, id.session_hash())?;
            }
            Id::Snowflake(id) => {
                let split = id.datacenter();
                let split = split.map(|datacenter| format!(" (datacenter {datacenter}, worker {})", id.worker()));
                self.line(out, "node", PLAIN, format_args!("{}{}", id.node(), split.unwrap_or_default()))?;
                self.line(out, "sequence", PLAIN, id.sequence())?;
                if id.is_overflowed() {
                    self.line(out, "sign", BAD, "the time overflows into the sign bit")?;
                }
            }
        }
        match object.session_match {
            Some(true) => {
                let hint = " (a hint: one name in 4,194,304 matches by chance)";
                self.line_with_hint(out, "session", GOOD, "the hash matches", hint)?;
            }
            Some(false) => self.line_with_hint(out, "session", BAD, "no match", ": this ID is of another session")?,
            None => {}
        }
        // The text of most Snowflakes is their integer.
        let forms = [("hex", Form::Hex), ("integer", Form::Int), ("uuid", Form::Uuid)];
        for (label, form) in forms.into_iter().take(if let Id::Snowflake(_) = id { 1 } else { 3 }) {
            if let Some(text) = id.in_form(form) {
                self.line(out, label, PLAIN, text)?;
            }
        }
        if let Some(form) = object.form {
            // Digits can also be an integer.
            let hex = (form == ReadForm::Exact(Form::Hex)).then(|| id.in_form(Form::Hex)).flatten();
            let is_decimal = hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_digit()));
            let hint = if is_decimal { ", not as an integer (--id-form int)" } else { "" };
            self.line(out, "read as", PLAIN, format_args!("{} of {}{hint}", form.name(), id.scheme_name()))?;
        }
        writeln!(out)
    }

    /// Writes a line with a label.
    fn line(&self, out: &mut impl Write, label: &str, style: Style, value: impl Display) -> io::Result<()> {
        let label = format!("{label:LABEL_WIDTH$}");
        writeln!(out, "{}{}", self.paint(LABEL, label), self.paint(style, value))
    }

    /// Writes a line with a label, and a hint if it fits.
    fn line_with_hint(
        &self,
        out: &mut impl Write,
        label: &str,
        style: Style,
        value: &str,
        hint: &str,
    ) -> io::Result<()> {
        let fits = self.terminal.fits(LABEL_WIDTH + value.len() + hint.len());
        self.line(out, label, style, format_args!("{value}{}", if fits { hint } else { "" }))
    }

    fn paint(&self, style: Style, text: impl Display) -> String {
        if self.terminal.has_colors { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// Draws the bits in four rows, each field in its own color. On a terminal that is too narrow, lists the fields
    /// that the page does not show elsewhere.
    fn draw(&self, out: &mut impl Write, id: Id) -> io::Result<()> {
        let fields = fields(id);
        if !self.terminal.fits(fields.iter().map(|field| field.width).sum()) {
            for Field { short_name, value, width, style, .. } in fields {
                let Some(short_name) = short_name else { continue };
                let value = format!("{short_name:LABEL_WIDTH$}{value}");
                writeln!(out, "{}, {width} bits", self.paint(style, value))?;
            }
            return Ok(());
        }
        let (left, line, right) = if self.terminal.is_ascii { ("+", "-", "+") } else { ("└", "─", "┘") };
        let rows: [&dyn Fn(&Field) -> String; 4] = [
            &|field| format!("{:01$b}", field.value, field.width),
            &|field| format!("{left}{}{right}", line.repeat(field.width.saturating_sub(2))),
            &|field| format!("{:^1$}", field.name, field.width),
            &|field| format!("{:^1$}", field.value, field.width),
        ];
        for row in rows {
            for (index, field) in fields.iter().enumerate() {
                let cell = row(field);
                // Lines must not end in spaces.
                let is_last = index + 1 == fields.len();
                write!(out, "{}", self.paint(field.style, if is_last { cell.trim_end() } else { &cell }))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// The width of the labels.
const LABEL_WIDTH: usize = 9;

/// A field of the drawing, with one column per bit.
struct Field {
    name: &'static str,
    /// The name in the list of fields, which is narrower. `None` if the page has a line for the field anyway.
    short_name: Option<&'static str>,
    value: u64,
    width: usize,
    style: Style,
}

fn fields(id: Id) -> Vec<Field> {
    let shown = |field: imid_inspect::Field| {
        let (name, short_name, color) = match field.name {
            FieldName::Timestamp => ("timestamp, Unix ms", Some("Unix ms"), AnsiColor::Cyan),
            FieldName::Spin => ("spin", Some("spin"), AnsiColor::Yellow),
            FieldName::Type => ("type", None, AnsiColor::Magenta),
            FieldName::Hash => ("session hash", None, AnsiColor::Green),
            FieldName::Tick => ("tick", Some("tick"), AnsiColor::Cyan),
            FieldName::Node => ("node", None, AnsiColor::Magenta),
            _ => ("sequence", None, AnsiColor::Yellow),
        };
        Field { name, short_name, value: field.value, width: field.bits as usize, style: color.on_default() }
    };
    id.fields().map(shown).collect()
}
