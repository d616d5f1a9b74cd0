//! redis: the arguments of commands, and their replies.

use std::fmt::Debug;

use imid::store::AsText;
use imid::{MessageId, SessionTag, SessionType};
use redis::{FromRedisValue, NumericBehavior, ToRedisArgs, ToSingleRedisArg, Value};

use super::{BYTES, ID};

/// Writes a value as one argument, reads it back from a reply with these bytes, and returns them.
fn written<T: ToSingleRedisArg + FromRedisValue + PartialEq + Debug>(value: &T) -> Vec<u8> {
    let [argument] = value.to_redis_args().try_into().expect("one argument");
    assert_eq!(T::from_redis_value(Value::BulkString(argument.clone())).as_ref(), Ok(value));
    argument
}

fn refused<T: FromRedisValue + Debug>(value: Value) -> String {
    T::from_redis_value(value).unwrap_err().to_string()
}

fn bulk(bytes: &[u8]) -> Value {
    Value::BulkString(bytes.to_vec())
}

#[test]
fn each_value_is_one_argument() {
    assert_eq!(written(&ID), BYTES);
    assert_eq!(written(&AsText(ID)), b"EUNC-Q8QJ-22GH-T3DD");
    assert_eq!(written(&ID.session_tag()), b"16549227");
    assert_eq!(written(&SessionType::GROUP), b"3");
    assert!(matches!(
        SessionTag::from_u32((1 << 26) - 1).unwrap().describe_numeric_behavior(),
        NumericBehavior::NumberIsInteger
    ));
    assert!(matches!(ID.describe_numeric_behavior(), NumericBehavior::NonNumeric));
}

#[test]
fn ids_are_read_from_lists_of_replies() {
    let ids = vec![ID, MessageId::MIN, MessageId::MAX];
    let replies = ids.to_redis_args().into_iter().map(Value::BulkString).collect();
    assert_eq!(Vec::<MessageId>::from_redis_value(Value::Array(replies)).unwrap(), ids);
    let pairs = Value::Array(vec![bulk(&BYTES), bulk(b"hello"), bulk(&[0; 10]), bulk(b"first")]);
    let pairs = Vec::<(MessageId, String)>::from_redis_value(pairs).unwrap();
    assert_eq!(pairs, [(ID, "hello".to_owned()), (MessageId::MIN, "first".to_owned())]);
    let nothing = Option::<MessageId>::from_redis_value(Value::Nil).unwrap();
    assert_eq!(nothing, None);
}

#[test]
fn an_id_in_an_attribute_or_a_simple_string_is_read() {
    let data = Box::new(bulk(&BYTES));
    assert_eq!(MessageId::from_redis_value(Value::Attribute { data, attributes: vec![] }).unwrap(), ID);
    let data = Box::new(Value::Int(16_549_227));
    assert_eq!(SessionTag::from_redis_value(Value::Attribute { data, attributes: vec![] }).unwrap(), ID.session_tag());
    assert_eq!(SessionType::from_redis_value(Value::SimpleString("3".to_owned())).unwrap(), SessionType::GROUP);
    let text = Value::SimpleString("EUNC-Q8QJ-22GH-T3DD".to_owned());
    assert_eq!(AsText::from_redis_value(text).unwrap(), AsText(ID));
}

#[test]
fn other_replies_are_errors_that_say_why() {
    assert!(refused::<MessageId>(bulk(&BYTES[1..])).ends_with("expected 10 bytes, found 9"));
    assert!(refused::<MessageId>(Value::Nil).ends_with("expected a message ID, found nil"));
    assert!(refused::<MessageId>(Value::Int(7)).ends_with("expected a message ID, found int(7)"));
    let list = Value::Array(vec![Value::Int(7); 10]);
    assert!(refused::<MessageId>(list).ends_with("expected a message ID, found a list of length 10"));
    let map = Value::Map(vec![(bulk(&BYTES), Value::Nil)]);
    assert!(refused::<AsText>(map).ends_with("expected a message ID, found a map of length 1"));
    assert!(refused::<AsText>(bulk(b"EUNC")).ends_with("expected '-', found the end at 4"));
    assert!(
        refused::<SessionTag>(bulk(b"67108864")).ends_with("expected a session tag of 0 to 67108863, found 67108864")
    );
    assert!(refused::<SessionType>(Value::Int(-1)).ends_with("expected a session type of 0 to 15, found -1"));
    assert!(refused::<SessionType>(Value::Nil).ends_with("expected a session type, found nil"));
    assert!(refused::<SessionTag>(Value::Double(1.5)).ends_with("expected a session tag, found double(1.5)"));
    for text in [&b""[..], b"7.0", b" 7", b"7 ", b"\xff", b"9223372036854775808"] {
        let length = text.len();
        let message = format!("expected a session tag as an integer of 64 bits, found {length} bytes that are not one");
        assert!(refused::<SessionTag>(bulk(text)).ends_with(&message));
    }
}
