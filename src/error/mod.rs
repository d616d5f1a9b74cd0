//! What can go wrong: one small opaque `Copy` type per question that a caller asks.

mod parse;
mod range;

pub use parse::{ParseError, ParseSessionTypeError};
pub use range::{RangeError, TimeRangeError};

pub(crate) use parse::Expected;
pub(crate) use range::Field;
