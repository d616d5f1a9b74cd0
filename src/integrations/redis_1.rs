//! redis 1: values as arguments of commands, and in their replies.

use std::error::Error;
use std::str;

use redis::{FromRedisValue, NumericBehavior, ParsingError, RedisWrite, ToRedisArgs, ToSingleRedisArg, Value};

use crate::id::MessageId;
use crate::session::{SessionTag, SessionType};
use crate::store::AsText;

/// What a reply should be, for errors.
const ID: &str = "a message ID";

/// The 10 bytes.
impl ToRedisArgs for MessageId {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        out.write_arg(&self.to_bytes());
    }
}

/// The 10 bytes.
impl FromRedisValue for MessageId {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        Self::from_slice(&bytes(value, ID)?).map_err(refused)
    }
}

/// The 19 characters.
impl ToRedisArgs for AsText {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        out.write_arg(self.0.to_text().as_bytes());
    }
}

/// The 19 characters, read strictly.
impl FromRedisValue for AsText {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        MessageId::parse_bytes(&bytes(value, ID)?).map(Self).map_err(refused)
    }
}

/// Implements the traits for a value that is a decimal number in Redis.
macro_rules! number {
    ($(#[$doc:meta])* $value:ident, $name:literal, $to_integer:ident) => {
        $(#[$doc])*
        impl ToRedisArgs for $value {
            fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
                self.$to_integer().write_redis_args(out);
            }

            fn describe_numeric_behavior(&self) -> NumericBehavior {
                NumericBehavior::NumberIsInteger
            }
        }

        $(#[$doc])*
        impl FromRedisValue for $value {
            fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
                Self::from_signed(integer(value, $name)?).map_err(refused)
            }
        }
    };
}

number! {
    /// The 26 bits, as a number.
    SessionTag, "a session tag", to_i32
}

number! {
    /// The code, as a number.
    SessionType, "a session type", to_i16
}

impl ToSingleRedisArg for MessageId {}
impl ToSingleRedisArg for AsText {}
impl ToSingleRedisArg for SessionTag {}
impl ToSingleRedisArg for SessionType {}

/// Returns the bytes of a reply. `Vec<u8>` would also read a list of numbers.
fn bytes(value: Value, expected: &str) -> Result<Vec<u8>, ParsingError> {
    match value {
        Value::BulkString(bytes) => Ok(bytes),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Ok(text.into_bytes()),
        Value::Attribute { data, .. } => bytes(*data, expected),
        Value::Nil => Err(format!("expected {expected}, found nil").into()),
        // The values of a list can be many, so they are not in the message.
        Value::Array(values) | Value::Set(values) | Value::Push { data: values, .. } => {
            Err(format!("expected {expected}, found a list of length {}", values.len()).into())
        }
        Value::Map(pairs) => Err(format!("expected {expected}, found a map of length {}", pairs.len()).into()),
        _ => Err(format!("expected {expected}, found {value:?}").into()),
    }
}

/// Returns the integer of a reply. `i64` would also read a number with a fraction, and drop the fraction.
fn integer(value: Value, expected: &str) -> Result<i64, ParsingError> {
    match value {
        Value::Int(integer) => Ok(integer),
        Value::Attribute { data, .. } => integer(*data, expected),
        _ => {
            let bytes = bytes(value, expected)?;
            let integer = str::from_utf8(&bytes).ok().and_then(|decimal| decimal.parse().ok());
            integer.ok_or_else(|| {
                let length = bytes.len();
                format!("expected {expected} as an integer of 64 bits, found {length} bytes that are not one").into()
            })
        }
    }
}

/// Converts an error to the error of redis, which keeps the message only.
fn refused<E: Error>(error: E) -> ParsingError {
    error.to_string().into()
}
