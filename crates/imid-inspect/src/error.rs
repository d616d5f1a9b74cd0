//! Texts that cannot be read.

use core::fmt;

use imid::MessageId;
use imid::error::{ParseError, RangeError, UuidError};
use imid_snowflake::ParseError as SnowflakeError;

use crate::foreign::Foreign;

/// A text cannot be read as an ID of a scheme.
///
/// `Display` says what the text is instead: "not an ID: expected ... at 12", or "a UUID of version 4 (random), not an ID".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadError(pub(crate) Kind);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The part that was read starts at `start`. `found` is a character outside ASCII.
    Text {
        error: TextError,
        start: usize,
        found: Option<char>,
    },
    NotDecimal,
    /// 16 digits without a letter.
    Number,
    TooLarge,
    MoreThan64Bits,
    Layout(RangeError),
    NotUuid,
    View(ViewProblem),
    Foreign(Foreign),
    /// A UUID with a time, which could have been a view.
    ForeignView(Foreign, ViewProblem),
}

/// The error of a text reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TextError {
    Message(ParseError),
    Snowflake(SnowflakeError),
}

impl TextError {
    fn position(self) -> usize {
        match self {
            Self::Message(error) => error.position(),
            Self::Snowflake(error) => error.position(),
        }
    }
}

impl From<ParseError> for TextError {
    fn from(error: ParseError) -> Self {
        Self::Message(error)
    }
}

impl From<SnowflakeError> for TextError {
    fn from(error: SnowflakeError) -> Self {
        Self::Snowflake(error)
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(error) => error.fmt(f),
            Self::Snowflake(error) => error.fmt(f),
        }
    }
}

/// Why a UUID is not the view of an ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ViewProblem {
    Uuid(UuidError),
    /// The scheme has no views.
    NoView,
}

impl ReadError {
    /// Returns the error for a text whose part from `start` on was read.
    pub(crate) fn in_text(text: &[u8], start: usize, error: impl Into<TextError>) -> Self {
        let error = error.into();
        let rest =
            text.get(start + error.position()..).filter(|rest| rest.first().is_some_and(|byte| !byte.is_ascii()));
        let found = rest.and_then(|rest| rest.utf8_chunks().next()?.valid().chars().next());
        Self(Kind::Text { error, start, found })
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

impl core::error::Error for ReadError {}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Foreign(foreign) => return write!(f, "{foreign}, not an ID"),
            Kind::ForeignView(foreign, problem) => {
                return write!(f, "{foreign}, not the view of an ID: {problem}");
            }
            _ => f.write_str("not an ID: ")?,
        }
        match self.0 {
            Kind::Text { error, start, found } => write_parse_error(f, error, start, found),
            Kind::NotDecimal => f.write_str("expected a decimal number"),
            Kind::Number => f.write_str("expected a letter, found only digits, as in the number of a payment card"),
            Kind::TooLarge => write!(f, "expected a number from 0 to {}", MessageId::MAX.to_u128()),
            Kind::MoreThan64Bits => f.write_str("expected a number of at most 64 bits"),
            Kind::Layout(error) => error.fmt(f),
            Kind::NotUuid => f.write_str("expected a UUID of 32 hex digits"),
            Kind::View(problem) => problem.fmt(f),
            Kind::Foreign(_) | Kind::ForeignView(..) => Ok(()),
        }
    }
}

impl fmt::Display for ViewProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid(error) => error.fmt(f),
            Self::NoView => f.write_str("only IDs of the standard layout have a UUID view"),
        }
    }
}

/// Writes the library's message with the position in the whole text. If the character is outside ASCII, it is named, because
/// the library knows only its first byte.
fn write_parse_error(f: &mut fmt::Formatter<'_>, error: TextError, start: usize, found: Option<char>) -> fmt::Result {
    let (message, at) = (error.to_string(), start + error.position());
    let Some((expected, byte)) = message.split_once(", found ") else { return f.write_str(&message) };
    if let Some(character) = found {
        let name = look_alike(character).map(|name| format!(" {name}")).unwrap_or_default();
        return write!(f, "{expected}, found {character:?} (U+{:04X}{name}) at {at}", u32::from(character));
    }
    let byte = byte.rsplit_once(" at ").map_or(byte, |(found, _)| found);
    write!(f, "{expected}, found {byte} at {at}")
}

/// Characters that other programs write instead of a dash, a space or a quotation mark, or that cannot be seen.
const LOOK_ALIKES: [(char, &str); 14] = [
    ('\u{2010}', "hyphen"),
    ('\u{2011}', "non-breaking hyphen"),
    ('\u{2012}', "figure dash"),
    ('\u{2013}', "en dash"),
    ('\u{2014}', "em dash"),
    ('\u{2212}', "minus sign"),
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
