//! Other text forms and layouts of this family, as data: RongCloud's, JuggleIM's and your own.
//!
//! A [`Dialect`] is a layout, 32 digits, a dash rule, a session hash and names for the session types. All of them go
//! through one reader and one writer. What they read is a [`MessageId`]: the same 80 bits, so an ID can be written again in
//! any other dialect ([`recode`](Dialect::recode)) and nothing is lost.
//!
//! | dialect | digits | session hash | text order is time order |
//! | --- | --- | --- | --- |
//! | [`STANDARD`](Dialect::STANDARD) | `2-9A-Z` without I and O, dashed | XXH3-64 | yes |
//! | [`RONGCLOUD`](Dialect::RONGCLOUD) | `0-9A-V`, dashed | Java `hashCode` | yes |
//! | [`RONGCLOUD_V1`](Dialect::RONGCLOUD_V1) (43, 0, 5, 32 bits) | `0-9A-V`, dashed | Java `hashCode` | yes |
//! | [`JUGGLEIM`](Dialect::JUGGLEIM) | `a-z` without i and o, then `2-9` | CRC-32 | no |
//!
//! ```
//! use imid::dialect::Dialect;
//!
//! let id = Dialect::RONGCLOUD.parse("BUFE-A62U-32C4-01I2")?;
//! assert_eq!(id.timestamp_ms(), 1_642_750_828_920);
//! assert_eq!(Dialect::RONGCLOUD.hash("24"), Some(id.session_hash().to_u32()));
//! assert_eq!(id.to_string(), "DYHG-C84Y-54E6-23L4");
//! # Ok::<(), imid::error::ParseError>(())
//! ```
//!
//! [`identify`](crate::identify()) goes the other way: which dialects could have written a text.

mod built_in;
mod error;
mod hash;
mod layout;
mod text;

use core::fmt;

pub use error::DialectError;
pub use layout::{Fields, Layout};
pub use text::DialectText;

use crate::codec::alphabet::{Alphabet, RADIX};
use crate::codec::form::{self, Form};
use crate::error::{Expected, ParseError};
use crate::id::MessageId;
use error::DialectKind;

use crate::session::{Session, SessionHash, SessionType};

/// A way to write and to divide the 80 bits.
///
/// The constants are made by the same constructors that are open to everyone:
///
/// ```
/// use imid::dialect::{Dialect, Layout};
///
/// const OURS: Dialect = match Dialect::new("ours", b"0123456789ABCDEFGHJKMNPQRSTVWXYZ") {
///     Ok(dialect) => dialect.without_dashes().with_types(&[(1, "DIRECT"), (2, "ROOM")]),
///     Err(_) => panic!("32 different ASCII characters"),
/// };
///
/// let text = Dialect::RONGCLOUD.recode("BUFE-A62U-32C4-01I2", &OURS)?;
/// assert_eq!(text.as_str(), "BYFEA62Y32C401J2");
/// assert!(OURS.sorts_by_time());
/// # Ok::<(), imid::error::ParseError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Dialect {
    name: &'static str,
    layout: Layout,
    form: Form,
    hash: Option<fn(&str) -> u32>,
    types: &'static [(u8, &'static str)],
    channels: &'static [(u8, &'static str)],
}

impl Dialect {
    /// A dialect with these digits, from the one for 0 to the one for 31: the standard layout, dashed, without a session
    /// hash and type names. The setters below change that.
    ///
    /// # Errors
    /// A digit that stands twice, is not printable ASCII, or is the dash.
    pub const fn new(name: &'static str, digits: &[u8; 32]) -> Result<Self, DialectError> {
        Self::checked(name, digits, Expected::DialectDigit)
    }

    const fn checked(name: &'static str, digits: &[u8; RADIX], expected: Expected) -> Result<Self, DialectError> {
        match Alphabet::new(*digits, expected) {
            Ok(alphabet) => Ok(Self::dashed(name, &alphabet)),
            Err(at) => Err(DialectError::new(DialectKind::Digit { at, found: digits[at] })),
        }
    }

    const fn dashed(name: &'static str, alphabet: &Alphabet) -> Self {
        let form = Form { alphabet: *alphabet, dashed: true };
        Self { name, layout: Layout::STANDARD, form, hash: None, types: &[], channels: &[] }
    }

    /// Writes and reads 16 characters instead of 19.
    #[must_use]
    pub const fn without_dashes(mut self) -> Self {
        self.form.dashed = false;
        self
    }

