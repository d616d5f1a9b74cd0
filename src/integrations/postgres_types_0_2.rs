//! postgres-types 0.2: values for `postgres` and `tokio-postgres`, alone, in arrays and in binary COPY.

use std::error::Error;

use bytes::BytesMut;
use postgres_types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use crate::error::LengthError;
use crate::id::MessageId;
use crate::session::{SessionTag, SessionType};
use crate::store::{AsText, AsUuid};
use crate::uuid_view::UUID_BYTES;

type Failure = Box<dyn Error + Sync + Send>;

/// The 10 bytes, in a column of type `bytea`.
impl ToSql for MessageId {
    accepts!(BYTEA);
    to_sql_checked!();

    fn to_sql(&self, column: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        (&self.to_bytes()[..]).to_sql(column, out)
    }
}

/// The 10 bytes, in a column of type `bytea`.
impl FromSql<'_> for MessageId {
    accepts!(BYTEA);

    fn from_sql(_: &Type, raw: &[u8]) -> Result<Self, Failure> {
        Ok(Self::from_slice(raw)?)
    }
}

/// The 19 characters, in a column of type `text`, `varchar` or `char(19)`.
impl ToSql for AsText {
    accepts!(TEXT, VARCHAR, BPCHAR);
    to_sql_checked!();

    fn to_sql(&self, column: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        self.0.to_text().as_str().to_sql(column, out)
    }
}

/// The 19 characters, read strictly, in a column of type `text`, `varchar` or `char(19)`.
impl FromSql<'_> for AsText {
    accepts!(TEXT, VARCHAR, BPCHAR);

    fn from_sql(_: &Type, raw: &[u8]) -> Result<Self, Failure> {
        Ok(Self(MessageId::parse_bytes(raw)?))
    }
}

/// The UUID view, in a column of type `uuid`.
impl ToSql for AsUuid {
    accepts!(UUID);
    to_sql_checked!();

    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        out.extend_from_slice(&self.0.to_uuid_bytes());
        Ok(IsNull::No)
    }
}

/// The UUID view, in a column of type `uuid`.
impl FromSql<'_> for AsUuid {
    accepts!(UUID);

    fn from_sql(_: &Type, raw: &[u8]) -> Result<Self, Failure> {
        let bytes = raw.try_into().map_err(|_| LengthError::new(UUID_BYTES, raw.len()))?;
        Ok(Self(MessageId::from_uuid_bytes(bytes)?))
    }
}

/// The 26 bits, in a column of type `integer`.
impl ToSql for SessionTag {
    accepts!(INT4);
    to_sql_checked!();

    fn to_sql(&self, column: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        self.to_i32().to_sql(column, out)
    }
}

/// The 26 bits, in a column of type `integer`.
impl FromSql<'_> for SessionTag {
    accepts!(INT4);

    fn from_sql(column: &Type, raw: &[u8]) -> Result<Self, Failure> {
        Ok(Self::from_signed(i32::from_sql(column, raw)?)?)
    }
}

/// The code, in a column of type `smallint`.
impl ToSql for SessionType {
    accepts!(INT2);
    to_sql_checked!();

    fn to_sql(&self, column: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        self.to_i16().to_sql(column, out)
    }
}

/// The code, in a column of type `smallint`.
impl FromSql<'_> for SessionType {
    accepts!(INT2);

    fn from_sql(column: &Type, raw: &[u8]) -> Result<Self, Failure> {
        Ok(Self::from_signed(i16::from_sql(column, raw)?)?)
    }
}
