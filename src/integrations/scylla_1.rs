//! scylla 1: values for Cassandra and Scylla.

use scylla_cql_core::deserialize::value::DeserializeValue;
use scylla_cql_core::deserialize::{DeserializationError, FrameSlice, TypeCheckError};
use scylla_cql_core::frame::response::result::ColumnType;
use scylla_cql_core::serialize::value::SerializeValue;
use scylla_cql_core::serialize::writers::WrittenCellProof;
use scylla_cql_core::serialize::{CellWriter, SerializationError};

use crate::id::MessageId;
use crate::session::{SessionTag, SessionType};
use crate::store::{AsText, AsUuid};

/// Implements the traits for a value. It is written as `$written` and read as `$read`.
macro_rules! column {
    (
        $(#[$doc:meta])* $value:ident as $written:ty, $read:ty,
        |$out:ident| $to_form:expr, |$in:ident| $from_form:expr
    ) => {
        $(#[$doc])*
        impl SerializeValue for $value {
            fn serialize<'b>(
                &self,
                column: &ColumnType<'_>,
                writer: CellWriter<'b>,
            ) -> Result<WrittenCellProof<'b>, SerializationError> {
                let $out = *self;
                <$written>::serialize(&$to_form, column, writer)
            }
        }

        $(#[$doc])*
        impl<'frame, 'metadata> DeserializeValue<'frame, 'metadata> for $value {
            fn type_check(column: &ColumnType<'_>) -> Result<(), TypeCheckError> {
                <$read>::type_check(column)
            }

            fn deserialize(
                column: &'metadata ColumnType<'metadata>,
                value: Option<FrameSlice<'frame>>,
            ) -> Result<Self, DeserializationError> {
                let $in = <$read>::deserialize(column, value)?;
                $from_form.map_err(DeserializationError::new)
            }
        }
    };
}

column! {
    /// The 10 bytes, in a column of type `blob`.
    MessageId as [u8; MessageId::BYTE_LEN], &[u8], |id| id.to_bytes(), |bytes| MessageId::from_slice(bytes)
}

column! {
    /// The 19 characters, read strictly, in a column of type `text` or `ascii`.
    AsText as str, &str, |column| *column.0.to_text(), |text| MessageId::parse(text).map(AsText)
}

column! {
    /// The UUID view, in a column of type `uuid`. A `timeuuid` is of version 1 and cannot hold it.
    AsUuid as uuid::Uuid, uuid::Uuid,
    |column| uuid::Uuid::from_bytes(column.0.to_uuid_bytes()),
    |uuid| MessageId::from_uuid_bytes(uuid.into_bytes()).map(AsUuid)
}

column! {
    /// The 26 bits, in a column of type `int`.
    SessionTag as i32, i32, |session| session.to_i32(), |integer| SessionTag::from_signed(integer)
}

column! {
    /// The code, in a column of type `smallint`.
    SessionType as i16, i16, |session_type| session_type.to_i16(), |integer| SessionType::from_signed(integer)
}
