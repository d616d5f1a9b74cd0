//! The session tag: the type and the hash of a conversation, as an ID contains them.

use core::fmt;
use core::num::NonZeroU32;
use core::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{ParseSessionTypeError, Quantity, RangeError};
use crate::layout::{HASH_MAX, TAG_MAX, TYPE_MAX, TYPE_SHIFT};

const TYPE: &Quantity = &Quantity::new("a session type", "");
const HASH: &Quantity = &Quantity::new("a session hash", "");
const TAG: &Quantity = &Quantity::new("a session tag", "");

/// The kind of conversation: a code from 0 to 15.
///
/// The constants have the names and codes of RongCloud's `ConversationType`. The codes 0 and 13 to 15 have no name; applications
/// can use them for their own kinds.
///
/// ```
/// use imid::SessionType;
///
/// assert_eq!(SessionType::GROUP.to_u8(), 3);
/// assert_eq!("ultra_group".parse(), Ok(SessionType::ULTRA_GROUP));
/// assert_eq!(SessionType::from_u8(13)?.name(), None);
/// # Ok::<(), imid::error::RangeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionType(u8);

/// Makes the constants and their names from one table, so that each constant has a name.
macro_rules! session_types {
    ($($code:literal $name:ident $what:literal)*) => {
        impl SessionType {
            $(#[doc = concat!($what, ": code ", stringify!($code), ".")]
            pub const $name: Self = Self($code);)*

            /// Returns the name in upper case, or `None` for the codes without one (0 and 13 to 15).
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// The types with a name, in the order of their codes.
            pub const NAMED: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

session_types! {
    1 PRIVATE "A conversation of two users"
    2 DISCUSSION "An ad-hoc group"
    3 GROUP "A group"
    4 CHATROOM "A chat room"
    5 CUSTOMER_SERVICE "Customer service"
    6 SYSTEM "System messages"
    7 APP_PUBLIC_SERVICE "A public service of one application"
    8 PUBLIC_SERVICE "A public service of the platform"
    9 PUSH_SERVICE "Push messages"
    10 ULTRA_GROUP "A very large group"
    11 ENCRYPTED "An encrypted conversation"
    12 RTC "A call room"
}

impl SessionType {
    /// The least type: code 0.
    pub const MIN: Self = Self(0);
    /// The greatest type: code 15.
    pub const MAX: Self = Self(TYPE_MAX);

    /// Returns the type with this code, 0 to 15.
    ///
    /// # Errors
    /// The code is 16 or more.
    pub const fn from_u8(code: u8) -> Result<Self, RangeError> {
        if code > TYPE_MAX {
            return Err(TYPE.too_large(TYPE_MAX as u128, code as u128));
        }
        Ok(Self(code))
    }

    /// Returns the code, 0 to 15.
    #[inline]
    pub const fn to_u8(self) -> u8 {
        self.0
    }
}

/// Formats the name in upper case, or the code if the type has no name.
impl fmt::Display for SessionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => fmt::Display::fmt(&self.0, f),
        }
    }
}

impl fmt::Debug for SessionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionType({self})")
    }
}

/// Reads a name in any case (`group`, `ULTRA_GROUP`) or a decimal code (`0` to `15`) without sign and leading zeros.
impl FromStr for SessionType {
    type Err = ParseSessionTypeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = |t: &&Self| t.name().is_some_and(|name| name.eq_ignore_ascii_case(text));
        if let Some(named) = Self::NAMED.iter().find(named) {
            return Ok(*named);
        }
        // `u8::from_str` would also accept a leading plus and leading zeros.
        match (text.parse(), text.as_bytes()) {
            (Ok(code), [b'0'] | [b'1'..=b'9', ..]) if code <= TYPE_MAX => Ok(Self(code)),
            _ => Err(ParseSessionTypeError::new()),
        }
    }
}

/// The low 22 bits of a hash of the session's name.
///
/// Sessions with different hashes are different. Sessions with equal hashes may still differ: among 2,400 sessions of one type, two
/// share a hash with probability 1/2 (the birthday bound for 2²² values).
///
/// Hashes have no order, because the order of two hashes means nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionHash(u32);

impl SessionHash {
    /// Returns the standard hash of a name: the low 22 bits of XXH3-64 (seed 0) of its UTF-8 bytes.
    ///
    /// FORMAT.md defines this hash. It is the same on all platforms and in all versions of this library.
    pub fn of(name: &str) -> Self {
        Self::truncate(xxh3_64(name.as_bytes()))
    }

    /// Returns the hash with this value, 0 to 4,194,303.
    ///
    /// # Errors
    /// The value is 4,194,304 (2²²) or more.
    pub const fn from_u32(value: u32) -> Result<Self, RangeError> {
        if value > HASH_MAX {
            return Err(HASH.too_large(HASH_MAX as u128, value as u128));
        }
        Ok(Self(value))
    }

    /// Returns the value, 0 to 4,194,303.
    #[inline]
    pub const fn to_u32(self) -> u32 {
        self.0
    }

    /// Keeps the low 22 bits of a longer hash.
    const fn truncate(hash: u64) -> Self {
        Self(hash as u32 & HASH_MAX)
    }
}

/// Formats the value in decimal.
impl fmt::Display for SessionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for SessionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionHash({})", self.0)
    }
}

/// What an ID says about its session: the type and a hash of the name, 26 bits that **several sessions can share**.
///
/// A tag is therefore not a key: a map keyed by tag merges sessions that share one (see [`SessionHash`]), so use the session's name
/// as the key. Tags have no order, because the order of two hashes means nothing.
///
/// Create the tag once per session and keep it, so that the name is hashed only once.
///
/// ```
/// use imid::{SessionTag, SessionType};
///
/// let room = SessionTag::new(SessionType::GROUP, "room-42");
/// assert_eq!(room.session_hash().to_u32(), 3_966_315);
/// assert_eq!(SessionTag::pair("alice", "bob"), SessionTag::pair("bob", "alice"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionTag(u32);

