//! How often generators that share no state mint equal IDs.
//!
//! DESIGN.md of imid derives the formulas. Rates are per second, and a pair is a pair of messages.
#![allow(clippy::cast_precision_loss, reason = "counts below 2^53 are exact, and larger ones nearly so")]

mod forecast;
mod traffic;

pub use forecast::{Forecast, Row, YEAR_S};
pub use traffic::Sessions;
