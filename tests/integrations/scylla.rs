//! scylla: the bytes of values in frames of the CQL protocol.

use std::error::Error;
use std::fmt::Debug;

use bytes::Bytes;
use imid::store::{AsText, AsUuid};
use imid::{MessageId, SessionTag, SessionType};
use scylla_cql_core::deserialize::FrameSlice;
use scylla_cql_core::deserialize::value::DeserializeValue;
use scylla_cql_core::frame::response::result::{CollectionType, ColumnType, NativeType};
use scylla_cql_core::serialize::CellWriter;
use scylla_cql_core::serialize::value::SerializeValue;

use super::{BYTES, ID, UUID};

/// Reads a value from a cell. `None` is NULL.
fn read<T>(column: NativeType, cell: Option<&[u8]>) -> Result<T, Box<dyn Error>>
where
    T: for<'frame, 'metadata> DeserializeValue<'frame, 'metadata>,
{
    let column = ColumnType::Native(column);
    T::type_check(&column)?;
    let frame = Bytes::copy_from_slice(cell.unwrap_or_default());
    Ok(T::deserialize(&column, cell.map(|_| FrameSlice::new(&frame)))?)
}

/// Writes a value, reads it back, and returns the bytes of the cell. Each cell begins with its length.
fn written<T>(value: &T, column: NativeType) -> Vec<u8>
where
    T: SerializeValue + for<'frame, 'metadata> DeserializeValue<'frame, 'metadata> + PartialEq + Debug,
{
    let mut frame = Vec::new();
    value.serialize(&ColumnType::Native(column.clone()), CellWriter::new(&mut frame)).unwrap();
    let (length, cell) = frame.split_first_chunk().expect("a length");
    assert_eq!(i32::from_be_bytes(*length), i32::try_from(cell.len()).unwrap());
    assert_eq!(read::<T>(column, Some(cell)).as_ref().ok(), Some(value));
    cell.to_vec()
}

/// Returns the messages of an error and its sources.
fn refused<T>(column: NativeType, cell: Option<&[u8]>) -> String
where
    T: for<'frame, 'metadata> DeserializeValue<'frame, 'metadata> + Debug,
{
    read::<T>(column, cell).unwrap_err().to_string()
}

#[test]
fn each_value_has_its_bytes_in_a_cell() {
    assert_eq!(written(&ID, NativeType::Blob), BYTES);
    assert_eq!(written(&AsText(ID), NativeType::Text), b"EUNC-Q8QJ-22GH-T3DD");
    assert_eq!(written(&AsText(ID), NativeType::Ascii), b"EUNC-Q8QJ-22GH-T3DD");
    assert_eq!(written(&AsUuid(ID), NativeType::Uuid), UUID);
    assert_eq!(written(&ID.session_tag(), NativeType::Int), 16_549_227_i32.to_be_bytes());
    assert_eq!(written(&SessionType::GROUP, NativeType::SmallInt), 3_i16.to_be_bytes());
    written(&Some(ID), NativeType::Blob);
}

/// `WHERE id IN ?` takes a list.
#[test]
fn a_list_has_a_cell_for_each_id() {
    let typ = CollectionType::List(Box::new(ColumnType::Native(NativeType::Blob)));
    let column = ColumnType::Collection { frozen: false, typ };
    let ids = vec![ID, MessageId::MIN, MessageId::MAX];
    let mut frame = Vec::new();
    ids.serialize(&column, CellWriter::new(&mut frame)).unwrap();
    let cells: Vec<u8> = ids.iter().flat_map(|id| [&10_i32.to_be_bytes()[..], &id.to_bytes()].concat()).collect();
    let length = |bytes: usize| i32::try_from(bytes).unwrap().to_be_bytes();
    assert_eq!(frame, [&length(4 + cells.len())[..], &length(ids.len()), &cells].concat());

    let frame = Bytes::from(frame.split_off(4));
    Vec::<MessageId>::type_check(&column).unwrap();
    assert_eq!(Vec::<MessageId>::deserialize(&column, Some(FrameSlice::new(&frame))).unwrap(), ids);
}

#[test]
fn a_value_in_a_column_of_another_type_is_an_error() {
    fn both<T>(value: &T, column: NativeType)
    where
        T: SerializeValue + for<'frame, 'metadata> DeserializeValue<'frame, 'metadata> + Debug,
    {
        let column = ColumnType::Native(column);
        assert!(value.serialize(&column, CellWriter::new(&mut Vec::new())).is_err(), "{value:?} {column:?}");
        assert!(T::type_check(&column).is_err(), "{value:?} {column:?}");
    }
    both(&ID, NativeType::Text);
    both(&ID, NativeType::Uuid);
    both(&ID, NativeType::BigInt);
    both(&AsText(ID), NativeType::Blob);
    both(&AsUuid(ID), NativeType::Timeuuid);
    both(&AsUuid(ID), NativeType::Blob);
    both(&ID.session_tag(), NativeType::BigInt);
    both(&SessionType::GROUP, NativeType::TinyInt);
}

#[test]
fn other_cells_are_errors_that_say_why() {
    assert!(refused::<MessageId>(NativeType::Blob, Some(&UUID)).ends_with("expected 10 bytes, found 16"));
    assert!(refused::<MessageId>(NativeType::Blob, Some(&[])).ends_with("expected 10 bytes, found 0"));
    assert!(refused::<MessageId>(NativeType::Blob, None).to_lowercase().contains("null"));
    assert!(refused::<AsText>(NativeType::Text, Some(b"EUNC")).ends_with("expected '-', found the end at 4"));
    assert!(
        refused::<AsUuid>(NativeType::Uuid, Some(&[0; 16])).ends_with("expected a UUID of version 7, found version 0")
    );
    assert!(
        refused::<SessionTag>(NativeType::Int, Some(&[0xff; 4]))
            .ends_with("expected a session tag of 0 to 67108863, found -1")
    );
    assert!(
        refused::<SessionType>(NativeType::SmallInt, Some(&[0, 16]))
            .ends_with("expected a session type of 0 to 15, found 16")
    );
    assert_eq!(read::<Option<MessageId>>(NativeType::Blob, None).unwrap(), None);
    assert_eq!(read::<SessionTag>(NativeType::Int, Some(&[0; 4])).unwrap(), SessionTag::from_u32(0).unwrap());
}
