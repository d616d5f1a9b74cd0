//! Checks what each public type can be used for: whether it can be shared, sent, copied, kept across a panic, and put
//! into a constant.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

mod public;

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt::{Debug, Display, LowerHex, UpperHex};
use std::hash::Hash;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};

use imid::clock::{ClockError, ManualClock, SystemClock, TickClock};
use imid::codec::{HexText, IdText};
use imid::dialect::{Dialect, DialectError, DialectId, DialectText};
use imid::error::{LengthError, LineError, ParseError, ParseSessionTypeError, RangeError, TimeRangeError, UuidError};
use imid::generator::{Batch, BuildError, Lane, ObserveError, Stats};
use imid::store::{AsText, AsUuid, Buckets};
use imid::{Generator, IdParts, MessageId, SessionHash, SessionTag, SessionType, dialect, generator};

trait Shared: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static {}
impl<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static> Shared for T {}

/// Checks a type of state that threads share.
fn shared<T: Shared>() {}

/// Checks a type of settings or parts. It can be compared, but has no order.
fn plain<T: Shared + Copy + Eq>() {}

/// Checks a type of IDs, texts or sessions. It can be a key of a hash map and of a sorted map.
fn value<T: Shared + Copy + Ord + Hash>() {}

fn error<T: Shared + Copy + Eq + std::error::Error>() {}

/// Checks each type, and lists its name as [`public::types`] does.
macro_rules! check {
    ($($check:ident { $($name:literal $type:ty,)* })*) => {
        fn checked() -> BTreeSet<String> {
            $($($check::<$type>();)*)*
            let named = [$($(($name, std::any::type_name::<$type>())),*),*];
            for (name, full) in named {
                let last = name.rsplit("::").next().unwrap_or_default();
                let full = full.split('<').next().unwrap_or_default();
                assert!(full.ends_with(&format!("::{last}")), "{name} is not {full}");
            }
            named.map(|(name, _)| name.to_owned()).into()
        }
    };
}

check! {
    value {
        "MessageId" MessageId,
        "codec::IdText" IdText,
        "codec::HexText" HexText,
        "SessionType" SessionType,
        "dialect::DialectId" DialectId,
        "dialect::DialectText" DialectText,
        "store::AsText" AsText,
        "store::AsUuid" AsUuid,
    }
    plain {
        "IdParts" IdParts,
        "SessionHash" SessionHash,
        "SessionTag" SessionTag,
        "fork::Process" imid::fork::Process,
        "dialect::Layout" dialect::Layout,
        "generator::Lane" Lane,
        "generator::Stats" Stats,
        "store::Buckets" Buckets,
    }
    error {
        "clock::ClockError" ClockError,
        "dialect::DialectError" DialectError,
        "error::LengthError" LengthError,
        "error::LineError" LineError,
        "error::ParseError" ParseError,
        "error::ParseSessionTypeError" ParseSessionTypeError,
        "error::RangeError" RangeError,
        "error::TimeRangeError" TimeRangeError,
        "error::UuidError" UuidError,
        "generator::BuildError" BuildError,
        "generator::GenerateError" generator::GenerateError,
        "generator::ObserveError" ObserveError,
    }
    shared {
        "fork::Owner" imid::fork::Owner,
        "clock::ManualClock" ManualClock,
        "clock::SystemClock" SystemClock,
        "clock::TickClock" TickClock,
        "dialect::Dialect" Dialect<'static>,
        "generator::Batch" Batch,
        "generator::Builder" generator::Builder<SystemClock, 1>,
        "generator::Generator" Generator,
        "generator::Generator" Generator<ManualClock>,
        "generator::Generator" Generator<&'static ManualClock, 64>,
    }
}

#[test]
fn each_public_type_is_checked() {
    assert_eq!(checked(), public::types());
}

/// Checks that each of these types has the traits.
macro_rules! have {
    ($name:ident: $($bound:path),+; $($type:ty)*) => {
        #[test]
        fn $name() {
            fn has<T: $($bound +)+>() {}
            $(has::<$type>();)*
        }
    };
}

have! {
    values_with_one_text_can_be_printed: Display;
    MessageId IdText HexText DialectText SessionHash SessionType dialect::Layout
}

have! {
    values_with_bits_are_formatted_in_hex: LowerHex, UpperHex;
    MessageId DialectId SessionTag SessionHash SessionType
}

have! {
    ids_convert_to_bytes: Into<[u8; 10]>, Into<Vec<u8>>, Into<u128>;
    MessageId DialectId
}

have! {
    texts_are_like_str: Deref<Target = str>, AsRef<str>, Borrow<str>, PartialEq<str>, PartialEq<String>, Into<String>;
    IdText HexText DialectText
}

#[cfg(feature = "serde")]
have! {
    values_can_be_serialized: serde::Serialize;
    MessageId IdText HexText DialectText SessionTag SessionHash SessionType
}

#[cfg(feature = "serde")]
have! {
    values_that_know_their_layout_can_be_deserialized: serde::de::DeserializeOwned;
    MessageId SessionTag SessionHash SessionType
}

// A constant reference to a constant. The compiler refuses it for a type with interior mutability.
const _: &MessageId = &MessageId::MAX;
const _: &SessionType = &SessionType::GROUP;
const HASH: SessionHash = match SessionHash::from_u32(7) {
    Ok(hash) => hash,
    Err(_) => unreachable!(),
};
const _: &SessionHash = &HASH;
const _: &SessionTag = &SessionTag::from_parts(SessionType::GROUP, HASH);

#[test]
fn values_are_small() {
    assert_eq!(size_of::<MessageId>(), size_of::<u128>());
    assert_eq!(size_of::<SessionTag>(), size_of::<u32>());
    assert_eq!(size_of::<SessionHash>(), size_of::<u32>());
    assert_eq!(size_of::<SessionType>(), size_of::<u8>());
    // `tests/dialect.rs` has the size per target.
    assert!(size_of::<DialectId>() <= 32);
}
