//! The errors of values and texts: their words and positions. Also the sizes of all errors, and a check that some test
//! asserts the words of each error.
#![cfg(target_has_atomic = "64")]

use std::fs;
use std::ops::Bound;
use std::path::Path;

use imid::clock::ClockError;
use imid::dialect::DialectError;
use imid::error::{
    AfterError, LengthError, LineError, ParseError, ParseSessionTypeError, RangeError, TimeRangeError, UuidError,
};
use imid::generator::{BuildError, GenerateError, ObserveError};
use imid::{IdParts, MessageId, SessionHash, SessionTag, SessionType, codec};

const DIGIT: &str = "a digit 2-9 or A-Z without I and O";

/// Asserts that the error has these words, and that its accessors agree with them.
fn says(error: ParseError, text: &str, expected: &str, found: Option<&str>, position: usize) {
    let shown = found.map_or("the end".to_owned(), |found| format!("'{found}'"));
    assert_eq!(error.to_string(), format!("expected {expected}, found {shown} at {position}"), "{text:?}");
    assert_eq!(error.position(), position, "{text:?}");
    assert_eq!(error.found(), text.as_bytes().get(position).copied(), "{text:?}");
    assert_eq!(error.found().is_none(), found.is_none(), "{text:?}");
}

#[test]
fn strict_parsing_names_the_first_byte_that_does_not_fit() {
    for (text, expected, found, position) in [
        ("", DIGIT, None, 0),
        ("F", DIGIT, None, 1),
        ("F3Z9", "'-'", None, 4),
        ("F3Z9-", DIGIT, None, 5),
        ("F3Z9-MB7Y-WCQH-T3D", DIGIT, None, 18),
        ("F3Z9-MB7Y-WCQH-T3DD-", "the end", Some("-"), 19),
        ("F3Z9-MB7Y-WCQH-T3DD2", "the end", Some("2"), 19),
        ("F3Z9-MB7Y-WCQH-T3DD\n", "the end", Some("\\n"), 19),
        (" F3Z9-MB7Y-WCQH-T3DD", DIGIT, Some(" "), 0),
        ("F3Z9MB7YWCQHT3DD", "'-'", Some("M"), 4),
        ("F3Z-9MB7Y-WCQH-T3DD", DIGIT, Some("-"), 3),
        ("F3Z9_MB7Y_WCQH_T3DD", "'-'", Some("_"), 4),
        ("F3Z9--MB7-WCQH-T3DD", DIGIT, Some("-"), 5),
        ("f3z9-mb7y-wcqh-t3dd", DIGIT, Some("f"), 0),
        ("F3Z9-MB7Y-WC0H-T3DD", DIGIT, Some("0"), 12),
        ("F3Z9-MB7Y-WC1H-T3DD", DIGIT, Some("1"), 12),
        ("F3Z9-MB7Y-WCIH-T3DD", DIGIT, Some("I"), 12),
        ("F3Z9-MB7Y-WCOH-T3DD", DIGIT, Some("O"), 12),
        ("F3Z9-MB7Y-WCQH-T3D'", DIGIT, Some("\\'"), 18),
        ("F3Z9-MB7Y-WCQH-T3é", DIGIT, Some("\\xc3"), 17),
        ("\0", DIGIT, Some("\\x00"), 0),
        // The first of two faults is named.
        ("F3Z9-MB0Y-WC1H-T3DD-", DIGIT, Some("0"), 7),
    ] {
        says(MessageId::parse(text).unwrap_err(), text, expected, found, position);
        assert_eq!(text.parse::<MessageId>(), MessageId::parse(text));
        assert_eq!(MessageId::parse_bytes(text.as_bytes()), MessageId::parse(text));
        assert_eq!(MessageId::parse_const(text), MessageId::parse(text));
    }
}

#[test]
fn a_byte_outside_ascii_is_shown_escaped() {
    let error = MessageId::parse_bytes(b"F3Z9-MB7Y-WCQH-T3D\xff").unwrap_err();
    assert_eq!(error.to_string(), format!("expected {DIGIT}, found '\\xff' at 18"));
    assert_eq!(error.found(), Some(0xff));
}

