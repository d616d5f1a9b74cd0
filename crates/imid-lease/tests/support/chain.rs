//! Errors as a report prints them.

use std::error::Error;

/// Returns an error with its causes, each of which has words of its own: a report with all of them says nothing twice.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut texts = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        texts.push(cause.to_string());
        next = cause.source();
    }
    for (at, text) in texts.iter().enumerate() {
        let is_repeated = texts[at + 1..].iter().any(|cause| text.ends_with(cause.as_str()));
        assert!(!is_repeated, "a text is repeated by the error above it: {texts:?}");
    }
    texts.join(": ")
}
