//! Lanes, worker IDs and sequences for [`imid`], granted by a shared register.
//!
//! A grant says: "this lane, IDs with a time below C". C is written to the register before it is used, and it only grows.
//! So a holder that is paused, cut off, or has a wrong clock mints only IDs that no other holder will ever mint.

mod space;

pub mod record;

pub mod register;

mod random;

mod engine;

pub mod admin;

mod clock;

mod status;

mod error;

mod options;

mod chain;

mod keeper;

#[cfg(feature = "metrics")]
pub mod metrics;

mod generator;

mod worker_ids;

#[cfg(feature = "redis")]
mod redis_queue;

mod sync;

pub mod sequence;

pub mod segment;

pub use error::{LeaseError, OpenError};
pub use generator::LeasedGenerator;
pub use options::{Options, OptionsError};
#[cfg(feature = "redis")]
pub use redis_queue::{QueueStatus, RedisQueue, RedisQueueOptions};
pub use register::{Promise, Register, RegisterError};
pub use segment::Segment;
pub use sequence::Sequence;
pub use space::{Space, SpaceError};
pub use status::{Phase, Status};
pub use worker_ids::{WorkerClock, WorkerIds, WorkerOptions};

// The engine is private, so its model is a part of the library's own tests.
#[cfg(test)]
#[path = "../tests/simulation/mod.rs"]
mod simulation;
