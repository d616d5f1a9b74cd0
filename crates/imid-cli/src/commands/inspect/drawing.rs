//! Draws an ID: its bits, the field that each bit belongs to, and the value of each field.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use imid::identify::Candidate;

/// A field of the drawing, with one column per bit.
struct Field {
    name: &'static str,
    value: u64,
    width: usize,
    style: Style,
}

fn fields(candidate: &Candidate) -> Vec<Field> {
    let field = |name, value, width: u32, colour: AnsiColor| Field {
        name,
        value,
        width: width as usize,
        style: colour.on_default(),
    };
    let mut fields = match candidate {
        Candidate::Message { dialect, id } => {
            let ([timestamp, spin, type_code, hash], read) = (dialect.layout().widths(), dialect.fields(*id));
            vec![
                field("timestamp, unix ms", read.timestamp_ms, timestamp, AnsiColor::Cyan),
                field("spin", read.spin.unwrap_or_default().into(), spin, AnsiColor::Yellow),
                field("type", read.type_code.into(), type_code, AnsiColor::Magenta),
                field("session hash", read.hash.into(), hash, AnsiColor::Green),
            ]
        }
        Candidate::Snowflake(id) => {
            let [_, node, seq] = id.layout().widths();
            vec![
                field("tick", id.tick(), u64::BITS - node - seq, AnsiColor::Cyan),
                field("node", id.node().into(), node, AnsiColor::Magenta),
                field("sequence", id.seq().into(), seq, AnsiColor::Yellow),
            ]
        }
    };
    fields.retain(|field| field.width > 0);
    fields
}

/// Draws the bits in four rows, each field in its own colour.
pub(crate) fn draw(out: &mut impl Write, candidate: &Candidate) -> io::Result<()> {
    let fields = fields(candidate);
    let mut row = |cell: &dyn Fn(&Field) -> String| {
        for (index, field) in fields.iter().enumerate() {
            let (style, cell) = (field.style, cell(field));
            // Lines do not end in spaces.
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
