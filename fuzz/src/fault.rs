//! Checks the position of an error.

use core::fmt::Display;

use crate::model::WHITE_SPACE;

/// An error with a position: of an 80-bit ID, or of a Snowflake.
pub trait Positioned: Display {
    /// Returns the position and the byte there.
    fn fault(&self) -> (usize, Option<u8>);
}

impl Positioned for imid::error::ParseError {
    fn fault(&self) -> (usize, Option<u8>) {
        (self.position(), self.found())
    }
}

impl Positioned for imid_snowflake::ParseError {
    fn fault(&self) -> (usize, Option<u8>) {
        (self.position(), self.found())
    }
}

/// Asserts that an error points at the first character that does not fit. `example` is a valid text. The text before
/// this character can be completed with an end of `example`. The text up to and including this character cannot.
///
/// White space at the end of a text that is too short is part of the end.
pub fn points_at_the_fault(error: impl Positioned, text: &str, example: &str, is_read: impl Fn(&str) -> bool) {
    let (position, found) = error.fault();
    let can_be_completed = |start: &str| (0..=example.len()).any(|at| is_read(&format!("{start}{}", &example[at..])));
    let (good, rest) = text.split_at(position);
    assert!(can_be_completed(good), "the fault is before: {error}");
    match found {
        None => assert!(rest.trim_matches(WHITE_SPACE).is_empty(), "this is not the end: {error}"),
        Some(byte) => {
            let next = rest.chars().next().expect("a character was found");
            assert_eq!(byte, rest.as_bytes()[0], "{error}");
            assert!(!can_be_completed(&format!("{good}{next}")), "this fits: {error}");
        }
    }
    assert!(error.to_string().ends_with(&format!(" at {position}")), "{error}");
}
