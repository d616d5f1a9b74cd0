//! arbitrary 1: values for fuzzing. A value can be any value of its type, and is in the range of its type.

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::id::{IdParts, MessageId};
use crate::layout::{BYTES, HASH_MAX, TAG_MAX, TYPE_MAX};
use crate::session::{SessionHash, SessionTag, SessionType};

/// Any 80 bits.
impl<'a> Arbitrary<'a> for MessageId {
    fn arbitrary(data: &mut Unstructured<'a>) -> Result<Self> {
        data.arbitrary().map(Self::from_bytes)
    }

    fn size_hint(depth: usize) -> (usize, Option<usize>) {
        <[u8; BYTES]>::size_hint(depth)
    }
}

/// The parts of any 80 bits.
impl<'a> Arbitrary<'a> for IdParts {
    fn arbitrary(data: &mut Unstructured<'a>) -> Result<Self> {
        data.arbitrary().map(MessageId::parts)
    }

    fn size_hint(depth: usize) -> (usize, Option<usize>) {
        MessageId::size_hint(depth)
    }
}

/// Implements the trait for integers of a few bits.
macro_rules! masked {
    ($($(#[$doc:meta])* $value:ident, $integer:ty, $from:ident, $max:expr;)*) => {$(
        $(#[$doc])*
        impl<'a> Arbitrary<'a> for $value {
            fn arbitrary(data: &mut Unstructured<'a>) -> Result<Self> {
                let bits = <$integer>::arbitrary(data)? & $max;
                Self::$from(bits).map_err(|_| arbitrary::Error::IncorrectFormat)
            }

            fn size_hint(depth: usize) -> (usize, Option<usize>) {
                <$integer>::size_hint(depth)
            }
        }
    )*};
}

masked! {
    /// Any 26 bits.
    SessionTag, u32, from_u32, TAG_MAX;
    /// Any of the 16 codes.
    SessionType, u8, from_u8, TYPE_MAX;
    /// Any 22 bits.
    SessionHash, u32, from_u32, HASH_MAX;
}
