//! The built-in dialects, as data, and their session hashes.

use xxhash_rust::xxh3::xxh3_64;

use super::Dialect;
use super::layout::Layout;
use crate::codec::alphabet::{self, RADIX};
use crate::error::Expected;
use crate::session::SessionType;

impl Dialect<'static> {
    /// imid's own dialect: the text form of [`MessageId`](crate::MessageId).
    pub const STANDARD: Self = Self::dashed("standard", &alphabet::STANDARD).with_hash(standard).with_type_names(TYPES);

    /// RongCloud's dialect since spring 2018: the standard layout in base32hex. The hash is the low 22 bits of Java's
    /// `hashCode` of the addressed target (the receiver, the group, the chat room), so the two directions of a private
    /// conversation have different hashes.
    pub const RONGCLOUD: Self =
        built_in("rongcloud", BASE32_HEX, Expected::Base32Hex).with_hash(java).with_type_names(&TYPES_AND_CHANNELS);

    /// RongCloud's dialect until spring 2018: 43 bits of time, no counter, 5 bits of type, all 32 bits of Java's
    /// `hashCode`. It is read only: no generator mints such IDs.
    ///
    /// These IDs sort before RongCloud's current ones, as bytes and as texts.
    pub const RONGCLOUD_V1: Self = Self { name: "rongcloud-v1", ..Self::RONGCLOUD.with_layout(Layout::RONGCLOUD_V1) };

    /// JuggleIM's dialect (`commons/tools/msgid.go` of its server): the standard layout without dashes. Its letters
    /// stand for lower values than its digits, so texts do **not** sort by time. Store the bytes, or the text of
    /// another dialect.
    ///
    /// The hash is the low 22 bits of CRC-32 (IEEE). It needs the feature `juggleim`. In most
    /// of JuggleIM's code, the name of a private chat is the two user IDs in order, joined by a colon.
    pub const JUGGLEIM: Self = {
        let dialect = built_in("juggleim", b"abcdefghjklmnpqrstuvwxyz23456789", Expected::LowerDigit)
            .without_dashes()
            .with_type_names(&JUGGLEIM_TYPES);
        #[cfg(feature = "juggleim")]
        let dialect = dialect.with_hash(crc32);
        dialect
    };

    /// The built-in dialects.
    pub const ALL: &'static [Self] = &[Self::RONGCLOUD, Self::RONGCLOUD_V1, Self::STANDARD, Self::JUGGLEIM];

    /// Returns the built-in dialect with this name, such as `rongcloud-v1`.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|dialect| dialect.name == name)
    }
}

const fn built_in(name: &'static str, digits: &[u8; RADIX], expected: Expected) -> Dialect<'static> {
    match Dialect::checked(name, digits, expected) {
        Ok(dialect) => dialect,
        // PANIC: only at compile time, because all dialects here are constants.
        Err(_) => panic!("the digits are different printable ASCII characters"),
    }
}

/// RFC 4648, section 7.
const BASE32_HEX: &[u8; RADIX] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";

/// The names of [`SessionType`], which are those of RongCloud's `ConversationType`.
const TYPES: &[(u8, &str)] = TYPES_AND_CHANNELS.split_at(SessionType::NAMED.len()).0;

/// The same, and then the names of `channelType`, which RongCloud's callbacks have.
const TYPES_AND_CHANNELS: [(u8, &str); SessionType::NAMED.len() + CHANNELS.len()] = {
    let (types, mut names) = (SessionType::NAMED, [(0, ""); SessionType::NAMED.len() + CHANNELS.len()]);
    let mut at = 0;
    while at < names.len() {
        if at >= types.len() {
            names[at] = CHANNELS[at - types.len()];
        } else if let Some(name) = types[at].name() {
            names[at] = (types[at].to_u8(), name);
        }
        at += 1;
    }
    names
};

const CHANNELS: [(u8, &str); 9] = [
    (1, "PERSON"),
    (2, "PERSONS"),
    (3, "GROUP"),
    (4, "TEMPGROUP"),
    (5, "CUSTOMERSERVICE"),
    (6, "NOTIFY"),
    (7, "MC"),
    (8, "MP"),
    (10, "ULTRAGROUP"),
];

/// JuggleIM's channel types.
const JUGGLEIM_TYPES: [(u8, &str); 6] =
    [(1, "PRIVATE"), (2, "GROUP"), (3, "CHATROOM"), (4, "SYSTEM"), (5, "GROUP_CAST"), (6, "BROADCAST")];

/// Returns the standard session hash, of which an ID contains the low bits: XXH3-64 (seed 0) of the UTF-8 bytes.
fn standard(name: &str) -> u32 {
    xxh3_64(name.as_bytes()) as u32
}

/// Returns Java's `String.hashCode`: h · 31 + unit over the UTF-16 units, wrapping at 32 bits.
fn java(name: &str) -> u32 {
    name.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// Returns the CRC-32 (IEEE 802.3) of the UTF-8 bytes.
#[cfg(feature = "juggleim")]
fn crc32(name: &str) -> u32 {
    use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

    static CRC_32: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);
    CRC_32.checksum(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_counts_utf16_units_and_wraps() {
        assert_eq!((java(""), java("24"), java("testing")), (0, 1_602, 2_872_521_232));
        // Two units: the surrogates D83D and DE00.
        assert_eq!(java("😀"), 0xD83D * 31 + 0xDE00);
    }

    #[cfg(feature = "juggleim")]
    #[test]
    fn crc_32_has_its_check_value() {
        assert_eq!(crc32("123456789"), 0xCBF4_3926);
    }
}
