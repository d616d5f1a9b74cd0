//! Parquet and Arrow files, with the crates of Apache Arrow.

mod cells;
mod guard;
mod read;
mod write;

use std::any::Any;
use std::error::Error;
use std::io;

use arrow_schema::{ArrowError, Schema};
use parquet::errors::ParquetError;

pub(crate) use self::cells::{Bytes, Cells, Texts};
pub(crate) use self::read::{Batch, Format, Reader};
pub(crate) use self::write::Writer;
use crate::report::{Stop, quote};

/// Where a column is: the indexes of the columns from the outermost one to itself.
pub(crate) type Path = Vec<usize>;

/// Finds a column by name. A name with dots that is not a column is a path through structs.
pub(crate) fn find(schema: &Schema, name: &str) -> Result<Path, String> {
    let missing = || format!("field {} is missing", quote(name));
    let position = |fields: &arrow_schema::Fields, name: &str| {
        let mut found = fields.iter().enumerate().filter(|(_, field)| field.name() == name).map(|(index, _)| index);
        match (found.next(), found.next()) {
            (Some(_), Some(_)) => Err(format!("field {} occurs more than once", quote(name))),
            (index, _) => Ok(index),
        }
    };
    if let Some(index) = position(&schema.fields, name)? {
        return Ok(vec![index]);
    }
    let (mut fields, mut path) = (&schema.fields, Vec::new());
    let mut parts = name.split('.').peekable();
    while let Some(part) = parts.next() {
        let index = position(fields, part)?.ok_or_else(missing)?;
        path.push(index);
        match fields[index].data_type() {
            arrow_schema::DataType::Struct(inner) if parts.peek().is_some() => fields = inner,
            _ if parts.peek().is_some() => return Err(missing()),
            _ => {}
        }
    }
    Ok(path)
}

/// Returns the error of a writer: one of standard output, or one of the data.
fn cannot_write(error: impl Error + Any) -> Stop {
    let error = Box::new(error) as Box<dyn Any>;
    let message = |error: &dyn Error| Stop::Error(format!("cannot write the table: {error}"));
    let error = match error.downcast::<ArrowError>() {
        Ok(error) => {
            return match *error {
                ArrowError::IoError(_, error) => Stop::Output(error),
                error => message(&error),
            };
        }
        Err(error) => error,
    };
    match error.downcast::<ParquetError>().map(|error| *error) {
        Ok(ParquetError::External(error)) => match error.downcast::<io::Error>() {
            Ok(error) => Stop::Output(*error),
            Err(error) => message(&*error),
        },
        Ok(error) => message(&error),
        Err(_) => Stop::Error("cannot write the table".into()),
    }
}
