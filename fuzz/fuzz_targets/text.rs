//! Law: a text is read if and only if it is the text of an ID, and the ID that was read has this text.
#![no_main]

use imid::MessageId;
use imid_fuzz::model::{self, Fault, WHITE_SPACE};
use imid_fuzz::{Change, changed, points_at_the_fault};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    id: [u8; MessageId::BYTE_LEN],
    form: Form,
    changes: [Change<'a>; 2],
}

#[derive(Arbitrary, Debug)]
enum Form {
    Text,
    Lower,
    Bare,
    Hex,
}

fuzz_target!(|input: Input| {
    let id = MessageId::from_bytes(input.id);
    assert_eq!(id.to_bytes(), model::bytes(id));
    let text = match input.form {
        Form::Text => id.to_text().into(),
        Form::Lower => id.to_text().to_lowercase(),
        Form::Bare => id.to_text().replace('-', ""),
        Form::Hex => id.to_hex().into(),
    };
    let bytes = changed(text.as_bytes(), &input.changes);
    let read = MessageId::parse_bytes(&bytes);
    assert_eq!(read.map_err(Fault::from), model::parse(&bytes));
    assert_eq!(MessageId::from_slice(&bytes).is_ok(), bytes.len() == MessageId::BYTE_LEN);
    if let Ok(text) = str::from_utf8(&bytes) {
        assert_eq!(MessageId::parse(text), read);
        assert_eq!(MessageId::parse_const(text), read);
        lenient(text);
        hex(text);
    }
});

fn lenient(text: &str) {
    match MessageId::parse_lenient(text) {
        Ok(id) => {
            assert!(is_typed(text), "read as {id}");
            let digits = |text: &str| text.trim_matches(WHITE_SPACE).to_ascii_uppercase().replace('-', "");
            assert_eq!(digits(text), digits(&id.to_text()));
        }
        Err(error) => {
            assert!(!is_typed(text), "refused: {error}");
            points_at_the_fault(error, text, "2222222222222222", |text| MessageId::parse_lenient(text).is_ok());
        }
    }
}

/// Returns whether a text is 16 digits in either case, with or without dashes between groups of four, and with white
/// space around them.
fn is_typed(text: &str) -> bool {
    let digit = |byte: u8| b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ".contains(&byte.to_ascii_uppercase());
    let groups = |text: &str| text.split('-').all(|group| !group.is_empty() && group.len() % 4 == 0);
    let text = text.trim_matches(WHITE_SPACE);
    groups(text) && text.replace('-', "").len() == 16 && text.bytes().all(|byte| byte == b'-' || digit(byte))
}

fn hex(text: &str) {
    match MessageId::from_hex(text) {
        Ok(id) => assert_eq!(id.to_hex(), *text.to_ascii_lowercase()),
        Err(error) => {
            assert!(text.len() != 20 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()), "refused: {error}");
            points_at_the_fault(error, text, "22222222222222222222", |text| MessageId::from_hex(text).is_ok());
        }
    }
}
