//! What is in a register: the lanes of each ID space, the keys of its records, and their text, one line of readable ASCII each.
//!
//! ```text
//! imid-lease/1 register id=7c9e6679-7425-40de-944b-e07fc1f90ae7
//! imid-lease/1 meta version=1 token=5b1f6c0e9d2a4477 layout=imid-80 bits=4 era=1 floor=0 space=0f8fad5b-d9cb-469f-a165-70867728950e
//! imid-lease/1 lane version=17 token=9f86d081884c7d65 holder=web-3 horizon=10000 ceiling=1795204812345 held
//! ```
//!
//! The fields have this order, separated by one space. The last one is a word or has a fixed length, so that a truncated record is
//! never read as another one. Numbers are below 2^63. Times are Unix milliseconds, whatever the tick of the IDs. A record of another
//! format is an error, and nothing overwrites it.

#[cfg(test)]
mod tests;

use std::fmt;

use thiserror::Error;

/// What every record begins with: the format and its version.
pub const FORMAT: &str = "imid-lease/1";

/// The longest name of a holder.
const MAX_NAME: usize = 64;

/// The lanes of one ID space: their name in the register, the layout of the IDs, and how many bits tell lanes apart.
///
/// All processes that mint IDs of one space use an equal `Space` and one register. A register can hold several spaces
/// with different names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Space {
    name: Name,
    layout: Name,
    bits: u32,
}

/// The layout of 80-bit IDs. Those of worker IDs have other names.
pub const IMID: &str = "imid-80";

impl Space {
    /// Returns the space "lanes" of 2^`bits` lanes of 80-bit IDs.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn lanes(bits: u32) -> Result<Self, SpaceError> {
        Self::new("lanes", IMID, bits)
    }

    /// Returns a space. Both names are [`Name`]s.
    ///
    /// # Errors
    /// A name with other characters, such as `my lanes`; more than 16 bits, or for 80-bit IDs more than the 12 of their spin.
    pub fn new(name: &str, layout: &str, bits: u32) -> Result<Self, SpaceError> {
        let (name, layout) = (Name::parse(name)?, Name::parse(layout)?);
        let max = if layout.as_str() == IMID { 12 } else { 16 };
        if bits > max {
            return Err(SpaceError::Bits { max, found: bits });
        }
        Ok(Self { name, layout, bits })
    }

    /// Returns the name.
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// Returns the layout of the IDs, such as `imid-80`.
    pub fn layout(&self) -> &str {
        self.layout.as_str()
    }

    /// Returns whether its lanes are those of 80-bit IDs, and not worker IDs.
    pub fn has_generator_lanes(&self) -> bool {
        self.layout() == IMID
    }

    /// Returns how many bits tell lanes apart.
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the number of lanes.
    pub const fn lane_count(&self) -> u32 {
        1 << self.bits
    }

    /// Returns the prefix of the keys of all records of the space.
    pub fn prefix(&self) -> String {
        format!("{}/", self.name)
    }

    /// Returns the key of the record that describes the space.
    pub fn meta_key(&self) -> String {
        format!("{}/meta", self.name)
    }

    /// Returns the key of a lane's record. `era` counts how often the number of lanes was changed.
    pub fn lane_key(&self, era: u64, lane: u16) -> String {
        format!("{}/{era}/{lane:05}", self.name)
    }

    /// Returns the lane that a key names; `None` if it is not the key of a lane of this era.
    pub fn lane_of(&self, key: &str, era: u64) -> Option<u16> {
        let rest = key.strip_prefix(self.name.as_str())?.strip_prefix('/')?;
        let (found, lane) = rest.split_once('/')?;
        if found.parse() != Ok(era) {
            return None;
        }
        lane.parse().ok().filter(|lane| u32::from(*lane) < self.lane_count())
    }
}

/// The record of one lane. It is written when the lane is first taken, and never deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LaneRecord {
    /// Grows by one with each write.
    pub version: u64,
    /// Random, drawn for each attempt to write: a restored record can repeat a version, but not a token.
    pub token: Token,
    /// Who wrote it.
    pub holder: Name,
    /// How far ahead of use its holder raises the ceiling, in milliseconds.
    pub horizon_ms: u64,
    /// The first Unix millisecond that the holder must not use; the next holder starts here.
    pub ceiling_ms: u64,
    /// Whether someone has it.
    pub state: LaneState,
}

