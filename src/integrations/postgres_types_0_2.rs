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

macro_rules! column {
    (
        $(#[$doc:meta])* $value:ident in $($column:ident)|*,
        |$out:ident| $to_column:expr, |$type:pat_param, $raw:ident| $from_column:expr
    ) => {
        $(#[$doc])*
        impl ToSql for $value {
            accepts!($($column),*);
            to_sql_checked!();

            fn to_sql(&self, column: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
                let $out = *self;
                $to_column.to_sql(column, out)
            }
        }

        $(#[$doc])*
        impl FromSql<'_> for $value {
            accepts!($($column),*);

            fn from_sql($type: &Type, $raw: &[u8]) -> Result<Self, Failure> {
                Ok($from_column)
            }
        }
    };
}

column! {
    /// The 10 bytes, in a column of type `bytea`.
    MessageId in BYTEA, |id| (&id.to_bytes()[..]), |_, raw| Self::from_slice(raw)?
}

column! {
    /// The 19 characters, read strictly, in a column of type `text`, `varchar` or `char(19)`.
    AsText in TEXT | VARCHAR | BPCHAR, |column| column.0.to_text().as_str(), |_, raw| Self(MessageId::parse_bytes(raw)?)
}

column! {
    /// The UUID view, in a column of type `uuid`.
    AsUuid in UUID, |column| (&column.0.to_uuid_bytes()[..]), |_, raw| {
        let bytes = raw.try_into().map_err(|_| LengthError::new(UUID_BYTES, raw.len()))?;
        Self(MessageId::from_uuid_bytes(bytes)?)
    }
}

column! {
    /// The 26 bits, in a column of type `integer`.
    SessionTag in INT4, |session| session.to_i32(), |column, raw| Self::from_signed(i32::from_sql(column, raw)?)?
}

column! {
    /// The code, in a column of type `smallint`.
    SessionType in INT2, |session_type| session_type.to_i16(), |column, raw| Self::from_signed(i16::from_sql(column, raw)?)?
}
