//! Shows an ID to a person: its values, and a drawing of its bits if it is asked for.

use std::fmt::Display;
use std::io::{self, Write};

use anstyle::{AnsiColor, Effects, Style};
use imid_inspect::time::date;
use imid_inspect::{Field, Form, Id, named_type};
use jiff::tz::TimeZone;

use crate::id_object::IdObject;
use crate::time::{age, now_ms, rfc3339, timestamp};

const HEADING: Style = Style::new().bold();
const LABEL: Style = Style::new().effects(Effects::DIMMED);
const PLAIN: Style = Style::new();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// How IDs are shown.
pub(super) struct Page {
    pub(super) has_colors: bool,
    /// Whether the bits are drawn.
    pub(super) has_bits: bool,
    /// The zone of the local time.
    pub(super) zone: TimeZone,
}

impl Page {
    /// Writes the text about an ID.
    pub(super) fn write(&self, out: &mut impl Write, object: &IdObject<'_>) -> io::Result<()> {
        let id = object.id;
        writeln!(out, "{}", self.paint(HEADING, id))?;
        if self.has_bits {
            self.draw(out, id)?;
        }
        let (unix_ms, now_ms) = (id.timestamp_ms(), now_ms());
        self.line(out, "UTC", PLAIN, rfc3339(unix_ms))?;
        let local = timestamp(unix_ms).to_zoned(self.zone.clone());
        self.line(out, "local", PLAIN, local.strftime("%Y-%m-%dT%H:%M:%S.%3f%:z %Q"))?;
        self.line(out, "age", PLAIN, age(unix_ms, now_ms))?;
        let verb = if id.layout_end_ms() < now_ms { "was" } else { "is" };
        self.line(out, "ends", PLAIN, format_args!("{} {verb} the last day of this layout", date(id.layout_end_ms())))?;
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
                self.line(out, "session", GOOD, "the hash matches (a hint: one name in 4,194,304 matches by chance)")?;
            }
            Some(false) => self.line(out, "session", BAD, "no match: this ID is of another session")?,
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
            let hex = (form == Form::Hex).then(|| id.in_form(Form::Hex)).flatten();
            let is_decimal = hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_digit()));
            let hint = if is_decimal { ", not as an integer (--id-form int)" } else { "" };
            self.line(out, "read as", PLAIN, format_args!("{} of {}{hint}", form.name(), id.scheme_name()))?;
        }
        writeln!(out)
    }

    /// Writes a line with a label.
    fn line(&self, out: &mut impl Write, label: &str, style: Style, value: impl Display) -> io::Result<()> {
        let label = format!("{label:9}");
        writeln!(out, "{}{}", self.paint(LABEL, label), self.paint(style, value))
    }

    fn paint(&self, style: Style, text: impl Display) -> String {
        if self.has_colors { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// Draws the bits in four rows, each field in its own color, and with one column per bit.
    fn draw(&self, out: &mut impl Write, id: Id) -> io::Result<()> {
        let fields: Vec<_> = id.fields().collect();
        let width = |field: &Field| field.bits as usize;
        let rows: [&dyn Fn(&Field) -> String; 4] = [
            &|field| format!("{:01$b}", field.value, width(field)),
            &|field| format!("+{}+", "-".repeat(width(field).saturating_sub(2))),
            &|field| format!("{:^1$}", name_and_color(field).0, width(field)),
            &|field| format!("{:^1$}", field.value, width(field)),
        ];
        for row in rows {
            for (index, field) in fields.iter().enumerate() {
                let (cell, style) = (row(field), name_and_color(field).1.on_default());
                // Lines must not end in spaces.
                let is_last = index + 1 == fields.len();
                write!(out, "{}", self.paint(style, if is_last { cell.trim_end() } else { &cell }))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// Returns the name of a field in the drawing, and its color.
fn name_and_color(field: &Field) -> (&'static str, AnsiColor) {
    match field.name {
        "timestamp" => ("timestamp, Unix ms", AnsiColor::Cyan),
        "tick" => ("tick", AnsiColor::Cyan),
        "hash" => ("session hash", AnsiColor::Green),
        name @ ("type" | "node") => (name, AnsiColor::Magenta),
        name => (name, AnsiColor::Yellow),
    }
}
