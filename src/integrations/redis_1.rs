//! redis 1: values as arguments of commands, and in their replies.

use std::error::Error;

use redis::{FromRedisValue, NumericBehavior, ParsingError, RedisWrite, ToRedisArgs, ToSingleRedisArg, Value};

use crate::id::MessageId;
use crate::session::{Session, SessionType};
use crate::store::AsText;

/// The 10 bytes.
impl ToRedisArgs for MessageId {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        out.write_arg(&self.to_bytes());
    }
}

/// The 10 bytes.
impl FromRedisValue for MessageId {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        Self::from_slice(&bytes(value)?).map_err(refused)
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
        MessageId::parse_bytes(&bytes(value)?).map(Self).map_err(refused)
    }
}

/// Implements the traits for a value that is a decimal number in Redis.
macro_rules! number {
    ($(#[$doc:meta])* $value:ident, $to_integer:ident) => {
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
                Self::from_signed(i64::from_redis_value(value)?).map_err(refused)
            }
        }
    };
}

number! {
    /// The 26 bits, as a number.
    Session, to_i32
}

number! {
    /// The code, as a number.
    SessionType, to_i16
}

impl ToSingleRedisArg for MessageId {}
impl ToSingleRedisArg for AsText {}
impl ToSingleRedisArg for Session {}
impl ToSingleRedisArg for SessionType {}

/// Returns the bytes of a reply. `Vec<u8>` would also read a list of numbers.
fn bytes(value: Value) -> Result<Vec<u8>, ParsingError> {
    match value {
        Value::BulkString(bytes) => Ok(bytes),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Ok(text.into_bytes()),
        Value::Attribute { data, .. } => bytes(*data),
        Value::Nil => Err("expected a message ID, found nil".to_owned().into()),
        // The values of a list can be many, so they are not in the message.
        Value::Array(values) | Value::Set(values) | Value::Push { data: values, .. } => {
            Err(format!("expected a message ID, found a list of length {}", values.len()).into())
        }
        Value::Map(pairs) => Err(format!("expected a message ID, found a map of length {}", pairs.len()).into()),
        _ => Err(format!("expected a message ID, found {value:?}").into()),
    }
}

/// Converts an error to the error of redis, which keeps the message only.
fn refused<E: Error>(error: E) -> ParsingError {
    error.to_string().into()
}
