//! Lanes, worker IDs and sequences for [`imid`], granted by a shared register.
//!
//! A grant says: "this lane, IDs with a time below C". C is written to the register before it is used, and it only grows.
//! So a holder that is paused, cut off, or has a wrong clock mints only IDs that no other holder will ever mint.

mod space;

pub mod record;

pub mod register;

mod random;

mod engine;

mod clock;

mod status;

mod error;

mod options;

mod chain;

mod keeper;

#[cfg(feature = "metrics")]
pub mod metrics;

mod generator;

pub use error::{LeaseError, OpenError};
pub use generator::LeasedGenerator;
pub use options::{Options, OptionsError};
pub use register::{Promise, Register, RegisterError};
pub use space::{Space, SpaceError};
pub use status::{Phase, Status};
