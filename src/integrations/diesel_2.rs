//! diesel 2: values in PostgreSQL, MySQL and SQLite.
//!
//! A value is bound as a type that diesel already knows, such as `Vec<u8>`, so it can be inserted and compared in each
//! database. Arrays, `eq_any` and `Option` bind the value itself, which works in PostgreSQL and MySQL. With SQLite they need
//! the type that diesel knows, such as `id.to_bytes().to_vec()`. An implementation for SQLite would name a type of diesel's
//! driver, which links SQLite.
//!
//! diesel drops the high bits of an integer of SQLite that is too long: it reads 65539 in a `SmallInt` as 3. A `CHECK` of the
//! table keeps such values out.

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, Queryable};
use diesel::expression::AsExpression;
use diesel::query_builder::bind_collector::RawBytesBindCollector;
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types::{self, Binary, Integer, Nullable, SingleValue, SmallInt, Text};
use uuid::Uuid;

use crate::error::LengthError;
use crate::id::MessageId;
use crate::session::{SessionTag, SessionType};
use crate::store::{AsText, AsUuid};
use crate::uuid_view::UUID_BYTES;

/// Implements the traits for a value in columns of a SQL type. diesel stores it as `$form`.
macro_rules! column {
    (
        $(#[$doc:meta])* $value:ident in $sql:ty as $form:ty,
        |$out:ident| $to_form:expr, |$in:ident| $from_form:expr
    ) => {
        column!(@expression $value, $value, $sql, $form, |$out| $to_form);
        column!(@expression $value, &$value, $sql, $form, |$out| $to_form);
        column!(@expression $value, $value, Nullable<$sql>, $form, |$out| $to_form);
        column!(@expression $value, &$value, Nullable<$sql>, $form, |$out| $to_form);

        $(#[$doc])*
        impl<DB: Backend> ToSql<$sql, DB> for $value
        where
            for<'c> DB: Backend<BindCollector<'c> = RawBytesBindCollector<DB>>,
            $form: ToSql<$sql, DB>,
        {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
                let $out = *self;
                <$form as ToSql<$sql, DB>>::to_sql(&$to_form, &mut out.reborrow())
            }
        }

        $(#[$doc])*
        impl<DB: Backend> FromSql<$sql, DB> for $value
        where
            $form: FromSql<$sql, DB>,
        {
            fn from_sql(raw: DB::RawValue<'_>) -> deserialize::Result<Self> {
                let $in = <$form>::from_sql(raw)?;
                Ok($from_form)
            }
        }
    };
    (@expression $value:ident, $from:ty, $sql:ty, $form:ty, |$out:ident| $to_form:expr) => {
        impl AsExpression<$sql> for $from {
            type Expression = <$form as AsExpression<$sql>>::Expression;

            fn as_expression(self) -> Self::Expression {
                let $out: $value = self.to_owned();
                AsExpression::<$sql>::as_expression($to_form)
            }
        }
    };
}

column! {
    /// The 10 bytes.
    MessageId in Binary as Vec<u8>, |id| id.to_bytes().to_vec(), |bytes| Self::from_slice(&bytes)?
}

column! {
    /// The 19 characters, read strictly.
    AsText in Text as String, |column| String::from(column.0), |text| Self(MessageId::parse(&text)?)
}

column! {
    /// The UUID view, in a column of type `uuid` of PostgreSQL.
    AsUuid in sql_types::Uuid as Uuid, |column| column.0.to_uuid(), |uuid| Self(MessageId::from_uuid(uuid)?)
}

column! {
    /// The 16 bytes of the UUID view.
    AsUuid in Binary as Vec<u8>,
    |column| column.0.to_uuid_bytes().to_vec(),
    |bytes| {
        let bytes = bytes.try_into().map_err(|bytes: Vec<u8>| LengthError::new(UUID_BYTES, bytes.len()))?;
        Self(MessageId::from_uuid_bytes(bytes)?)
    }
}

column! {
    /// The 26 bits.
    SessionTag in Integer as i32, |session| session.to_i32(), |integer| Self::from_signed(integer)?
}

column! {
    /// The code.
    SessionType in SmallInt as i16, |session_type| session_type.to_i16(), |integer| Self::from_signed(integer)?
}

/// Lets structs with `#[derive(Queryable)]` have fields of these types.
macro_rules! queryable {
    ($($value:ident)*) => {$(
        impl<SqlType: SingleValue, DB: Backend> Queryable<SqlType, DB> for $value
        where
            Self: FromSql<SqlType, DB>,
        {
            type Row = Self;

            fn build(row: Self) -> deserialize::Result<Self> {
                Ok(row)
            }
        }
    )*};
}

queryable!(MessageId AsText AsUuid SessionTag SessionType);
