//! sqlx 0.9: values for PostgreSQL, MySQL and SQLite.
//!
//! The implementations are generic: each one is for all databases that store its form, such as `Vec<u8>`, so this file names
//! no database.

use sqlx_core::database::Database;
use sqlx_core::decode::Decode;
use sqlx_core::encode::{Encode, IsNull};
use sqlx_core::error::{BoxDynError, UnexpectedNullError};
use sqlx_core::types::Type;
use sqlx_core::value::ValueRef;

use crate::id::MessageId;
use crate::session::{SessionTag, SessionType};
use crate::store::AsText;

/// Implements the traits for a value. sqlx stores it as `$form`.
macro_rules! column {
    ($(#[$doc:meta])* $value:ident as $form:ty, |$out:ident| $to_form:expr, |$in:ident| $from_form:expr) => {
        $(#[$doc])*
        impl<DB: Database> Type<DB> for $value
        where
            $form: Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <$form>::type_info()
            }

            fn compatible(column: &DB::TypeInfo) -> bool {
                <$form>::compatible(column)
            }
        }

        $(#[$doc])*
        impl<'q, DB: Database> Encode<'q, DB> for $value
        where
            $form: Encode<'q, DB>,
        {
            fn encode_by_ref(&self, buffer: &mut DB::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
                let $out = *self;
                let form: $form = $to_form;
                form.encode(buffer)
            }
        }

        $(#[$doc])*
        impl<'r, DB: Database> Decode<'r, DB> for $value
        where
            $form: Decode<'r, DB>,
        {
            fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
                // Without this check SQLite reads NULL as 0 or as an empty value.
                if value.is_null() {
                    return Err(UnexpectedNullError.into());
                }
                let $in = <$form>::decode(value)?;
                Ok($from_form)
            }
        }
    };
}

column! {
    /// The 10 bytes, in a column of bytes.
    MessageId as Vec<u8>, |id| id.to_bytes().to_vec(), |bytes| MessageId::from_slice(&bytes)?
}

column! {
    /// The 19 characters, read strictly, in a column of text.
    AsText as String, |column| column.0.to_text().as_str().to_owned(), |text| AsText(MessageId::parse(&text)?)
}

column! {
    /// The 26 bits, in a column of integers.
    SessionTag as i32, |session| session.to_i32(), |integer| SessionTag::from_signed(integer)?
}

column! {
    /// The code, in a column of integers.
    SessionType as i16, |session_type| session_type.to_i16(), |integer| SessionType::from_signed(integer)?
}

#[cfg(feature = "uuid-1")]
mod uuid_view {
    use uuid::Uuid;

    use super::{BoxDynError, Database, Decode, Encode, IsNull, MessageId, Type, UnexpectedNullError, ValueRef};
    use crate::store::AsUuid;

    column! {
        /// The UUID view, in a column of UUIDs. It needs feature `uuid` of sqlx.
        AsUuid as Uuid, |column| column.0.to_uuid(), |uuid| AsUuid(MessageId::from_uuid(uuid)?)
    }
}

/// Arrays of PostgreSQL, as in `id = ANY($1)`.
#[cfg(feature = "sqlx-postgres-0_9")]
mod arrays {
    use sqlx_postgres::{PgHasArrayType, PgTypeInfo};

    use crate::id::MessageId;
    use crate::session::{SessionTag, SessionType};
    use crate::store::AsText;

    macro_rules! array {
        ($($value:ident as $form:ty;)*) => {$(
            impl PgHasArrayType for $value {
                fn array_type_info() -> PgTypeInfo {
                    <$form>::array_type_info()
                }

                fn array_compatible(column: &PgTypeInfo) -> bool {
                    <$form>::array_compatible(column)
                }
            }
        )*};
    }

    array! {
        MessageId as Vec<u8>;
        AsText as String;
        SessionTag as i32;
        SessionType as i16;
    }

    #[cfg(feature = "uuid-1")]
    mod uuid_view {
        use super::{PgHasArrayType, PgTypeInfo};
        use crate::store::AsUuid;
        use uuid::Uuid;

        array! { AsUuid as Uuid; }
    }
}