/// Whether a lane can be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LaneState {
    /// Somebody has it, or has died with it.
    Held,
    /// Its holder gave it back.
    Free,
    /// Nobody can take it again: the number of lanes was changed.
    Closed,
}

/// The record that describes a space.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MetaRecord {
    /// Grows by one with each write.
    pub version: u64,
    /// Random, drawn for each attempt to write.
    pub token: Token,
    /// The UUID of the space in this register, as text. Random, drawn when the space is used for the first time.
    pub space_id: String,
    /// The layout of the IDs, such as `imid-80`.
    pub layout: String,
    /// How many bits tell lanes apart.
    pub bits: u32,
    /// Grows by one when the number of lanes is changed. The lanes of each era have separate records.
    pub era: u64,
    /// Where a lane without a record starts, in Unix milliseconds.
    pub floor_ms: u64,
}

/// The record that names a register. The first process writes it, and it stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterRecord {
    /// Random. All spaces of the register show the same one.
    pub register_id: String,
}

/// 64 random bits, written as 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Token(pub u64);

/// The name of a holder or a space: 1 to 64 of the characters `A-Z`, `a-z`, `0-9`, `-`, `_`, `.` and `:`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(String);

/// Returns the text of the UUID of version 4 with these random bits, six of which are overwritten.
pub fn uuid(random: u128) -> String {
    let digits = format!("{:032x}", random & !(0xF << 76) & !(0x3 << 62) | 4 << 76 | 2 << 62);
    [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]).join("-")
}

impl Name {
    /// Reads a name.
    ///
    /// # Errors
    /// A text with other characters than a name has, such as `web 3`, or a length that is not 1 to 64.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        if text.is_empty() || text.len() > MAX_NAME || !text.bytes().all(fits) {
            let expected = "a name of 1 to 64 of the characters A-Z, a-z, 0-9, '-', '_', '.' and ':'";
            return Err(RecordError::new(expected, text));
        }
        Ok(Self(text.into()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Display for LaneState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "held",
            Self::Free => "free",
            Self::Closed => "closed",
        })
    }
}

impl fmt::Display for LaneRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, token, holder, horizon_ms, ceiling_ms, state } = self;
        write!(f, "{FORMAT} lane version={version} token={token} holder={holder} horizon={horizon_ms} ")?;
        write!(f, "ceiling={ceiling_ms} {state}")
    }
}

impl fmt::Display for MetaRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, token, space_id, layout, bits, era, floor_ms } = self;
        write!(f, "{FORMAT} meta version={version} token={token} layout={layout} bits={bits} era={era} ")?;
        write!(f, "floor={floor_ms} space={space_id}")
    }
}

impl fmt::Display for RegisterRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORMAT} register id={}", self.register_id)
    }
}

impl LaneRecord {
    /// Reads the text of a lane's record.
    ///
    /// # Errors
    /// A text of another format, such as `imid-lease/2 ...`, of another kind of record, or with a field that is
    /// missing.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let mut fields = Fields::of(text, "lane")?;
        let record = Self {
            version: fields.number("version")?,
            token: fields.token()?,
            holder: Name::parse(fields.value("holder")?)?,
            horizon_ms: fields.number("horizon")?,
            ceiling_ms: fields.number("ceiling")?,
            state: match fields.word() {
                "held" => LaneState::Held,
                "free" => LaneState::Free,
                "closed" => LaneState::Closed,
                other => return Err(RecordError::new("`held`, `free` or `closed`", other)),
            },
        };
        fields.end()?;
        Ok(record)
    }
}

