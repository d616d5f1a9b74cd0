//! A model of processes that share a register, for the engine: random schedules, an exhaustive tiny configuration, schedules
//! by hand, and the proof that each rule is needed.
//!
//! The model is part of the library's own tests, because the engine is private.

#![cfg_attr(
    not(test),
    allow(dead_code, missing_docs, unreachable_pub, unused_imports, reason = "a fuzz target uses a part of it")
)]

mod bytes;
mod description;
#[cfg(test)]
mod driver;
mod exhaustive;
mod fleet;
mod generator;
mod holder;
mod leads;
mod named;
mod operator;

mod random;
mod restored;
mod rules;

mod steps;
mod store;
mod world;

#[cfg(imid_model)]
pub use bytes::play_bytes;
