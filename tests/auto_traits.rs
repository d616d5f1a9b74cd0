//! What every public type can be used for: shared, sent, copied, kept across a panic, put into a constant.

use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};

use imid::clock::ClockError;
use imid::clock::{ManualClock, SystemClock};
use imid::error::{ParseError, ParseSessionTypeError, RangeError, TimeRangeError};
use imid::generator::{Batch, Builder, Stats};
use imid::generator::{BuildError, GenerateError, ObserveError};
use imid::{Generator, IdText, MessageId, Session, SessionHash, SessionType, Start};

trait Shared: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static {}
impl<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static> Shared for T {}

fn is_shared<T: Shared>() {}

fn is_a_value<T: Shared + Copy + Ord + Hash>() {}

fn is_an_error<T: Shared + Copy + Eq + std::error::Error>() {}

#[test]
fn values_are_plain() {
    is_a_value::<MessageId>();
    is_a_value::<IdText>();
    is_a_value::<Session>();
    is_a_value::<SessionHash>();
    is_a_value::<SessionType>();
}

#[test]
fn errors_are_plain() {
    is_an_error::<ParseError>();
    is_an_error::<ParseSessionTypeError>();
    is_an_error::<RangeError>();
    is_an_error::<TimeRangeError>();
    is_an_error::<ClockError>();
    is_an_error::<BuildError>();
    is_an_error::<GenerateError>();
    is_an_error::<ObserveError>();
}

#[test]
fn generators_and_their_parts_can_be_shared_between_threads() {
    is_shared::<Generator>();
    is_shared::<Generator<SystemClock, 64>>();
    is_shared::<Generator<ManualClock>>();
    is_shared::<Generator<&'static ManualClock, 2>>();
    is_shared::<Builder<SystemClock, 1>>();
    is_shared::<Batch>();
    is_shared::<Stats>();
    is_shared::<Start>();
    #[cfg(feature = "std")]
    is_shared::<imid::clock::TickClock>();
}

#[test]
fn values_can_be_printed() {
    fn is_display<T: Display>() {}
    is_display::<MessageId>();
    is_display::<IdText>();
    is_display::<SessionType>();
}

// A constant reference to a constant: refused by the compiler for a type with interior mutability.
const _: &MessageId = &MessageId::MAX;
const _: &SessionType = &SessionType::GROUP;
const _: &SessionHash = &SessionHash::MAX;
const _: &Session = &Session::from_parts(SessionType::GROUP, SessionHash::MAX);

#[test]
fn sizes_are_those_of_their_integers() {
    assert_eq!(size_of::<MessageId>(), size_of::<u128>());
    assert_eq!(size_of::<Session>(), size_of::<u32>());
    assert_eq!(size_of::<SessionHash>(), size_of::<u32>());
    assert_eq!(size_of::<SessionType>(), size_of::<u8>());
}
