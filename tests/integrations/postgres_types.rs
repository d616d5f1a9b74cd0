//! postgres-types: the bytes that PostgreSQL's protocol and its binary COPY have.

use std::error::Error;
use std::fmt::Debug;

use bytes::BytesMut;
use imid::store::{AsText, AsUuid};
use imid::{MessageId, SessionTag, SessionType};
use postgres_types::{FromSql, IsNull, ToSql, Type};

use super::{BYTES, ID, UUID};

/// Writes a value, reads it back, and returns the bytes.
fn written<T: ToSql + for<'a> FromSql<'a> + PartialEq + Debug>(value: &T, column: &Type) -> Vec<u8> {
    let mut out = BytesMut::new();
    assert!(matches!(value.to_sql_checked(column, &mut out), Ok(IsNull::No)), "{column}");
    assert_eq!(&T::from_sql(column, &out).unwrap(), value, "{column}");
    out.to_vec()
}

/// Asserts which types of columns a value is for.
fn is_for<T: ToSql + for<'a> FromSql<'a>>(value: &T, columns: &[Type]) {
    for column in [
        Type::BYTEA,
        Type::TEXT,
        Type::VARCHAR,
        Type::BPCHAR,
        Type::NAME,
        Type::UUID,
        Type::INT2,
        Type::INT4,
        Type::INT8,
        Type::NUMERIC,
        Type::JSONB,
        Type::BIT,
        Type::TIMESTAMPTZ,
    ] {
        assert_eq!(<T as ToSql>::accepts(&column), columns.contains(&column), "{column}");
        assert_eq!(<T as FromSql>::accepts(&column), columns.contains(&column), "{column}");
        let refused = value.to_sql_checked(&column, &mut BytesMut::new()).is_err();
        assert_eq!(refused, !columns.contains(&column), "{column}");
    }
}

fn refused<'a, T: FromSql<'a> + Debug>(column: &Type, raw: &'a [u8]) -> String {
    T::from_sql(column, raw).unwrap_err().to_string()
}

#[test]
fn an_id_is_10_bytes_of_bytea() {
    assert_eq!(written(&ID, &Type::BYTEA), BYTES);
    is_for(&ID, &[Type::BYTEA]);
    assert_eq!(refused::<MessageId>(&Type::BYTEA, &BYTES[1..]), "expected 10 bytes, found 9");
    assert_eq!(refused::<MessageId>(&Type::BYTEA, &UUID), "expected 10 bytes, found 16");
}

#[test]
fn an_id_as_text_is_19_characters() {
    for column in [Type::TEXT, Type::VARCHAR, Type::BPCHAR] {
        assert_eq!(written(&AsText(ID), &column), b"EUNC-Q8QJ-22GH-T3DD");
    }
    is_for(&AsText(ID), &[Type::TEXT, Type::VARCHAR, Type::BPCHAR]);
    assert_eq!(
        refused::<AsText>(&Type::TEXT, b"eunc-q8qj-22gh-t3dd"),
        "expected a digit 2-9 or A-Z without I and O, found 'e' at 0"
    );
    // A column of type char(20) is padded.
    assert_eq!(refused::<AsText>(&Type::BPCHAR, b"EUNC-Q8QJ-22GH-T3DD "), "expected the end, found ' ' at 19");
}

#[test]
fn an_id_as_a_uuid_is_16_bytes() {
    assert_eq!(written(&AsUuid(ID), &Type::UUID), UUID);
    is_for(&AsUuid(ID), &[Type::UUID]);
    assert_eq!(refused::<AsUuid>(&Type::UUID, &[0; 16]), "expected a UUID of version 7, found version 0");
    assert_eq!(refused::<AsUuid>(&Type::UUID, &UUID[1..]), "expected 16 bytes, found 15");
}

#[test]
fn a_session_is_an_integer() {
    assert_eq!(written(&ID.session_tag(), &Type::INT4), 16_549_227_i32.to_be_bytes());
    assert_eq!(written(&SessionTag::from_u32((1 << 26) - 1).unwrap(), &Type::INT4), 67_108_863_i32.to_be_bytes());
    is_for(&ID.session_tag(), &[Type::INT4]);
    for integer in [-1, 67_108_864] {
        let message = refused::<SessionTag>(&Type::INT4, &i32::to_be_bytes(integer));
        assert_eq!(message, format!("expected a session tag of 0 to 67108863, found {integer}"));
    }
}

#[test]
fn a_session_type_is_a_small_integer() {
    assert_eq!(written(&SessionType::GROUP, &Type::INT2), 3_i16.to_be_bytes());
    is_for(&SessionType::GROUP, &[Type::INT2]);
    for integer in [-1, 16] {
        let message = refused::<SessionType>(&Type::INT2, &i16::to_be_bytes(integer));
        assert_eq!(message, format!("expected a session type of 0 to 15, found {integer}"));
    }
}

#[test]
fn an_array_has_an_element_for_each_id() {
    let raw = written(&vec![ID, MessageId::MIN], &Type::BYTEA_ARRAY);
    // One dimension, no nulls, type 17 (bytea), two elements from index 1, each with its length.
    let head = [1, 0, 17, 2, 1].map(i32::to_be_bytes).concat();
    let elements = [&10_i32.to_be_bytes()[..], &BYTES, &10_i32.to_be_bytes(), &[0; 10]].concat();
    assert_eq!(raw, [head, elements].concat());
    written(&vec![AsText(ID)], &Type::TEXT_ARRAY);
    written(&vec![AsUuid(ID)], &Type::UUID_ARRAY);
}

#[test]
fn null_is_an_error_unless_the_value_is_optional() {
    fn null<'a, T: FromSql<'a>>(column: &Type) -> Result<T, Box<dyn Error + Sync + Send>> {
        T::from_sql_nullable(column, None)
    }
    assert_eq!(null::<MessageId>(&Type::BYTEA).unwrap_err().to_string(), "a Postgres value was `NULL`");
    assert_eq!(null::<AsText>(&Type::TEXT).unwrap_err().to_string(), "a Postgres value was `NULL`");
    assert_eq!(null::<Option<MessageId>>(&Type::BYTEA).unwrap(), None);
    written(&Some(ID), &Type::BYTEA);
}
