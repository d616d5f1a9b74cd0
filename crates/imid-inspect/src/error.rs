//! Texts that cannot be read.

use imid::MessageId;
use imid::error::{ParseError, RangeError, UuidError};
use imid_snowflake::ParseError as SnowflakeError;
use thiserror::Error;

use crate::foreign::Foreign;

/// A text cannot be read as an ID of a scheme.
///
/// `Display` says what the text is instead: "not an ID: expected ... at 12", or "a UUID of version 4 (random), not an ID".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(transparent)]
pub struct ReadError(#[from] Kind);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum Kind {
    /// The part that was read starts at `start`. `found` is a character outside ASCII.
    #[error("not an ID: {}", in_whole_text(*.error, *.start, *.found))]
    Text { error: TextError, start: usize, found: Option<char> },
    #[error("not an ID: expected a decimal number")]
    NotDecimal,
    #[error("not an ID: expected a number without zeros before it")]
    LeadingZero,
    #[error("JSON with no ID: expected an ID, or a member such as \"id\" that has one (jq -r .id prints it)")]
    Json,
    #[error("a link with no ID: expected an ID in its path or after id=")]
    Link,
    #[error("bytes that are not an ID: their time is not from 2005 to two years from now")]
    BytesOfNoTime,
    #[error("{0} bytes, not an ID: expected 10, or the 16 of a UUID view")]
    Bytes(usize),
    #[error("{0} hex digits, not an ID: expected 20, or the 32 of a UUID view")]
    Hex(usize),
    #[error("a text of {0} words with no ID")]
    Words(usize),
    /// 16 digits without a letter.
    #[error("not an ID: expected a letter, found only digits, as in the number of a payment card")]
    Number,
    #[error("not an ID: expected a number from 0 to {}", MessageId::MAX.to_u128())]
    TooLarge,
    #[error("not an ID: expected a number of at most 64 bits")]
    MoreThan64Bits,
    #[error("not an ID: {0}")]
    Layout(RangeError),
    #[error("not an ID: expected a UUID of 32 hex digits")]
    NotUuid,
    #[error("not an ID: {0}")]
    View(ViewProblem),
    #[error("{0}, not an ID")]
    Foreign(Foreign),
    /// A UUID with a time, which could have been a view.
    #[error("{0}, not the view of an ID: {1}")]
    ForeignView(Foreign, ViewProblem),
}

/// The error of a text reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum TextError {
    #[error(transparent)]
    Message(#[from] ParseError),
    #[error(transparent)]
    Snowflake(#[from] SnowflakeError),
}

impl TextError {
    fn position(self) -> usize {
        match self {
            Self::Message(error) => error.position(),
            Self::Snowflake(error) => error.position(),
        }
    }
}

/// Why a UUID is not the view of an ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum ViewProblem {
    #[error(transparent)]
    Uuid(UuidError),
    #[error("only IDs of the standard layout have a UUID view")]
    NoView,
}

impl ReadError {
    /// Returns the error for a text whose part from `start` on was read.
    pub(crate) fn in_text(text: &[u8], start: usize, error: impl Into<TextError>) -> Self {
        let error = error.into();
        let rest =
            text.get(start + error.position()..).filter(|rest| rest.first().is_some_and(|byte| !byte.is_ascii()));
        let found = rest.and_then(|rest| rest.utf8_chunks().next()?.valid().chars().next());
        Kind::Text { error, start, found }.into()
    }

    /// Returns the index of the first wrong byte in the text without the white space around it, if one byte is wrong. If the
    /// text ends too early, this is its length.
    pub fn position(self) -> Option<usize> {
        match self.0 {
            Kind::Text { error, start, .. } => Some(start + error.position()),
            _ => None,
        }
    }

    /// Returns what the text is instead, if that is known.
    pub fn foreign(self) -> Option<Foreign> {
        match self.0 {
            Kind::Foreign(foreign) | Kind::ForeignView(foreign, _) => Some(foreign),
            _ => None,
        }
    }
}

/// Returns the library's message with the position in the whole text. If the character is outside ASCII, it is named, because
/// the library knows only its first byte.
fn in_whole_text(error: TextError, start: usize, found: Option<char>) -> String {
    let (message, at) = (error.to_string(), start + error.position());
    let Some((expected, byte)) = message.split_once(", found ") else { return message };
    if let Some(character) = found {
        let name = look_alike(character).map(|name| format!(" {name}")).unwrap_or_default();
        return format!("{expected}, found {character:?} (U+{:04X}{name}) at {at}", u32::from(character));
    }
    let byte = byte.rsplit_once(" at ").map_or(byte, |(found, _)| found);
    format!("{expected}, found {byte} at {at}")
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
