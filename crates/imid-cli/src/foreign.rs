//! IDs of other kinds that people mistake for message IDs: UUIDs, ULIDs and those of opencode.

use std::fmt;

use uuid::{Uuid, Variant};

use crate::time::{LAST_MS, now_ms, rfc3339};

/// An ID that is not of this family.
#[derive(Clone, Copy)]
pub(crate) enum Foreign {
    Uuid(Uuid),
    Ulid {
        unix_ms: u64,
    },
    /// An ID of opencode: 48 bits of `unix_ms * 4096 + counter`, so the milliseconds have lost their upper bits.
    Opencode {
        low_ms: u64,
    },
}

/// Crockford's base 32, which ULIDs use.
const ULID_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_LEN: usize = 26;
/// The first digits of a ULID: 48 bits of time, with two bits that are zero.
const ULID_TIME_LEN: usize = 10;

/// The milliseconds of an ID of opencode start at 0 again after this many: 795 days.
const OPENCODE_ERA_MS: u64 = 1 << 36;

/// Reads `msg_` or `prt_`, 12 hex digits and 14 letters or digits.
fn opencode(text: &str) -> Option<Foreign> {
    let rest = text.strip_prefix("msg_").or_else(|| text.strip_prefix("prt_"))?;
    let (hex, random) = rest.split_at_checked(12)?;
    let is_hex = hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_random = random.len() == 14 && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let low_ms = u64::from_str_radix(hex, 16).ok().filter(|_| is_hex && is_random)? >> 12;
    Some(Foreign::Opencode { low_ms })
}

/// Returns the latest time with these lower bits that is not after now. opencode's first era began in 2024.
fn latest_era(low_ms: u64, now_ms: u64) -> u64 {
    let era = now_ms.saturating_sub(low_ms) / OPENCODE_ERA_MS;
    era * OPENCODE_ERA_MS + low_ms
}

impl Foreign {
    /// Recognizes an ID by its shape.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if let Ok(uuid) = Uuid::try_parse(text) {
            return Some(Self::Uuid(uuid));
        }
        if let Some(id) = opencode(text) {
            return Some(id);
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
            Self::Opencode { low_ms } => Some(latest_era(low_ms, now_ms())),
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
            Self::Opencode { .. } => f.write_str("an ID of opencode")?,
        }
        match self.timestamp_ms().filter(|ms| *ms <= LAST_MS) {
            Some(ms) => write!(f, " of {}", rfc3339(ms))?,
            None => return Ok(()),
        }
        match self {
            // Its eras are short, so the time is a guess, and IDs of two eras do not sort by time.
            Self::Opencode { low_ms } => {
                let before = rfc3339(latest_era(*low_ms, now_ms()).saturating_sub(OPENCODE_ERA_MS));
                let start = rfc3339(latest_era(0, now_ms()));
                write!(f, " (or {before}: its time began again at 0 on {})", &start[..10])
            }
            _ => Ok(()),
        }
    }
}
