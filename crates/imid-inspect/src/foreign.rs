//! What people mistake for message IDs: UUIDs, ULIDs and times.

use core::fmt;

use uuid::{Uuid, Variant};

use crate::time::{LAST_MS, PLAUSIBLE_FROM_MS, rfc3339};

/// Something that is not an ID of this family. `Display` describes it, such as "a UUID of version 4 (random)".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Foreign {
    /// A UUID that is not the view of an ID.
    Uuid(Uuid),
    /// A ULID, with its Unix milliseconds.
    Ulid(u64),
    /// A time of 10 digits, in Unix milliseconds.
    UnixSeconds(u64),
    /// A time of 13 digits.
    UnixMilliseconds(u64),
}

/// Crockford's base32, which ULIDs use.
const ULID_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LEN: usize = 26;
/// The first digits of a ULID: 48 bits of time, with two bits that are zero.
const ULID_TIME_LEN: usize = 10;

/// Reads 10 or 13 digits that are a time from 2005 on.
fn time(text: &str) -> Option<Foreign> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = text.parse().ok().filter(|_| is_decimal)?;
    let time = match text.len() {
        10 => Foreign::UnixSeconds(number * 1_000),
        13 => Foreign::UnixMilliseconds(number),
        _ => return None,
    };
    (time.timestamp_ms() >= Some(PLAUSIBLE_FROM_MS)).then_some(time)
}

fn ulid(text: &str) -> Option<Foreign> {
    let digit = |byte: u8| ULID_DIGITS.iter().position(|digit| *digit == byte.to_ascii_uppercase());
    if text.len() != ULID_LEN || text.as_bytes()[0] > b'7' || !text.bytes().all(|byte| digit(byte).is_some()) {
        return None;
    }
    Some(Foreign::Ulid(text.bytes().take(ULID_TIME_LEN).filter_map(digit).fold(0, |ms, digit| ms << 5 | digit as u64)))
}

impl Foreign {
    /// Recognizes it by its shape.
    pub fn read(text: &str) -> Option<Self> {
        Uuid::try_parse(text).ok().map(Self::Uuid).or_else(|| time(text)).or_else(|| ulid(text))
    }

    /// Returns the time, in Unix milliseconds, if it has one.
    pub fn timestamp_ms(self) -> Option<u64> {
        match self {
            // The first 48 bits are Unix milliseconds.
            Self::Uuid(uuid) => {
                let is_version_7 = uuid.get_variant() == Variant::RFC4122 && uuid.get_version_num() == 7;
                is_version_7.then_some((uuid.as_u128() >> 80) as u64)
            }
            Self::Ulid(unix_ms) | Self::UnixSeconds(unix_ms) | Self::UnixMilliseconds(unix_ms) => Some(unix_ms),
        }
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid(uuid) if uuid.is_nil() => f.write_str("the nil UUID")?,
            Self::Uuid(uuid) => match (uuid.get_variant(), uuid.get_version_num()) {
                (Variant::RFC4122, 4) => f.write_str("a UUID of version 4 (random)")?,
                (Variant::RFC4122, version) => write!(f, "a UUID of version {version}")?,
                _ => f.write_str("a UUID of an unknown variant")?,
            },
            Self::Ulid(_) => f.write_str("a ULID")?,
            Self::UnixSeconds(ms) => return write!(f, "a time in Unix seconds, {}", rfc3339(*ms)),
            Self::UnixMilliseconds(ms) => return write!(f, "a time in Unix milliseconds, {}", rfc3339(*ms)),
        }
        match self.timestamp_ms().filter(|ms| *ms <= LAST_MS) {
            Some(ms) => write!(f, " of {}", rfc3339(ms)),
            None => Ok(()),
        }
    }
}
