//! Texts that cannot be read.

use core::ascii;
use core::fmt;

use thiserror::Error;

/// A text is not an ID.
///
/// ```
/// use imid::MessageId;
///
/// let error = "F3Z9-MB7Y-WC0H-T3DD".parse::<MessageId>().unwrap_err();
/// assert_eq!(error.to_string(), "expected a digit 2-9 or A-Z without I and O, found '0' at 12");
/// assert_eq!(error.position(), 12);
/// assert_eq!(error.found(), Some(b'0'));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected {expected}, found {} at {position}", Found(*.found))]
pub struct ParseError {
    position: usize,
    found: Option<u8>,
    expected: Expected,
}

/// What the reader expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum Expected {
    #[error("a digit 2-9 or A-Z without I and O")]
    Digit,
    #[error("a digit 0-9 or A-V")]
    Base32Hex,
    #[error("a digit 2-9 or a-z without i and o")]
    LowerDigit,
    #[error("one of the dialect's 32 digits")]
    DialectDigit,
    #[error("a hex digit")]
    HexDigit,
    #[error("'-'")]
    Dash,
    #[error("the separator")]
    Separator,
    #[error("the end")]
    End,
}

impl ParseError {
    pub(crate) const fn new(expected: Expected, found: Option<u8>, position: usize) -> Self {
        Self { position, found, expected }
    }

    /// Returns the index of the first wrong byte, from 0. If the text ends too early, this is where it ends: its length, or
    /// the index of the white space at its end.
    pub const fn position(self) -> usize {
        self.position
    }

    /// Returns the byte at [`position`](Self::position), or `None` if the text is too short.
    pub const fn found(self) -> Option<u8> {
        self.found
    }
}

/// One of many texts is not an ID.
///
/// ```
/// use imid::{MessageId, codec};
///
/// let mut ids = [MessageId::MIN; 2];
/// let lines = b"F3Z9-MB7Y-WCQH-T3DD,F3Z9-MB7Y_WCQH-T3DE,";
/// let error = codec::decode_lines(lines, b',', &mut ids).unwrap_err();
/// assert_eq!(error.to_string(), "text 1: expected '-', found '_' at 9");
/// assert_eq!(error.index(), 1);
/// assert_eq!(error.error().position(), 9);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("text {index}: {error}")]
pub struct LineError {
    index: usize,
    error: ParseError,
}

impl LineError {
    pub(crate) const fn new(index: usize, error: ParseError) -> Self {
        Self { index, error }
    }

    /// Returns the index of the text, from 0. This is also how many IDs were read before it.
    pub const fn index(self) -> usize {
        self.index
    }

    /// Returns what is wrong with the text. Positions count from its beginning.
    pub const fn error(self) -> ParseError {
        self.error
    }
}

/// Formats a byte for an error: in quotation marks, and escaped if it is not printable ASCII.
struct Found(Option<u8>);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(byte) => write!(f, "'{}'", ascii::escape_default(byte)),
            None => f.write_str("the end"),
        }
    }
}

/// A text is neither the name of a session type nor a code.
///
/// ```
/// use imid::SessionType;
///
/// let error = "16".parse::<SessionType>().unwrap_err();
/// assert_eq!(error.to_string(), "expected a code from 0 to 15 or a name such as PRIVATE or GROUP");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected a code from 0 to 15 or a name such as PRIVATE or GROUP")]
pub struct ParseSessionTypeError(());

impl ParseSessionTypeError {
    pub(crate) const fn new() -> Self {
        Self(())
    }
}
