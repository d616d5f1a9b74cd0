//! rusqlite 0.41: values in SQLite.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::error::LengthError;
use crate::id::MessageId;
use crate::session::{SessionTag, SessionType};
use crate::store::{AsText, AsUuid};
use crate::uuid_view::UUID_BYTES;

macro_rules! column {
    ($(#[$doc:meta])* $value:ident, |$out:ident| $to_column:expr, |$in:ident| $from_column:expr) => {
        $(#[$doc])*
        impl ToSql for $value {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                let $out = *self;
                Ok($to_column.into())
            }
        }

        $(#[$doc])*
        impl FromSql for $value {
            fn column_result($in: ValueRef<'_>) -> FromSqlResult<Self> {
                $from_column.map_err(FromSqlError::other)
            }
        }
    };
}

column! {
    /// The 10 bytes, as a `BLOB`.
    MessageId, |id| id.to_bytes().to_vec(), |value| Self::from_slice(value.as_blob()?)
}

column! {
    /// The 19 characters, read strictly, as `TEXT`.
    AsText, |column| String::from(column.0), |value| MessageId::parse(value.as_str()?).map(Self)
}

column! {
    /// The UUID view, as a `BLOB` of 16 bytes.
    AsUuid, |column| column.0.to_uuid_bytes().to_vec(), |value| {
        let bytes = value.as_blob()?;
        let bytes = bytes.try_into().map_err(|_| FromSqlError::other(LengthError::new(UUID_BYTES, bytes.len())))?;
        MessageId::from_uuid_bytes(bytes).map(Self)
    }
}

column! {
    /// The 26 bits, as an `INTEGER`.
    SessionTag, |session| session.to_i32(), |value| Self::from_signed(value.as_i64()?)
}

column! {
    /// The code, as an `INTEGER`.
    SessionType, |session_type| session_type.to_i16(), |value| Self::from_signed(value.as_i64()?)
}
