//! Where an error points.

use imid::error::ParseError;

/// An error points at the first character that does not fit: some end of `example`, which is a text that is read,
/// completes what stands before it, and none does once it stands there. White space fits where nothing follows.
pub fn points_at_the_fault(error: ParseError, text: &str, example: &str, is_read: impl Fn(&str) -> bool) {
    let can_be_completed = |start: &str| (0..=example.len()).any(|at| is_read(&format!("{start}{}", &example[at..])));
    let (good, rest) = text.split_at(error.position());
    assert!(can_be_completed(good), "the fault is before: {error}");
    match error.found() {
        None => assert!(rest.trim().is_empty(), "this is not the end: {error}"),
        Some(byte) => {
            assert_eq!(Some(&byte), rest.as_bytes().first(), "{error}");
            let next = rest.chars().next().filter(|next| !next.is_whitespace());
            assert!(next.is_none_or(|next| !can_be_completed(&format!("{good}{next}"))), "this fits: {error}");
        }
    }
    assert!(error.to_string().ends_with(&format!(" at {}", error.position())), "{error}");
}
