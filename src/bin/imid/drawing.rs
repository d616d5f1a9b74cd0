//! An ID as a picture: its bits, which of them are which field, and what each field says.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use imid::{MessageId, SessionHash, SessionType};

/// A field of the picture, as wide as its bits.
struct Field {
    name: &'static str,
    value: u64,
    width: usize,
    style: Style,
}

fn fields(id: MessageId) -> [Field; 4] {
    let field = |name, value, max: u64, colour: AnsiColor| Field {
        name,
        value,
        width: max.ilog2() as usize + 1,
        style: colour.on_default(),
    };
    [
        field("timestamp, unix ms", id.timestamp_ms(), MessageId::TIMESTAMP_MAX, AnsiColor::Cyan),
        field("spin", id.spin().into(), MessageId::SPIN_MAX.into(), AnsiColor::Yellow),
        field("type", id.session_type().code().into(), SessionType::MAX.code().into(), AnsiColor::Magenta),
        field("session hash", id.session_hash().value().into(), SessionHash::MAX.value().into(), AnsiColor::Green),
    ]
}

/// Draws the 80 bits, 80 columns wide, each field in its colour.
pub(crate) fn draw(out: &mut impl Write, id: MessageId) -> io::Result<()> {
    let fields = fields(id);
    let mut row = |cell: &dyn Fn(&Field) -> String| {
        for (index, field) in fields.iter().enumerate() {
            let (style, cell) = (field.style, cell(field));
            // No spaces at the end of a line.
            let cell = if index + 1 == fields.len() { cell.trim_end() } else { &cell };
            write!(out, "{style}{cell}{style:#}")?;
        }
        writeln!(out)
    };
    row(&|field| format!("{:0width$b}", field.value, width = field.width))?;
    row(&|field| format!("└{:─<width$}┘", "", width = field.width - 2))?;
    row(&|field| format!("{:^width$}", field.name, width = field.width))?;
    row(&|field| format!("{:^width$}", field.value, width = field.width))
}