    /// Divides the 80 bits in this way.
    #[must_use]
    pub const fn with_layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// Hashes session names with this function, of which the layout keeps the low bits.
    #[must_use]
    pub const fn with_hash(self, hash: fn(&str) -> u32) -> Self {
        Self { hash: Some(hash), ..self }
    }

    /// Names the session types, by code.
    #[must_use]
    pub const fn with_types(self, types: &'static [(u8, &'static str)]) -> Self {
        Self { types, ..self }
    }

    /// Gives the session types second names, by code: what RongCloud's callbacks say in `channelType`.
    #[must_use]
    pub const fn with_channels(self, channels: &'static [(u8, &'static str)]) -> Self {
        Self { channels, ..self }
    }

    /// The name: `standard`, `rongcloud`, `rongcloud-v1`, `juggleim`, or what the caller chose.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// How the 80 bits are divided.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether the order of texts (as bytes) is the order of the values, and so of time: the digits ascend in ASCII.
    pub const fn sorts_by_time(&self) -> bool {
        self.form.alphabet.ascends()
    }

    /// Reads a text: this dialect's digits in this dialect's case, dashes where it has them and nowhere else.
    ///
    /// # Errors
    /// Anything else, such as W to Z in RongCloud's, or a dash in JuggleIM's.
    pub fn parse(&self, text: &str) -> Result<MessageId, ParseError> {
        self.parse_bytes(text.as_bytes())
    }

    /// [`parse`](Self::parse) for text that has not been checked to be UTF-8.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub fn parse_bytes(&self, text: &[u8]) -> Result<MessageId, ParseError> {
        self.form.parse(text)
    }

    /// Reads what a person types or pastes: either case unless both are digits, any of the three dashes put in or left out,
    /// white space around it.
    ///
    /// # Errors
    /// Any other text, such as one with a character that is no digit of this dialect in either case.
    pub fn parse_lenient(&self, text: &str) -> Result<MessageId, ParseError> {
        form::parse_lenient(&self.form.alphabet, text)
    }

    /// The text of an ID, on the stack.
    pub fn to_text(&self, id: MessageId) -> DialectText {
        DialectText::new(&self.form, id)
    }

    /// The text of the same 80 bits in another dialect.
    ///
    /// # Errors
    /// A text that this dialect does not [`parse`](Self::parse).
    pub fn recode(&self, text: &str, to: &Self) -> Result<DialectText, ParseError> {
        Ok(to.to_text(self.parse(text)?))
    }

    /// What this dialect's layout reads in an ID.
    pub const fn fields(&self, id: MessageId) -> Fields {
        self.layout.fields(id)
    }

    /// The hash of a session's name, as wide as the layout keeps it; `None` where the hash is not known.
    pub fn hash(&self, name: &str) -> Option<u32> {
        self.hash.map(|hash| self.layout.keep(hash(name)))
    }

    /// The session to mint IDs for, hashed as this dialect does.
    ///
    /// ```
    /// use imid::dialect::Dialect;
    /// use imid::{Generator, SessionType};
    ///
    /// static IDS: Generator = Generator::new();
    ///
    /// let session = Dialect::RONGCLOUD.session(SessionType::PRIVATE, "user9")?;
    /// let id = IDS.generate(session)?;
    /// println!("{}", Dialect::RONGCLOUD.to_text(id));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A dialect with another layout than the standard one, which is read only; one whose hash is not known, such as
    /// JuggleIM's without the feature `juggleim`.
    pub fn session(&self, session_type: SessionType, name: &str) -> Result<Session, DialectError> {
        let read_only = DialectError::new(DialectKind::ReadOnly { name: self.name });
        if !self.layout.is_standard() {
            return Err(read_only);
        }
        let hash = self.hash(name).ok_or(DialectError::new(DialectKind::NoHash { name: self.name }))?;
        SessionHash::from_u32(hash).map(|hash| Session::from_parts(session_type, hash)).map_err(|_| read_only)
    }

    /// The name of a session type; `None` for a code without one.
    pub fn type_name(&self, code: u8) -> Option<&'static str> {
        name_of(self.types, code)
    }

    /// The `channelType` of RongCloud's callbacks for a session type; `None` for a code without one.
    pub fn channel_type(&self, code: u8) -> Option<&'static str> {
        name_of(self.channels, code)
    }

    /// The code with this name or `channelType`, in any case.
    pub fn type_code(&self, name: &str) -> Option<u8> {
        let mut named = self.types.iter().chain(self.channels);
        named.find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(code, _)| *code)
    }
}

fn name_of(names: &[(u8, &'static str)], code: u8) -> Option<&'static str> {
    names.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dialect({})", self.name)
    }
}
