//! Other text forms and layouts of 80-bit IDs, as data: RongCloud's, JuggleIM's and your own.
//!
//! A [`Dialect`] is a layout, 32 digits, a dash rule, a session hash and names for the session types. It reads a text as a
//! [`DialectId`]: 80 bits with their layout. IDs of the standard layout convert to a [`MessageId`](crate::MessageId) and back, so
//! they can be written in any dialect of that layout.
//!
//! | dialect | digits | session hash | text order is time order |
//! | --- | --- | --- | --- |
//! | [`STANDARD`](Dialect::STANDARD) | `2-9A-Z` without I and O, dashed | XXH3-64 | yes |
//! | [`RONGCLOUD`](Dialect::RONGCLOUD) | `0-9A-V`, dashed | Java `hashCode` | yes |
//! | [`RONGCLOUD_V1`](Dialect::RONGCLOUD_V1) (43, 0, 5, 32 bits) | `0-9A-V`, dashed | Java `hashCode` | yes |
//! | [`JUGGLEIM`](Dialect::JUGGLEIM) | `a-z` without i and o, then `2-9` | CRC-32 | no |
//!
//! ```
//! use imid::MessageId;
//! use imid::dialect::Dialect;
//!
//! let id = Dialect::RONGCLOUD.parse("BUFE-A62U-32C4-01I2")?;
//! assert_eq!((id.timestamp_ms(), id.type_code()), (1_642_750_828_920, 1));
//! assert_eq!(Dialect::RONGCLOUD.hash_of("24"), Some(id.session_hash()));
//! assert_eq!(Dialect::JUGGLEIM.to_text(id)?.as_str(), "m8rqlgc8dcneabuc");
//! assert_eq!(MessageId::try_from(id)?.to_string(), "DYHG-C84Y-54E6-23L4");
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! The crate `imid-inspect` returns the dialects that could have written a text.

mod built_in;
mod error;
mod id;
mod layout;
mod text;

use core::fmt;

pub use error::DialectError;
pub use id::DialectId;
pub use layout::Layout;
pub use text::DialectText;

use crate::codec::alphabet::{Alphabet, RADIX};
use crate::codec::form::{self, Form};
use crate::error::{Expected, ParseError};
use crate::session::{SessionHash, SessionTag, SessionType};
use error::DialectKind;

/// A way to write and divide the 80 bits.
///
/// The built-in dialects are constants. Your own dialect can be a constant as well, or a value that borrows its names for `'a`. A
/// program that reads the names from a file creates the dialect where it keeps the names, or leaks them once (`String::leak`).
///
/// ```
/// use imid::dialect::Dialect;
///
/// const OURS: Dialect = match Dialect::try_new("ours", b"0123456789ABCDEFGHJKMNPQRSTVWXYZ") {
///     Ok(dialect) => dialect.without_dashes().with_type_names(&[(1, "DIRECT"), (2, "ROOM")]),
///     Err(_) => panic!("the digits are 32 different ASCII characters"),
/// };
///
/// let text = OURS.to_text(Dialect::RONGCLOUD.parse("BUFE-A62U-32C4-01I2")?)?;
/// assert_eq!(text.as_str(), "BYFEA62Y32C401J2");
/// assert!(OURS.sorts_by_time());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
// Not `Copy`: 336 bytes should not be copied without a call that says so.
#[derive(Clone)]
pub struct Dialect<'a> {
    name: &'a str,
    layout: Layout,
    form: Form,
    hash: Option<fn(&str) -> u32>,
    types: &'a [(u8, &'a str)],
}

impl<'a> Dialect<'a> {
    /// Returns a dialect with these digits, from the one for 0 to the one for 31. It has the standard layout and
    /// dashes. It has no session hash and no names of session types. The methods below change these settings.
    ///
    /// # Errors
    /// A digit occurs twice, is not printable ASCII, or is the dash.
    pub const fn try_new(name: &'a str, digits: &[u8; 32]) -> Result<Self, DialectError> {
        Self::checked(name, digits, Expected::DialectDigit)
    }

    const fn checked(name: &'a str, digits: &[u8; RADIX], expected: Expected) -> Result<Self, DialectError> {
        match Alphabet::new(*digits, expected) {
            Ok(alphabet) => Ok(Self::dashed(name, &alphabet)),
            Err(at) => Err(DialectError::new(DialectKind::Digit { at, found: digits[at] })),
        }
    }

    const fn dashed(name: &'a str, alphabet: &Alphabet) -> Self {
        let form = Form { alphabet: *alphabet, dashed: true };
        Self { name, layout: Layout::STANDARD, form, hash: None, types: &[] }
    }

    /// Writes and reads 16 characters instead of 19.
    #[must_use]
    pub const fn without_dashes(mut self) -> Self {
        self.form.dashed = false;
        self
    }

    /// Sets the layout, which divides the 80 bits. A dialect of [`RONGCLOUD_V1`](Layout::RONGCLOUD_V1) is read only.
    #[must_use]
    pub const fn with_layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// Sets the function that hashes the names of sessions. The layout keeps the low bits of the hash.
    #[must_use]
    pub const fn with_hash(self, hash: fn(&str) -> u32) -> Self {
        Self { hash: Some(hash), ..self }
    }

