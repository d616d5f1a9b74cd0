//! Reads tables in batches of rows, so that memory does not grow with the file.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::find;
use super::guard::guard;
use crate::report::Stop;

/// The format of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Parquet,
    ArrowFile,
    ArrowStream,
}

/// A reader that another thread can use.
type Source = Box<dyn Read + Send>;

/// The batches of a table.
pub(crate) struct Reader {
    name: String,
    schema: SchemaRef,
    pub(super) table: Table,
}

pub(super) enum Table {
    Parquet(Parquet),
    File(FileReader<BufReader<File>>),
    Stream(StreamReader<BufReader<Source>>),
}

pub(super) struct Parquet {
    file: File,
    pub(super) metadata: ArrowReaderMetadata,
    projection: ProjectionMask,
    /// The row groups before this one were read, or are read now.
    next_group: usize,
    group: Option<ParquetRecordBatchReader>,
}

/// Some rows of a table.
pub(crate) enum Batch {
    Rows(RecordBatch),
    /// The end of a row group.
    EndOfGroup,
}

/// The most rows of a batch from Parquet. Arrow files have their own batches.
const ROWS: usize = 1 << 13;

impl Reader {
    /// Opens a table. The formats with an index at their end need a file; other sources are copied to a temporary file.
    pub(crate) fn open(format: Format, source: Source, file: Option<File>, name: String) -> Result<Self, Stop> {
        let seekable = |source| -> Result<File, Stop> {
            let copied = match file {
                Some(file) => Ok(file),
                None => copy(source),
            };
            copied.map_err(|error| Stop::Error(format!("cannot read {name}: {error}")))
        };
        let (schema, table) = match format {
            Format::Parquet => {
                let file = seekable(source)?;
                let metadata = guarded(|| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()));
                let metadata = metadata.map_err(|error| cannot_read(&name, format, &error))?;
                let schema = metadata.schema().clone();
                let (projection, group) = (ProjectionMask::all(), None);
                (schema, Table::Parquet(Parquet { file, metadata, projection, next_group: 0, group }))
            }
            Format::ArrowFile => {
                let file = seekable(source)?;
                let reader = guarded(|| FileReader::try_new_buffered(file, None));
                let reader = reader.map_err(|error| cannot_read(&name, format, &error))?;
                (reader.schema(), Table::File(reader))
            }
            Format::ArrowStream => {
                let reader = guarded(|| StreamReader::try_new_buffered(source, None));
                let reader = reader.map_err(|error| cannot_read(&name, format, &error))?;
                (reader.schema(), Table::Stream(reader))
            }
        };
        Ok(Self { name, schema, table })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Reads only these columns, where the format allows that.
    pub(crate) fn project<'a>(&mut self, names: impl Iterator<Item = &'a String>) -> Result<(), Stop> {
        let columns = names.map(|name| Ok(find(&self.schema, name)?[0])).collect::<Result<Vec<_>, String>>();
        let columns = columns.map_err(|problem| self.error(&problem))?;
        if let Table::Parquet(table) = &mut self.table {
            let schema = table.metadata.parquet_schema();
            table.projection = ProjectionMask::roots(schema, columns.iter().copied());
            let mut columns = columns;
            columns.sort_unstable();
            columns.dedup();
            let projected = self.schema.project(&columns).map_err(|error| self.error(&error.to_string()))?;
            self.schema = projected.into();
        }
        Ok(())
    }

    /// Returns an error about the table.
    pub(crate) fn error(&self, problem: &str) -> Stop {
        Stop::Error(format!("{}: {problem}", self.name))
    }

    pub(crate) fn format(&self) -> Format {
        match self.table {
            Table::Parquet(_) => Format::Parquet,
            Table::File(_) => Format::ArrowFile,
            Table::Stream(_) => Format::ArrowStream,
        }
    }

    /// Metadata of an Arrow file that is not part of its schema.
    pub(super) fn file_metadata(&self) -> HashMap<String, String> {
        match &self.table {
            Table::File(reader) => reader.custom_metadata().clone(),
            _ => HashMap::new(),
        }
    }

    /// Returns the next rows, or `None` at the end of the table.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>, Stop> {
        let read = guarded(|| match &mut self.table {
            Table::Parquet(table) => table.next(),
            Table::File(reader) => Ok(reader.next().transpose()?.map(Batch::Rows)),
            Table::Stream(reader) => Ok(reader.next().transpose()?.map(Batch::Rows)),
        });
        read.map_err(|error| cannot_read(&self.name, self.format(), &error))
    }
}

impl Parquet {
    fn next(&mut self) -> Result<Option<Batch>, Box<dyn Error>> {
        if let Some(group) = &mut self.group {
            if let Some(batch) = group.next().transpose()? {
                return Ok(Some(Batch::Rows(batch)));
            }
            self.group = None;
            return Ok(Some(Batch::EndOfGroup));
        }
        if self.next_group == self.metadata.metadata().num_row_groups() {
            return Ok(None);
        }
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.try_clone()?, self.metadata.clone())
            .with_projection(self.projection.clone())
            .with_row_groups(vec![self.next_group])
            .with_batch_size(ROWS);
        self.group = Some(builder.build()?);
        self.next_group += 1;
        self.next()
    }
}

/// Copies a source to a temporary file, which the system deletes when the process ends.
fn copy(mut source: Source) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut source, &mut file)?;
    file.rewind()?;
    Ok(file)
}

/// Calls a function that reads data, and returns its error or its panic as a text.
fn guarded<T, E: Display>(read: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    guard(read)?.map_err(|error| error.to_string())
}

fn cannot_read(name: &str, format: Format, problem: &str) -> Stop {
    let format = match format {
        Format::Parquet => "Parquet",
        Format::ArrowFile | Format::ArrowStream => "Arrow",
    };
    Stop::Error(format!("cannot read {name} as {format}: {problem}"))
}
