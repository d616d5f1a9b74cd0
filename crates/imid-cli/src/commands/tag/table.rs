//! Parquet and Arrow tables. Each row gets its ID in new columns at the end, and the other columns do not change.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{Decimal128Builder, FixedSizeBinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use imid::MessageId;
use imid::dialect::Dialect;

use super::columns::Column;
use super::minter::Minter;
use super::plan::{Message, Plan, Value};
use crate::Out;
use crate::columnar::{Batch, Cells, Path, Reader, Texts, Writer, find};
use crate::form::Form;
use crate::report::{Report, Stop, quote};
use crate::scheme::Id;

/// Gives each row an ID. The output has the format of the input.
pub(super) fn run(
    mut table: Reader,
    plan: &Plan,
    columns: &[Column],
    minter: &mut Minter,
    out: &mut Out,
    report: &mut Report,
) -> Result<(), Stop> {
    minter.call_lines_rows();
    let fields = Fields::new(&table, plan)?;
    let (kept, schema) = output_schema(&table, plan, columns)?;
    let added: Vec<_> = columns.iter().map(|column| &*column.name).collect();
    let mut writer = Writer::new(&table, &schema, &added, out)?;
    let (mut rows, mut ran) = (Tagger { plan, minter, report, rows: 0, tagged: 0 }, Ok(()));
    while let Some(batch) = table.next()? {
        let Batch::Rows(batch) = batch else {
            writer.end_group()?;
            continue;
        };
        let cells = fields.read(&batch).map_err(|problem| table.error(&problem))?;
        let (tagged, ids);
        (tagged, ids, ran) = rows.tag(&batch, &cells)?;
        let rest = tagged.columns();
        let all =
            kept.iter().map(|index| rest[*index].clone()).chain(columns.iter().map(|column| array(column.form, &ids)));
        let batch =
            RecordBatch::try_new(schema.clone(), all.collect()).map_err(|error| table.error(&error.to_string()))?;
        writer.write(&batch)?;
        if ran.is_err() {
            break;
        }
    }
    // Also after an error, because a table without its end cannot be read.
    writer.finish()?;
    out.flush()?;
    let count = rows.tagged;
    minter.finish(report);
    ran?;
    minter.summary(count, "row", report);
    Ok(())
}

/// Mints the IDs of the rows.
struct Tagger<'a> {
    plan: &'a Plan,
    minter: &'a mut Minter,
    report: &'a mut Report,
    rows: u64,
    tagged: u64,
}

impl Tagger<'_> {
    /// Returns the rows that have an ID, their IDs, and the error that ends the run, if there is one.
    fn tag(&mut self, batch: &RecordBatch, cells: &[(&str, Cells<Texts>)]) -> Tagged {
        let (mut ids, mut has_id) = (Vec::with_capacity(batch.num_rows()), Vec::with_capacity(batch.num_rows()));
        let mut ran = Ok(());
        for row in 0..batch.num_rows() {
            self.rows += 1;
            let facts = self.plan.read(&Row { cells, row });
            let minted = facts.and_then(|facts| self.minter.mint(facts, self.rows));
            has_id.push(minted.is_ok());
            match minted {
                Ok(id) => ids.push(id),
                Err(problem) => {
                    ran = self.report.bad_input(format_args!("row {}", self.rows), problem);
                    if ran.is_err() {
                        break;
                    }
                }
            }
        }
        self.tagged += ids.len() as u64;
        let mut batch = batch.slice(0, has_id.len());
        if ids.len() < has_id.len() {
            let filtered = filter_record_batch(&batch, &BooleanArray::from(has_id));
            batch = filtered.map_err(|error| Stop::Error(format!("cannot leave out a row: {error}")))?;
        }
        Ok((batch, ids, ran))
    }
}

type Tagged = Result<(RecordBatch, Vec<MessageId>, Result<(), Stop>), Stop>;

/// The columns that are read.
struct Fields<'a>(Vec<(&'a str, Path, bool)>);

