//! The built-in dialects, as data.

use super::Dialect;
use super::hash;
use super::layout::Layout;
use crate::codec::alphabet::{self, RADIX};
use crate::error::Expected;
use crate::session::SessionType;

impl Dialect<'static> {
    /// imid's own dialect: the text form of [`MessageId`](crate::MessageId).
    pub const STANDARD: Self =
        Self::dashed("standard", &alphabet::STANDARD).with_hash(hash::standard).with_type_names(&RONGCLOUD_TYPES);

    /// RongCloud's dialect since spring 2018: the standard layout in base32hex. The hash is the low 22 bits of Java's
    /// `hashCode` of the addressed target (the receiver, the group, the chat room), so the two directions of a private
    /// conversation have different hashes.
    pub const RONGCLOUD: Self = built_in("rongcloud", BASE32_HEX, Expected::Base32Hex)
        .with_hash(hash::java)
        .with_type_names(&RONGCLOUD_TYPES)
        .with_channel_types(&RONGCLOUD_CHANNELS);

    /// RongCloud's dialect until spring 2018: 43 bits of time, no counter, 5 bits of type, all 32 bits of Java's
    /// `hashCode`. It is read only: no generator mints such IDs.
    ///
    /// These IDs sort before RongCloud's current ones, as bytes and as texts.
    pub const RONGCLOUD_V1: Self = Self { name: "rongcloud-v1", ..Self::RONGCLOUD.with_layout(Layout::RONGCLOUD_V1) };

    /// JuggleIM's dialect (`commons/tools/msgid.go` of its server): the standard layout without dashes. Its letters
    /// stand for lower values than its digits, so texts do **not** sort by time. Store the bytes, or the text of
    /// another dialect.
    ///
    /// The hash is the low 22 bits of CRC-32 (IEEE). It is known with the feature `juggleim`. In most
    /// of JuggleIM's code, the name of a private chat is the two user IDs in order, joined by a colon.
    pub const JUGGLEIM: Self = {
        let dialect = built_in("juggleim", b"abcdefghjklmnpqrstuvwxyz23456789", Expected::LowerDigit)
            .without_dashes()
            .with_type_names(&JUGGLEIM_TYPES);
        #[cfg(feature = "juggleim")]
        let dialect = dialect.with_hash(hash::crc32);
        dialect
    };

    /// The built-in dialects, in the order in which [`identify`](crate::identify::identify_at) returns them.
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

/// RongCloud's `ConversationType`. [`SessionType`] has the same names.
const RONGCLOUD_TYPES: [(u8, &str); SessionType::NAMED.len()] = {
    let mut types = [(0, ""); SessionType::NAMED.len()];
    let mut at = 0;
    while at < types.len() {
        let named = SessionType::NAMED[at];
        if let Some(name) = named.name() {
            types[at] = (named.to_u8(), name);
        }
        at += 1;
    }
    types
};

/// RongCloud's `channelType`.
const RONGCLOUD_CHANNELS: [(u8, &str); 9] = [
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
