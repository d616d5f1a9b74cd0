//! The value: 80 bits and their layout.

use core::fmt;
use core::time::Duration;

use super::error::{DialectError, DialectKind};
use super::layout::Layout;
use crate::codec::HexText;
use crate::error::{LengthError, ParseError, RangeError};
use crate::id::MessageId;

/// An 80-bit ID together with its layout. A [`Dialect`](super::Dialect) reads it from a text.
///
/// An ID of the standard layout converts to a [`MessageId`], and every `MessageId` converts to a `DialectId`. It implements
/// neither `Display` nor `Serialize`, because its text depends on the dialect.
///
/// IDs sort by their bits, so IDs of one layout sort by timestamp first. IDs of different layouts do not sort by time, with
/// one exception: RongCloud's IDs until spring 2018 sort before its current ones.
///
/// ```
/// use imid::MessageId;
/// use imid::dialect::{Dialect, Layout};
///
/// let old = Dialect::RONGCLOUD_V1.parse("5EGN-HLDB-K4Q4-LQ1G")?;
/// assert_eq!((old.timestamp_ms(), old.spin()), (1_499_141_156_189, None));
/// assert!(MessageId::try_from(old).is_err());
///
/// let new = Dialect::RONGCLOUD.parse("BUFE-A62U-32C4-01I2")?;
/// assert_eq!(MessageId::try_from(new)?.to_string(), "DYHG-C84Y-54E6-23L4");
/// assert!(old < new);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DialectId {
    /// The 80 bits. Their fields are those of `layout`.
    bits: MessageId,
    layout: Layout,
}

impl DialectId {
    pub(super) const fn new(bits: MessageId, layout: Layout) -> Self {
        Self { bits, layout }
    }

    /// Returns the ID with this integer, 0 to 2⁸⁰ - 1.
    ///
    /// # Errors
    /// The value is 2⁸⁰ or more.
    pub const fn from_u128(value: u128, layout: Layout) -> Result<Self, RangeError> {
        match MessageId::from_u128(value) {
            Ok(bits) => Ok(Self { bits, layout }),
            Err(error) => Err(error),
        }
    }

    /// Returns the integer, 0 to 2⁸⁰ - 1.
    pub const fn to_u128(self) -> u128 {
        self.bits.to_u128()
    }

    /// Returns the ID with these bytes, most significant first. Every value is an ID.
    pub const fn from_bytes(bytes: [u8; MessageId::BYTE_LEN], layout: Layout) -> Self {
        Self { bits: MessageId::from_bytes(bytes), layout }
    }

    /// Returns the ID with the bytes of a slice, most significant first.
    ///
    /// # Errors
    /// The slice does not have 10 bytes.
    pub const fn from_slice(bytes: &[u8], layout: Layout) -> Result<Self, LengthError> {
        match MessageId::from_slice(bytes) {
            Ok(bits) => Ok(Self { bits, layout }),
            Err(error) => Err(error),
        }
    }

    /// Returns the 10 bytes, most significant first, so that the order of bytes is the order of IDs.
    pub const fn to_bytes(self) -> [u8; MessageId::BYTE_LEN] {
        self.bits.to_bytes()
    }

    /// Reads 20 hex digits in either case.
    ///
    /// # Errors
    /// The text is not 20 hex digits: for example it has 19, or it begins with `0x`.
    pub fn from_hex(text: &str, layout: Layout) -> Result<Self, ParseError> {
        Ok(Self { bits: MessageId::from_hex(text)?, layout })
    }

    /// Returns the 20 hex digits in lower case.
    pub fn to_hex(self) -> HexText {
        self.bits.to_hex()
    }

    /// Returns the layout.
    pub const fn layout(self) -> Layout {
        self.layout
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    pub const fn timestamp_ms(self) -> u64 {
        self.layout.timestamp_ms(self.to_u128())
    }

    /// Returns the timestamp as a duration since 1970-01-01T00:00:00Z.
    pub const fn since_unix_epoch(self) -> Duration {
        Duration::from_millis(self.timestamp_ms())
    }

    /// Returns the timestamp as a `SystemTime`.
    #[cfg(feature = "std")]
    pub fn time(self) -> std::time::SystemTime {
        // The sum does not overflow: a layout's timestamp has at most 43 bits.
        std::time::UNIX_EPOCH + self.since_unix_epoch()
    }

    /// Returns the counter within the millisecond, or `None` if the layout has no counter.
    pub const fn spin(self) -> Option<u16> {
        match self.layout.spin_bits() {
            0 => None,
            _ => Some(self.layout.spin(self.to_u128())),
        }
    }

    /// Returns the code of the session type. [`Dialect::type_name`](super::Dialect::type_name) returns its name.
    pub const fn type_code(self) -> u8 {
        self.layout.type_code(self.to_u128())
    }

    /// Returns the hash of the session's name, in the layout's width. Two sessions can have equal hashes: see
    /// [`SessionHash`](crate::SessionHash).
    pub const fn session_hash(self) -> u32 {
        self.layout.hash(self.to_u128())
    }

    /// Returns the 80 bits if they have this layout.
    pub(super) fn in_layout(self, expected: Layout) -> Result<MessageId, DialectError> {
        if self.layout == expected {
            Ok(self.bits)
        } else {
            Err(DialectError::new(DialectKind::Layout { expected, found: self.layout }))
        }
    }
}

/// Formats the layout and the hex digits.
impl fmt::Debug for DialectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DialectId({}, {self:x})", self.layout)
    }
}

/// Formats the 20 hex digits in lower case, leading zeros included. `{:#x}` puts `0x` before them.
impl fmt::LowerHex for DialectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.bits, f)
    }
}

/// Formats the 20 hex digits in upper case, leading zeros included. `{:#X}` puts `0x` before them.
impl fmt::UpperHex for DialectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::UpperHex::fmt(&self.bits, f)
    }
}

impl From<MessageId> for DialectId {
    fn from(id: MessageId) -> Self {
        Self { bits: id, layout: Layout::STANDARD }
    }
}

/// Returns an error if the layout is not the standard one, such as that of RongCloud's IDs until spring 2018.
impl TryFrom<DialectId> for MessageId {
    type Error = DialectError;

    fn try_from(id: DialectId) -> Result<Self, DialectError> {
        id.in_layout(Layout::STANDARD)
    }
}