impl<'a> Fields<'a> {
    fn new(table: &Reader, plan: &'a Plan) -> Result<Self, Stop> {
        let field = |name: &'a String| {
            let is_time = plan.time_field.as_ref() == Some(name);
            Ok((name.as_str(), find(table.schema(), name)?, is_time))
        };
        let fields = plan.fields().map(field).collect::<Result<_, String>>();
        fields.map(Self).map_err(|problem| table.error(&problem))
    }

    fn read(&self, batch: &RecordBatch) -> Result<Vec<(&'a str, Cells<Texts>)>, String> {
        let read = |(name, path, is_time): &(&'a str, Path, bool)| {
            let cells = Cells::new(batch, path, |array| Texts::new(array, *is_time));
            let cells = cells.map_err(|problem| format!("field {}: {problem}", quote(name)))?;
            Ok((*name, cells))
        };
        self.0.iter().map(read).collect()
    }
}

/// A row of a batch.
struct Row<'a> {
    cells: &'a [(&'a str, Cells<Texts>)],
    row: usize,
}

impl Message for Row<'_> {
    fn value(&self, field: &str) -> Result<Value<'_>, String> {
        let found = self.cells.iter().find(|(name, _)| *name == field);
        let (_, cells) = found.ok_or_else(|| format!("field {} is missing", quote(field)))?;
        Ok(match cells.at(self.row) {
            None => Value::Json("null"),
            Some(texts) if texts.is_digits() => Value::Json(texts.value(self.row)),
            Some(texts) => Value::Text(texts.value(self.row)),
        })
    }

    /// The schema was checked.
    fn has(&self, _field: &str) -> bool {
        false
    }
}

/// Returns the columns that are kept, and the schema with the columns of the IDs.
fn output_schema(table: &Reader, plan: &Plan, columns: &[Column]) -> Result<(Vec<usize>, SchemaRef), Stop> {
    let schema = table.schema();
    let is_replaced = |name: &String| columns.iter().any(|column| column.name == *name);
    if let Some(field) = schema.fields().iter().find(|field| !plan.overwrite && is_replaced(field.name())) {
        return Err(table.error(&format!("field {} already exists (--overwrite replaces it)", quote(field.name()))));
    }
    let kept: Vec<usize> =
        (0..schema.fields().len()).filter(|index| !is_replaced(schema.field(*index).name())).collect();
    let added = columns.iter().map(|column| Arc::new(Field::new(&column.name, data_type(column.form), false)));
    let fields: Vec<_> = kept.iter().map(|index| schema.fields()[*index].clone()).chain(added).collect();
    Ok((kept, Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))))
}

/// The bytes of an ID, in Arrow's type.
const BYTES: i32 = 10;

const _: () = assert!(BYTES as usize == MessageId::BYTES, "the column holds an ID");

/// The digits of 2^80.
const INT_DIGITS: u8 = 25;

fn data_type(form: Form) -> DataType {
    match form {
        Form::Text | Form::Hex | Form::Uuid => DataType::Utf8,
        Form::Int => DataType::Decimal128(INT_DIGITS, 0),
        Form::Bytes => DataType::FixedSizeBinary(BYTES),
    }
}

/// Returns a column of IDs.
fn array(form: Form, ids: &[MessageId]) -> ArrayRef {
    match form {
        Form::Bytes => {
            let mut array = FixedSizeBinaryBuilder::with_capacity(ids.len(), BYTES);
            for id in ids {
                // PANIC: each ID has as many bytes as the column.
                array.append_value(id.to_bytes()).expect("an ID has 10 bytes");
            }
            Arc::new(array.finish())
        }
        Form::Int => {
            // PANIC: 80 bits have at most 25 digits, and 38 are possible.
            let array = Decimal128Builder::with_capacity(ids.len()).with_precision_and_scale(INT_DIGITS, 0);
            let mut array = array.expect("the precision is valid");
            for id in ids {
                array.append_value(id.to_u128().cast_signed());
            }
            Arc::new(array.finish())
        }
        Form::Text | Form::Hex | Form::Uuid => {
            let mut array = StringBuilder::with_capacity(ids.len(), ids.len() * 36);
            let mut text = Vec::new();
            for id in ids {
                text.clear();
                Id::Message { dialect: &Dialect::STANDARD, id: (*id).into() }.write_form(form, &mut text);
                array.append_value(String::from_utf8_lossy(&text));
            }
            Arc::new(array.finish())
        }
    }
}
