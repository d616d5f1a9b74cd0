//! What can be wrong with an ID, its text and its parts: one small opaque `Copy` type per question that a caller asks.
//!
//! Errors of generators, clocks, dialects and Snowflakes are in the modules of these.

mod bounds;
mod length;
mod parse;
mod range;

pub use length::LengthError;
pub use parse::{LineError, ParseError, ParseSessionTypeError};
pub use range::{RangeError, TimeRangeError};

pub(crate) use bounds::{OutOfBounds, Quantity, check_all};
pub(crate) use parse::Expected;
pub(crate) use range::Field;