impl MetaRecord {
    /// Reads the text of the record that describes a space.
    ///
    /// # Errors
    /// As for [`LaneRecord::parse`].
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let mut fields = Fields::of(text, "meta")?;
        let (version, token) = (fields.number("version")?, fields.token()?);
        let layout = fields.value("layout")?.into();
        let bits = fields.number("bits")?;
        let bits = u32::try_from(bits).map_err(|_| RecordError::new("a number of bits", &bits.to_string()))?;
        let record = Self {
            version,
            token,
            layout,
            bits,
            era: fields.number("era")?,
            floor_ms: fields.number("floor")?,
            space_id: fields.uuid("space")?,
        };
        fields.end()?;
        Ok(record)
    }
}

impl RegisterRecord {
    /// The key of the record. The keys of a space have a `/`.
    pub const KEY: &str = "register";

    /// Reads the text of the record that names a register.
    ///
    /// # Errors
    /// As for [`LaneRecord::parse`].
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let mut fields = Fields::of(text, "register")?;
        let record = Self { register_id: fields.uuid("id")? };
        fields.end()?;
        Ok(record)
    }
}

/// The words of a record, read from left to right.
struct Fields<'a>(std::str::Split<'a, char>);

impl<'a> Fields<'a> {
    /// Begins after the format and the kind.
    fn of(text: &'a str, kind: &'static str) -> Result<Self, RecordError> {
        let mut fields = Self(text.split(' '));
        let format = fields.word();
        if format != FORMAT {
            return Err(RecordError::new("a record of the format `imid-lease/1`", text));
        }
        let found = fields.word();
        if found != kind {
            let expected = match kind {
                "lane" => "a record of a lane",
                "register" => "a record that names a register",
                _ => "a record that describes a space",
            };
            return Err(RecordError::new(expected, found));
        }
        Ok(fields)
    }

    /// Returns the next word; empty after the last one.
    fn word(&mut self) -> &'a str {
        self.0.next().unwrap_or_default()
    }

    fn value(&mut self, name: &'static str) -> Result<&'a str, RecordError> {
        let word = self.word();
        let value = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('='));
        value.ok_or_else(|| RecordError { expected: Expected::Field(name), found: shorten(word) })
    }

    fn number(&mut self, name: &'static str) -> Result<u64, RecordError> {
        let value = self.value(name)?;
        // A version and an era grow by one.
        let number = value.parse().ok().filter(|number: &u64| *number < 1 << 63 && number.to_string() == value);
        number.ok_or_else(|| RecordError { expected: Expected::Number(name), found: shorten(value) })
    }

    fn uuid(&mut self, name: &'static str) -> Result<String, RecordError> {
        let value = self.value(name)?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_uuid = value.len() == 36
            && value
                .bytes()
                .enumerate()
                .all(|(at, byte)| if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { is_digit(byte) });
        if is_uuid { Ok(value.to_owned()) } else { Err(RecordError::new("a UUID", value)) }
    }

    fn token(&mut self) -> Result<Token, RecordError> {
        let value = self.value("token")?;
        let token = u64::from_str_radix(value, 16).ok().map(Token).filter(|token| token.to_string() == value);
        token.ok_or_else(|| RecordError::new("a token of 16 hexadecimal digits", value))
    }

    fn end(mut self) -> Result<(), RecordError> {
        self.0.next().map_or(Ok(()), |word| Err(RecordError::new("the end of the record", word)))
    }
}

/// A text that is not a record of this format, or not a name.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("expected {expected}, found {found:?}")]
pub struct RecordError {
    expected: Expected,
    found: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
enum Expected {
    #[error("{0}")]
    Text(&'static str),
    #[error("the field `{0}=`")]
    Field(&'static str),
    #[error("a number below 2^63 in the field `{0}=`")]
    Number(&'static str),
}

impl RecordError {
    fn new(expected: &'static str, found: &str) -> Self {
        Self { expected: Expected::Text(expected), found: shorten(found) }
    }
}

/// Returns the beginning of a text, for an error message.
fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

/// The name, the layout or the number of bits of a space is outside its range.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SpaceError {
    /// A name that is not a [`Name`].
    #[error(transparent)]
    Name(#[from] RecordError),
    /// Too many lane bits.
    #[error("expected at most {max} lane bits, found {found}")]
    Bits {
        /// The most that the layout can have.
        max: u32,
        /// The number that was given.
        found: u32,
    },
}
