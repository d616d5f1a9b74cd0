//! IDs through serde: text in human-readable formats, bits in binary formats.
#![cfg(feature = "serde")]

use imid_snowflake::Layout;
use serde_test::{Configure, Token, assert_ser_tokens};

#[test]
fn a_snowflake_is_a_string_in_json() {
    let (leaf, nsq) =
        (Layout::LEAF.parse("1169786042799259000").unwrap(), Layout::NSQ.parse("0e1ac0d4168a6000").unwrap());
    assert_eq!(serde_json::to_string(&[leaf, nsq]).unwrap(), r#"["1169786042799259000","0e1ac0d4168a6000"]"#);
    assert_ser_tokens(&nsq.compact(), &[Token::U64(0x0e1a_c0d4_168a_6000)]);
}
