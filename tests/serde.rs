//! IDs through serde: text where people read it, bits where they do not.
#![cfg(feature = "serde")]

use imid::snowflake::Layout;
use imid::{MessageId, message_id};
use serde_test::{Configure, Token, assert_de_tokens_error, assert_ser_tokens, assert_tokens};

const ID: MessageId = message_id!("F3Z9-MB7Y-WCQH-T3DD");

#[test]
fn a_message_id_is_its_text_where_people_read() {
    assert_tokens(&ID.readable(), &[Token::Str("F3Z9-MB7Y-WCQH-T3DD")]);
    assert_eq!(serde_json::to_string(&[ID]).unwrap(), r#"["F3Z9-MB7Y-WCQH-T3DD"]"#);
}

#[test]
fn a_message_id_is_10_bytes_where_they_do_not() {
    let mut tokens = vec![Token::Tuple { len: 10 }];
    tokens.extend(ID.to_bytes().map(Token::U8));
    tokens.push(Token::TupleEnd);
    assert_tokens(&ID.compact(), &tokens);
}

#[test]
fn only_the_strict_text_is_read() {
    let error = "expected a digit 2-9 or A-Z without I and O, found 'f' at 0";
    assert_de_tokens_error::<serde_test::Readable<MessageId>>(&[Token::Str("f3z9-mb7y-wcqh-t3dd")], error);
    let error = serde_json::from_str::<MessageId>("5").unwrap_err().to_string();
    assert_eq!(error, "invalid type: integer `5`, expected a message ID of 19 characters at line 1 column 1");
}

#[test]
fn a_snowflake_is_a_string_in_json() {
    let (leaf, nsq) =
        (Layout::LEAF.parse("1169786042799259000").unwrap(), Layout::NSQ.parse("0e1ac0d4168a6000").unwrap());
    assert_eq!(serde_json::to_string(&[leaf, nsq]).unwrap(), r#"["1169786042799259000","0e1ac0d4168a6000"]"#);
    assert_ser_tokens(&nsq.compact(), &[Token::U64(0x0e1a_c0d4_168a_6000)]);
}
