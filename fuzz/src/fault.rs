//! Checks the position of an error.

use imid::error::ParseError;

use crate::model::WHITE_SPACE;

/// Asserts that an error points at the first character that does not fit. `example` is a valid text. The text before
/// this character can be completed with an end of `example`. The text up to and including this character cannot.
///
/// White space at the end of a text that is too short is part of the end.
pub fn points_at_the_fault(error: ParseError, text: &str, example: &str, is_read: impl Fn(&str) -> bool) {
    let can_be_completed = |start: &str| (0..=example.len()).any(|at| is_read(&format!("{start}{}", &example[at..])));
    let (good, rest) = text.split_at(error.position());
    assert!(can_be_completed(good), "the fault is before: {error}");
    match error.found() {
        None => assert!(rest.trim_matches(WHITE_SPACE).is_empty(), "this is not the end: {error}"),
        Some(byte) => {
            let next = rest.chars().next().expect("a character was found");
            assert_eq!(byte, rest.as_bytes()[0], "{error}");
            assert!(!can_be_completed(&format!("{good}{next}")), "this fits: {error}");
        }
    }
    assert!(error.to_string().ends_with(&format!(" at {}", error.position())), "{error}");
}