impl SessionTag {
    pub(crate) const ZEROS: Self = Self(0);
    pub(crate) const ONES: Self = Self(TAG_MAX);

    /// Creates a tag from a session's type and name, by the standard hash. For a private conversation of two users, use
    /// [`pair`](Self::pair), which gives both directions the same tag.
    pub fn new(session_type: SessionType, name: &str) -> Self {
        Self::from_parts(session_type, SessionHash::of(name))
    }

    /// Creates the tag of a private conversation between two users, in either order.
    ///
    /// Let h be XXH3-64 (seed 0) of a name's UTF-8 bytes. The session hash is the low 22 bits of XXH3-64 of 16 bytes:
    /// the lesser of h(a) and h(b), then the greater, both big-endian.
    pub fn pair(a: &str, b: &str) -> Self {
        let (a, b) = (xxh3_64(a.as_bytes()), xxh3_64(b.as_bytes()));
        let mut ends = [0; 16];
        ends[..8].copy_from_slice(&a.min(b).to_be_bytes());
        ends[8..].copy_from_slice(&a.max(b).to_be_bytes());
        Self::from_parts(SessionType::PRIVATE, SessionHash::truncate(xxh3_64(&ends)))
    }

    /// Creates a tag from its type and hash.
    pub const fn from_parts(session_type: SessionType, hash: SessionHash) -> Self {
        Self((session_type.0 as u32) << TYPE_SHIFT | hash.0)
    }

    /// Returns the tag with these 26 bits: type · 2²² + hash, as in the low bits of an ID.
    ///
    /// # Errors
    /// The value is 67,108,864 (2²⁶) or more.
    pub const fn from_u32(bits: u32) -> Result<Self, RangeError> {
        if bits > TAG_MAX {
            return Err(TAG.too_large(TAG_MAX as u128, bits as u128));
        }
        Ok(Self(bits))
    }

    /// Returns the 26 bits, 0 to 67,108,863: type · 2²² + hash.
    #[inline]
    pub const fn to_u32(self) -> u32 {
        self.0
    }

    /// Returns the tag in the low 26 bits of an ID.
    #[inline]
    pub(crate) const fn truncate(bits: u32) -> Self {
        Self(bits & TAG_MAX)
    }

    /// Returns the type.
    #[inline]
    pub const fn session_type(self) -> SessionType {
        SessionType((self.0 >> TYPE_SHIFT) as u8)
    }

    /// Returns the hash.
    #[inline]
    pub const fn session_hash(self) -> SessionHash {
        SessionHash(self.0 & HASH_MAX)
    }

    /// Returns the shard that owns the sessions of this tag, 0 to `shards - 1`: the jump consistent hash of the 26 bits.
    ///
    /// Sessions that share a tag share a shard, so two processes that own different shards never mint for the same 26 bits. An ID
    /// has the shard of its tag: `id.session_tag().shard(shards)`. When the number of shards grows from n to n + 1, about one tag
    /// in n + 1 moves, and it moves to the new shard. Source: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash
    /// Algorithm", 2014.
    ///
    /// ```
    /// use imid::{SessionTag, SessionType};
    /// use std::num::NonZeroU32;
    ///
    /// let room = SessionTag::new(SessionType::GROUP, "room-42");
    /// let shards = NonZeroU32::new(8).expect("eight is not zero");
    /// assert_eq!(room.shard(shards), 0);
    /// ```
    pub const fn shard(self, shards: NonZeroU32) -> u32 {
        jump(self.0 as u64, shards.get())
    }
}

impl fmt::Debug for SessionTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionTag({}, {})", self.session_type(), self.session_hash())
    }
}

/// Implements the conversions of a value from and to its integer, and the hex formats of the integer. An integer above
/// the maximum is an error.
macro_rules! integer_conversions {
    ($($value:ty, $integer:ty, $from:ident, $to:ident;)*) => {$(
        impl TryFrom<$integer> for $value {
            type Error = RangeError;

            fn try_from(value: $integer) -> Result<Self, RangeError> {
                Self::$from(value)
            }
        }

        impl From<$value> for $integer {
            fn from(value: $value) -> Self {
                value.$to()
            }
        }

        /// Formats the integer in lower case, as `{:x}` does.
        impl fmt::LowerHex for $value {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerHex::fmt(&self.0, f)
            }
        }

        /// Formats the integer in upper case, as `{:X}` does.
        impl fmt::UpperHex for $value {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::UpperHex::fmt(&self.0, f)
            }
        }
    )*};
}

integer_conversions! {
    SessionType, u8, from_u8, to_u8;
    SessionHash, u32, from_u32, to_u32;
    SessionTag, u32, from_u32, to_u32;
}

/// Returns the bucket of `key` among `buckets`, by jump consistent hash.
///
/// The floating-point division is the same as in the paper. Each step is exact, or rounded in the same way on all
/// targets (2³¹ over an integer of at most 2³¹, times an integer below 2³²).
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "each operand is a whole number below 2^53")]
const fn jump(mut key: u64, buckets: u32) -> u32 {
    const MULTIPLIER: u64 = 2_862_933_555_777_941_757;
    const HIGH: u32 = 33;
    const SCALE: f64 = (1_u64 << 31) as f64;

    let (mut bucket, mut next) = (0, 0_u64);
    while next < buckets as u64 {
        bucket = next;
        key = key.wrapping_mul(MULTIPLIER).wrapping_add(1);
        next = ((bucket + 1) as f64 * (SCALE / ((key >> HIGH) + 1) as f64)) as u64;
    }
    bucket as u32
}
