//! What can go wrong: one small opaque `Copy` type per question that a caller asks.

mod dialect;
mod generate;
mod parse;
mod range;
mod snowflake;

pub use dialect::DialectError;
pub use generate::{BuildError, ClockError, GenerateError, ObserveError};
pub use parse::{LineError, ParseError, ParseSessionTypeError};
pub use range::{RangeError, TimeRangeError};
pub use snowflake::{LayoutError, MintError};

pub(crate) use dialect::DialectKind;
pub(crate) use generate::{BuildKind, GenerateKind};
pub(crate) use parse::Expected;
pub(crate) use range::Field;
pub(crate) use snowflake::{LayoutKind, MintKind};
