//! The values of a column, as text or bytes.

use std::fmt::Write;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray,
    RecordBatch, StringArray, StringViewArray, downcast_integer_array,
};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::take::take;

use super::Path;

/// The cells of a column. A cell is null if its value, or a struct around it, is null.
pub(crate) struct Cells<T> {
    values: T,
    /// The column, and the structs around it.
    nested: Vec<ArrayRef>,
}

/// Strings, or the decimal digits of integers.
pub(crate) enum Texts {
    Utf8(StringArray),
    LargeUtf8(LargeStringArray),
    Utf8View(StringViewArray),
    /// The digits of integers, or the unix milliseconds of timestamps.
    Digits(StringArray),
}

/// Raw bytes.
pub(crate) enum Bytes {
    Fixed(FixedSizeBinaryArray),
    Binary(BinaryArray),
    LargeBinary(LargeBinaryArray),
    BinaryView(BinaryViewArray),
}

impl<T> Cells<T> {
    /// Returns the column at a path.
    pub(crate) fn new(
        batch: &RecordBatch,
        path: &Path,
        read: impl FnOnce(&ArrayRef) -> Result<T, String>,
    ) -> Result<Self, String> {
        let mut nested = vec![batch.column(path[0]).clone()];
        for index in &path[1..] {
            let inner = nested[nested.len() - 1].as_struct().column(*index).clone();
            nested.push(inner);
        }
        // A dictionary can have a null value, which its keys do not show.
        if let Some(column) = nested.last_mut() {
            *column = unpacked(column)?;
        }
        let values = read(&nested[nested.len() - 1])?;
        Ok(Self { values, nested })
    }

    /// Returns the column, unless the cell is null.
    pub(crate) fn at(&self, row: usize) -> Option<&T> {
        self.nested.iter().all(|array| array.is_valid(row)).then_some(&self.values)
    }
}

impl Texts {
    /// Reads strings and integers. With `times`, reads timestamps as unix milliseconds too, rounded down.
    pub(crate) fn new(array: &ArrayRef, times: bool) -> Result<Self, String> {
        let mut digits = StringBuilder::new();
        // Memory can always be written.
        let mut push = |value: Option<&dyn std::fmt::Display>| match value {
            Some(value) => {
                let _ = write!(digits, "{value}");
                digits.append_value("");
            }
            None => digits.append_null(),
        };
        if let DataType::Timestamp(unit, _) = array.data_type()
            && times
        {
            for row in 0..array.len() {
                let ms = (!array.is_null(row)).then(|| unix_ms(array, *unit, row));
                push(ms.as_ref().map(|ms| ms as _));
            }
            return Ok(Self::Digits(digits.finish()));
        }
        downcast_integer_array!(
            array => {
                for value in array {
                    push(value.as_ref().map(|value| value as _));
                }
            }
            DataType::Utf8 => return Ok(Self::Utf8(array.as_string().clone())),
            DataType::LargeUtf8 => return Ok(Self::LargeUtf8(array.as_string().clone())),
            DataType::Utf8View => return Ok(Self::Utf8View(array.as_string_view().clone())),
            other => {
                let expected = if times { "timestamps, integers or strings" } else { "strings or integers" };
                return Err(format!("expected a column of {expected}, found {other}"));
            }
        );
        Ok(Self::Digits(digits.finish()))
    }

    /// Returns whether the cells are numbers.
    pub(crate) fn is_digits(&self) -> bool {
        matches!(self, Self::Digits(_))
    }

    /// Returns a cell that is not null.
    pub(crate) fn value(&self, row: usize) -> &str {
        match self {
            Self::Utf8(array) | Self::Digits(array) => array.value(row),
            Self::LargeUtf8(array) => array.value(row),
            Self::Utf8View(array) => array.value(row),
        }
    }
}

impl Bytes {
    /// Returns the column, or `None` if it does not have raw bytes.
    pub(crate) fn new(array: &ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            DataType::FixedSizeBinary(_) => Self::Fixed(array.as_fixed_size_binary().clone()),
            DataType::Binary => Self::Binary(array.as_binary().clone()),
            DataType::LargeBinary => Self::LargeBinary(array.as_binary().clone()),
            DataType::BinaryView => Self::BinaryView(array.as_binary_view().clone()),
            _ => return None,
        })
    }

    /// Returns a cell that is not null.
    pub(crate) fn value(&self, row: usize) -> &[u8] {
        match self {
            Self::Fixed(array) => array.value(row),
            Self::Binary(array) => array.value(row),
            Self::LargeBinary(array) => array.value(row),
            Self::BinaryView(array) => array.value(row),
        }
    }
}

/// Returns the values of a dictionary, one for each row. Other arrays do not change.
fn unpacked(array: &ArrayRef) -> Result<ArrayRef, String> {
    match array.as_any_dictionary_opt() {
        Some(dictionary) => take(dictionary.values(), dictionary.keys(), None).map_err(|error| error.to_string()),
        None => Ok(array.clone()),
    }
}

/// Returns a time that is not null. The range of 64 bits of seconds needs more bits in milliseconds.
fn unix_ms(array: &ArrayRef, unit: TimeUnit, row: usize) -> i128 {
    let (value, per_ms) = match unit {
        TimeUnit::Second => return i128::from(array.as_primitive::<TimestampSecondType>().value(row)) * 1_000,
        TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().value(row), 1),
        TimeUnit::Microsecond => (array.as_primitive::<TimestampMicrosecondType>().value(row), 1_000),
        TimeUnit::Nanosecond => (array.as_primitive::<TimestampNanosecondType>().value(row), 1_000_000),
    };
    i128::from(value).div_euclid(per_ms)
}