#[test]
fn lenient_parsing_counts_positions_from_the_start_of_the_input() {
    for (text, expected, found, position) in [
        ("", DIGIT, None, 0),
        ("   ", DIGIT, None, 3),
        ("\u{3000}f3z9", DIGIT, Some("\\xe3"), 0),
        (" \u{a0} f3z9", DIGIT, Some("\\xc2"), 1),
        ("f3z9mb7ywcqht3dd\u{a0}", "the end", Some("\\xc2"), 16),
        ("f3z9mb7ywcqht3dd \u{a0}", "the end", Some("\\xc2"), 17),
        ("f3z9mb7y\u{ff37}cqht3dd", DIGIT, Some("\\xef"), 8),
        ("f3z9mb7y\u{212a}cqht3dd", DIGIT, Some("\\xe2"), 8),
        ("  f3z9-mb7y-wc0h-t3dd ", DIGIT, Some("0"), 14),
        ("f3z9 mb7y wcqh t3dd", DIGIT, Some(" "), 4),
        ("-f3z9mb7ywcqht3dd", DIGIT, Some("-"), 0),
        ("f3z9--mb7y-wcqh-t3dd", DIGIT, Some("-"), 5),
        ("f3-z9mb7y-wcqh-t3dd", DIGIT, Some("-"), 2),
        ("f3z9mb7ywcqht3dd2", "the end", Some("2"), 16),
        ("f3z9mb7ywcqht3dd-", "the end", Some("-"), 16),
        ("f3z9mb7ywcqht3dd é", "the end", Some("\\xc3"), 17),
        ("f3z9mb7ywcqht3d é", DIGIT, Some(" "), 15),
        ("f3z9mb7ywcqht3d", DIGIT, None, 15),
        ("f3z9mb7ywcqh-", DIGIT, None, 13),
    ] {
        says(MessageId::parse_lenient(text).unwrap_err(), text, expected, found, position);
    }
}

#[test]
fn a_text_that_is_too_short_ends_before_the_white_space() {
    let error = MessageId::parse_lenient(" f3z9\n").unwrap_err();
    assert_eq!(error.to_string(), format!("expected {DIGIT}, found the end at 5"));
    assert_eq!((error.position(), error.found()), (5, None));
}

#[test]
fn a_uuid_error_names_the_wrong_field() {
    let example = u128::from_be_bytes(MessageId::parse("EUNC-Q8QJ-22GH-T3DD").unwrap().to_uuid_bytes());
    for (change, words, kind) in [
        (3 << 76, "expected a UUID of version 7, found version 4", [true, false, false, false]),
        (7 << 76, "expected a UUID of version 7, found version 0", [true, false, false, false]),
        (1 << 62, "expected a UUID of variant 0b10, found 0b11", [false, true, false, false]),
        (1 << 63, "expected a UUID of variant 0b10, found 0b00", [false, true, false, false]),
        (1 << 122, "expected a timestamp of 0 to 4398046511103 ms, found 6161712311104", [false, false, true, false]),
        (1, "expected a UUID that ends with 36 one bits, found 0xffffffffe", [false, false, false, true]),
        ((1 << 36) - 1, "expected a UUID that ends with 36 one bits, found 0x000000000", [false, false, false, true]),
        // The first of several faults is named.
        (
            1 << 122 | 1,
            "expected a timestamp of 0 to 4398046511103 ms, found 6161712311104",
            [false, false, true, false],
        ),
        (3 << 76 | 1 << 62 | 1, "expected a UUID of version 7, found version 4", [true, false, false, false]),
    ] {
        let error = MessageId::from_uuid_bytes((example ^ change).to_be_bytes()).unwrap_err();
        assert_eq!(error.to_string(), words);
        assert_eq!([error.is_version(), error.is_variant(), error.is_time(), error.is_tail()], kind, "{words}");
    }
}

#[test]
fn a_length_error_has_the_number_of_bytes() {
    for length in [0, 1, 9, 11, 16, 20] {
        let error = MessageId::from_slice(&[b'2'; 20][..length]).unwrap_err();
        assert_eq!(error.to_string(), format!("expected 10 bytes, found {length}"));
        assert_eq!((error.expected(), error.found()), (10, length));
    }
    // A text.
    let error = MessageId::try_from(&b"F3Z9-MB7Y-WCQH-T3DD"[..]).unwrap_err();
    let words = "expected 10 bytes, found 19, the length of a text (read it with parse_bytes, or store::AsText)";
    assert_eq!(error.to_string(), words);
}

