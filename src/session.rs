//! What an ID says about its conversation: a 4-bit type and a 22-bit hash of the name.

use core::fmt;
use core::num::NonZeroU32;
use core::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Field, ParseSessionTypeError, RangeError};
use crate::layout::{HASH_MAX, SESSION_MAX, TYPE_MAX, TYPE_SHIFT};

/// The kind of conversation: a code from 0 to 15.
///
/// The constants carry RongCloud's names for the codes of its `ConversationType`. 0 and 13 to 15 are free for the
/// application; every code is accepted and printed.
///
/// ```
/// use imid::SessionType;
///
/// assert_eq!(SessionType::GROUP.to_u8(), 3);
/// assert_eq!("ultra_group".parse(), Ok(SessionType::ULTRA_GROUP));
/// assert_eq!(SessionType::from_u8(13)?.name(), None);
/// # Ok::<(), imid::error::RangeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SessionType(u8);

/// One table for the constants and their names, so that neither can miss a code.
macro_rules! session_types {
    ($($code:literal $name:ident $what:literal)*) => {
        impl SessionType {
            $(#[doc = concat!($what, ": code ", stringify!($code), ".")]
            pub const $name: Self = Self($code);)*

            /// The name in upper case; `None` for the codes that are free for the application (0 and 13 to 15).
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// The named types, by code.
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
    /// The greatest type: code 15.
    pub const MAX: Self = Self(TYPE_MAX);

    /// The type with this code, 0 to 15.
    ///
    /// # Errors
    /// A code above 15, such as 16.
    pub const fn from_u8(code: u8) -> Result<Self, RangeError> {
        if code > TYPE_MAX {
            return Err(RangeError::new(Field::SessionType, code as u128));
        }
        Ok(Self(code))
    }

    /// The code, 0 to 15.
    #[inline]
    pub const fn to_u8(self) -> u8 {
        self.0
    }
}

/// The name in upper case, or the code where the type has no name.
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

/// Reads a name in any case (`group`, `ULTRA_GROUP`) or a decimal code (`0` to `15`).
impl FromStr for SessionType {
    type Err = ParseSessionTypeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = |t: &&Self| t.name().is_some_and(|name| name.eq_ignore_ascii_case(text));
        if let Some(named) = Self::NAMED.iter().find(named) {
            return Ok(*named);
        }
        // `u8::from_str` also takes a leading plus, which no one writes in a code.
        match text.parse() {
            Ok(code) if code <= TYPE_MAX && text.as_bytes()[0].is_ascii_digit() => Ok(Self(code)),
            _ => Err(ParseSessionTypeError::new()),
        }
    }
}

/// The low 22 bits of a hash of the session's name: a hint of the session, never proof.
///
/// With 2,400 sessions of one type two of them share a hash with probability 1/2 (the birthday bound of 2²² values).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SessionHash(u32);

impl SessionHash {
    /// The greatest hash: 22 ones.
    pub const MAX: Self = Self(HASH_MAX);

    /// The standard hash of a name: the low 22 bits of XXH3-64 (seed 0) of its UTF-8 bytes.
    ///
    /// The same on every platform and in every version of this library.
    pub fn of(name: &str) -> Self {
        Self::truncate(xxh3_64(name.as_bytes()))
    }

    /// A hash that was computed elsewhere, 0 to 4,194,303.
    ///
    /// # Errors
    /// A value of more than 22 bits, such as 4,194,304.
    pub const fn from_u32(value: u32) -> Result<Self, RangeError> {
        if value > HASH_MAX {
            return Err(RangeError::new(Field::SessionHash, value as u128));
        }
        Ok(Self(value))
    }

    /// The value, 0 to 4,194,303.
    #[inline]
    pub const fn to_u32(self) -> u32 {
        self.0
    }

    const fn truncate(hash: u64) -> Self {
        Self(hash as u32 & HASH_MAX)
    }
}

impl fmt::Debug for SessionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionHash({})", self.0)
    }
}

