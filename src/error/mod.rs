//! What can go wrong: one small opaque `Copy` type per question that a caller asks.

mod generate;
mod parse;
mod range;

pub use generate::{BuildError, ClockError, GenerateError, ObserveError};
pub use parse::{ParseError, ParseSessionTypeError};
pub use range::{RangeError, TimeRangeError};

pub(crate) use generate::{BuildKind, GenerateKind};
pub(crate) use parse::Expected;
pub(crate) use range::Field;
