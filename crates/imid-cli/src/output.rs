//! The forms of the output: one ID per line or raw, JSON, CSV and TSV.

use std::io::Write;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::Out;
use crate::form::{Form, NO_UUID};
use crate::report::Stop;
use crate::row::{Cell, Column, Row};
use crate::scheme::{Id, Scheme};
use crate::time::TimeText;

/// How IDs are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// The text of the dialect, one ID per line
    Text,
    /// Hex digits, one ID per line
    Hex,
    /// A decimal number, one ID per line
    Int,
    /// The UUID view, one ID per line
    Uuid,
    /// The raw bytes of each ID, without line feeds
    Bytes,
    /// JSON objects with the fields of IDs, one object per line
    Json,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
}

impl Format {
    /// Returns the form of one ID, or `None` for a format that prints the fields of the ID.
    pub(crate) const fn form(self) -> Option<Form> {
        match self {
            Self::Text => Some(Form::Text),
            Self::Hex => Some(Form::Hex),
            Self::Int => Some(Form::Int),
            Self::Uuid => Some(Form::Uuid),
            Self::Bytes => Some(Form::Bytes),
            Self::Json | Self::Csv | Self::Tsv => None,
        }
    }
}

/// Reads a format that prints the fields of IDs. The help of the argument has only these formats.
pub(crate) fn field_formats() -> impl TypedValueParser<Value = Format> {
    let formats = || Format::value_variants().iter().filter(|format| format.form().is_none());
    PossibleValuesParser::new(formats().filter_map(Format::to_possible_value)).map(move |name| {
        let format =
            formats().find(|format| format.to_possible_value().is_some_and(|value| value.matches(&name, true)));
        // PANIC: clap accepts only these names.
        *format.expect("a possible value is one of the formats")
    })
}

/// The arguments that choose the output.
#[derive(clap::Args)]
pub(crate) struct FormatArgs {
    /// Format of the output
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<Format>,
    /// Print JSON objects, one per line; the same as --format json
    #[arg(long)]
    json: bool,
    /// Columns of CSV and TSV, separated by commas; the JSON members have the same names
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    columns: Vec<Column>,
    /// Print CSV and TSV without the names of the columns
    #[arg(long)]
    no_header: bool,
}

impl FormatArgs {
    /// Returns the format, or `None` if it was not chosen.
    pub(crate) fn format(&self) -> Option<Format> {
        if self.json { Some(Format::Json) } else { self.format }
    }

    /// Returns a writer, or `None` if no format was chosen. `default_columns` are those of CSV and TSV.
    pub(crate) fn writer(&self, scheme: Scheme, default_columns: &[Column]) -> Result<Option<Writer>, Stop> {
        let format = self.format();
        let is_table = matches!(format, Some(Format::Csv | Format::Tsv));
        if !is_table && (self.no_header || !self.columns.is_empty()) {
            return Err(Stop::Usage("--columns and --no-header work only with --format csv or --format tsv".into()));
        }
        if format == Some(Format::Uuid) && !scheme.has_uuid() {
            return Err(Stop::Usage(format!("--format uuid: {NO_UUID}")));
        }
        let columns = if self.columns.is_empty() { default_columns } else { &self.columns };
        Ok(format.map(|format| Writer {
            columns: columns.into(),
            needs_header: is_table && !self.no_header,
            ..Writer::new(format)
        }))
    }
}

/// Writes IDs in a format.
pub(crate) struct Writer {
    format: Format,
    columns: Vec<Column>,
    needs_header: bool,
    /// The line or the bytes that are written next.
    line: Vec<u8>,
    times: TimeText,
    /// Number of raw bytes that were written since the last flush.
    unflushed: usize,
}

/// The most raw bytes that are held back.
const MAX_UNFLUSHED: usize = 1 << 16;

impl Writer {
    pub(crate) fn new(format: Format) -> Self {
        let (line, times) = (Vec::new(), TimeText::default());
        Self { format, columns: Vec::new(), needs_header: false, line, times, unflushed: 0 }
    }