/// A conversation as an ID knows it: type and hash, 26 bits. Made once per conversation and kept.
///
/// Two different conversations of one type can share a hash (see [`SessionHash`]), so equal sessions are a hint that
/// the conversation is the same, and different sessions are proof that it is not.
///
/// ```
/// use imid::{Session, SessionType};
///
/// let room = Session::new(SessionType::GROUP, "room-42");
/// assert_eq!(room.hash().to_u32(), 3_966_315);
/// assert_eq!(Session::pair("alice", "bob"), Session::pair("bob", "alice"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Session(u32);

impl Session {
    /// The least session: type 0, hash 0. It is the default.
    pub const MIN: Self = Self(0);
    /// The greatest session: 26 ones.
    pub const MAX: Self = Self(SESSION_MAX);

    /// The session with this type and the standard hash of this name.
    pub fn new(session_type: SessionType, name: &str) -> Self {
        Self::from_parts(session_type, SessionHash::of(name))
    }

    /// The private conversation of two users, whichever comes first.
    ///
    /// With h = XXH3-64 (seed 0) of a name's UTF-8 bytes, the hash is the low 22 bits of XXH3-64 of 16 bytes: the
    /// lesser of h(a) and h(b), then the greater, both big-endian.
    pub fn pair(a: &str, b: &str) -> Self {
        let (a, b) = (xxh3_64(a.as_bytes()), xxh3_64(b.as_bytes()));
        let mut ends = [0; 16];
        ends[..8].copy_from_slice(&a.min(b).to_be_bytes());
        ends[8..].copy_from_slice(&a.max(b).to_be_bytes());
        Self::from_parts(SessionType::PRIVATE, SessionHash::truncate(xxh3_64(&ends)))
    }

    /// The session with this type and this hash.
    pub const fn from_parts(session_type: SessionType, hash: SessionHash) -> Self {
        Self((session_type.0 as u32) << TYPE_SHIFT | hash.0)
    }

    /// The session with these 26 bits, type above hash, as they stand in an ID.
    ///
    /// # Errors
    /// A value of more than 26 bits, such as 67,108,864.
    pub const fn from_u32(bits: u32) -> Result<Self, RangeError> {
        if bits > SESSION_MAX {
            return Err(RangeError::new(Field::Session, bits as u128));
        }
        Ok(Self(bits))
    }

    /// The 26 bits, 0 to 67,108,863.
    #[inline]
    pub const fn to_u32(self) -> u32 {
        self.0
    }

    /// The low 26 bits of an ID.
    #[inline]
    pub(crate) const fn truncate(bits: u32) -> Self {
        Self(bits & SESSION_MAX)
    }

    /// The type.
    #[inline]
    pub const fn session_type(self) -> SessionType {
        SessionType((self.0 >> TYPE_SHIFT) as u8)
    }

    /// The hash.
    #[inline]
    pub const fn hash(self) -> SessionHash {
        SessionHash(self.0 & HASH_MAX)
    }

    /// The shard, 0 to `shards - 1`, that owns the session: jump consistent hash of the 26 bits.
    ///
    /// Routing by it keeps two processes from ever minting in the same 26-bit bucket, and the same number can be read
    /// from any ID of the session. When the count grows from n to n + 1, one session in n + 1 moves, all of them to the
    /// new shard. Lamping and Veach, «A Fast, Minimal Memory, Consistent Hash Algorithm», 2014.
    ///
    /// ```
    /// use imid::{Session, SessionType};
    /// use std::num::NonZeroU32;
    ///
    /// let room = Session::new(SessionType::GROUP, "room-42");
    /// let shards = NonZeroU32::new(8).expect("eight is not zero");
    /// assert_eq!(room.shard(shards), 0);
    /// ```
    pub const fn shard(self, shards: NonZeroU32) -> u32 {
        jump(self.0 as u64, shards.get())
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({}, {})", self.session_type(), self.hash().0)
    }
}

/// Jump consistent hash of `key` into `buckets`.
///
/// The division is the paper's, in the same floating point: every step of it is exact or rounded alike on all targets
/// (2³¹ over an integer of at most 2³¹, times an integer below 2³²).
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
