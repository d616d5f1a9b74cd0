//! Texts that cannot be read.

use std::borrow::Cow;

use thiserror::Error;

/// A text cannot be read as an ID of a scheme.
///
/// `Display` says what the text is instead: "not an ID: expected ... at 12", or "a UUID of version 4 (random), not an ID".
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct ReadError {
    message: Cow<'static, str>,
    position: Option<usize>,
    is_foreign: bool,
}

impl ReadError {
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), position: None, is_foreign: false }
    }

    /// Returns the error for a text that is something else.
    pub(crate) fn foreign(message: String) -> Self {
        Self { is_foreign: true, ..Self::new(message) }
    }

    /// Returns the error for a text whose part from `start` on was read, from the library's message about the part.
    pub(crate) fn in_text(text: &str, start: usize, message: &str, position: usize) -> Self {
        let at = start + position;
        let (expected, byte) = message.split_once(", found ").unwrap_or((message, ""));
        let byte = byte.rsplit_once(" at ").map_or(byte, |(found, _)| found);
        // The library knows only the first byte of a character outside ASCII.
        let character = text.get(at..).and_then(|rest| rest.chars().next()).filter(|c| !c.is_ascii());
        let named = |c| {
            let name = look_alike(c).map(|name| format!(" {name}")).unwrap_or_default();
            format!("{c:?} (U+{:04X}{name})", u32::from(c))
        };
        let found = character.map_or_else(|| byte.to_owned(), named);
        Self { position: Some(at), ..Self::new(format!("not an ID: {expected}, found {found} at {at}")) }
    }

    /// Returns the index of the first wrong byte in the text without the white space around it, if one byte is wrong. If the
    /// text ends too early, this is its length.
    pub const fn position(&self) -> Option<usize> {
        self.position
    }

    /// Returns whether the text is known to be something else: a UUID, a ULID or a time.
    pub const fn is_foreign(&self) -> bool {
        self.is_foreign
    }
}

/// Characters that other programs write instead of a dash, a space or a quotation mark, or that cannot be seen.
const LOOK_ALIKES: [(char, &str); 15] = [
    ('\u{2010}', "hyphen"),
    ('\u{2011}', "non-breaking hyphen"),
    ('\u{2012}', "figure dash"),
    ('\u{2013}', "en dash"),
    ('\u{2014}', "em dash"),
    ('\u{2212}', "minus sign"),
    ('\u{fe63}', "small hyphen-minus"),
    ('\u{ad}', "soft hyphen"),
    ('\u{a0}', "no-break space"),
    ('\u{200b}', "zero width space"),
    ('\u{feff}', "byte order mark"),
    ('\u{2018}', "left single quotation mark"),
    ('\u{2019}', "right single quotation mark"),
    ('\u{201c}', "left double quotation mark"),
    ('\u{201d}', "right double quotation mark"),
];

/// Returns the name of a character that looks like another one, or that cannot be seen.
pub fn look_alike(character: char) -> Option<&'static str> {
    LOOK_ALIKES.iter().find(|(look_alike, _)| *look_alike == character).map(|(_, name)| *name)
}
