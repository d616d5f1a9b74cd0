//! Writes a table in the format of the table that was read.

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::SchemaRef;
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::cannot_write;
use super::read::{Parquet, Reader, Table};
use crate::Out;
use crate::report::Stop;

/// Writes a table.
pub(crate) enum Writer<'a> {
    Parquet(ArrowWriter<&'a mut Out>),
    File(FileWriter<&'a mut Out>),
    Stream(StreamWriter<&'a mut Out>),
}

impl<'a> Writer<'a> {
    /// Starts a table with this schema. `added` are the columns that the table that was read does not have.
    pub(crate) fn new(reader: &Reader, schema: &SchemaRef, added: &[&str], out: &'a mut Out) -> Result<Self, Stop> {
        Ok(match &reader.table {
            Table::Parquet(table) => {
                let options = options(table, added);
                let writer = ArrowWriter::try_new_with_options(out, schema.clone(), options);
                Self::Parquet(writer.map_err(cannot_write)?)
            }
            Table::File(_) => {
                let mut writer = FileWriter::try_new(out, schema).map_err(cannot_write)?;
                for (key, value) in reader.file_metadata() {
                    writer.write_metadata(key, value);
                }
                Self::File(writer)
            }
            Table::Stream(_) => Self::Stream(StreamWriter::try_new(out, schema).map_err(cannot_write)?),
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Stop> {
        match self {
            Self::Parquet(writer) => writer.write(batch).map_err(cannot_write),
            Self::File(writer) => writer.write(batch).map_err(cannot_write),
            Self::Stream(writer) => {
                // A reader of the stream gets each batch at once.
                writer.write(batch).and_then(|()| writer.flush()).map_err(cannot_write)
            }
        }
    }

    /// Writes the row group that the rows since the last one belong to. Until then they are in memory.
    pub(crate) fn end_group(&mut self) -> Result<(), Stop> {
        match self {
            Self::Parquet(writer) => writer.flush().map_err(cannot_write),
            Self::File(_) | Self::Stream(_) => Ok(()),
        }
    }

    /// Writes the end of the table.
    pub(crate) fn finish(self) -> Result<(), Stop> {
        match self {
            Self::Parquet(writer) => writer.close().map(|_| ()).map_err(cannot_write),
            Self::File(mut writer) => writer.finish().map_err(cannot_write),
            Self::Stream(mut writer) => writer.finish().map_err(cannot_write),
        }
    }
}

/// Returns the properties of the table that was read: compression, metadata and names.
fn options(table: &Parquet, added: &[&str]) -> ArrowWriterOptions {
    let metadata = table.metadata.metadata();
    let file = metadata.file_metadata();
    let has_arrow_schema =
        file.key_value_metadata().is_some_and(|pairs| pairs.iter().any(|pair| pair.key == ARROW_SCHEMA_META_KEY));
    let pairs = file.key_value_metadata().map(|pairs| {
        // The writer adds the schema of the new table.
        pairs.iter().filter(|pair| pair.key != ARROW_SCHEMA_META_KEY).cloned().collect()
    });
    // Each row group ends where it ended in the table that was read.
    let mut properties = WriterProperties::builder().set_max_row_group_row_count(None).set_key_value_metadata(pairs);
    let columns = metadata.row_groups().first().map_or(&[][..], |group| group.columns());
    for column in columns {
        properties = properties.set_column_compression(column.column_path().clone(), written(column.compression()));
    }
    for name in added {
        let path = ColumnPath::new(vec![(*name).to_owned()]);
        // No two IDs are equal, so a dictionary of them does not help.
        properties = properties.set_column_dictionary_enabled(path.clone(), false);
        if let Some(first) = columns.first() {
            properties = properties.set_column_compression(path, written(first.compression()));
        }
    }
    ArrowWriterOptions::new()
        .with_properties(properties.build())
        .with_skip_arrow_metadata(!has_arrow_schema)
        .with_schema_root(file.schema_descr().root_schema().name().to_owned())
}

/// Returns the compression to write for one that was read: `LZ4` of old files is deprecated.
fn written(compression: Compression) -> Compression {
    match compression {
        Compression::LZ4 => Compression::LZ4_RAW,
        other => other,
    }
}
