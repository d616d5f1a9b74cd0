//! Errors of IDs, their texts and their parts. Each is a small opaque `Copy` type that answers one question a caller has.
//!
//! The errors of generators, clocks and dialects are in those modules.

mod after;
mod length;
mod parse;
mod range;
mod uuid;

pub use after::AfterError;
pub use length::LengthError;
pub use parse::{LineError, ParseError, ParseSessionTypeError};
pub use range::{RangeError, TimeRangeError};
pub use uuid::UuidError;

pub(crate) use after::AfterKind;
pub(crate) use parse::Expected;
pub(crate) use range::Quantity;
pub(crate) use uuid::UuidKind;
