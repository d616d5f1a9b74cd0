//! Checks what each public type can be used for: whether it can be shared, sent, copied, kept across a panic, and put
//! into a constant.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

use std::borrow::Borrow;
use std::fmt::{Debug, Display, LowerHex, UpperHex};
use std::hash::Hash;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};

use imid::clock::{ManualClock, SystemClock};
use imid_snowflake::{
    BuildError, Builder, GenerateError, Generator, HexText, Layout, LayoutBuilder, LengthError, NoSpareNodes,
    NodeQueue, ParseError, Preset, RangeError, Snowflake, SnowflakeParts, SpareNode, TextForm, TimeRangeError,
};

trait Shared: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static {}
impl<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static> Shared for T {}

/// Checks that each of these types has the traits.
macro_rules! have {
    ($name:ident: $($bound:path),+; $($type:ty),*) => {
        #[test]
        fn $name() {
            fn has<T: $($bound +)+>() {}
            $(has::<$type>();)*
        }
    };
}

have! {
    ids_can_be_keys_and_are_printed_in_decimal_and_in_hex: Shared, Copy, Ord, Hash, Display, LowerHex, UpperHex;
    Snowflake
}

have! {
    ids_convert_to_bytes_and_to_integers: Into<[u8; 8]>, Into<Vec<u8>>, Into<u64>, Into<i64>, Into<String>;
    Snowflake
}

have! {
    texts_are_like_str: Shared, Copy, Ord, Hash, Deref<Target = str>, AsRef<str>, Borrow<str>, PartialEq<str>, Into<String>;
    HexText
}

have! {
    settings_and_parts_can_be_compared: Shared, Copy, Eq;
    Layout, NoSpareNodes, SnowflakeParts, Preset, SpareNode, TextForm
}

have! {
    errors_can_be_compared: Shared, Copy, Eq, std::error::Error;
    BuildError, GenerateError, LengthError, ParseError, RangeError, TimeRangeError
}

have! {
    generators_can_be_shared: Shared;
    Builder<SystemClock, NoSpareNodes>, Generator, Generator<&'static ManualClock, &'static NodeQueue>, LayoutBuilder,
    NodeQueue
}

#[cfg(feature = "serde")]
have! {
    ids_can_be_serialized: serde::Serialize;
    Snowflake
}

// A constant reference to a constant. The compiler refuses it for a type with interior mutability.
const _: &Preset = &Preset::TWITTER;

#[test]
fn an_id_is_small() {
    // `tests/snowflake.rs` has the size per target.
    assert!(size_of::<Snowflake>() <= 32);
}

#[cfg(feature = "lease")]
have! {
    worker_ids_can_be_shared: Shared;
    imid_snowflake::worker_ids::WorkerIds<imid::clock::TickClock>
}
