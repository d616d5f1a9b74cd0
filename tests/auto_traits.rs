//! What the types that programs keep and share can be used for. `docs/api` lists the traits of all types.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};

use imid::clock::{ManualClock, TickClock};
use imid::dialect::DialectId;
use imid::generator::GenerateError;
use imid::{Generator, MessageId, SessionHash, SessionTag, SessionType};

fn shared<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static>() {}
fn value<T: Copy + Ord + Hash>() {}

#[test]
fn generators_can_be_shared_and_ids_can_be_keys() {
    shared::<Generator>();
    shared::<Generator<&'static ManualClock, 64>>();
    shared::<TickClock>();
    shared::<GenerateError>();
    value::<MessageId>();
    value::<DialectId>();
}

// A constant reference to a constant. The compiler refuses it for a type with interior mutability.
const _: &MessageId = &MessageId::MAX;
const _: &SessionTag = &SessionTag::from_parts(
    SessionType::GROUP,
    match SessionHash::from_u32(7) {
        Ok(hash) => hash,
        Err(_) => panic!("22 bits"),
    },
);

#[test]
fn values_are_small() {
    assert_eq!(size_of::<MessageId>(), size_of::<u128>());
    assert_eq!(size_of::<SessionTag>(), size_of::<u32>());
    assert_eq!(size_of::<SessionHash>(), size_of::<u32>());
    assert_eq!(size_of::<SessionType>(), size_of::<u8>());
    // `tests/dialect.rs` has the size per target.
    assert!(size_of::<DialectId>() <= 32);
}
