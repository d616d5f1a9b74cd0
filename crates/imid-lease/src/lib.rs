//! Lanes, worker IDs and sequences for [`imid`], granted by a shared register.
//!
//! A grant says: "this lane, IDs with a time below C". C is written to the register before it is used, and it only grows.
//! So a holder that is paused, cut off, or has a wrong clock mints only IDs that no other holder will ever mint.

pub mod register;
pub mod sequence;

pub use register::{Register, RegisterError};
pub use sequence::Sequence;
