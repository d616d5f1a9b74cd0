//! rusqlite 0.41: values in SQLite.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::error::LengthError;
use crate::id::MessageId;
use crate::session::{SessionTag, SessionType};
use crate::store::{AsText, AsUuid};
use crate::uuid_view::UUID_BYTES;

/// The 10 bytes, as a `BLOB`.
impl ToSql for MessageId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_bytes().to_vec().into())
    }
}

/// The 10 bytes, as a `BLOB`.
impl FromSql for MessageId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_slice(value.as_blob()?).map_err(FromSqlError::other)
    }
}

/// The 19 characters, as `TEXT`.
impl ToSql for AsText {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(String::from(self.0).into())
    }
}

/// The 19 characters, read strictly, as `TEXT`.
impl FromSql for AsText {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        MessageId::parse(value.as_str()?).map(Self).map_err(FromSqlError::other)
    }
}

/// The UUID view, as a `BLOB` of 16 bytes.
impl ToSql for AsUuid {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.to_uuid_bytes().to_vec().into())
    }
}

/// The UUID view, as a `BLOB` of 16 bytes.
impl FromSql for AsUuid {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?;
        let bytes = bytes.try_into().map_err(|_| FromSqlError::other(LengthError::new(UUID_BYTES, bytes.len())))?;
        MessageId::from_uuid_bytes(bytes).map(Self).map_err(FromSqlError::other)
    }
}

/// The 26 bits, as an `INTEGER`.
impl ToSql for SessionTag {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_i32().into())
    }
}

/// The 26 bits, as an `INTEGER`.
impl FromSql for SessionTag {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_signed(value.as_i64()?).map_err(FromSqlError::other)
    }
}

/// The code, as an `INTEGER`.
impl ToSql for SessionType {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_i16().into())
    }
}

/// The code, as an `INTEGER`.
impl FromSql for SessionType {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_signed(value.as_i64()?).map_err(FromSqlError::other)
    }
}
