//! Law: a text is read if and only if it is the text of an ID, and then it is the text of the ID that was read.
#![no_main]

use imid::MessageId;
use imid::error::ParseError;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// Any bytes are hardly ever close to an ID's text; a printed ID with one byte changed always is.
#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Any(&'a [u8]),
    Near { id: [u8; MessageId::BYTES], at: u8, byte: u8, form: Form },
}

#[derive(Arbitrary, Debug)]
enum Form {
    Text,
    Lower,
    Bare,
    Hex,
}

fuzz_target!(|input: Input| match input {
    Input::Any(bytes) => laws(bytes),
    Input::Near { id, at, byte, form } => {
        let id = MessageId::from_bytes(id);
        let text = match form {
            Form::Text => id.to_string(),
            Form::Lower => id.to_string().to_lowercase(),
            Form::Bare => id.to_string().replace('-', ""),
            Form::Hex => format!("{id:x}"),
        };
        let mut bytes = text.into_bytes();
        let at = usize::from(at) % bytes.len();
        bytes[at] = byte;
        laws(&bytes);
    }
});

fn laws(bytes: &[u8]) {
    strict(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert_eq!(MessageId::parse(text), MessageId::parse_bytes(bytes));
        lenient(text);
        hex(text);
    }
}

fn strict(bytes: &[u8]) {
    match MessageId::parse_bytes(bytes) {
        Ok(id) => assert_eq!(id.to_string().as_bytes(), bytes),
        Err(error) => {
            assert!(!is_text(bytes), "refused: {error}");
            assert_eq!(error.found(), bytes.get(error.position()).copied());
            points_inside(error, bytes);
            // What stands before the fault fits: it can be completed.
            let good = &bytes[..error.position()];
            let mut text = MessageId::MIN.to_string().into_bytes();
            text[..good.len()].copy_from_slice(good);
            assert!(MessageId::parse_bytes(&text).is_ok(), "the fault is before {}", error.position());
        }
    }
}

/// The format said once more, in the plainest way.
fn is_text(bytes: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match at {
        4 | 9 | 14 => *byte == b'-',
        _ => b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ".contains(byte),
    };
    bytes.len() == 19 && bytes.iter().enumerate().all(fits)
}

fn lenient(text: &str) {
    match MessageId::parse_lenient(text) {
        Ok(id) => {
            assert!(is_typed(text), "read as {id}");
            let digits = |text: &str| text.trim().to_ascii_uppercase().replace('-', "");
            assert_eq!(digits(text), digits(&id.to_string()));
        }
        Err(error) => {
            assert!(!is_typed(text), "refused: {error}");
            points_inside(error, text.as_bytes());
            match error.found() {
                Some(byte) => assert_eq!(byte, text.as_bytes()[error.position()]),
                None => assert!(text[error.position()..].trim().is_empty()),
            }
        }
    }
}

/// Sixteen digits in either case, dashes between groups of four or of several fours, white space around them.
fn is_typed(text: &str) -> bool {
    let digit = |byte: u8| b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ".contains(&byte.to_ascii_uppercase());
    let groups = |text: &str| text.split('-').all(|group| !group.is_empty() && group.len() % 4 == 0);
    let text = text.trim();
    groups(text) && text.replace('-', "").len() == 16 && text.bytes().all(|byte| byte == b'-' || digit(byte))
}

fn hex(text: &str) {
    match MessageId::from_hex(text) {
        Ok(id) => assert_eq!(format!("{id:x}"), text.to_ascii_lowercase()),
        Err(error) => {
            assert!(text.len() != 20 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()), "refused: {error}");
            assert_eq!(error.found(), text.as_bytes().get(error.position()).copied());
            points_inside(error, text.as_bytes());
        }
    }
}

fn points_inside(error: ParseError, text: &[u8]) {
    assert!(error.position() <= text.len());
    assert!(error.to_string().ends_with(&format!(" at {}", error.position())));
}