    /// Sets the names of the session types, by code. If a code occurs twice, its first name is written, and each one is read.
    #[must_use]
    pub const fn with_type_names(self, names: &'a [(u8, &'a str)]) -> Self {
        Self { types: names, ..self }
    }

    /// Returns the name: `standard`, `rongcloud`, `rongcloud-v1`, `juggleim`, or the name that the caller chose.
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the layout: how the 80 bits are divided.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns whether the digits ascend in ASCII. If so, texts compared as bytes sort as their IDs do, by time.
    pub const fn sorts_by_time(&self) -> bool {
        self.form.alphabet.ascends()
    }

    /// Reads a text in the form that the dialect writes: its digits in its case, and with dashes if it has dashes.
    ///
    /// # Errors
    /// The text has another form: for example it contains W to Z for RongCloud, or a dash for JuggleIM.
    pub fn parse(&self, text: &str) -> Result<DialectId, ParseError> {
        self.parse_bytes(text.as_bytes())
    }

    /// Reads a text as [`parse`](Self::parse) does, from bytes that need not be UTF-8.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub fn parse_bytes(&self, text: &[u8]) -> Result<DialectId, ParseError> {
        Ok(DialectId::new(self.form.parse(text)?, self.layout))
    }

    /// Reads a text that a person types or pastes: in either case, with or without each of the three dashes, with white
    /// space around it. The white space is that of [`MessageId::parse_lenient`](crate::MessageId::parse_lenient). If both
    /// cases of a letter are digits of this dialect, each case is its own digit.
    ///
    /// # Errors
    /// The text has another form: for example it contains a character that is not a digit of this dialect in either
    /// case.
    pub fn parse_lenient(&self, text: &str) -> Result<DialectId, ParseError> {
        Ok(DialectId::new(form::parse_lenient(&self.form.alphabet, text)?, self.layout))
    }

    /// Returns the text of an ID, on the stack. Takes a [`DialectId`] or a [`MessageId`](crate::MessageId).
    ///
    /// # Errors
    /// The ID has another layout, such as a [`MessageId`](crate::MessageId) for RongCloud's older dialect.
    pub fn to_text(&self, id: impl Into<DialectId>) -> Result<DialectText, DialectError> {
        Ok(DialectText::new(&self.form, id.into().in_layout(self.layout)?))
    }

    /// Returns the hash of a session's name, as wide as in the layout, or `None` if the hash is not known.
    pub fn hash_of(&self, name: &str) -> Option<u32> {
        self.hash.map(|hash| self.layout.hash(hash(name).into()))
    }

    /// Creates a session tag with this dialect's hash, to mint IDs for the session.
    ///
    /// The session type is a code. A dialect has its own names for the codes: the constants of [`SessionType`] are
    /// RongCloud's, and JuggleIM calls code 3 `CHATROOM`, which is [`SessionType::GROUP`].
    /// [`session_type`](Self::session_type) returns the type with a name of this dialect.
    ///
    /// ```
    /// use imid::SessionType;
    /// use imid::dialect::Dialect;
    ///
    /// assert_eq!(Dialect::RONGCLOUD.type_code("group"), Some(3));
    /// assert_eq!(Dialect::JUGGLEIM.type_code("group"), Some(2));
    /// assert_eq!(Dialect::JUGGLEIM.type_name(SessionType::GROUP.to_u8()), Some("CHATROOM"));
    /// ```
    ///
    /// ```
    /// use imid::dialect::Dialect;
    /// use imid::{Generator, SessionType};
    ///
    /// static IDS: Generator = Generator::new();
    ///
    /// let session = Dialect::RONGCLOUD.session_tag(SessionType::PRIVATE, "user9")?;
    /// let id = IDS.generate(session)?;
    /// println!("{}", Dialect::RONGCLOUD.to_text(id)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The layout of the dialect is not the standard one, so the dialect is read only; the hash is not known, such as
    /// JuggleIM's without the feature `juggleim`.
    pub fn session_tag(&self, session_type: SessionType, name: &str) -> Result<SessionTag, DialectError> {
        let read_only = DialectError::new(DialectKind::ReadOnly { expected: Layout::STANDARD, found: self.layout });
        if !self.layout.is_standard() {
            return Err(read_only);
        }
        let hash = self.hash_of(name).ok_or(DialectError::new(DialectKind::NoHash))?;
        SessionHash::from_u32(hash).map(|hash| SessionTag::from_parts(session_type, hash)).map_err(|_| read_only)
    }

    /// Returns this dialect's name of a session type, or `None` if the code has no name.
    pub fn type_name(&self, code: u8) -> Option<&'a str> {
        self.types.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
    }

    /// Returns the session type with this name, in any case. `None` if there is no such name, or if its code is above 15.
    ///
    /// The constants of [`SessionType`] have RongCloud's codes. JuggleIM's GROUP is another code:
    ///
    /// ```
    /// use imid::SessionType;
    /// use imid::dialect::Dialect;
    ///
    /// assert_eq!(Dialect::RONGCLOUD.session_type("GROUP"), Some(SessionType::GROUP));
    /// assert_eq!(Dialect::JUGGLEIM.session_type("GROUP").map(SessionType::to_u8), Some(2));
    /// ```
    pub fn session_type(&self, name: &str) -> Option<SessionType> {
        SessionType::from_u8(self.type_code(name)?).ok()
    }

    /// Returns the code with this name, in any case.
    pub fn type_code(&self, name: &str) -> Option<u8> {
        self.types.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(code, _)| *code)
    }
}

impl fmt::Debug for Dialect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dialect({})", self.name)
    }
}
