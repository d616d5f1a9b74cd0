//! Draws an ID: its bits, the field that each bit belongs to, and the value of each field.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::scheme::Id;

/// A field of the drawing, with one column per bit.
struct Field {
    name: &'static str,
    value: u64,
    width: usize,
    style: Style,
}

fn fields(id: &Id) -> Vec<Field> {
    let field = |name, value, width: u32, colour: AnsiColor| Field {
        name,
        value,
        width: width as usize,
        style: colour.on_default(),
    };
    let mut fields = match id {
        Id::Message { id, .. } => {
            let layout = id.layout();
            vec![
                field("timestamp, unix ms", id.timestamp_ms(), layout.timestamp_bits(), AnsiColor::Cyan),
                field("spin", id.spin().unwrap_or_default().into(), layout.spin_bits(), AnsiColor::Yellow),
                field("type", id.type_code().into(), layout.type_bits(), AnsiColor::Magenta),
                field("session hash", id.hash().into(), layout.hash_bits(), AnsiColor::Green),
            ]
        }
        Id::Snowflake(id) => {
            let (node, sequence) = (id.layout().node_bits(), id.layout().sequence_bits());
            vec![
                field("tick", id.tick(), u64::BITS - node - sequence, AnsiColor::Cyan),
                field("node", id.node().into(), node, AnsiColor::Magenta),
                field("sequence", id.sequence().into(), sequence, AnsiColor::Yellow),
            ]
        }
    };
    fields.retain(|field| field.width > 0);
    fields
}

/// Draws the bits in four rows, each field in its own colour.
pub(crate) fn draw(out: &mut impl Write, id: &Id) -> io::Result<()> {
    let fields = fields(id);
    let mut row = |cell: &dyn Fn(&Field) -> String| {
        for (index, field) in fields.iter().enumerate() {
            let (style, cell) = (field.style, cell(field));
            // Lines must not end in spaces.
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
