//! Draws an ID: its bits, the field that each bit belongs to, and the value of each field.

use std::mem;

use anstyle::{AnsiColor, Style};

use super::human::{PLAIN, Page};
use crate::scheme::Id;

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
pub(super) fn draw(page: &mut Page, id: &Id) {
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