#[test]
fn hex_parsing_names_the_first_byte_that_does_not_fit() {
    for (text, expected, found, position) in [
        ("", "a hex digit", None, 0),
        ("687e79a4bee2acfc856", "a hex digit", None, 19),
        ("687e79a4bee2acfc856b0", "the end", Some("0"), 20),
        ("0x7e79a4bee2acfc856b", "a hex digit", Some("x"), 1),
        ("687e79a4bee2acfc856g", "a hex digit", Some("g"), 19),
        ("687e79a4bee2acfc85é", "a hex digit", Some("\\xc3"), 18),
    ] {
        says(MessageId::from_hex(text).unwrap_err(), text, expected, found, position);
    }
}

#[test]
fn a_line_error_has_the_index_of_the_line() {
    let mut ids = [MessageId::MIN; 2];
    for (line, words) in [
        ("F3Z9-MB7Y-WCQH-T3DD;", "text 1: expected the separator, found ';' at 19"),
        ("F3Z9-MB7Y_WCQH-T3DD\n", "text 1: expected '-', found '_' at 9"),
    ] {
        let lines = format!("2222-2222-2222-2222\n{line}");
        let error: LineError = codec::decode_lines(lines.as_bytes(), b'\n', &mut ids).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.index()), (words, 1));
        assert!(words.ends_with(&error.error().to_string()));
    }
}

#[test]
fn a_range_error_shows_the_number_and_the_greatest_value() {
    let session = SessionTag::from_u32(0).unwrap();
    let cases = [
        (
            MessageId::from_u128(1 << 80).unwrap_err(),
            "expected an ID of 0 to 1208925819614629174706175, found 1208925819614629174706176",
        ),
        (
            MessageId::try_from(u128::MAX).unwrap_err(),
            "expected an ID of 0 to 1208925819614629174706175, found 340282366920938463463374607431768211455",
        ),
        (
            MessageId::try_from_parts(IdParts { timestamp_ms: 1 << 42, spin: 0, session_tag: session }).unwrap_err(),
            "expected a timestamp of 0 to 4398046511103 ms, found 4398046511104",
        ),
        (
            MessageId::first_at(u64::MAX).unwrap_err(),
            "expected a timestamp of 0 to 4398046511103 ms, found 18446744073709551615",
        ),
        (
            MessageId::last_at(1 << 42).unwrap_err(),
            "expected a timestamp of 0 to 4398046511103 ms, found 4398046511104",
        ),
        (
            MessageId::try_from_parts(IdParts { timestamp_ms: 0, spin: 4_096, session_tag: session }).unwrap_err(),
            "expected a spin of 0 to 4095, found 4096",
        ),
        (SessionType::from_u8(16).unwrap_err(), "expected a session type of 0 to 15, found 16"),
        (SessionHash::from_u32(1 << 22).unwrap_err(), "expected a session hash of 0 to 4194303, found 4194304"),
        (SessionTag::from_u32(1 << 26).unwrap_err(), "expected a session tag of 0 to 67108863, found 67108864"),
    ];
    for (error, words) in cases {
        assert_eq!(error.to_string(), words);
        assert_eq!(words.split(' ').next_back(), Some(error.found().to_string().as_str()));
        assert!(words.contains(&format!("0 to {}", error.max())));
        assert!(error.found() > error.max());
    }
}

#[test]
fn a_range_of_times_says_why_it_has_no_ids() {
    let words = |error: TimeRangeError| (error.to_string(), error.is_empty());
    assert_eq!(
        words(MessageId::range(5..5).unwrap_err()),
        ("expected a range of at least 1 ms, found 5..5 ms".to_owned(), true)
    );
    assert_eq!(
        words(MessageId::range((Bound::Included(8), Bound::Excluded(5))).unwrap_err()),
        ("expected a range of at least 1 ms, found 8..5 ms".to_owned(), true)
    );
    assert_eq!(
        words(MessageId::range(..=1 << 42).unwrap_err()),
        ("expected a timestamp of 0 to 4398046511103 ms, found 4398046511104".to_owned(), false)
    );
    assert_eq!(
        words(MessageId::range(1 << 43..).unwrap_err()),
        ("expected a timestamp of 0 to 4398046511103 ms, found 8796093022208".to_owned(), false)
    );
    assert_eq!(
        words(MessageId::range(..=u64::MAX).unwrap_err()),
        ("expected a timestamp of 0 to 4398046511103 ms, found 18446744073709551615".to_owned(), false)
    );
}

