//! IDs of other kinds that people mistake for message IDs: UUIDs and ULIDs.

use std::fmt;

use uuid::{Uuid, Variant};

use crate::time::{LAST_MS, rfc3339};

/// An ID that is not of this family.
#[derive(Clone, Copy)]
pub(crate) enum Foreign {
    Uuid(Uuid),
    Ulid { unix_ms: u64 },
}

/// Crockford's base 32, which ULIDs use.
const ULID_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LEN: usize = 26;
/// The first digits of a ULID: 48 bits of time, with two bits that are zero.
const ULID_TIME_LEN: usize = 10;

impl Foreign {
    /// Recognizes a UUID or a ULID by its shape.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if let Ok(uuid) = Uuid::try_parse(text) {
            return Some(Self::Uuid(uuid));
        }
        let digit = |byte: u8| ULID_DIGITS.iter().position(|digit| *digit == byte.to_ascii_uppercase());
        if text.len() != ULID_LEN || text.as_bytes()[0] > b'7' || !text.bytes().all(|byte| digit(byte).is_some()) {
            return None;
        }
        let unix_ms = text.bytes().take(ULID_TIME_LEN).filter_map(digit).fold(0, |ms, digit| ms << 5 | digit as u64);
        Some(Self::Ulid { unix_ms })
    }

    /// Returns the time of a ULID or of a UUID of version 7, in unix milliseconds.
    pub(crate) fn timestamp_ms(self) -> Option<u64> {
        match self {
            // The first 48 bits are unix milliseconds.
            Self::Uuid(uuid) if is_version(uuid, 7) => Some((uuid.as_u128() >> 80) as u64),
            Self::Uuid(_) => None,
            Self::Ulid { unix_ms } => Some(unix_ms),
        }
    }
}

fn is_version(uuid: Uuid, version: usize) -> bool {
    uuid.get_variant() == Variant::RFC4122 && uuid.get_version_num() == version
}

/// Describes the ID in an error, such as "a UUID of version 4 (random)".
impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid(uuid) if uuid.is_nil() => f.write_str("the nil UUID")?,
            Self::Uuid(uuid) if uuid.get_variant() != Variant::RFC4122 => {
                f.write_str("a UUID of an unknown variant")?;
            }
            Self::Uuid(uuid) => match uuid.get_version_num() {
                4 => f.write_str("a UUID of version 4 (random)")?,
                version => write!(f, "a UUID of version {version}")?,
            },
            Self::Ulid { .. } => f.write_str("a ULID")?,
        }
        match self.timestamp_ms().filter(|ms| *ms <= LAST_MS) {
            Some(ms) => write!(f, " of {}", rfc3339(ms)),
            None => Ok(()),
        }
    }
}
