//! Values through serde: text in human-readable formats, bits in binary formats.
#![cfg(feature = "serde")]

use imid::dialect::Dialect;
use imid::{MessageId, SessionHash, SessionTag, SessionType, message_id};
use serde::Serialize;
use serde::de::value::{BytesDeserializer, Error};
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_test::{
    Compact, Configure, Readable, Token, assert_de_tokens, assert_de_tokens_error, assert_ser_tokens, assert_tokens,
};

const ID: MessageId = message_id!("F3Z9-MB7Y-WCQH-T3DD");

fn json_error<T: DeserializeOwned + std::fmt::Debug>(json: &str) -> String {
    serde_json::from_str::<T>(json).unwrap_err().to_string()
}

/// Writes a value in a binary format, reads it back, and returns the bytes.
fn binary<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: T) -> Vec<u8> {
    let bytes = postcard::to_stdvec(&value).unwrap();
    assert_eq!(postcard::from_bytes(&bytes), Ok(value));
    bytes
}

#[test]
fn a_message_id_is_its_text_in_human_readable_formats() {
    assert_tokens(&ID.readable(), &[Token::Str("F3Z9-MB7Y-WCQH-T3DD")]);
    assert_eq!(serde_json::to_string(&[ID]).unwrap(), r#"["F3Z9-MB7Y-WCQH-T3DD"]"#);
}

#[test]
fn a_message_id_is_10_bytes_in_binary_formats() {
    let bytes = b"\x68\x7e\x79\xa4\xbe\xe2\xac\xfc\x85\x6b";
    assert_eq!(ID.to_bytes(), *bytes);
    assert_tokens(&ID.compact(), &[Token::Bytes(bytes)]);
    assert_eq!(binary(ID), [&[10], &bytes[..]].concat());
}

/// MessagePack marks a text as one; clients in JavaScript and Python send it.
#[test]
fn a_binary_format_may_have_the_text() {
    assert_de_tokens(&ID.compact(), &[Token::Str("F3Z9-MB7Y-WCQH-T3DD")]);
    assert_de_tokens(&ID.compact(), &[Token::BorrowedStr("F3Z9-MB7Y-WCQH-T3DD")]);
    let error = "expected a digit 2-9 or A-Z without I and O, found '0' at 18";
    assert_de_tokens_error::<Compact<MessageId>>(&[Token::Str("F3Z9-MB7Y-WCQH-T3D0")], error);
    // A text of postcard is bytes with a length, and 19 bytes are not an ID.
    assert!(postcard::from_bytes::<MessageId>(&postcard::to_stdvec("F3Z9-MB7Y-WCQH-T3DD").unwrap()).is_err());
}

#[test]
fn a_binary_format_may_have_the_bytes_as_a_sequence() {
    let sequence = |len: usize| {
        let bytes = ID.to_bytes().into_iter().cycle().take(len).map(Token::U8);
        [Token::Seq { len: Some(len) }].into_iter().chain(bytes).chain([Token::SeqEnd]).collect::<Vec<_>>()
    };
    assert_de_tokens(&ID.compact(), &sequence(10));
    let error = "invalid type: sequence, expected a message ID of 19 characters";
    assert_de_tokens_error::<serde_test::Readable<MessageId>>(&sequence(10)[..1], error);
    // The eleventh byte is refused before the reader looks for the end.
    for (len, tokens) in [(9, &sequence(9)[..]), (11, &sequence(11)[..12])] {
        let error = format!("invalid length {len}, expected the 10 bytes of a message ID");
        assert_de_tokens_error::<serde_test::Compact<MessageId>>(tokens, &error);
    }
}

#[test]
fn bytes_in_a_human_readable_buffer_of_serde_are_read_as_in_a_binary_format() {
    fn bytes(bytes: &[u8]) -> Result<MessageId, Error> {
        MessageId::deserialize(BytesDeserializer::new(bytes))
    }
    assert!(BytesDeserializer::<Error>::new(&[]).is_human_readable());
    assert_eq!(bytes(&ID.to_bytes()), Ok(ID));
    // The text, as bytes, is not the binary form.
    for wrong in [&ID.to_bytes()[..9], &[0; 11], ID.to_text().as_bytes(), &[]] {
        let error = format!("invalid length {}, expected the 10 bytes of a message ID", wrong.len());
        assert_eq!(bytes(wrong).unwrap_err().to_string(), error);
    }
}

#[test]
fn bytes_of_another_length_are_an_error() {
    for len in [0, 9, 11] {
        let error = format!("invalid length {len}, expected the 10 bytes of a message ID");
        assert_de_tokens_error::<serde_test::Compact<MessageId>>(&[Token::Bytes(&[0; 11][..len])], &error);
    }
}

#[test]
fn only_the_strict_text_is_read() {
    let error = "expected a digit 2-9 or A-Z without I and O, found 'f' at 0";
    assert_de_tokens_error::<Readable<MessageId>>(&[Token::Str("f3z9-mb7y-wcqh-t3dd")], error);
    let error = "invalid type: integer `5`, expected a message ID of 19 characters at line 1 column 1";
    assert_eq!(json_error::<MessageId>("5"), error);
}

#[test]
fn a_text_on_the_stack_is_a_string_in_all_formats() {
    let text = Token::Str("F3Z9-MB7Y-WCQH-T3DD");
    assert_ser_tokens(&ID.to_text().readable(), &[text]);
    assert_ser_tokens(&ID.to_text().compact(), &[text]);
    assert_ser_tokens(&ID.to_hex().compact(), &[Token::Str("687e79a4bee2acfc856b")]);
    assert_ser_tokens(&Dialect::JUGGLEIM.to_text(ID).unwrap().compact(), &[Token::Str("pb9hvkf86lyr3bmm")]);
}

#[test]
fn a_session_type_is_its_name_in_human_readable_formats_and_its_code_in_binary_ones() {
    for code in 0..=15 {
        let session_type = SessionType::from_u8(code).unwrap();
        let text = session_type.to_string();
        assert_eq!(serde_json::to_string(&session_type).unwrap(), format!("\"{text}\""));
        for json in [format!("\"{text}\""), format!("\"{}\"", text.to_lowercase()), code.to_string()] {
            assert_eq!(serde_json::from_str::<SessionType>(&json).unwrap(), session_type, "{json}");
        }
        assert_de_tokens(&session_type.readable(), &[Token::I64(code.into())]);
        assert_eq!(binary(session_type), [code]);
    }
}

#[test]
fn a_value_that_is_not_a_session_type_is_an_error() {
    for (json, error) in [
        ("16", "invalid value: integer `16`, expected a code from 0 to 15 at line 1 column 2"),
        ("256", "invalid value: integer `256`, expected a code from 0 to 15 at line 1 column 3"),
        ("-1", "invalid value: integer `-1`, expected a code from 0 to 15 at line 1 column 2"),
        ("null", "invalid type: null, expected the name or the code of a session type at line 1 column 4"),
        ("\"room\"", "expected a code from 0 to 15 or a name such as PRIVATE or GROUP at line 1 column 6"),
    ] {
        assert_eq!(json_error::<SessionType>(json), error, "{json}");
    }
    assert!(postcard::from_bytes::<SessionType>(&[16]).is_err());
}

#[test]
fn a_session_is_a_struct_of_its_type_and_hash_in_all_formats() {
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    assert_eq!(serde_json::to_string(&room).unwrap(), r#"{"type":"GROUP","hash":3966315}"#);
    for json in [r#"{"type":"GROUP","hash":3966315}"#, r#"{ "hash": 3966315, "type": 3 }"#] {
        assert_eq!(serde_json::from_str::<SessionTag>(json).unwrap(), room, "{json}");
    }
    let fields = [Token::Str("type"), Token::U8(3), Token::Str("hash"), Token::U32(3_966_315)];
    let of_names = [&[Token::Struct { name: "SessionTag", len: 2 }], &fields[..], &[Token::StructEnd]].concat();
    assert_tokens(&room.compact(), &of_names);
    assert_de_tokens(&room.compact(), &[Token::Seq { len: Some(2) }, fields[1], fields[3], Token::SeqEnd]);
    assert_eq!(binary(room)[0], 3);
    binary(SessionTag::from_u32((1 << 26) - 1).unwrap());
    assert_eq!(binary(SessionHash::from_u32(5).unwrap()), [5]);
}

#[test]
fn a_value_that_is_not_a_session_is_an_error() {
    for (json, error) in [
        (r#"{"type":"GROUP"}"#, "missing field `hash`"),
        (r#"{"hash":1}"#, "missing field `type`"),
        (r#"{"hash":1,"hash":1}"#, "duplicate field `hash`"),
        (r#"{"type":3,"type":3}"#, "duplicate field `type`"),
        (r#"{"type":3,"name":1}"#, "unknown field `name`, expected `type` or `hash`"),
        (r#"{"type":3,"hash":4194304}"#, "expected a session hash of 0 to 4194303, found 4194304"),
        ("5", "invalid type: integer `5`, expected a session tag with its type and its hash"),
    ] {
        let found = json_error::<SessionTag>(json);
        assert!(found.starts_with(error), "{json}: {found}");
    }
    assert!(postcard::from_bytes::<SessionTag>(&postcard::to_stdvec(&(16_u8, 0_u32)).unwrap()).is_err());
    let one = [Token::Seq { len: Some(1) }, Token::U8(3), Token::SeqEnd];
    let error = "invalid length 1, expected a session tag with its type and its hash";
    assert_de_tokens_error::<serde_test::Compact<SessionTag>>(&one, error);
}