#[test]
fn a_text_that_is_not_a_session_type_is_an_error() {
    for text in ["", "GROUPS", "16", "-1", "+3", "3 ", "0x3", "256", "ultra-group"] {
        let error: ParseSessionTypeError = text.parse::<SessionType>().unwrap_err();
        assert_eq!(error.to_string(), "expected a code from 0 to 15 or a name such as PRIVATE or GROUP", "{text:?}");
    }
}

#[test]
fn a_clock_error_says_why_there_is_no_time() {
    for (error, words, kind) in [
        (ClockError::unavailable(), "expected a clock that can be read, found none", [true, false, false]),
        (ClockError::before_1970(), "expected a time since 1970, found an earlier one", [false, true, false]),
        (
            ClockError::past_2109(1 << 42),
            "expected a time of at most 4398046511103 ms (2109-05-15), found 4398046511104 ms",
            [false, false, true],
        ),
    ] {
        assert_eq!(error.to_string(), words);
        assert_eq!([error.is_unavailable(), error.is_before_1970(), error.is_past_2109()], kind, "{words}");
    }
}

/// Checks the size of each error.
macro_rules! sizes {
    ($($name:literal $error:ty: $size:literal,)*) => {
        #[test]
        fn errors_are_small() {
            // A small result is returned in registers or in a few words.
            // The sizes are those of x86-64. Elsewhere pointers, or the alignment of 128-bit integers, can be smaller.
            $(
                if cfg!(target_arch = "x86_64") {
                    assert_eq!(size_of::<$error>(), $size, $name);
                }
                assert!(size_of::<$error>() <= $size, $name);
            )*
        }
    };
}

sizes! {
    "clock::ClockError" ClockError: 16,
    "dialect::DialectError" DialectError: 16,
    "error::AfterError" AfterError: 24,
    "error::LengthError" LengthError: 16,
    "error::LineError" LineError: 24,
    "error::ParseError" ParseError: 16,
    "error::ParseSessionTypeError" ParseSessionTypeError: 0,
    "error::RangeError" RangeError: 48,
    "error::TimeRangeError" TimeRangeError: 48,
    "generator::BuildError" BuildError: 8,
    "generator::GenerateError" GenerateError: 24,
    "generator::ObserveError" ObserveError: 24,
    "error::UuidError" UuidError: 16,
}

/// The words of an error are in its `#[error("...")]`. For each of them, a line of a test must have the same words. The
/// line can have any text in place of the parts in braces.
#[test]
fn the_words_of_each_error_are_asserted() {
    let tests = files("tests");
    let lines: Vec<&str> = tests.iter().flat_map(|test| test.lines()).collect();
    let mut seen = 0;
    for source in files("src") {
        for words in source.split("#[error(").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"')) {
            let words = words.split('"').next().unwrap_or_default();
            let parts: Vec<&str> = words.split('{').map(|part| part.rsplit('}').next().unwrap_or_default()).collect();
            assert!(lines.iter().any(|line| has_in_order(line, &parts)), "no test has the words {words:?}");
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen}");
}

fn has_in_order(line: &str, parts: &[&str]) -> bool {
    let mut rest = line;
    parts.iter().all(|part| {
        let found = rest.split_once(part);
        rest = found.map_or("", |(_, after)| after);
        found.is_some()
    })
}

/// The texts of the Rust files in a folder of this package.
fn files(folder: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                texts.push(fs::read_to_string(path).expect("a source is a text"));
            }
        }
    }
    texts
}

#[test]
fn errors_have_no_hidden_source() {
    fn alone(error: &dyn std::error::Error) -> bool {
        error.source().is_none()
    }
    assert!(alone(&MessageId::parse("").unwrap_err()));
    assert!(alone(&MessageId::from_slice(&[]).unwrap_err()));
    assert!(alone(&MessageId::from_u128(u128::MAX).unwrap_err()));
    assert!(alone(&MessageId::range(5..5).unwrap_err()));
    // The message of the time range error is already that of the range error inside it.
    assert!(alone(&MessageId::range(1 << 43..).unwrap_err()));
    assert!(alone(&"".parse::<SessionType>().unwrap_err()));
    assert!(alone(&codec::decode_lines(b"?", b',', &mut [MessageId::MIN]).unwrap_err()));
    assert!(alone(&MessageId::from_uuid_bytes([0xFF; 16]).unwrap_err()));
    let late = 0xFFFF_FFFF_FFFF_7000_8000_0000_0000_0000_u128;
    assert!(alone(&MessageId::from_uuid_bytes(late.to_be_bytes()).unwrap_err()));
}
