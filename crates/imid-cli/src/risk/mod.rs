//! How often generators that share no state mint equal IDs: pure functions, without input and output.
//!
//! DESIGN.md derives the formulas, and `examples/collisions` counts equal IDs of real generators against them. Rates
//! are per second, and a pair is a pair of messages.
#![allow(clippy::cast_precision_loss, reason = "counts below 2^53 are exact, and larger ones nearly so")]

mod history;
mod words;

pub(crate) use self::history::{Estimate, Found, History};
pub(crate) use self::words::{exact, how_often, number};
pub(crate) use imid_inspect::risk::{Burst, MODES, Mode, Pairs, Sessions, YEAR_S, probability};