    /// Writes the header of CSV or TSV, if there is one and it was not written yet.
    pub(crate) fn write_header(&mut self, out: &mut Out) -> Result<(), Stop> {
        if self.needs_header {
            self.needs_header = false;
            let names: Vec<_> = self.columns.iter().map(|column| column.name()).collect();
            writeln!(out, "{}", names.join(if self.format == Format::Csv { "," } else { "\t" }))?;
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, out: &mut Out, row: &Row<'_>) -> Result<(), Stop> {
        self.write_header(out)?;
        self.line.clear();
        match self.format.form() {
            Some(form) => {
                if !row.id.write_form(form, &mut self.line) {
                    return Err(Stop::Error(format!("{}: {NO_UUID}", row.id)));
                }
                if form == Form::Bytes {
                    return self.write_bytes(out);
                }
                self.line.push(b'\n');
            }
            None => self.write_fields(row),
        }
        Ok(out.write_all(&self.line)?)
    }

    /// Writes raw bytes. The output holds back what comes after the last line feed, but bytes have no lines.
    fn write_bytes(&mut self, out: &mut Out) -> Result<(), Stop> {
        out.write_all(&self.line)?;
        self.unflushed += self.line.len();
        if self.unflushed >= MAX_UNFLUSHED {
            self.unflushed = 0;
            out.flush()?;
        }
        Ok(())
    }

    /// Writes an ID without findings of a command.
    pub(crate) fn write_id(&mut self, out: &mut Out, id: &Id) -> Result<(), Stop> {
        self.write(out, &Row::new(*id))
    }

    fn write_fields(&mut self, row: &Row<'_>) {
        let line = &mut self.line;
        match self.format {
            Format::Csv | Format::Tsv => {
                let (separator, write): (_, fn(&mut Vec<u8>, Cell<'_>)) =
                    if self.format == Format::Csv { (b',', write_csv) } else { (b'\t', write_tsv) };
                for column in &self.columns {
                    row.cell(*column, &mut self.times, |cell| write(line, cell));
                    line.push(separator);
                }
                line.pop();
            }
            _ => {
                line.push(b'{');
                for column in Column::JSON {
                    row.cell(*column, &mut self.times, |cell| {
                        if !matches!(cell, Cell::Absent) {
                            line.push(b'"');
                            line.extend(column.name().as_bytes());
                            line.extend(b"\":");
                            write_json(line, cell);
                            line.push(b',');
                        }
                    });
                }
                line.pop();
                line.push(b'}');
            }
        }
        line.push(b'\n');
    }
}

fn write_json(line: &mut Vec<u8>, cell: Cell<'_>) {
    match cell {
        Cell::Word(text) => {
            line.push(b'"');
            line.extend(text.as_bytes());
            line.push(b'"');
        }
        // PANIC: memory can be written, and a string always serializes.
        Cell::Text(text) => serde_json::to_writer(line, text).expect("a string serializes"),
        Cell::Number(number) => line.extend(itoa::Buffer::new().format(number).as_bytes()),
        Cell::Bool(value) => line.extend(value.to_string().as_bytes()),
        Cell::Null | Cell::Absent => line.extend(b"null"),
    }
}

/// Writes a value as RFC 4180 says: in quotes if it has a comma, a quote or a line end.
fn write_csv(line: &mut Vec<u8>, cell: Cell<'_>) {
    match cell {
        Cell::Text(text) if text.contains([',', '"', '\n', '\r']) => {
            line.extend(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
        }
        cell => write_plain(line, cell),
    }
}

/// Writes a value with the escapes of PostgreSQL's text format.
fn write_tsv(line: &mut Vec<u8>, cell: Cell<'_>) {
    match cell {
        Cell::Text(text) if text.contains(['\t', '\\', '\n', '\r']) => {
            let escaped = text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r");
            line.extend(escaped.as_bytes());
        }
        cell => write_plain(line, cell),
    }
}

fn write_plain(line: &mut Vec<u8>, cell: Cell<'_>) {
    match cell {
        Cell::Word(text) | Cell::Text(text) => line.extend(text.as_bytes()),
        Cell::Null | Cell::Absent => {}
        cell => write_json(line, cell),
    }
}
